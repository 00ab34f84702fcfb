//! `postrider run --engine` with launchers and libraries that are only stand-ins: which is found, and what it is told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{expect, finish, run};

/// An installation whose launcher says `version`, and otherwise prints its arguments, with libraries of these names.
fn install(version: &str, libraries: &[&str]) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let prefix = directory.path().join("prefix");
    for part in ["bin", "lib"] {
        fs::create_dir_all(prefix.join(part)).expect("a directory");
    }
    for name in libraries {
        fs::write(prefix.join("lib").join(name), "").expect("a library");
    }
    let script = format!(
        "#!/bin/sh\n[ \"$1\" != --version ] || {{ echo '{version}'; exit 0; }}\nprintf '%s\\n' \"$@\"\nexit 7\n"
    );
    let launcher = prefix.join("bin/mpiexec");
    fs::write(&launcher, script).expect("the launcher");
    fs::set_permissions(&launcher, fs::Permissions::from_mode(0o755)).expect("it is executable");
    (directory, prefix)
}

const HYDRA: (&str, &[&str]) = ("HYDRA build details:", &["libmpi_abi.so.1", "libmpi.so.12"]);
const OPEN_MPI: (&str, &[&str]) = ("mpiexec (Open MPI) 5.0.11", &["libmpi.so.40"]);

fn on(prefix: &Path, options: &[&str]) -> Command {
    let mut command = run(&["--engine"]);
    command.arg(prefix).args(options);
    for name in ["LD_LIBRARY_PATH", "LD_PRELOAD", "MPI4PY_LIBMPI"] {
        command.env_remove(name);
    }
    command
}

#[test]
fn hydra_is_told_what_the_job_is_to_be() {
    let (_kept, prefix) = install(HYDRA.0, HYDRA.1);
    let options = ["-l", "-genv", "A", "1", "-n", "2", "-x", "A=2", "echo", "x", ":", "-np", "3", "true"];
    let (code, output, error) = finish(&mut on(&prefix, &options));
    assert_eq!(code, Some(7), "{error}");
    let words: Vec<&str> = output.lines().collect();
    let (first, second) = words.split_at(words.iter().position(|word| *word == ":").expect("two programs"));
    assert_eq!(first[0], "-l");
    assert!(first.windows(2).any(|words| words == ["-n", "2"]), "{output}");
    assert_eq!(first[first.len() - 5..], ["-env", "A", "2", "echo", "x"], "{output}");
    assert_eq!(second[..3], [":", "-n", "3"]);
    assert_eq!(second[second.len() - 4..], ["-env", "A", "1", "true"], "{output}");
    // Processes that are spawned later get what the whole job has.
    let libraries = prefix.join("lib").display().to_string();
    assert!(first.windows(3).any(|words| words == ["-genv", "LD_LIBRARY_PATH", &libraries]), "{output}");
    assert!(!output.contains("LD_PRELOAD"), "{output}");
}

#[test]
fn open_mpi_is_told_in_its_own_words() {
    let (_kept, prefix) = install(OPEN_MPI.0, OPEN_MPI.1);
    let (code, output, error) =
        finish(&mut on(&prefix, &["-l", "-n", "2", "--hosts", "a:2,b", "-x", "A=2", "true"]));
    assert_eq!(code, Some(7), "{error}");
    for word in ["--tag-output", "--host", "a:2,b:1", "-x", "A=2"] {
        assert!(output.lines().any(|line| line == word), "no {word} in\n{output}");
    }
}

#[test]
fn a_name_is_looked_for_in_the_environment_and_the_path() {
    let (_kept, prefix) = install(HYDRA.0, HYDRA.1);
    let marked = |command: &mut Command| {
        let (code, output, error) = finish(command.args(["-n", "1", "true"]));
        assert_eq!(code, Some(7), "{error}");
        assert!(output.contains(&prefix.join("lib").display().to_string()), "{output}");
    };
    marked(run(&["--engine", "mpich"]).env("VIRTUAL_ENV", &prefix));
    let path = format!("{}:/usr/bin:/bin", prefix.join("bin").display());
    marked(run(&["--engine", "mpich"]).env_remove("VIRTUAL_ENV").env("PATH", path));
}

#[test]
fn what_cannot_be_is_refused() {
    let (_kept, prefix) = install("some other launcher", &[]);
    expect(&mut on(&prefix, &["true"]), 2, &["neither MPICH's launcher nor Open MPI's"]);
    expect(&mut on(Path::new("/nowhere"), &["true"]), 2, &["/nowhere", "mpich, openmpi"]);
    expect(&mut on(Path::new("/proc"), &["true"]), 2, &["no bin/mpiexec"]);
    let (_kept, prefix) = install(HYDRA.0, &[]);
    expect(&mut on(&prefix, &["true"]), 2, &["no MPI library"]);
    let (_kept, prefix) = install(HYDRA.0, HYDRA.1);
    expect(&mut on(&prefix, &["--transport", "file", "true"]), 2, &["--transport file", "leave it out"]);
}

#[test]
fn files_are_ours_only_where_our_functions_can_run() {
    let (_kept, prefix) = install(OPEN_MPI.0, OPEN_MPI.1);
    expect(&mut on(&prefix, &["--io", "postrider", "true"]), 2, &["neither the standard ABI nor MPICH's"]);
    // This launcher has no installation around it.
    let (_kept, prefix) = install(HYDRA.0, HYDRA.1);
    expect(&mut on(&prefix, &["--io", "postrider", "true"]), 2, &["nothing for --io postrider"]);
}
