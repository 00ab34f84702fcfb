//! Constructors of datatypes (MPI 5.0, sections 5.1.2 to 5.1.4 and 19.1.5).
//!
//! Each one turns its arguments into wide numbers and hands them to the engine's constructor of the same name, which
//! checks them and remembers them for `MPI_Type_get_contents`.

use core::ffi::c_int;
use std::sync::Arc;

use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::datatypes::{Datatype, Distribution};
use postrider_engine::error::Result;

use super::{Form, insert, unnamed};
use crate::instance;
use crate::parse::{self, In, Out};

type Made = Result<Arc<Datatype>>;

/// Makes a type from others, and its handle.
fn create(newtype: Out<MPI_Datatype>, make: impl FnOnce(&State) -> Made) -> Result<()> {
    let handle = instance().with(|state| {
        let made = make(state)?;
        insert(state, unnamed(made))
    })?;
    newtype.set(handle)
}

/// Makes a type from one other, and its handle.
fn derive(
    oldtype: MPI_Datatype,
    newtype: Out<MPI_Datatype>,
    make: impl FnOnce(&Arc<Datatype>) -> Made,
) -> Result<()> {
    create(newtype, |state| make(parse::datatype(state, oldtype)?))
}

/// The length of a constructor's arrays.
fn entries(count: i64) -> Result<usize> {
    Ok(parse::count(count)? as usize)
}

mpi! {
    /// Section 5.1.2.
    MPI_Type_contiguous / MPI_Type_contiguous_c (count: Int, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) {
        derive(oldtype, newtype, |old| Datatype::contiguous(Int::FORM, i64::from(count), old))
    }

    /// Section 5.1.2.
    MPI_Type_vector / MPI_Type_vector_c (
        count: Int, blocklength: Int, stride: Int, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>
    ) {
        let (count, length, stride) = (i64::from(count), i64::from(blocklength), i64::from(stride));
        derive(oldtype, newtype, |old| Datatype::vector(Int::FORM, count, length, stride, old))
    }

    /// Section 5.1.2.
    MPI_Type_create_hvector / MPI_Type_create_hvector_c (
        count: Int, blocklength: Int, stride: Address, oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>
    ) {
        let (count, length, stride) = (i64::from(count), i64::from(blocklength), parse::wide(stride)?);
        derive(oldtype, newtype, |old| Datatype::hvector(Int::FORM, count, length, stride, old))
    }

    /// Section 5.1.2.
    MPI_Type_indexed / MPI_Type_indexed_c (
        count: Int, array_of_blocklengths: In<Int>, array_of_displacements: In<Int>, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>
    ) {
        let count = entries(i64::from(count))?;
        let (lengths, places) = (array_of_blocklengths.wide(count)?, array_of_displacements.wide(count)?);
        derive(oldtype, newtype, |old| Datatype::indexed(Int::FORM, &lengths, &places, old))
    }

    /// Section 5.1.2.
    MPI_Type_create_hindexed / MPI_Type_create_hindexed_c (
        count: Int, array_of_blocklengths: In<Int>, array_of_displacements: In<Address>, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>
    ) {
        let count = entries(i64::from(count))?;
        let (lengths, places) = (array_of_blocklengths.wide(count)?, array_of_displacements.wide(count)?);
        derive(oldtype, newtype, |old| Datatype::hindexed(Int::FORM, &lengths, &places, old))
    }

    /// Section 5.1.2.
    MPI_Type_create_indexed_block / MPI_Type_create_indexed_block_c (
        count: Int, blocklength: Int, array_of_displacements: In<Int>, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>
    ) {
        let places = array_of_displacements.wide(entries(i64::from(count))?)?;
        derive(oldtype, newtype, |old| Datatype::indexed_block(Int::FORM, i64::from(blocklength), &places, old))
    }

    /// Section 5.1.2.
    MPI_Type_create_hindexed_block / MPI_Type_create_hindexed_block_c (
        count: Int, blocklength: Int, array_of_displacements: In<Address>, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>
    ) {
        let places = array_of_displacements.wide(entries(i64::from(count))?)?;
        derive(oldtype, newtype, |old| Datatype::hindexed_block(Int::FORM, i64::from(blocklength), &places, old))
    }

    /// Section 5.1.2.
    MPI_Type_create_struct / MPI_Type_create_struct_c (
        count: Int, array_of_blocklengths: In<Int>, array_of_displacements: In<Address>,
        array_of_types: In<MPI_Datatype>, newtype: Out<MPI_Datatype>
    ) {
        let count = entries(i64::from(count))?;
        let (lengths, places) = (array_of_blocklengths.wide(count)?, array_of_displacements.wide(count)?);
        let handles = array_of_types.all(count)?;
        create(newtype, |state| {
            let types = handles.into_iter().map(|handle| parse::datatype(state, handle).cloned());
            Datatype::structure(Int::FORM, &lengths, &places, &types.collect::<Result<Vec<_>>>()?)
        })
    }

    /// Section 5.1.3.
    MPI_Type_create_subarray / MPI_Type_create_subarray_c (
        ndims: c_int, array_of_sizes: In<Int>, array_of_subsizes: In<Int>, array_of_starts: In<Int>, order: c_int,
        oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>
    ) {
        let ndims = parse::length(i64::from(ndims), "the number of dimensions")?;
        let (sizes, subsizes) = (array_of_sizes.wide(ndims)?, array_of_subsizes.wide(ndims)?);
        let starts = array_of_starts.wide(ndims)?;
        derive(oldtype, newtype, |old| {
            Datatype::subarray(Int::FORM, &sizes, &subsizes, &starts, order, old)
        })
    }

    /// Section 5.1.4.
    MPI_Type_create_darray / MPI_Type_create_darray_c (
        size: c_int, rank: c_int, ndims: c_int, array_of_gsizes: In<Int>, array_of_distribs: In<c_int>,
        array_of_dargs: In<c_int>, array_of_psizes: In<c_int>, order: c_int, oldtype: MPI_Datatype,
        newtype: Out<MPI_Datatype>
    ) {
        let ndims = parse::length(i64::from(ndims), "the number of dimensions")?;
        let sizes = array_of_gsizes.wide(ndims)?;
        let dealt = (array_of_distribs, array_of_dargs, array_of_psizes);
        let dimensions = dimensions(&sizes, dealt)?;
        derive(oldtype, newtype, |old| Datatype::darray(Int::FORM, size, rank, &dimensions, order, old))
    }

    /// Section 5.1.7.
    MPI_Type_create_resized / MPI_Type_create_resized_c (
        oldtype: MPI_Datatype, lb: Address, extent: Address, newtype: Out<MPI_Datatype>
    ) {
        let (lb, extent) = (parse::wide(lb)?, parse::wide(extent)?);
        derive(oldtype, newtype, |old| Datatype::resized(Int::FORM, lb, extent, old))
    }
}

/// How each dimension of an array of these sizes is dealt out: distributions, their arguments, numbers of processes.
fn dimensions(
    sizes: &[i64],
    (distributions, arguments, processes): (In<c_int>, In<c_int>, In<c_int>),
) -> Result<Vec<Distribution>> {
    let distributions = distributions.all(sizes.len())?;
    let (arguments, processes) = (arguments.all(sizes.len())?, processes.all(sizes.len())?);
    let dimension = |index: usize| Distribution {
        global_size: sizes[index],
        distribution: distributions[index],
        argument: arguments[index],
        processes: processes[index],
    };
    Ok((0..sizes.len()).map(dimension).collect())
}

/// The handle of an unnamed predefined type: calls with equal arguments get the same one (section 19.1.5).
pub(super) fn f90_handle(state: &mut State, made: Arc<Datatype>) -> Result<MPI_Datatype> {
    let same = |other: &Datatype| {
        let (a, b) = (made.contents(), other.contents());
        a.combiner == b.combiner && a.integers == b.integers
    };
    let known = state.datatypes.iter().find(|(_, object)| same(&object.datatype)).map(|(key, _)| key);
    match known {
        Some(key) => Ok(MPI_Datatype(parse::handle_of(key))),
        None => insert(state, unnamed(made)),
    }
}

fn create_f90(newtype: Out<MPI_Datatype>, made: Arc<Datatype>) -> Result<()> {
    newtype.set(instance().with(|state| f90_handle(state, made))?)
}

mpi! {
    /// Section 19.1.5.
    MPI_Type_create_f90_real (p: c_int, r: c_int, newtype: Out<MPI_Datatype>) {
        create_f90(newtype, Datatype::f90_real(p, r)?)
    }

    /// Section 19.1.5.
    MPI_Type_create_f90_complex (p: c_int, r: c_int, newtype: Out<MPI_Datatype>) {
        create_f90(newtype, Datatype::f90_complex(p, r)?)
    }

    /// Section 19.1.5.
    MPI_Type_create_f90_integer (r: c_int, newtype: Out<MPI_Datatype>) {
        create_f90(newtype, Datatype::f90_integer(r)?)
    }
}
