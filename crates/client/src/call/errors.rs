//! Error codes with texts (sections 9.4 and 9.5).
//!
//! A layer says more of an error than the class does: which file, and what to do. In a library that contains this code, that library
//! knows the text. Any other gets a code for it, of the same class, by `MPI_Add_error_code`. Libraries have a few thousand of those only, so that each class
//! has a few at a time; the oldest gets the text of the newest error.

use core::ffi::{c_char, c_int};
use std::collections::{BTreeMap, VecDeque};
use std::ffi::CString;
use std::sync::{Mutex, PoisonError};

use postrider_abi::*;

use super::{Library, check, rust_text};
use crate::Result;

/// Texts of a class that are remembered at the same time.
const TEXTS_MAX: usize = 16;

/// Codes with their texts, for each class, the oldest first.
static ADDED: Mutex<BTreeMap<c_int, VecDeque<(c_int, String)>>> = Mutex::new(BTreeMap::new());

impl Library {
    /// The class of an error code.
    pub fn error_class(&self, code: c_int) -> Result<c_int> {
        let mut class = 0;
        // SAFETY: a place for the result.
        check("MPI_Error_class", unsafe { (self.error_class)(code, &raw mut class) })?;
        Ok(class)
    }

    /// The text of an error code.
    pub fn error_string(&self, code: c_int) -> Result<String> {
        let (mut text, mut length) = ([0 as c_char; MPI_MAX_ERROR_STRING], 0);
        // SAFETY: room for any text, and a place for its length.
        let got = unsafe { (self.error_string)(code, text.as_mut_ptr(), &raw mut length) };
        check("MPI_Error_string", got)?;
        Ok(rust_text(&text, length))
    }

    /// An error code of this class with this text; the class itself if the library gives none.
    pub fn error_code(&self, class: c_int, text: &str) -> c_int {
        if self.contains_this { class } else { self.added(class, text).unwrap_or(class) }
    }

    fn added(&self, class: c_int, text: &str) -> Result<c_int> {
        let mut added = ADDED.lock().unwrap_or_else(PoisonError::into_inner);
        let of_class = added.entry(class).or_default();
        if let Some((code, _)) = of_class.iter().find(|(_, known)| known == text) {
            return Ok(*code);
        }
        let oldest = if of_class.len() < TEXTS_MAX { None } else { of_class.pop_front() };
        let code = match oldest {
            Some((code, _)) => code,
            None => self.new_error_code(class)?,
        };
        let shown = c_text(text);
        // SAFETY: a code that was added, and a NUL-terminated text.
        check("MPI_Add_error_string", unsafe { (self.add_error_string)(code, shown.as_ptr()) })?;
        of_class.push_back((code, text.to_owned()));
        Ok(code)
    }

    fn new_error_code(&self, class: c_int) -> Result<c_int> {
        let mut code = class;
        // SAFETY: a place for the result.
        check("MPI_Add_error_code", unsafe { (self.add_error_code)(class, &raw mut code) })?;
        Ok(code)
    }
}

/// As much of a text as an error string has room for.
fn c_text(text: &str) -> CString {
    let ends = text.char_indices().map(|(at, letter)| at + letter.len_utf8());
    let end = ends.take_while(|end| *end < MPI_MAX_ERROR_STRING).last().unwrap_or(0);
    let bytes: Vec<u8> = text.bytes().take(end).filter(|&byte| byte != 0).collect();
    CString::new(bytes).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_letters() {
        let long = "\u{e4}".repeat(MPI_MAX_ERROR_STRING);
        let cut = c_text(&long);
        assert!(cut.count_bytes() < MPI_MAX_ERROR_STRING && cut.count_bytes() > MPI_MAX_ERROR_STRING - 4);
        assert!(cut.to_str().is_ok());
        assert_eq!(c_text("a\0b").to_bytes(), b"ab");
    }
}
