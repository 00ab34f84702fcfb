//! Which build this is, and the files that make it up.
//!
//! A build is the executable, the library and the front ends of scripting languages, as far as this installation has them:
//! what a host needs in order to run ranks. Its id is made of the linker's build ids and of the contents of small files, so it is the
//! same for the same files on any host, whatever their paths and times are, and costs no reading of large files.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use object::{Object, ReadCache};

/// Where the executable is below the prefix.
const EXECUTABLE: &str = "bin/postrider";
/// Where the libraries are, one for each ABI.
const LIBRARIES: [&str; 2] = ["lib/libmpi_abi.so.1", "lib/libmpi.so.12"];
/// Debian's name of the second, a link to it.
const OTHER_NAME: (&str, &str) = ("lib/libmpich.so.12", "libmpi.so.12");
/// Folders that are part of a build.
const FOLDERS: [&str; 2] = ["share/postrider/octave", "share/postrider/python"];

/// A file of the build.
#[derive(Debug)]
pub struct Part {
    /// Where it is below the prefix.
    pub path: String,
    /// What it is.
    pub content: Content,
}

/// What a file of the build is.
#[derive(Debug)]
pub enum Content {
    /// The bytes of this file.
    File(PathBuf),
    /// A link within its folder. Front ends rely on several names for one file.
    Link(String),
}

/// The id of this build: the version and 16 digits, which also make a file name. Empty if its files cannot be read.
#[must_use]
pub fn build_id() -> String {
    static ID: OnceLock<String> = OnceLock::new();
    ID.get_or_init(|| parts().and_then(|parts| id_of(&parts)).unwrap_or_default()).clone()
}

/// The files of this build, the executable last, because whoever finds it expects the others.
///
/// # Errors
/// When they cannot be listed.
pub fn parts() -> io::Result<Vec<Part>> {
    let executable = std::env::current_exe()?.canonicalize()?;
    let mut parts = Vec::new();
    if let Some(prefix) = executable.parent().and_then(Path::parent) {
        for folder in FOLDERS {
            add_folder(prefix, folder, &mut parts)?;
        }
        let libraries = LIBRARIES.map(|path| (path, prefix.join(path)));
        for (path, library) in libraries.into_iter().filter(|(_, library)| library.is_file()) {
            parts.push(Part { path: path.to_owned(), content: Content::File(library) });
        }
        let (other, name) = OTHER_NAME;
        if prefix.join(other).exists() {
            parts.push(Part { path: other.to_owned(), content: Content::Link(name.to_owned()) });
        }
    }
    parts.push(Part { path: EXECUTABLE.to_owned(), content: Content::File(executable) });
    Ok(parts)
}

/// Adds what is in a folder, in the order of names. Names that are not plain are nothing of ours.
fn add_folder(prefix: &Path, folder: &str, parts: &mut Vec<Part>) -> io::Result<()> {
    let entries = match fs::read_dir(prefix.join(folder)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries?,
    };
    let mut entries = entries.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let plain = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    for entry in entries {
        let kind = entry.file_type()?;
        let Some(name) = entry.file_name().to_str().filter(|name| plain(name)).map(str::to_owned) else {
            continue;
        };
        let path = format!("{folder}/{name}");
        if kind.is_dir() && name != "__pycache__" {
            add_folder(prefix, &path, parts)?;
        } else if kind.is_file() {
            parts.push(Part { path, content: Content::File(entry.path()) });
        } else if kind.is_symlink()
            && let Some(target) = fs::read_link(entry.path())?.to_str().filter(|target| plain(target))
        {
            parts.push(Part { path, content: Content::Link(target.to_owned()) });
        }
    }
    Ok(())
}

fn id_of(parts: &[Part]) -> io::Result<String> {
    let mut hash = Hash(0xcbf2_9ce4_8422_2325);
    for part in parts {
        hash.add(part.path.as_bytes());
        match &part.content {
            Content::Link(target) => hash.add(target.as_bytes()),
            Content::File(path) => match linker_id(path) {
                Some(id) => hash.add(&id),
                None => hash.add(&fs::read(path)?),
            },
        }
    }
    Ok(format!("{}-{:016x}", env!("CARGO_PKG_VERSION"), hash.0))
}

/// The build id that the linker has written into a program or library.
fn linker_id(path: &Path) -> Option<Vec<u8>> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file = object::File::parse(&cache).ok()?;
    file.build_id().ok()?.map(<[u8]>::to_vec)
}

/// The hash FNV-1a. It tells builds of one user apart, and is no protection against forgery.
struct Hash(u64);

impl Hash {
    /// Adds bytes with their number, so that no two lists of parts look alike.
    fn add(&mut self, bytes: &[u8]) {
        for &byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_id_depends_on_contents_and_not_on_places() {
        let folder = tempfile::tempdir().expect("a folder");
        let part = |place: &str, text: &str| {
            let path = folder.path().join(place);
            fs::write(&path, text).expect("it can be written");
            vec![Part { path: "lib/x".to_owned(), content: Content::File(path) }]
        };
        let id = |parts: Vec<Part>| id_of(&parts).expect("it can be read");
        assert_eq!(id(part("a", "one")), id(part("b", "one")));
        assert_ne!(id(part("a", "one")), id(part("b", "two")));
    }

    #[test]
    fn this_executable_has_an_id_that_makes_a_file_name() {
        let id = build_id();
        assert!(
            id.len() > 16 && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte)),
            "{id}"
        );
        assert!(parts().expect("they can be listed").last().is_some_and(|part| part.path == EXECUTABLE));
    }
}
