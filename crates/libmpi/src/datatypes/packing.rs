//! Packing (MPI 5.0, section 5.2) and the portable representation "external32" (section 5.3).
//!
//! What `MPI_Pack` writes is the data as it travels in a message, without a header: so it may be sent as `MPI_PACKED` and
//! received as what it is, and the other way round. The engine's lock is not held while data is copied.

use std::sync::Arc;

use postrider_abi::*;
use postrider_engine::datatypes::{self, Datatype};
use postrider_engine::error::{Error, Result};

use crate::instance;
use crate::parse::{self, Data, Memory, Out, Text};

/// The packed side of a call: buffer, size, position.
type Packed = (Memory, i64, i64);

/// The only data representation that the standard requires.
const EXTERNAL32: &str = "external32";

/// Checks the typed side, and finds its datatype.
fn datatype_of((memory, count, handle): Data) -> Result<Arc<Datatype>> {
    instance().with(|state| {
        parse::buffer(state, memory, count, handle)?;
        parse::committed(state, handle).cloned()
    })
}

fn check_communicator(comm: MPI_Comm) -> Result<()> {
    let key = parse::communicator(comm)?;
    instance().with(|state| state.communicators.get(key).map(drop))
}

fn check_representation(datarep: Text) -> Result<()> {
    let name = datarep.shown()?;
    if name != EXTERNAL32 {
        let detail = format!("the data representation is \"{name}\"; the only one is \"{EXTERNAL32}\"");
        return Err(Error::new(MPI_ERR_ARG, detail));
    }
    Ok(())
}

/// Checks that `bytes` more bytes fit the packed side, and returns the position after them.
fn advance((memory, size, position): Packed, bytes: u64) -> Result<i64> {
    if position < 0 || size < position {
        let detail = format!("position {position} is not within the packed buffer of {size} bytes");
        return Err(Error::new(MPI_ERR_ARG, detail));
    }
    if bytes > (size - position) as u64 {
        let detail =
            format!("{bytes} bytes of packed data at position {position} of a packed buffer of {size} bytes");
        return Err(Error::new(MPI_ERR_TRUNCATE, detail));
    }
    if bytes > 0 && memory.0 == MPI_BOTTOM {
        return Err(Error::new(MPI_ERR_BUFFER, "the packed buffer is a null pointer"));
    }
    Ok(position + bytes as i64)
}

fn pack(data: Data, out: Packed) -> Result<i64> {
    let datatype = datatype_of(data)?;
    let bytes = datatypes::pack_size(&datatype, data.1);
    let end = advance(out, bytes)?;
    datatypes::pack_to(&datatype, data.1, data.0.user(), 0, out.0.user().offset(out.2), bytes as usize);
    Ok(end)
}

fn unpack(input: Packed, data: Data) -> Result<i64> {
    let datatype = datatype_of(data)?;
    let bytes = datatypes::pack_size(&datatype, data.1);
    let end = advance(input, bytes)?;
    let from = input.0.user().offset(input.2);
    datatypes::unpack_from(&datatype, data.1, data.0.user(), 0, from, bytes as usize);
    Ok(end)
}

fn pack_external(datarep: Text, data: Data, out: Packed) -> Result<i64> {
    check_representation(datarep)?;
    let datatype = datatype_of(data)?;
    let bytes = datatypes::pack_external_size(&datatype, data.1)?;
    let end = advance(out, bytes as u64)?;
    let mut external = vec![0; bytes as usize];
    datatypes::pack_external(&datatype, data.1, data.0.user(), &mut external)?;
    out.0.user().offset(out.2).write(&external);
    Ok(end)
}

fn unpack_external(datarep: Text, input: Packed, data: Data) -> Result<i64> {
    check_representation(datarep)?;
    let datatype = datatype_of(data)?;
    let bytes = datatypes::pack_external_size(&datatype, data.1)?;
    let end = advance(input, bytes as u64)?;
    let mut external = vec![0; bytes as usize];
    input.0.user().offset(input.2).read(&mut external);
    datatypes::unpack_external(&datatype, data.1, data.0.user(), &external)?;
    Ok(end)
}

mpi! {
    /// Section 5.2.
    MPI_Pack / MPI_Pack_c (
        inbuf: Memory, incount: Int, datatype: MPI_Datatype, outbuf: Memory, outsize: Int, position: Out<Int>,
        comm: MPI_Comm
    ) on comm {
        check_communicator(comm)?;
        let out = (outbuf, i64::from(outsize), i64::from(position.get()?));
        position.set_number(Some(pack((inbuf, i64::from(incount), datatype), out)?))
    }

    /// Section 5.2.
    MPI_Unpack / MPI_Unpack_c (
        inbuf: Memory, insize: Int, position: Out<Int>, outbuf: Memory, outcount: Int, datatype: MPI_Datatype,
        comm: MPI_Comm
    ) on comm {
        check_communicator(comm)?;
        let input = (inbuf, i64::from(insize), i64::from(position.get()?));
        position.set_number(Some(unpack(input, (outbuf, i64::from(outcount), datatype))?))
    }

    /// Section 5.2.
    MPI_Pack_size / MPI_Pack_size_c (incount: Int, datatype: MPI_Datatype, comm: MPI_Comm, size: Out<Int>) on comm {
        check_communicator(comm)?;
        let count = parse::count(i64::from(incount))?;
        let each = instance().with(|state| Ok(parse::datatype(state, datatype)?.size()))?;
        size.set_number(each.checked_mul(count))
    }

    /// Section 5.3.
    MPI_Pack_external / MPI_Pack_external_c (
        datarep: Text, inbuf: Memory, incount: Int, datatype: MPI_Datatype, outbuf: Memory, outsize: Address,
        position: Out<Address>
    ) {
        let out = (outbuf, parse::wide(outsize)?, parse::wide(position.get()?)?);
        let end = pack_external(datarep, (inbuf, i64::from(incount), datatype), out)?;
        position.set_number(Some(end))
    }

    /// Section 5.3.
    MPI_Unpack_external / MPI_Unpack_external_c (
        datarep: Text, inbuf: Memory, insize: Address, position: Out<Address>, outbuf: Memory, outcount: Int,
        datatype: MPI_Datatype
    ) {
        let input = (inbuf, parse::wide(insize)?, parse::wide(position.get()?)?);
        let end = unpack_external(datarep, input, (outbuf, i64::from(outcount), datatype))?;
        position.set_number(Some(end))
    }

    /// Section 5.3.
    MPI_Pack_external_size / MPI_Pack_external_size_c (
        datarep: Text, incount: Int, datatype: MPI_Datatype, size: Out<Address>
    ) {
        check_representation(datarep)?;
        let count = parse::count(i64::from(incount))?;
        let bytes = instance().with(|state| {
            datatypes::pack_external_size(parse::datatype(state, datatype)?, count)
        })?;
        size.set_number(Some(bytes))
    }
}
