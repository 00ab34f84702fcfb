//! `postrider cc`, `postrider c++` and `postrider fortran`: the compiler, with our header or modules, and library, added where a step needs them.
//!
//! Every argument is the compiler's own and reaches it unchanged, but for the few that ask what would be done (`-show` and the
//! names that MPICH, Open MPI and so CMake's FindMPI use). Our flags come last, so that the user's directories are
//! searched first and our library follows the objects that need it. A step that does not compile gets no
//! directory, and one that does not link gets no library; a query (`--version`, `-print-…`) gets nothing.

use std::ffi::{OsStr, OsString};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{installation, modules};

/// Which compiler is driven.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Driver {
    /// `postrider cc`, `mpicc`.
    C,
    /// `postrider c++`, `mpicxx`.
    Cxx,
    /// `postrider fortran`, `mpifort`.
    Fortran,
}

/// The driver that the command line asks for, and the compiler's arguments.
pub fn asked_for(line: &[OsString]) -> Option<(Driver, &[OsString])> {
    let driver = match line.get(1)?.to_str()? {
        "cc" => Driver::C,
        "c++" => Driver::Cxx,
        "fortran" => Driver::Fortran,
        _ => return None,
    };
    Some((driver, &line[2..]))
}

/// Compiles, links, or answers. Returns the exit code.
pub fn drive(driver: Driver, given: &[OsString]) -> i32 {
    let Some(prefix) = installation::prefix() else {
        eprintln!("postrider cc: cannot tell where this installation is: /proc is not mounted");
        return 1;
    };
    if driver == Driver::Fortran && given == ["--make-modules"] {
        return modules::make_beside(&driver.compiler(), &prefix);
    }
    let (question, arguments) = split_question(given);
    if question == Some(Question::Version) {
        println!("Postrider {}", env!("CARGO_PKG_VERSION"));
        return 0;
    }
    let step = match question {
        // An answer about nothing in particular shows a whole compilation.
        Some(_) if !has_input(&arguments) && step_of(&arguments) == Step::Query => Step::Link,
        _ => step_of(&arguments),
    };
    let added = match added_by(driver, step, &prefix) {
        Ok(added) => added,
        Err(error) => {
            eprintln!("postrider fortran: {error}");
            return 1;
        }
    };
    match question {
        None => run(driver, &arguments, &[added.compiling, added.linking].concat(), step, &prefix),
        Some(question) => {
            let words: Vec<OsString> = match question {
                Question::Command => {
                    [vec![driver.compiler()], arguments, added.compiling, added.linking].concat()
                }
                Question::Compiling => added.compiling,
                Question::Linking => added.linking,
                Question::Version => Vec::new(),
            };
            println!("{}", words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "));
            0
        }
    }
}

impl Driver {
    fn compiler(self) -> OsString {
        let (variable, usual) = match self {
            Self::C => ("POSTRIDER_CC", "cc"),
            Self::Cxx => ("POSTRIDER_CXX", "c++"),
            Self::Fortran => ("POSTRIDER_FC", "gfortran"),
        };
        std::env::var_os(variable).filter(|name| !name.is_empty()).unwrap_or_else(|| usual.into())
    }
}

/// What the compiler is to do, as far as it matters for what we add.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    /// Nothing of ours is needed.
    Query,
    /// The header is needed.
    Compile,
    /// The header and the library are needed.
    Link,
}

/// What can be asked instead of compiling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Question {
    Command,
    Compiling,
    Linking,
    /// Meson asks for it, before it asks for the others.
    Version,
}

fn split_question(given: &[OsString]) -> (Option<Question>, Vec<OsString>) {
    let mut question = None;
    let mut arguments = Vec::new();
    for argument in given {
        match argument.to_str() {
            Some("-show" | "-showme" | "--show" | "--showme") => question = Some(Question::Command),
            Some("-showme:compile" | "--showme:compile" | "-compile_info" | "-compile-info") => {
                question = Some(Question::Compiling);
            }
            Some("-showme:link" | "--showme:link" | "-link_info" | "-link-info") => {
                question = Some(Question::Linking);
            }
            Some("-showme:version" | "--showme:version") => question = Some(Question::Version),
            _ => arguments.push(argument.clone()),
        }
    }
    (question, arguments)
}

/// Options that end the work before linking.
const NO_LINK: [&str; 7] = ["-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--precompile"];

/// Options whose value is the next argument, which is no input then.
const WITH_VALUE: [&str; 35] = [
    "-o",
    "-I",
    "-J",
    "-L",
    "-D",
    "-U",
    "-l",
    "-x",
    "-T",
    "-u",
    "-z",
    "-e",
    "-B",
    "-MF",
    "-MT",
    "-MQ",
    "-include",
    "-imacros",
    "-isystem",
    "-iquote",
    "-idirafter",
    "-iprefix",
    "-iwithprefix",
    "-isysroot",
    "--sysroot",
    "-Xlinker",
    "-Xassembler",
    "-Xpreprocessor",
    "-Xclang",
    "-mllvm",
    "-target",
    "-arch",
    "--param",
    "-aux-info",
    "-wrapper",
];

fn step_of(arguments: &[OsString]) -> Step {
    if !has_input(arguments) {
        Step::Query
    } else if arguments.iter().any(|argument| NO_LINK.iter().any(|option| argument == option)) {
        Step::Compile
    } else {
        Step::Link
    }
}

/// Whether there is anything to compile or link: a file, standard input (`-`) or a list of arguments in a file (`@file`).
fn has_input(arguments: &[OsString]) -> bool {
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        if WITH_VALUE.iter().any(|option| argument == option) {
            arguments.next();
        } else if argument == "-" || !argument.as_encoded_bytes().starts_with(b"-") {
            return true;
        }
    }
    false
}

/// What is added to the arguments.
#[derive(Default)]
struct Added {
    compiling: Vec<OsString>,
    linking: Vec<OsString>,
}

/// What is added for `step`. For Fortran the modules are made if this compiler has none yet.
fn added_by(driver: Driver, step: Step, prefix: &Path) -> Result<Added, String> {
    let mut added = Added::default();
    if step >= Step::Compile && driver == Driver::Fortran {
        added.compiling = modules::flags(&driver.compiler(), prefix)?;
    } else if step >= Step::Compile {
        added.compiling.push(joined("-I", &prefix.join("include")));
    }
    if step >= Step::Link {
        let library = prefix.join("lib");
        added.linking.push(joined("-L", &library));
        if library.as_os_str().as_encoded_bytes().contains(&b',') {
            // The compiler would split the path of -Wl at its comma.
            added.linking.extend(["-Xlinker", "-rpath", "-Xlinker"].map(OsString::from));
            added.linking.push(library.into());
        } else {
            added.linking.push(joined("-Wl,-rpath,", &library));
        }
        // A run path that LD_LIBRARY_PATH goes before, so that the program also runs on other libraries.
        added.linking.push("-Wl,--enable-new-dtags".into());
        if driver == Driver::Fortran {
            // The program itself asks for the library of C, though only that of Fortran calls it: so its run path leads to both.
            let both = ["-Wl,--push-state,--no-as-needed", "-lmpifort_abi", "-lmpi_abi", "-Wl,--pop-state"];
            added.linking.extend(both.map(OsString::from));
        } else {
            added.linking.push("-lmpi_abi".into());
        }
    }
    Ok(added)
}

/// An option and its path in one word.
pub fn joined(option: &str, path: &Path) -> OsString {
    let mut flag = OsString::from(option);
    flag.push(path);
    flag
}

/// Becomes the compiler, whose exit code is then ours.
fn run(driver: Driver, arguments: &[OsString], added: &[OsString], step: Step, prefix: &Path) -> i32 {
    if let Some(missing) = missing(driver, step, prefix) {
        let missing = missing.display();
        eprintln!(
            "postrider cc: {missing} does not exist; the installation is not complete (`make install`)"
        );
        return 1;
    }
    let mut command = command(&driver.compiler());
    let error = command.args(arguments).args(added).exec();
    let found = error.kind() != std::io::ErrorKind::NotFound;
    let program = command.get_program().to_string_lossy();
    let advice = "(POSTRIDER_CC, POSTRIDER_CXX and POSTRIDER_FC choose another compiler)";
    eprintln!("postrider cc: cannot run the compiler {program}: {error} {advice}");
    if found { 126 } else { 127 }
}

/// The command of a compiler, which may be given with options of its own, as in POSTRIDER_CC="ccache gcc".
pub fn command(compiler: &OsStr) -> Command {
    let text = compiler.to_string_lossy();
    let is_path = Path::new(compiler).is_file();
    let mut words = text.split(|c: char| c.is_whitespace() && !is_path).filter(|word| !word.is_empty());
    let mut command = Command::new(words.next().unwrap_or_default());
    command.args(words);
    command
}

/// A part of the installation that `step` needs and that is not there.
fn missing(driver: Driver, step: Step, prefix: &Path) -> Option<PathBuf> {
    let (header, library) = match driver {
        Driver::Fortran => ("share/postrider/fortran/mpif.h", "lib/libmpifort_abi.so"),
        _ => ("include/mpi.h", "lib/libmpi_abi.so"),
    };
    let header = (step >= Step::Compile).then(|| prefix.join(header));
    let library = (step >= Step::Link).then(|| prefix.join(library));
    header.into_iter().chain(library).find(|file| !file.exists())
}

/// The word as a shell, and CMake's FindMPI, read it.
fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_=+:,./@%^~".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    let option = ["-I", "-L", "-Wl,"].into_iter().find(|option| text.starts_with(option)).unwrap_or("");
    let escaped = text[option.len()..].chars().flat_map(|c| {
        let escape = "\"\\$`".contains(c).then_some('\\');
        escape.into_iter().chain([c])
    });
    format!("{option}\"{}\"", escaped.collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<OsString> {
        text.split_whitespace().map(OsString::from).collect()
    }

    #[test]
    fn flags_fit_the_step() {
        let step = |text| step_of(&words(text));
        assert_eq!(step("ring.c -o ring"), Step::Link);
        assert_eq!(step("-c ring.c"), Step::Compile);
        assert_eq!(step("-MD -MF ring.d ring.c -o ring"), Step::Link);
        assert_eq!(step("-E -"), Step::Compile);
        assert_eq!(step("--version"), Step::Query);
        assert_eq!(step("-print-prog-name=ld"), Step::Query);
        assert_eq!(step("-o ring -I include"), Step::Query);
        assert_eq!(step("@arguments"), Step::Link);
    }

    #[test]
    fn our_flags_follow_the_path() {
        let text = |step, prefix: &str| {
            let added = added_by(Driver::C, step, Path::new(prefix)).expect("no module is made");
            let words = [added.compiling, added.linking].concat();
            words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(text(Step::Query, "/p"), "");
        assert_eq!(text(Step::Compile, "/p"), "-I/p/include");
        assert_eq!(
            text(Step::Link, "/p"),
            "-I/p/include -L/p/lib -Wl,-rpath,/p/lib -Wl,--enable-new-dtags -lmpi_abi"
        );
        assert_eq!(
            text(Step::Link, "/a b"),
            "-I\"/a b/include\" -L\"/a b/lib\" -Wl,\"-rpath,/a b/lib\" -Wl,--enable-new-dtags -lmpi_abi"
        );
        assert!(text(Step::Link, "/a,b").contains("-Xlinker -rpath -Xlinker /a,b/lib"));
    }

    #[test]
    fn questions_are_not_the_compilers() {
        let (question, rest) = split_question(&words("-O2 -showme:link x.c"));
        assert_eq!((question, rest), (Some(Question::Linking), words("-O2 x.c")));
    }
}
