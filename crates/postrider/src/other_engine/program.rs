//! What a program asks the loader for: which MPI library, and whether it insists on its place.

use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};

use object::ReadCache;
use object::elf::{DT_NEEDED, DT_RPATH, DT_RUNPATH};
use object::read::elf::ElfFile64;

use super::installation::{Installation, LIBRARIES, STANDARD};
use crate::launch::Application;

/// A program as the loader sees it.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Program {
    name: String,
    /// The MPI library that it is linked to. Scripts and interpreters are linked to none.
    library: Option<&'static str>,
    /// It has a `DT_RPATH`, which goes before `LD_LIBRARY_PATH`.
    insists: bool,
    /// A sanitizer's library comes before everything else, and has the program's memory to itself.
    is_sanitized: bool,
}

/// What the names of sanitizers' libraries begin with.
const SANITIZERS: [&[u8]; 4] = [b"libasan.", b"libtsan.", b"liblsan.", b"libhwasan."];

impl Program {
    /// Looks at the program that will be started. Whether it is there at all, the launcher says.
    pub fn examine(application: &Application) -> Self {
        let name = application.program();
        let found = file(application).and_then(|path| read(&path)).unwrap_or_default();
        Self { name, ..found }
    }

    /// Whether it is linked to a library with MPICH's ABI.
    pub fn has_mpich_abi(&self) -> bool {
        self.library.is_some_and(|library| library != STANDARD)
    }

    /// Whether a sanitizer works in it.
    pub fn is_sanitized(&self) -> bool {
        self.is_sanitized
    }

    /// What has to be loaded before this program so that it runs on `installation`, if anything.
    pub fn preload_on(&self, installation: &Installation) -> Result<Option<PathBuf>, String> {
        let Some(needed) = self.library else { return Ok(None) };
        let Some(library) = installation.library(needed) else {
            return Err(self.mismatch(needed, installation));
        };
        Ok(Some(library).filter(|_| self.insists))
    }

    fn mismatch(&self, needed: &str, installation: &Installation) -> String {
        let (program, prefix) = (&self.name, installation.prefix.display());
        let (library, has) = (installation.launcher.library(), installation.libraries().join(" and "));
        let advice = match (needed, library) {
            (STANDARD, "Open MPI") => {
                "Open MPI 5 does not have the standard ABI; compile the program with its mpicc, or use --engine mpich"
            }
            (STANDARD, _) => {
                "MPICH has the standard ABI from version 5 on (`pip install mpich`); --engine PATH names another installation"
            }
            _ => "compile it with `postrider cc`, for the standard ABI, to run it on any library that has it",
        };
        format!("{program} is linked to {needed}, and {library} in {prefix} has only {has}: {advice}")
    }
}

/// The file that a launcher will run.
fn file(application: &Application) -> Option<PathBuf> {
    find(&application.program, Path::new(application.wdir.as_deref().unwrap_or_default()))
}

/// The file of a program that is started in a directory.
pub fn find(program: &OsStr, directory: &Path) -> Option<PathBuf> {
    let name = Path::new(program);
    let below = |folder: &Path| Some(folder.join(name)).filter(|path| path.is_file());
    if program.as_encoded_bytes().contains(&b'/') {
        return below(directory);
    }
    std::env::split_paths(&std::env::var_os("PATH")?).find_map(|folder| below(&folder))
}

/// What the dynamic section of an executable says; nothing for what is no such file.
fn read(path: &Path) -> Option<Program> {
    let cache = ReadCache::new(File::open(path).ok()?);
    let file: ElfFile64<'_, object::Endianness, _> = ElfFile64::parse(&cache).ok()?;
    let table = file.elf_dynamic_table().ok()?;
    let mut program = Program::default();
    let mut run_path = false;
    for entry in table.iter() {
        match entry.tag {
            DT_NEEDED => {
                let name = table.string(entry).ok()?;
                let known = LIBRARIES.iter().find(|(library, _)| library.as_bytes() == name);
                program.is_sanitized |= SANITIZERS.iter().any(|start| name.starts_with(start));
                program.library = program.library.or(known.map(|(library, _)| *library));
            }
            DT_RPATH => program.insists = true,
            DT_RUNPATH => run_path = true,
            _ => {}
        }
    }
    // The loader takes no notice of DT_RPATH beside DT_RUNPATH.
    program.insists &= !run_path;
    Some(program)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    /// A program that is linked to a stand-in for the library of the standard ABI, with a run path of the given kind.
    fn linked(tags: &str) -> Option<Program> {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("library.c"), "int MPI_Init(void) { return 0; }\n").expect("a source");
        std::fs::write(at("program.c"), "int MPI_Init(void);\nint main(void) { return MPI_Init(); }\n")
            .expect("a source");
        let cc = |arguments: &[&str]| {
            let done = Command::new("cc").args(arguments).current_dir(folder.path()).status();
            assert!(done.expect("cc runs").success());
        };
        cc(&["-shared", "-fPIC", "-Wl,-soname,libmpi_abi.so.1", "library.c", "-o", "libmpi_abi.so"]);
        cc(&["program.c", "-o", "program", "-L.", "-lmpi_abi", "-Wl,-rpath,/nowhere", tags]);
        read(&at("program"))
    }

    #[test]
    fn a_program_says_what_it_is_linked_to_and_whether_it_insists() {
        for (tags, insists) in [("-Wl,--enable-new-dtags", false), ("-Wl,--disable-new-dtags", true)] {
            let expected = Program { library: Some(STANDARD), insists, ..Program::default() };
            assert_eq!(linked(tags), Some(expected), "{tags}");
        }
    }

    #[test]
    fn scripts_and_other_programs_are_linked_to_no_mpi() {
        assert_eq!(read(Path::new("/bin/sh")), Some(Program::default()));
        assert_eq!(read(Path::new(file!())), None);
    }
}
