//! The info object (MPI 5.0, chapter 10). All of it may be used before `MPI_Init` and after `MPI_Finalize`.

use core::ffi::{c_char, c_int};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::OnceLock;

use postrider_abi::*;
use postrider_engine::error::{Error, Result};
use postrider_engine::info::{Info, check_key};
use postrider_engine::objects::Key;

use crate::library;
use crate::parse::{self, Out, Text, TextOut};
use crate::tables::tables;

/// Reads an info object, `MPI_INFO_ENV` too.
///
/// # Errors
/// `MPI_ERR_INFO` for `MPI_INFO_NULL` and handles that are none.
fn read<T>(handle: MPI_Info, action: impl FnOnce(&Info) -> Result<T>) -> Result<T> {
    if handle == MPI_INFO_ENV {
        return action(environment());
    }
    action(tables().infos.get(key(handle)?)?)
}

/// The key of an info object that may be changed.
fn key(handle: MPI_Info) -> Result<Key> {
    if handle == MPI_INFO_ENV {
        return Err(Error::new(MPI_ERR_INFO, "MPI_INFO_ENV can be read, but neither changed nor freed"));
    }
    parse::info(handle)?.ok_or_else(|| Error::new(MPI_ERR_INFO, "the info object is MPI_INFO_NULL"))
}

/// The handle of a new info object.
///
/// # Errors
/// When there are too many.
pub fn new_handle(info: Info) -> Result<MPI_Info> {
    Ok(MPI_Info(parse::handle_of(tables().infos.insert(info)?)))
}

/// A copy of the hints of an info argument, empty for `MPI_INFO_NULL`.
///
/// # Errors
/// `MPI_ERR_INFO` for handles that are none.
pub fn hints(handle: MPI_Info) -> Result<Info> {
    if handle == MPI_INFO_NULL { Ok(Info::default()) } else { read(handle, |info| Ok(info.clone())) }
}

/// The kinds of memory that all objects support (section 11.4.3), as a hint that they tell.
const MEMORY_KINDS: (&str, &str) = ("mpi_memory_alloc_kinds", "mpi,system");

/// The handle of a new info object with the hints of an object and the kinds of memory that it supports.
///
/// # Errors
/// When the object's hints are too long.
pub fn new_handle_of_object(mut info: Info) -> Result<MPI_Info> {
    info.set(MEMORY_KINDS.0, MEMORY_KINDS.1)?;
    new_handle(info)
}

/// What is known of how this process was started (section 10, `MPI_INFO_ENV`): the keys of which nothing is known are absent.
fn environment() -> &'static Info {
    static ENVIRONMENT: OnceLock<Info> = OnceLock::new();
    ENVIRONMENT.get_or_init(|| {
        let mut arguments = std::env::args_os().map(OsString::into_vec);
        let command = arguments.next().unwrap_or_default();
        let directory = std::env::current_dir().map(|path| path.into_os_string().into_vec());
        let facts = [
            ("command", command),
            ("argv", arguments.collect::<Vec<_>>().join(&b' ')),
            ("maxprocs", library::ranks().to_string().into_bytes()),
            ("host", postrider_os::process::host_name().into_bytes()),
            ("arch", std::env::consts::ARCH.as_bytes().to_owned()),
            ("wdir", directory.unwrap_or_default()),
        ];
        let mut info = Info::default();
        for (key, value) in facts {
            // What is longer than a value can be is left out, rather than cut to something wrong.
            if !value.is_empty() && value.len() < MPI_MAX_INFO_VAL {
                info.set(key, value).unwrap_or_else(|error| unreachable!("{key}: {error}"));
            }
        }
        info
    })
}

anytime! {
    /// Section 10.
    MPI_Info_create (info: Out<MPI_Info>) {
        info.set(new_handle(Info::default())?)
    }

    /// Section 10: what `MPI_INFO_ENV` has. The arguments are known to this library anyhow.
    MPI_Info_create_env (_argc: c_int, _argv: Out<*mut c_char>, info: Out<MPI_Info>) {
        info.set(new_handle(environment().clone())?)
    }

    /// Section 10.
    MPI_Info_dup (info: MPI_Info, newinfo: Out<MPI_Info>) {
        let copy = read(info, |info| Ok(info.clone()))?;
        newinfo.set(new_handle(copy)?)
    }

    /// Section 10.
    MPI_Info_free (info: Out<MPI_Info>) {
        let key = key(info.get()?)?;
        tables().infos.remove(key)?;
        info.set(MPI_INFO_NULL)
    }

    /// Section 10.
    MPI_Info_set (info: MPI_Info, key: Text, value: Text) {
        let (name, value) = (name_of(key)?, value.get()?);
        let key = self::key(info)?;
        tables().infos.get_mut(key)?.set(name, value)
    }

    /// Section 10.
    MPI_Info_delete (info: MPI_Info, key: Text) {
        let name = name_of(key)?;
        let key = self::key(info)?;
        tables().infos.get_mut(key)?.delete(name)
    }

    /// Section 10: in C, there is room for one character more than `valuelen`.
    MPI_Info_get (info: MPI_Info, key: Text, valuelen: c_int, value: TextOut, flag: Out<c_int>) {
        let room = parse::length(valuelen.into(), "the length of the value")? + 1;
        match value_of(info, key)? {
            None => flag.set(0),
            Some(found) => {
                value.set(&found, room)?;
                flag.set(1)
            }
        }
    }

    /// Section 10: `buflen` counts the final NUL, and says afterwards how much the whole value needs.
    MPI_Info_get_string (info: MPI_Info, key: Text, buflen: Out<c_int>, value: TextOut, flag: Out<c_int>) {
        let room = parse::length(buflen.get()?.into(), "the length of the buffer")?;
        let Some(found) = value_of(info, key)? else { return flag.set(0) };
        if room > 0 {
            value.set(&found, room)?;
        }
        buflen.set(found.len() as c_int + 1)?;
        flag.set(1)
    }

    /// Section 10.
    MPI_Info_get_valuelen (info: MPI_Info, key: Text, valuelen: Out<c_int>, flag: Out<c_int>) {
        match value_of(info, key)? {
            None => flag.set(0),
            Some(found) => {
                valuelen.set(found.len() as c_int)?;
                flag.set(1)
            }
        }
    }

    /// Section 10.
    MPI_Info_get_nkeys (info: MPI_Info, nkeys: Out<c_int>) {
        nkeys.set(read(info, |info| Ok(info.len()))? as c_int)
    }

    /// Section 10.
    MPI_Info_get_nthkey (info: MPI_Info, n: c_int, key: TextOut) {
        let name = read(info, |info| {
            let name = usize::try_from(n).ok().and_then(|n| info.key(n));
            name.map(<[u8]>::to_vec).ok_or_else(|| {
                Error::new(MPI_ERR_ARG, format!("there is no key {n}: the info object has {} keys", info.len()))
            })
        })?;
        key.set(&name, MPI_MAX_INFO_KEY).map(drop)
    }
}

/// A key argument: a null pointer is no key.
fn name_of(key: Text) -> Result<Vec<u8>> {
    key.get().map_err(|error| Error::new(MPI_ERR_INFO_KEY, error.detail))
}

fn value_of(info: MPI_Info, key: Text) -> Result<Option<Vec<u8>>> {
    let name = name_of(key)?;
    check_key(&name)?;
    read(info, |info| Ok(info.value(&name).map(<[u8]>::to_vec)))
}
