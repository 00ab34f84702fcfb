//! Where the bytes of a datatype lie: from what it was made of (section 5.1.13) to its blocks in the order of its type map.
//!
//! In the native representation the sizes are those of memory. In another one each predefined datatype has another
//! size, and so have the extents of what is made of it; the distances that constructors take in bytes stay
//! (section 14.5.1). `leaf` says how a predefined datatype lies.

use std::iter::repeat_n;

use postrider_abi::*;
use postrider_client::{Contents, Datatype};

use crate::error::{Error, Result};
use crate::view::Block;

mod arrays;

/// Blocks of bytes, and the bounds of what they are part of.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Layout {
    /// In the order of the type map; neighbours are joined.
    pub blocks: Vec<Block>,
    /// Lower bound.
    pub lb: i64,
    /// Upper bound.
    pub ub: i64,
}

/// How a predefined datatype lies.
pub type Leaf<'l> = &'l dyn Fn(Datatype) -> Result<Layout>;

/// Copies of a layout: so many, from so many bytes on.
type Copies = (i64, i64);

impl Layout {
    /// One block from 0 on.
    pub fn dense(bytes: i64) -> Self {
        Self { blocks: vec![Block { offset: 0, bytes }], lb: 0, ub: bytes }
    }

    /// Distance from one to the next.
    pub fn extent(&self) -> i64 {
        self.ub - self.lb
    }

    /// Number of bytes.
    pub fn size(&self) -> i64 {
        self.blocks.iter().map(|block| block.bytes).sum()
    }

    fn push(&mut self, block: Block) {
        match self.blocks.last_mut() {
            Some(last) if last.end() == block.offset => last.bytes += block.bytes,
            _ if block.bytes == 0 => {}
            _ => self.blocks.push(block),
        }
    }

    /// Adds consecutive copies of `other`, the first of them at `start`.
    fn add(&mut self, other: &Self, (count, start): Copies, first: bool) {
        if count <= 0 {
            return;
        }
        let (lb, ub) = (start + other.lb, start + other.ub + (count - 1) * other.extent());
        (self.lb, self.ub) = if first { (lb, ub) } else { (self.lb.min(lb), self.ub.max(ub)) };
        if let [block] = other.blocks[..]
            && block.bytes == other.extent()
        {
            return self.push(Block { offset: start + block.offset, bytes: block.bytes * count });
        }
        for index in 0..count {
            let shift = start + index * other.extent();
            other
                .blocks
                .iter()
                .for_each(|block| self.push(Block { offset: block.offset + shift, bytes: block.bytes }));
        }
    }

    /// Copies of one layout.
    pub fn copies(&self, groups: impl IntoIterator<Item = Copies>) -> Self {
        Self::sequence(groups.into_iter().map(|copies| (self, copies)))
    }

    /// Copies of several layouts.
    fn sequence<'l>(groups: impl IntoIterator<Item = (&'l Self, Copies)>) -> Self {
        let mut made = Self::default();
        let mut first = true;
        for (layout, copies) in groups {
            made.add(layout, copies, first);
            first &= copies.0 <= 0;
        }
        made
    }

    /// The same blocks with other bounds.
    pub fn resized(mut self, lb: i64, extent: i64) -> Self {
        (self.lb, self.ub) = (lb, lb + extent);
        self
    }
}

/// The layout of a datatype. With `native` its bounds are what the library says, which has the alignment of structures.
///
/// # Errors
/// What MPI returns.
pub fn of(datatype: Datatype, leaf: Leaf<'_>, native: bool) -> Result<Layout> {
    let Some(contents) = datatype.contents()? else { return leaf(datatype) };
    let parts: Vec<Layout> =
        contents.datatypes.iter().map(|part| of(**part, leaf, native)).collect::<Result<_>>()?;
    let made = combine(&contents, &parts)?;
    if !native {
        return Ok(made);
    }
    let (lb, extent) = datatype.extent()?;
    Ok(made.resized(lb, extent))
}

/// The layout of what a constructor makes of others.
fn combine(contents: &Contents, parts: &[Layout]) -> Result<Layout> {
    // With large counts these have an array of their own; else they are among the integers.
    let counts = if contents.large_counts.is_empty() { &contents.integers } else { &contents.large_counts };
    let Some(part) = parts.first() else { return Ok(Layout::default()) };
    let extent = part.extent();
    // The distances in bytes are addresses, or the last of the large counts.
    let distances =
        |from: usize| if contents.addresses.is_empty() { &counts[from..] } else { &contents.addresses };
    let count = *counts.first().unwrap_or(&0) as usize;
    let made = match contents.combiner {
        MPI_COMBINER_DUP => part.clone(),
        MPI_COMBINER_CONTIGUOUS => part.copies([(counts[0], 0)]),
        MPI_COMBINER_VECTOR => part.copies((0..counts[0]).map(|i| (counts[1], i * counts[2] * extent))),
        MPI_COMBINER_HVECTOR => {
            let stride = distances(2)[0];
            part.copies((0..counts[0]).map(|i| (counts[1], i * stride)))
        }
        MPI_COMBINER_INDEXED => {
            let (lengths, places) = counts[1..].split_at(count);
            part.copies(lengths.iter().zip(places).map(|(&length, &place)| (length, place * extent)))
        }
        MPI_COMBINER_HINDEXED => {
            let lengths = &counts[1..=count];
            part.copies(lengths.iter().copied().zip(distances(1 + count).iter().copied()))
        }
        MPI_COMBINER_INDEXED_BLOCK => {
            part.copies(counts[2..].iter().map(|&place| (counts[1], place * extent)))
        }
        MPI_COMBINER_HINDEXED_BLOCK => part.copies(distances(2).iter().map(|&place| (counts[1], place))),
        MPI_COMBINER_STRUCT => {
            let copies = counts[1..=count].iter().copied().zip(distances(1 + count).iter().copied());
            Layout::sequence(parts.iter().zip(copies))
        }
        MPI_COMBINER_SUBARRAY => arrays::subarray(contents, part),
        MPI_COMBINER_DARRAY => arrays::distributed(contents, part),
        MPI_COMBINER_RESIZED => {
            let bounds = distances(0);
            part.clone().resized(bounds[0], bounds[1])
        }
        other => {
            let detail = format!("a datatype made by constructor {other} cannot be part of a view");
            return Err(Error::new(MPI_ERR_TYPE, detail));
        }
    };
    Ok(made)
}

/// The predefined datatypes of a datatype in the order of its type map: which, and how many in a row.
///
/// # Errors
/// What MPI returns.
pub fn elements(datatype: Datatype) -> Result<Vec<(Datatype, i64)>> {
    let Some(contents) = datatype.contents()? else { return Ok(vec![(datatype, 1)]) };
    if contents.combiner == MPI_COMBINER_STRUCT {
        let counts =
            if contents.large_counts.is_empty() { &contents.integers } else { &contents.large_counts };
        let mut all = Vec::new();
        for (part, &count) in contents.datatypes.iter().zip(&counts[1..]) {
            all.extend(repeated(elements(**part)?, count));
        }
        return Ok(all);
    }
    let Some(part) = contents.datatypes.first() else { return Ok(Vec::new()) };
    let each = part.size()?;
    let count = if each == 0 { 0 } else { datatype.size()? / each };
    Ok(repeated(elements(**part)?, count))
}

fn repeated(elements: Vec<(Datatype, i64)>, count: i64) -> Vec<(Datatype, i64)> {
    if let [(only, number)] = elements[..] {
        return if number * count > 0 { vec![(only, number * count)] } else { Vec::new() };
    }
    repeat_n(elements, count.max(0) as usize).flatten().collect()
}
