//! The constructors of derived datatypes but those for arrays (MPI 5.0, section 5.1.2), and how a type was made
//! (section 5.1.13).
//!
//! Each constructor checks its arguments, combines type maps and records its arguments. `old` handles become clones of
//! the shared types, so a derived type stays whole when the program frees its parts. The caller has checked pointers
//! and handles; negative counts and values that do not fit are found here.

use super::Datatype;
use super::type_map::{TypeMap, multiply};
use crate::error::{Error, Result};
use postrider_abi::{
    MPI_COMBINER_CONTIGUOUS, MPI_COMBINER_DUP, MPI_COMBINER_HINDEXED, MPI_COMBINER_HINDEXED_BLOCK,
    MPI_COMBINER_HVECTOR, MPI_COMBINER_INDEXED, MPI_COMBINER_INDEXED_BLOCK, MPI_COMBINER_RESIZED,
    MPI_COMBINER_STRUCT, MPI_COMBINER_VECTOR, MPI_ERR_ARG, MPI_ERR_COUNT,
};
use std::sync::Arc;

/// Which form of a constructor the program called, which decides where `MPI_Type_get_contents` reports its counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountForm {
    /// Counts of type `int`, displacements of type `MPI_Aint`.
    Int,
    /// The form with the suffix `_c`: everything of type `MPI_Count`.
    Large,
}

/// The call that made a datatype, in the order that the standard's table of `MPI_Type_get_contents` gives.
#[derive(Clone, Debug, Default)]
pub struct Contents {
    /// One of `MPI_COMBINER_…`.
    pub combiner: i32,
    /// Arguments of type `int`.
    pub integers: Vec<i32>,
    /// Arguments of type `MPI_Aint`.
    pub addresses: Vec<i64>,
    /// Arguments of type `MPI_Count`; empty unless the call was of the large form.
    pub large_counts: Vec<i64>,
    /// The datatypes passed in.
    pub datatypes: Vec<Arc<Datatype>>,
}

impl Contents {
    /// The contents of a call with the given counts and addresses, put where its form reports them.
    fn new(
        combiner: i32,
        form: CountForm,
        counts: &[&[i64]],
        addresses: &[i64],
        datatypes: &[Arc<Datatype>],
    ) -> Result<Self> {
        let mut contents = Self { combiner, datatypes: datatypes.to_vec(), ..Self::default() };
        match form {
            CountForm::Int => {
                contents.integers = integers(counts)?;
                contents.addresses = addresses.to_vec();
            }
            CountForm::Large => {
                contents.large_counts = [counts, &[addresses]].concat().concat();
            }
        }
        Ok(contents)
    }
}

/// Values that came in as `int`, as such.
pub(super) fn integers(values: &[&[i64]]) -> Result<Vec<i32>> {
    let narrow = |value: &i64| {
        i32::try_from(*value).map_err(|_| {
            let detail = format!("{value} does not fit an int argument; call the form with the suffix _c");
            Error::new(MPI_ERR_ARG, detail)
        })
    };
    values.iter().copied().flatten().map(narrow).collect()
}

fn check_count(what: &str, count: i64) -> Result<()> {
    if count < 0 {
        return Err(Error::new(MPI_ERR_COUNT, format!("{what} is {count}; it must not be negative")));
    }
    Ok(())
}

fn check_blocks(block_lengths: &[i64], others: usize) -> Result<()> {
    assert_eq!(block_lengths.len(), others, "arrays of one constructor call have one length");
    block_lengths.iter().try_for_each(|&length| check_count("a block length", length))
}

/// Blocks of `old`, at displacements in bytes.
fn blocks(old: &TypeMap, blocks: impl Iterator<Item = (i64, i64)>) -> Result<TypeMap> {
    let extent = old.extent();
    let mut parts = Vec::with_capacity(blocks.size_hint().0);
    let mut previous: Option<(i64, TypeMap)> = None;
    for (length, displacement) in blocks {
        if length == 0 {
            continue;
        }
        let block = match previous {
            Some((same, ref block)) if same == length => block,
            _ => &previous.insert((length, old.repeat(length, extent)?)).1,
        };
        parts.push(block.shifted(displacement)?);
    }
    TypeMap::sequence(parts)
}

impl Datatype {
    /// `MPI_Type_contiguous`.
    pub fn contiguous(form: CountForm, count: i64, old: &Arc<Self>) -> Result<Arc<Self>> {
        check_count("the count", count)?;
        let map = old.map.repeat(count, old.extent())?;
        let one = std::slice::from_ref(old);
        Ok(Self::derived(map, Contents::new(MPI_COMBINER_CONTIGUOUS, form, &[&[count]], &[], one)?))
    }

    /// `MPI_Type_vector`: the stride counts elements of `old`.
    pub fn vector(
        form: CountForm,
        count: i64,
        block_length: i64,
        stride: i64,
        old: &Arc<Self>,
    ) -> Result<Arc<Self>> {
        check_count("the count", count)?;
        check_count("the block length", block_length)?;
        let block = old.map.repeat(block_length, old.extent())?;
        let map = block.repeat(count, multiply(stride, old.extent())?)?;
        let counts = [count, block_length, stride];
        let one = std::slice::from_ref(old);
        Ok(Self::derived(map, Contents::new(MPI_COMBINER_VECTOR, form, &[&counts], &[], one)?))
    }

    /// `MPI_Type_create_hvector`: the stride counts bytes.
    pub fn hvector(
        form: CountForm,
        count: i64,
        block_length: i64,
        stride: i64,
        old: &Arc<Self>,
    ) -> Result<Arc<Self>> {
        check_count("the count", count)?;
        check_count("the block length", block_length)?;
        let map = old.map.repeat(block_length, old.extent())?.repeat(count, stride)?;
        let counts = [count, block_length];
        let one = std::slice::from_ref(old);
        let contents = Contents::new(MPI_COMBINER_HVECTOR, form, &[&counts], &[stride], one)?;
        Ok(Self::derived(map, contents))
    }

    /// `MPI_Type_indexed`: displacements count elements of `old`. Both arrays have one length, the count.
    pub fn indexed(
        form: CountForm,
        block_lengths: &[i64],
        displacements: &[i64],
        old: &Arc<Self>,
    ) -> Result<Arc<Self>> {
        check_blocks(block_lengths, displacements.len())?;
        let bytes = in_bytes(displacements, old.extent())?;
        let map = blocks(&old.map, block_lengths.iter().copied().zip(bytes))?;
        let count = [block_lengths.len() as i64];
        let counts = [&count, block_lengths, displacements];
        let one = std::slice::from_ref(old);
        Ok(Self::derived(map, Contents::new(MPI_COMBINER_INDEXED, form, &counts, &[], one)?))
    }

    /// `MPI_Type_create_hindexed`: displacements count bytes. Both arrays have one length, the count.
    pub fn hindexed(
        form: CountForm,
        block_lengths: &[i64],
        displacements: &[i64],
        old: &Arc<Self>,
    ) -> Result<Arc<Self>> {
        check_blocks(block_lengths, displacements.len())?;
        let map = blocks(&old.map, block_lengths.iter().copied().zip(displacements.iter().copied()))?;
        let count = [block_lengths.len() as i64];
        let counts = [&count[..], block_lengths];
        let one = std::slice::from_ref(old);
        let contents = Contents::new(MPI_COMBINER_HINDEXED, form, &counts, displacements, one)?;
        Ok(Self::derived(map, contents))
    }

    /// `MPI_Type_create_indexed_block`: displacements count elements of `old`.
    pub fn indexed_block(
        form: CountForm,
        block_length: i64,
        displacements: &[i64],
        old: &Arc<Self>,
    ) -> Result<Arc<Self>> {
        check_count("the block length", block_length)?;
        let bytes = in_bytes(displacements, old.extent())?;
        let map = blocks(&old.map, bytes.into_iter().map(|at| (block_length, at)))?;
        let counts = [&[displacements.len() as i64, block_length], displacements];
        let one = std::slice::from_ref(old);
        Ok(Self::derived(map, Contents::new(MPI_COMBINER_INDEXED_BLOCK, form, &counts, &[], one)?))
    }

    /// `MPI_Type_create_hindexed_block`: displacements count bytes.
    pub fn hindexed_block(
        form: CountForm,
        block_length: i64,
        displacements: &[i64],
        old: &Arc<Self>,
    ) -> Result<Arc<Self>> {
        check_count("the block length", block_length)?;
        let map = blocks(&old.map, displacements.iter().map(|&at| (block_length, at)))?;
        let counts = [displacements.len() as i64, block_length];
        let one = std::slice::from_ref(old);
        let contents = Contents::new(MPI_COMBINER_HINDEXED_BLOCK, form, &[&counts], displacements, one)?;
        Ok(Self::derived(map, contents))
    }

    /// `MPI_Type_create_struct`: the only constructor that mixes types, and the only one that pads the extent to the
    /// alignment. All three arrays have one length, the count.
    pub fn structure(
        form: CountForm,
        block_lengths: &[i64],
        displacements: &[i64],
        types: &[Arc<Self>],
    ) -> Result<Arc<Self>> {
        check_blocks(block_lengths, displacements.len())?;
        check_blocks(block_lengths, types.len())?;
        let mut parts = Vec::with_capacity(types.len());
        for ((&length, &displacement), old) in block_lengths.iter().zip(displacements).zip(types) {
            if length > 0 {
                parts.push(old.map.repeat(length, old.extent())?.shifted(displacement)?);
            }
        }
        let map = TypeMap::sequence(parts)?.padded()?;
        let count = [block_lengths.len() as i64];
        let counts = [&count[..], block_lengths];
        let contents = Contents::new(MPI_COMBINER_STRUCT, form, &counts, displacements, types)?;
        Ok(Self::derived(map, contents))
    }

    /// `MPI_Type_create_resized`.
    pub fn resized(form: CountForm, lb: i64, extent: i64, old: &Arc<Self>) -> Result<Arc<Self>> {
        let map = old.map.resized(lb, extent)?;
        let one = std::slice::from_ref(old);
        Ok(Self::derived(map, Contents::new(MPI_COMBINER_RESIZED, form, &[], &[lb, extent], one)?))
    }

    /// `MPI_Type_dup`: the copy is committed if the original is.
    #[must_use]
    pub fn dup(old: &Arc<Self>) -> Arc<Self> {
        let datatypes = vec![Arc::clone(old)];
        let contents = Contents { combiner: MPI_COMBINER_DUP, datatypes, ..Contents::default() };
        let new = Self::derived(old.map.clone(), contents);
        if old.is_committed() {
            new.commit();
        }
        new
    }
}

fn in_bytes(displacements: &[i64], extent: i64) -> Result<Vec<i64>> {
    displacements.iter().map(|&at| multiply(at, extent)).collect()
}
