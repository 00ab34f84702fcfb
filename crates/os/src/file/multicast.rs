//! One file for several inboxes: it is written once, and the others get links to it.
//!
//! All inboxes are directories of one file system. Each receiver has the file under a name of its own and removes that name
//! when it has read the file; the file itself goes with the last of them. So the sender writes the bytes once, and all
//! receivers read the same pages, however many they are. A link appears as a message file does: under a hidden name
//! first, then renamed, which is what the receiver is told of; or, in a directory with lock files, with a lock file beside it.
//!
//! Where the file system has no links, or no more of them for one file, those who have got none are left to the caller.

use std::ffi::{CStr, CString};
use std::os::fd::AsRawFd;

use super::{Directory, Outbox, hidden, lock_of};
use crate::error::Result;
use crate::memory::UserMemory;

/// Where a receiver gets the file, and under which name.
pub type Address<'a> = (&'a Outbox, CString);

impl Directory {
    fn link(&self, from: &CStr, into: &Self, to: &CStr) -> Result<()> {
        let (source, target) = (self.file.as_raw_fd(), into.file.as_raw_fd());
        // SAFETY: NUL-terminated names and open directories.
        if unsafe { libc::linkat(source, from.as_ptr(), target, to.as_ptr(), 0) } < 0 {
            return Err(into.failed("link", to));
        }
        Ok(())
    }
}

impl Outbox {
    /// [`Outbox::send`] to several; returns to how many of them, from the first on, the file has gone.
    ///
    /// # Errors
    /// When the file system refuses to hold the file.
    pub fn send_to_all(addresses: &[Address], head: &[u8], body: UserMemory, bytes: usize) -> Result<usize> {
        let Some(((first, name), others)) = addresses.split_first() else { return Ok(0) };
        let source = hidden(name);
        let written = first.directory.write(&source, head, body, bytes);
        let link = |(outbox, name): &&Address| {
            let hidden = hidden(name);
            let linked = first.directory.link(&source, &outbox.directory, &hidden);
            let sent = linked.and_then(|()| outbox.directory.rename(&hidden, name));
            if sent.is_err() {
                let _ = outbox.directory.remove(&hidden);
            }
            sent.is_ok()
        };
        let linked = if written.is_ok() { others.iter().take_while(link).count() } else { 0 };
        // The first receiver may remove the file as soon as it sees it: it is shown last.
        let sent = written.and_then(|()| first.directory.rename(&source, name));
        if sent.is_err() {
            let _ = first.directory.remove(&source);
        }
        sent.map(|()| 1 + linked)
    }

    /// [`Outbox::send_locked`] to several; returns to how many of them, from the first on, the file has gone.
    ///
    /// # Errors
    /// When the file system refuses to hold the file.
    pub fn send_locked_to_all(
        addresses: &[Address],
        head: &[u8],
        body: UserMemory,
        bytes: usize,
    ) -> Result<usize> {
        let Some(((first, name), others)) = addresses.split_first() else { return Ok(0) };
        let written = first.directory.write(name, head, body, bytes);
        let link = |(outbox, other): &&Address| {
            let linked = first.directory.link(name, &outbox.directory, other);
            linked.and_then(|()| outbox.lock(other, body)).is_ok()
        };
        let linked = if written.is_ok() { others.iter().take_while(link).count() } else { 0 };
        if written.is_err() {
            let _ = first.directory.remove(name);
        }
        written.and_then(|()| first.lock(name, body)).map(|()| 1 + linked)
    }

    /// Shows the message file `name`, or takes it back; nothing is read at `nowhere`.
    fn lock(&self, name: &CStr, nowhere: UserMemory) -> Result<()> {
        let locked = self.directory.write(&lock_of(name), &[], nowhere, 0);
        if locked.is_err() {
            let _ = self.directory.remove(name);
        }
        locked
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::file::Inbox;
    use crate::memory::OwnedMemory;
    use std::fs;
    use std::time::Duration;

    #[test]
    fn all_receivers_read_one_file() {
        let path = std::env::temp_dir().join(format!("postrider-multicast-test-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let place = |index: usize| path.join(index.to_string());
        let inboxes: Vec<Inbox> = (0..3).map(|index| Inbox::create(&place(index)).unwrap()).collect();
        let outboxes: Vec<Outbox> = (0..3).map(|index| Outbox::open(&place(index)).unwrap()).collect();
        let names = [c"4.0", c"4.7", c"4.1"];
        let addresses: Vec<Address> = outboxes.iter().zip(names.map(CStr::to_owned)).collect();
        let mut body = OwnedMemory::new(50_000);
        let memory = UserMemory::of(&mut body);
        memory.offset(49_990).write(b"the end");
        assert_eq!(Outbox::send_to_all(&addresses, b"head", memory, 50_000).unwrap(), 3);
        for (inbox, name) in inboxes.iter().zip(names) {
            inbox.sleep(inbox.calls(), Duration::from_secs(60));
            let mut found = Vec::new();
            assert!(inbox.arrived(|name| found.push(name.to_owned())).unwrap());
            assert_eq!(found, [name.to_str().unwrap()]);
            let file = inbox.open(name).unwrap();
            assert_eq!(file.bytes().unwrap(), 50_004);
            let mut end = [0; 7];
            file.read_at(49_994, memory, 7).unwrap();
            memory.read(&mut end);
            assert_eq!(&end, b"the end");
            inbox.remove(name).unwrap();
            inbox.scan(|name| panic!("{name} was left behind")).unwrap();
        }
        fs::remove_dir_all(path).unwrap();
    }

    #[test]
    fn locked_files_are_shown_by_their_locks() {
        let path = std::env::temp_dir().join(format!("postrider-locked-test-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let outboxes = [0, 1].map(|host: u32| Outbox::open(&path.join(host.to_string())).unwrap());
        let addresses = [(&outboxes[0], c"0.4.0".into()), (&outboxes[1], c"1.4.0".into())];
        let mut body = OwnedMemory::new(5);
        assert_eq!(Outbox::send_locked_to_all(&addresses, b"head", UserMemory::of(&mut body), 5).unwrap(), 2);
        for (host, name) in [(0, c"0.4.0"), (1, c"1.4.0")] {
            let place = path.join(host.to_string());
            assert_eq!(fs::metadata(place.join(name.to_str().unwrap())).unwrap().len(), 9);
            assert_eq!(fs::metadata(place.join(lock_of(name).to_str().unwrap())).unwrap().len(), 0);
            assert_eq!(fs::read_dir(place).unwrap().count(), 2);
        }
        fs::remove_dir_all(path).unwrap();
    }

    /// A name that is taken stands for a file system that refuses the link.
    #[test]
    fn who_gets_no_link_is_left_to_the_caller() {
        let path = std::env::temp_dir().join(format!("postrider-linkless-test-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let outboxes = [0, 1, 2].map(|index: u32| Outbox::open(&path.join(index.to_string())).unwrap());
        fs::write(path.join("2").join(".4.0"), b"").unwrap();
        let addresses: Vec<Address> = outboxes.iter().map(|outbox| (outbox, c"4.0".to_owned())).collect();
        let mut body = OwnedMemory::new(5);
        assert_eq!(Outbox::send_to_all(&addresses, b"", UserMemory::of(&mut body), 5).unwrap(), 2);
        assert!(path.join("0/4.0").exists() && path.join("1/4.0").exists() && !path.join("2/4.0").exists());
        assert!(!path.join("0/.4.0").exists() && !path.join("1/.4.0").exists());
        fs::remove_dir_all(path).unwrap();
    }
}
