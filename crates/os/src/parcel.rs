//! Names of message files.
//!
//! In an inbox a file is called `<sender>.<number>`, both decimal: numbers count the packets of that pair from 0, so that the
//! receiver restores the order whatever order the names are found in. On its way through a directory that serves a whole
//! host, the inbox of its post or its part of a central directory, the receiver's rank stands before it.

use std::ffi::CString;

/// The directory, in a job's directory, into which ranks put what the post is to carry to other hosts.
pub const POST: &str = "post";
/// What follows the name of a message file in that of its lock file.
pub const LOCK: &str = ".lock";

/// A message file's name in an inbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Name {
    /// The sending rank.
    pub sender: u32,
    /// How many packets that rank had sent here before.
    pub number: u64,
}

impl Name {
    /// The name as it stands in the directory.
    #[must_use]
    pub fn text(self) -> CString {
        let text = format!("{}.{}", self.sender, self.number);
        CString::new(text).unwrap_or_default()
    }

    /// Reads a name; none when it is not exactly what [`Name::text`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (sender, number) = text.split_once('.')?;
        let name = Self { sender: sender.parse().ok()?, number: number.parse().ok()? };
        (name.text().to_bytes() == text.as_bytes()).then_some(name)
    }
}

/// The name of a message file of a rank of another job: the key of that job stands before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Foreign {
    /// The sender's job.
    pub job: u64,
    /// The name that it would have in that job.
    pub name: Name,
}

impl Foreign {
    /// The name as it stands in the directory.
    #[must_use]
    pub fn text(self) -> CString {
        let text = format!("{:016x}-{}.{}", self.job, self.name.sender, self.name.number);
        CString::new(text).unwrap_or_default()
    }

    /// Reads a name; none when it is not exactly what [`Foreign::text`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (job, name) = text.split_once('-')?;
        let foreign = Self { job: u64::from_str_radix(job, 16).ok()?, name: Name::parse(name)? };
        (foreign.text().to_bytes() == text.as_bytes()).then_some(foreign)
    }
}

/// A message file's name where files for several receivers lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parcel {
    /// The receiving rank.
    pub receiver: u32,
    /// The name in its inbox.
    pub name: Name,
}

impl Parcel {
    /// The name as it stands in the directory.
    #[must_use]
    pub fn text(self) -> CString {
        let text = format!("{}.{}.{}", self.receiver, self.name.sender, self.name.number);
        CString::new(text).unwrap_or_default()
    }

    /// Reads a name; none when it is not exactly what [`Parcel::text`] writes.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let (receiver, name) = text.split_once('.')?;
        let parcel = Self { receiver: receiver.parse().ok()?, name: Name::parse(name)? };
        (parcel.text().to_bytes() == text.as_bytes()).then_some(parcel)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn names_survive_the_directory(sender: u32, number: u64, receiver: u32, job: u64) {
            let name = Name { sender, number };
            prop_assert_eq!(Name::parse(name.text().to_str().unwrap()), Some(name));
            let parcel = Parcel { receiver, name };
            prop_assert_eq!(Parcel::parse(parcel.text().to_str().unwrap()), Some(parcel));
            let foreign = Foreign { job, name };
            let text = foreign.text();
            prop_assert_eq!(Foreign::parse(text.to_str().unwrap()), Some(foreign));
            prop_assert!(Name::parse(text.to_str().unwrap()).is_none());
        }

        #[test]
        fn no_other_name_is_taken(text in "[0-9.+ -]{0,12}") {
            if let Some(name) = Name::parse(&text) {
                prop_assert!(name.text().to_bytes() == text.as_bytes());
            }
            if let Some(foreign) = Foreign::parse(&text) {
                prop_assert!(foreign.text().to_bytes() == text.as_bytes());
            }
            if let Some(parcel) = Parcel::parse(&text) {
                prop_assert!(parcel.text().to_bytes() == text.as_bytes());
            }
        }
    }
}
