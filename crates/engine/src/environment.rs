//! Error handlers, error classes, codes and strings (MPI 5.0, chapter 9).

use postrider_abi as abi;
use postrider_abi::{MPI_ERR_ARG, MPI_ERR_LASTCODE, MPI_MAX_ERROR_STRING};

use crate::error::{Error, Result};
use crate::objects::Key;

/// What an object does with an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handler {
    /// `MPI_ERRORS_ARE_FATAL`: end the job.
    Fatal,
    /// `MPI_ERRORS_ABORT`: end the processes of the object.
    Abort,
    /// `MPI_ERRORS_RETURN`: return the code.
    Return,
    /// A function of the user.
    User(Key),
}

/// What kind of object an error handler of a user is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerKind {
    /// Communicators.
    Communicator,
    /// Files.
    File,
    /// Sessions.
    Session,
    /// Windows.
    Window,
}

/// A user's error handler.
#[derive(Clone, Copy, Debug)]
pub struct ErrorHandler {
    /// What it is for.
    pub kind: HandlerKind,
    /// Address of the C function.
    pub function: usize,
    /// Number of objects that use it, plus one while the user has its handle.
    pub uses: u32,
}

/// Names and texts of the standard's error classes.
const CLASSES: &[(i32, &str)] = &[
    (abi::MPI_SUCCESS, "no error"),
    (abi::MPI_ERR_BUFFER, "invalid buffer"),
    (abi::MPI_ERR_COUNT, "invalid count"),
    (abi::MPI_ERR_TYPE, "invalid datatype"),
    (abi::MPI_ERR_TAG, "invalid tag"),
    (abi::MPI_ERR_COMM, "invalid communicator"),
    (abi::MPI_ERR_RANK, "invalid rank"),
    (abi::MPI_ERR_REQUEST, "invalid request"),
    (abi::MPI_ERR_ROOT, "invalid root"),
    (abi::MPI_ERR_GROUP, "invalid group"),
    (abi::MPI_ERR_OP, "invalid operation"),
    (abi::MPI_ERR_TOPOLOGY, "invalid topology"),
    (abi::MPI_ERR_DIMS, "invalid dimension"),
    (abi::MPI_ERR_ARG, "invalid argument"),
    (abi::MPI_ERR_UNKNOWN, "unknown error"),
    (abi::MPI_ERR_TRUNCATE, "message truncated"),
    (abi::MPI_ERR_OTHER, "error of the system or of another process"),
    (abi::MPI_ERR_INTERN, "error inside the library"),
    (abi::MPI_ERR_PENDING, "operation not complete"),
    (abi::MPI_ERR_IN_STATUS, "the error codes are in the statuses"),
    (abi::MPI_ERR_ACCESS, "permission denied"),
    (abi::MPI_ERR_AMODE, "invalid access mode"),
    (abi::MPI_ERR_ASSERT, "invalid assertion"),
    (abi::MPI_ERR_BAD_FILE, "invalid file name"),
    (abi::MPI_ERR_BASE, "invalid base of memory"),
    (abi::MPI_ERR_CONVERSION, "data conversion failed"),
    (abi::MPI_ERR_DISP, "invalid displacement"),
    (abi::MPI_ERR_DUP_DATAREP, "data representation defined already"),
    (abi::MPI_ERR_FILE_EXISTS, "file exists"),
    (abi::MPI_ERR_FILE_IN_USE, "file is in use"),
    (abi::MPI_ERR_FILE, "invalid file handle"),
    (abi::MPI_ERR_INFO_KEY, "invalid info key"),
    (abi::MPI_ERR_INFO_NOKEY, "no such info key"),
    (abi::MPI_ERR_INFO_VALUE, "invalid info value"),
    (abi::MPI_ERR_INFO, "invalid info object"),
    (abi::MPI_ERR_IO, "input or output failed"),
    (abi::MPI_ERR_KEYVAL, "invalid attribute key"),
    (abi::MPI_ERR_LOCKTYPE, "invalid lock type"),
    (abi::MPI_ERR_NAME, "no such service name"),
    (abi::MPI_ERR_NO_MEM, "out of memory"),
    (abi::MPI_ERR_NOT_SAME, "an argument that must be the same differs between processes"),
    (abi::MPI_ERR_NO_SPACE, "no space left"),
    (abi::MPI_ERR_NO_SUCH_FILE, "no such file"),
    (abi::MPI_ERR_PORT, "invalid port name"),
    (abi::MPI_ERR_QUOTA, "quota exceeded"),
    (abi::MPI_ERR_READ_ONLY, "file or file system is read-only"),
    (abi::MPI_ERR_RMA_ATTACH, "memory cannot be attached"),
    (abi::MPI_ERR_RMA_CONFLICT, "conflicting accesses to a window"),
    (abi::MPI_ERR_RMA_RANGE, "memory is not in the window"),
    (abi::MPI_ERR_RMA_SHARED, "memory cannot be shared"),
    (abi::MPI_ERR_RMA_SYNC, "wrong synchronization of a window"),
    (abi::MPI_ERR_SERVICE, "invalid service"),
    (abi::MPI_ERR_SIZE, "invalid size"),
    (abi::MPI_ERR_SPAWN, "processes could not be spawned"),
    (abi::MPI_ERR_UNSUPPORTED_DATAREP, "unsupported data representation"),
    (abi::MPI_ERR_UNSUPPORTED_OPERATION, "unsupported operation"),
    (abi::MPI_ERR_WIN, "invalid window"),
    (abi::MPI_ERR_RMA_FLAVOR, "wrong kind of window"),
    (abi::MPI_ERR_PROC_ABORTED, "a process has aborted"),
    (abi::MPI_ERR_VALUE_TOO_LARGE, "value too large for its type"),
    (abi::MPI_ERR_SESSION, "invalid session"),
    (abi::MPI_ERR_ERRHANDLER, "invalid error handler"),
    (abi::MPI_ERR_ABI, "the two sides use different ABIs"),
    (abi::MPI_T_ERR_CANNOT_INIT, "the tool interface cannot be initialized"),
    (abi::MPI_T_ERR_NOT_ACCESSIBLE, "not accessible through the tool interface"),
    (abi::MPI_T_ERR_NOT_INITIALIZED, "the tool interface is not initialized"),
    (abi::MPI_T_ERR_NOT_SUPPORTED, "not supported by the tool interface"),
    (abi::MPI_T_ERR_MEMORY, "the tool interface is out of memory"),
    (abi::MPI_T_ERR_INVALID, "invalid use of the tool interface"),
    (abi::MPI_T_ERR_INVALID_INDEX, "invalid index of the tool interface"),
    (abi::MPI_T_ERR_INVALID_ITEM, "invalid item of the tool interface"),
    (abi::MPI_T_ERR_INVALID_SESSION, "invalid session of the tool interface"),
    (abi::MPI_T_ERR_INVALID_HANDLE, "invalid handle of the tool interface"),
    (abi::MPI_T_ERR_INVALID_NAME, "invalid name of the tool interface"),
    (abi::MPI_T_ERR_OUT_OF_HANDLES, "no more handles of the tool interface"),
    (abi::MPI_T_ERR_OUT_OF_SESSIONS, "no more sessions of the tool interface"),
    (abi::MPI_T_ERR_CVAR_SET_NOT_NOW, "the control variable cannot be set now"),
    (abi::MPI_T_ERR_CVAR_SET_NEVER, "the control variable cannot be set"),
    (abi::MPI_T_ERR_PVAR_NO_WRITE, "the performance variable cannot be written"),
    (abi::MPI_T_ERR_PVAR_NO_STARTSTOP, "the performance variable cannot be started or stopped"),
    (abi::MPI_T_ERR_PVAR_NO_ATOMIC, "the performance variable cannot be read and reset at once"),
];

/// The text of a predefined error class.
#[must_use]
pub fn class_text(class: i32) -> Option<&'static str> {
    CLASSES.iter().find(|(code, _)| *code == class).map(|(_, text)| *text)
}

/// A class or code that the user has added.
#[derive(Clone, Debug)]
struct Added {
    code: i32,
    /// The class of a code; none for a class.
    class: Option<i32>,
    /// What `MPI_Add_error_string` gave, which may be empty.
    text: Option<Vec<u8>>,
}

/// User-defined error classes and codes (section 9.5): numbers above `MPI_ERR_LASTCODE`.
#[derive(Debug, Default)]
pub struct ErrorCodes {
    added: Vec<Added>,
    last: i32,
}

impl ErrorCodes {
    /// The greatest number in use (`MPI_LASTUSEDCODE`).
    #[must_use]
    pub fn last_used(&self) -> i32 {
        MPI_ERR_LASTCODE + self.last
    }

    fn add(&mut self, class: Option<i32>) -> i32 {
        self.last += 1;
        let code = MPI_ERR_LASTCODE + self.last;
        self.added.push(Added { code, class, text: None });
        code
    }

    /// A new class.
    pub fn add_class(&mut self) -> i32 {
        self.add(None)
    }

    /// A new code of a class.
    ///
    /// # Errors
    /// When there is no such class.
    pub fn add_code(&mut self, class: i32) -> Result<i32> {
        if self.class_of(class)? != class {
            return Err(Error::new(
                MPI_ERR_ARG,
                format!("{class} is an error code; a new code needs a class"),
            ));
        }
        Ok(self.add(Some(class)))
    }

    fn check(&self, code: i32) -> Result<()> {
        if class_text(code).is_none() && self.find(code).is_none() {
            return Err(Error::new(MPI_ERR_ARG, format!("{code} is no error class or code")));
        }
        Ok(())
    }

    fn find(&self, code: i32) -> Option<&Added> {
        self.added.iter().find(|added| added.code == code)
    }

    fn own(&mut self, code: i32) -> Result<&mut Added> {
        let found = self.added.iter_mut().find(|added| added.code == code);
        found.ok_or_else(|| {
            Error::new(MPI_ERR_ARG, format!("{code} is no error class or code that was added"))
        })
    }

    /// Gives an added class or code its text.
    ///
    /// # Errors
    /// When the code was not added, or the text is too long.
    pub fn set_text(&mut self, code: i32, text: &[u8]) -> Result<()> {
        if text.len() >= MPI_MAX_ERROR_STRING {
            let detail = format!("an error string has at most {} characters", MPI_MAX_ERROR_STRING - 1);
            return Err(Error::new(MPI_ERR_ARG, detail));
        }
        self.own(code)?.text = Some(text.to_owned());
        Ok(())
    }

    /// Takes the text of an added class or code away (`MPI_Remove_error_string`).
    ///
    /// # Errors
    /// When it has none.
    pub fn remove_text(&mut self, code: i32) -> Result<()> {
        let added = self.own(code)?;
        match added.text.take() {
            Some(_) => Ok(()),
            None => Err(Error::new(MPI_ERR_ARG, format!("error code {code} has no string"))),
        }
    }

    /// Takes an added code away (`MPI_Remove_error_code`).
    ///
    /// # Errors
    /// When it is not an added code, or its string is left.
    pub fn remove_code(&mut self, code: i32) -> Result<()> {
        if self.own(code)?.class.is_none() {
            return Err(Error::new(MPI_ERR_ARG, format!("{code} is an error class, not a code")));
        }
        self.remove(code)
    }

    /// Takes an added class away (`MPI_Remove_error_class`).
    ///
    /// # Errors
    /// When it is not an added class, or its string or codes of it are left.
    pub fn remove_class(&mut self, class: i32) -> Result<()> {
        if self.own(class)?.class.is_some() {
            return Err(Error::new(MPI_ERR_ARG, format!("{class} is an error code, not a class")));
        }
        if self.added.iter().any(|added| added.class == Some(class)) {
            return Err(Error::new(
                MPI_ERR_ARG,
                format!("codes of error class {class} are left; remove them first"),
            ));
        }
        self.remove(class)
    }

    /// The standard calls it erroneous to take away what still has a string.
    fn remove(&mut self, code: i32) -> Result<()> {
        if self.own(code)?.text.is_some() {
            let detail = format!("error code {code} still has a string; remove that first");
            return Err(Error::new(MPI_ERR_ARG, detail));
        }
        self.added.retain(|added| added.code != code);
        // The standard wants the last used code back when the greatest number is removed.
        self.last = self.added.iter().map(|added| added.code - MPI_ERR_LASTCODE).max().unwrap_or(0);
        Ok(())
    }

    /// The class of a class or code.
    ///
    /// # Errors
    /// When there is no such code.
    pub fn class_of(&self, code: i32) -> Result<i32> {
        self.check(code)?;
        Ok(self.find(code).and_then(|added| added.class).unwrap_or(code))
    }

    /// The text of a class or code; empty for an added one that has got none.
    ///
    /// # Errors
    /// When there is no such code.
    pub fn text(&self, code: i32) -> Result<Vec<u8>> {
        self.check(code)?;
        let own = self.find(code).map(|added| added.text.clone().unwrap_or_default());
        Ok(own.unwrap_or_else(|| class_text(code).unwrap_or_default().as_bytes().to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn added_codes_belong_to_their_class_and_go_away() {
        let mut codes = ErrorCodes::default();
        let class = codes.add_class();
        let code = codes.add_code(class).unwrap();
        assert!(codes.add_code(code).is_err());
        assert_eq!((class, code), (MPI_ERR_LASTCODE + 1, MPI_ERR_LASTCODE + 2));
        assert_eq!(codes.class_of(code), Ok(class));
        assert_eq!(codes.text(code), Ok(Vec::new()));
        codes.set_text(code, b"too \xdfhot").unwrap();
        assert_eq!(codes.text(code), Ok(b"too \xdfhot".to_vec()));
        assert!(codes.remove_class(class).is_err());
        assert!(codes.remove_code(code).is_err());
        codes.remove_text(code).unwrap();
        codes.remove_code(code).unwrap();
        assert_eq!(codes.last_used(), class);
        codes.remove_class(class).unwrap();
        assert!(codes.class_of(class).is_err());
        assert_eq!(codes.add_code(abi::MPI_ERR_RANK).unwrap(), MPI_ERR_LASTCODE + 1);
    }

    #[test]
    fn every_standard_class_has_a_text() {
        assert!((0..=abi::MPI_ERR_ABI).all(|class| class_text(class).is_some()));
    }
}
