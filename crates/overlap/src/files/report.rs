//! What became of each file.

use std::fmt;

/// Calls of the program and of the layer on one open file.
#[derive(Clone, Debug, Default)]
pub struct FileReport {
    /// Its path when it was noticed.
    pub path: String,
    /// Calls of the program that read or write.
    pub calls: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Of these calls, those that returned before their data was in the file.
    pub deferred: u64,
    /// System calls that the layer made in their place.
    pub system_calls: u64,
    /// Bytes that were read ahead.
    pub ahead_bytes: u64,
    /// Why it is plain, if it is.
    pub plain: Option<&'static str>,
}

impl FileReport {
    /// How many calls of the program became one system call.
    #[must_use]
    pub fn merge_factor(&self) -> f64 {
        if self.system_calls == 0 { 1.0 } else { self.deferred as f64 / self.system_calls as f64 }
    }

    /// Whether people want to read of it.
    #[must_use]
    pub fn is_noteworthy(&self) -> bool {
        self.calls > 0 && (self.deferred > 0 || self.ahead_bytes > 0 || self.plain.is_some())
    }
}

/// A line for people.
impl fmt::Display for FileReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} calls, {} bytes", self.path, self.calls, self.bytes)?;
        if self.system_calls > 0 {
            let (deferred, calls, factor) = (self.deferred, self.system_calls, self.merge_factor());
            write!(f, "; {deferred} deferred, in {calls} system calls ({factor:.1} each)")?;
        }
        if self.ahead_bytes > 0 {
            write!(f, "; {} bytes read ahead", self.ahead_bytes)?;
        }
        if let Some(reason) = self.plain {
            write!(f, "; plain: {reason}")?;
        }
        Ok(())
    }
}
