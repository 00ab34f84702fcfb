//! Datatypes (MPI 5.0, chapter 5): handles of the types, their names, and their beginning and end.
//!
//! The type itself is a shared value of the engine; a handle adds a name and attributes ([`DatatypeObject`]). A predefined
//! type gets such an object only when the program gives it a name or an attribute. Constructors, questions and packing have
//! a file each.

mod constructors;
mod inquiry;
mod packing;

use core::ffi::c_int;
use std::sync::Arc;

use postrider_abi::*;
use postrider_engine::communicators::caching::Attributes;
use postrider_engine::datatypes::{CountForm, Datatype};
use postrider_engine::error::{Error, Result};
use postrider_engine::{DatatypeObject, State};

use crate::caching::{self, Owner};
use crate::instance;
use crate::parse::{self, Out, Text, TextOut};

/// Tells a function from its large-count twin by the type of its counts.
trait Form {
    /// The form of the constructor that has counts of this type.
    const FORM: CountForm;
}

impl Form for c_int {
    const FORM: CountForm = CountForm::Int;
}

impl Form for MPI_Count {
    const FORM: CountForm = CountForm::Large;
}

/// What a handle that nobody has named yet stands for.
fn unnamed(datatype: Arc<Datatype>) -> DatatypeObject {
    let name = datatype.as_predefined().map_or("", |kind| kind.row().name);
    DatatypeObject { name: name.as_bytes().to_owned(), attributes: Attributes::default(), datatype }
}

/// A new handle of a type.
fn insert(state: &mut State, object: DatatypeObject) -> Result<MPI_Datatype> {
    Ok(MPI_Datatype(parse::handle_of(state.datatypes.insert(object)?)))
}

/// What a handle stands for, to change its name or attributes.
pub fn object(state: &mut State, handle: MPI_Datatype) -> Result<&mut DatatypeObject> {
    if let Some(predefined) = Datatype::predefined(handle) {
        let made = || unnamed(Arc::clone(predefined));
        return Ok(state.predefined_datatypes.entry(handle).or_insert_with(made));
    }
    parse::datatype(state, handle)?;
    match parse::key_of(handle.0) {
        Some(key) => state.datatypes.get_mut(key),
        None => Err(Error::new(MPI_ERR_TYPE, "the handle is no datatype")),
    }
}

fn name_of(state: &State, handle: MPI_Datatype) -> Result<&[u8]> {
    if handle == MPI_DATATYPE_NULL {
        return Ok(b"MPI_DATATYPE_NULL");
    }
    let datatype = parse::datatype(state, handle)?;
    match parse::key_of(handle.0) {
        Some(key) => Ok(&state.datatypes.get(key)?.name),
        None => {
            let named = state.predefined_datatypes.get(&handle).map(|object| object.name.as_slice());
            Ok(named
                .unwrap_or_else(|| datatype.as_predefined().map_or("", |kind| kind.row().name).as_bytes()))
        }
    }
}

/// Gives a duplicate the attributes that the copy callbacks of the original's say, and takes its handle back if one fails.
fn copy_attributes(original: MPI_Datatype, copy: MPI_Datatype) -> Result<()> {
    let copied = caching::copy_all(Owner::Datatype(original), Owner::Datatype(copy));
    if copied.is_err()
        && let Some(key) = parse::key_of(copy.0)
    {
        instance().with(|state| state.datatypes.remove(key))?;
    }
    copied
}

mpi! {
    /// Section 5.1.9.
    MPI_Type_commit (datatype: Out<MPI_Datatype>) {
        let handle = datatype.get()?;
        instance().with(|state| {
            parse::datatype(state, handle)?.commit();
            Ok(())
        })
    }

    /// Section 5.1.9. Whoever still uses the type, a message or another type, has it to itself.
    MPI_Type_free (datatype: Out<MPI_Datatype>) {
        let handle = datatype.get()?;
        let predefined = instance().with(|state| Ok(parse::datatype(state, handle)?.is_predefined()))?;
        let Some(key) = parse::key_of(handle.0).filter(|_| !predefined) else {
            return Err(Error::new(MPI_ERR_TYPE, "the datatype is predefined; it cannot be freed"));
        };
        caching::delete_all(Owner::Datatype(handle))?;
        instance().with(|state| state.datatypes.remove(key))?;
        datatype.set(MPI_DATATYPE_NULL)
    }

    /// Section 5.1.10.
    MPI_Type_dup (oldtype: MPI_Datatype, newtype: Out<MPI_Datatype>) {
        let copy = instance().with(|state| {
            let copy = Datatype::dup(parse::datatype(state, oldtype)?);
            insert(state, unnamed(copy))
        })?;
        // A program that goes on after an error finds that there is no duplicate.
        newtype.set(MPI_DATATYPE_NULL)?;
        copy_attributes(oldtype, copy)?;
        newtype.set(copy)
    }

    /// Section 7.8.
    MPI_Type_set_name (datatype: MPI_Datatype, type_name: Text) {
        let name = type_name.get()?;
        instance().with(|state| {
            object(state, datatype)?.name = name;
            Ok(())
        })
    }

    /// Section 7.8.
    MPI_Type_get_name (datatype: MPI_Datatype, type_name: TextOut, resultlen: Out<c_int>) {
        let name = instance().with(|state| name_of(state, datatype).map(<[u8]>::to_vec))?;
        resultlen.set(type_name.set(&name, MPI_MAX_OBJECT_NAME)?)
    }
}
