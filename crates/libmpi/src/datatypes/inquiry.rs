//! Questions about datatypes: their numbers (MPI 5.0, sections 5.1.5 to 5.1.8), how they were made (section 5.1.13), and
//! which predefined type has certain properties (sections 5.1.4 and 19.1.5).

use core::ffi::c_int;
use std::sync::Arc;

use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::datatypes::{Contents, Datatype};
use postrider_engine::error::{Error, Result};

use super::constructors::f90_handle;
use super::{insert, unnamed};
use crate::instance;
use crate::parse::{self, Memory, Out};

/// Asks a type something.
fn ask<T>(handle: MPI_Datatype, question: impl FnOnce(&Datatype) -> T) -> Result<T> {
    instance().with(|state| Ok(question(parse::datatype(state, handle)?)))
}

/// Asks a type for its lower bound and extent, or the true ones.
fn bounds<T: Copy + TryFrom<i64>>(
    handle: MPI_Datatype,
    question: impl FnOnce(&Datatype) -> (i64, i64),
    (lb, extent): (Out<T>, Out<T>),
) -> Result<()> {
    let found = ask(handle, question)?;
    lb.set_number(Some(found.0))?;
    extent.set_number(Some(found.1))
}

fn given(datatype: &Datatype) -> (i64, i64) {
    (datatype.lb(), datatype.extent())
}

fn true_bounds(datatype: &Datatype) -> (i64, i64) {
    (datatype.true_lb(), datatype.true_extent())
}

mpi! {
    /// Section 5.1.5.
    MPI_Get_address (location: Memory, address: Out<MPI_Aint>) {
        address.set(location.0 as MPI_Aint)
    }

    /// Section 5.1.5.
    MPI_Type_size / MPI_Type_size_c (datatype: MPI_Datatype, size: Out<Int>) {
        size.set_number(Some(ask(datatype, Datatype::size)?))
    }

    /// Section 5.1.5; deprecated.
    MPI_Type_size_x (datatype: MPI_Datatype, size: Out<MPI_Count>) {
        size.set_number(Some(ask(datatype, Datatype::size)?))
    }

    /// Section 5.1.7.
    MPI_Type_get_extent / MPI_Type_get_extent_c (datatype: MPI_Datatype, lb: Out<Address>, extent: Out<Address>) {
        bounds(datatype, given, (lb, extent))
    }

    /// Section 5.1.7; deprecated.
    MPI_Type_get_extent_x (datatype: MPI_Datatype, lb: Out<MPI_Count>, extent: Out<MPI_Count>) {
        bounds(datatype, given, (lb, extent))
    }

    /// Section 5.1.8.
    MPI_Type_get_true_extent / MPI_Type_get_true_extent_c (
        datatype: MPI_Datatype, true_lb: Out<Address>, true_extent: Out<Address>
    ) {
        bounds(datatype, true_bounds, (true_lb, true_extent))
    }

    /// Section 5.1.8; deprecated.
    MPI_Type_get_true_extent_x (datatype: MPI_Datatype, true_lb: Out<MPI_Count>, true_extent: Out<MPI_Count>) {
        bounds(datatype, true_bounds, (true_lb, true_extent))
    }

    /// Section 5.1.13.
    MPI_Type_get_envelope (
        datatype: MPI_Datatype, num_integers: Out<c_int>, num_addresses: Out<c_int>, num_datatypes: Out<c_int>,
        combiner: Out<c_int>
    ) {
        let contents = ask(datatype, |datatype| datatype.contents().clone())?;
        without_large_counts(&contents)?;
        num_integers.set_number(Some(contents.integers.len() as i64))?;
        num_addresses.set_number(Some(contents.addresses.len() as i64))?;
        num_datatypes.set_number(Some(contents.datatypes.len() as i64))?;
        combiner.set(contents.combiner)
    }

    /// Section 5.1.13.
    MPI_Type_get_envelope_c (
        datatype: MPI_Datatype, num_integers: Out<MPI_Count>, num_addresses: Out<MPI_Count>,
        num_large_counts: Out<MPI_Count>, num_datatypes: Out<MPI_Count>, combiner: Out<c_int>
    ) {
        let contents = ask(datatype, |datatype| datatype.contents().clone())?;
        num_integers.set(contents.integers.len() as MPI_Count)?;
        num_addresses.set(contents.addresses.len() as MPI_Count)?;
        num_large_counts.set(contents.large_counts.len() as MPI_Count)?;
        num_datatypes.set(contents.datatypes.len() as MPI_Count)?;
        combiner.set(contents.combiner)
    }

    /// Section 5.1.13.
    MPI_Type_get_contents (
        datatype: MPI_Datatype, max_integers: c_int, max_addresses: c_int, max_datatypes: c_int,
        array_of_integers: Out<c_int>, array_of_addresses: Out<MPI_Aint>, array_of_datatypes: Out<MPI_Datatype>
    ) {
        let contents = ask(datatype, |datatype| datatype.contents().clone())?;
        without_large_counts(&contents)?;
        fits("addresses", contents.addresses.len(), max_addresses.into())?;
        fits("datatypes", contents.datatypes.len(), max_datatypes.into())?;
        report(&contents, (array_of_integers, max_integers.into()), array_of_addresses, array_of_datatypes)
    }

    /// Section 5.1.13.
    MPI_Type_get_contents_c (
        datatype: MPI_Datatype, max_integers: MPI_Count, max_addresses: MPI_Count, max_large_counts: MPI_Count,
        max_datatypes: MPI_Count, array_of_integers: Out<c_int>, array_of_addresses: Out<MPI_Aint>,
        array_of_large_counts: Out<MPI_Count>, array_of_datatypes: Out<MPI_Datatype>
    ) {
        let contents = ask(datatype, |datatype| datatype.contents().clone())?;
        fits("addresses", contents.addresses.len(), max_addresses)?;
        fits("large counts", contents.large_counts.len(), max_large_counts)?;
        fits("datatypes", contents.datatypes.len(), max_datatypes)?;
        for (index, &count) in contents.large_counts.iter().enumerate() {
            array_of_large_counts.set_at(index, count)?;
        }
        report(&contents, (array_of_integers, max_integers), array_of_addresses, array_of_datatypes)
    }

    /// Section 5.1.4: the pair type for `MPI_MINLOC` and `MPI_MAXLOC`, or `MPI_DATATYPE_NULL`.
    MPI_Type_get_value_index (
        value_type: MPI_Datatype, index_type: MPI_Datatype, pair_type: Out<MPI_Datatype>
    ) {
        let pair = instance().with(|state| {
            let (value, index) = (parse::datatype(state, value_type)?, parse::datatype(state, index_type)?);
            Ok(Datatype::value_index(value, index))
        })?;
        pair_type.set(pair.and_then(|pair| named_handle(pair)).unwrap_or(MPI_DATATYPE_NULL))
    }

    /// Section 19.1.5.
    MPI_Type_match_size (typeclass: c_int, size: c_int, datatype: Out<MPI_Datatype>) {
        let found = Datatype::match_size(typeclass, i64::from(size))?;
        datatype.set(named_handle(found).unwrap_or(MPI_DATATYPE_NULL))
    }
}

/// The handle of a named predefined type.
fn named_handle(datatype: &Datatype) -> Option<MPI_Datatype> {
    datatype.as_predefined().map(|kind| kind.row().handle)
}

/// The functions with `int` counts cannot tell of a type that was made by a large-count function.
fn without_large_counts(contents: &Contents) -> Result<()> {
    if contents.large_counts.is_empty() {
        return Ok(());
    }
    let detail = "the datatype was made with large counts; ask for its envelope and contents with the functions \
                  whose names end in _c";
    Err(Error::new(MPI_ERR_TYPE, detail))
}

/// Whether an array of the caller is long enough.
fn fits(what: &str, needed: usize, room: i64) -> Result<()> {
    if needed as i64 > room {
        let detail =
            format!("the datatype has {needed} {what} and the array is for {room}; see its envelope");
        return Err(Error::new(MPI_ERR_ARG, detail));
    }
    Ok(())
}

/// Writes what both forms of `MPI_Type_get_contents` write.
fn report(
    contents: &Contents,
    (integers, room): (Out<c_int>, i64),
    addresses: Out<MPI_Aint>,
    datatypes: Out<MPI_Datatype>,
) -> Result<()> {
    if contents.combiner == MPI_COMBINER_NAMED {
        return Err(Error::new(MPI_ERR_TYPE, "a named predefined datatype has no contents"));
    }
    fits("integers", contents.integers.len(), room)?;
    for (index, &integer) in contents.integers.iter().enumerate() {
        integers.set_at(index, integer)?;
    }
    for (index, &address) in contents.addresses.iter().enumerate() {
        addresses.set_at(index, address as MPI_Aint)?;
    }
    for (index, datatype) in contents.datatypes.iter().enumerate() {
        datatypes.set_at(index, instance().with(|state| handle_for(state, datatype))?)?;
    }
    Ok(())
}

/// The handle of a type that another one was made from: a new one if it is derived, which the program is to free.
fn handle_for(state: &mut State, datatype: &Arc<Datatype>) -> Result<MPI_Datatype> {
    match named_handle(datatype) {
        Some(handle) => Ok(handle),
        None if datatype.is_predefined() => f90_handle(state, Arc::clone(datatype)),
        None => insert(state, unnamed(Arc::clone(datatype))),
    }
}
