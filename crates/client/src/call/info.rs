//! Info objects (chapter 10), as lists of keys and values.

use core::ffi::{c_char, c_int};
use std::ffi::CString;

use postrider_abi::*;

use super::{Library, check};
use crate::Result;

/// The values that an info object has for these keys.
///
/// # Errors
/// What MPI returns.
pub fn info_values<'k>(
    library: &Library,
    info: MPI_Info,
    keys: &[&'k str],
) -> Result<Vec<(&'k str, String)>> {
    let mut found = Vec::new();
    if info == MPI_INFO_NULL {
        return Ok(found);
    }
    for key in keys {
        if let Some(value) = library.info_value(info, key)? {
            found.push((*key, value));
        }
    }
    Ok(found)
}

impl Library {
    fn info_value(&self, info: MPI_Info, key: &str) -> Result<Option<String>> {
        let Ok(key) = CString::new(key) else { return Ok(None) };
        let mut text: [c_char; MPI_MAX_INFO_VAL + 1] = [0; _];
        let (mut length, mut flag) = (text.len() as c_int, 0);
        // SAFETY: a NUL-terminated key, and room for as many characters as the length says.
        let code = unsafe {
            let (key, length) = (key.as_ptr(), &raw mut length);
            (self.info_get_string)(info, key, length, text.as_mut_ptr(), &raw mut flag)
        };
        check("MPI_Info_get_string", code)?;
        let bytes: Vec<u8> =
            text.iter().take_while(|&&letter| letter != 0).map(|&letter| letter as u8).collect();
        Ok((flag != 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
    }

    /// A new info object with these keys and values.
    pub fn new_info(&self, values: &[(&str, String)]) -> Result<MPI_Info> {
        let mut info = MPI_INFO_NULL;
        // SAFETY: a place for the result.
        check("MPI_Info_create", unsafe { (self.info_create)(&raw mut info) })?;
        for (key, value) in values {
            let (Ok(key), Ok(value)) = (CString::new(*key), CString::new(value.as_str())) else { continue };
            // SAFETY: two NUL-terminated texts.
            check("MPI_Info_set", unsafe { (self.info_set)(info, key.as_ptr(), value.as_ptr()) })?;
        }
        Ok(info)
    }
}
