//! What an installation says of itself (`postrider info`), and what its shells and readers of manual pages get.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::support::finish;

/// Our executable in an installation of its own, which has a header and one library.
fn installed() -> (tempfile::TempDir, Command) {
    let directory = tempfile::tempdir().expect("a directory");
    let at = |name: &str| directory.path().join(name);
    for part in ["bin", "lib", "include", "share/postrider/python/postrider"] {
        fs::create_dir_all(at(part)).expect("a directory");
    }
    // Not by this process: a child that it starts meanwhile would keep the file busy.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_postrider")).arg(at("bin/postrider")).status();
    assert!(copied.expect("cp runs").success());
    let header = "#define MPI_VERSION 5\n#define MPI_SUBVERSION 0\n#define MPI_ABI_VERSION 1\n#define MPI_ABI_SUBVERSION 0\n";
    fs::write(at("include/mpi.h"), header).expect("the header");
    fs::write(at("lib/libmpi_abi.so.1"), "").expect("a library");
    fs::write(at("share/postrider/python/postrider/__init__.py"), "").expect("a package");
    let mut command = Command::new(at("bin/postrider"));
    command.env_remove("VIRTUAL_ENV").arg("info");
    (directory, command)
}

#[test]
fn people_are_told_what_is_there_and_what_is_not() {
    let (directory, mut command) = installed();
    let (code, output, error) = finish(&mut command);
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let prefix = directory.path().canonicalize().expect("it is there");
    for words in [
        concat!("Postrider ", env!("CARGO_PKG_VERSION"), "\n"),
        &format!("installation  {}\n", prefix.display()),
        "libmpi_abi.so.1                the standard ABI 1.0 of MPI 5.0\n",
        "libmpi.so.12                   not installed\n",
        "  file           in ",
        &format!("  Python  {}/share/postrider/python/postrider, for ", prefix.display()),
        "  Octave  not installed; ",
    ] {
        assert!(output.contains(words), "no {words:?} in\n{output}");
    }
    assert!(!output.contains('\x1b'), "colours where no terminal is");
}

#[test]
fn programs_are_told_the_same_as_json() {
    let (directory, mut command) = installed();
    let engine = directory.path().join("engine");
    fs::create_dir_all(engine.join("bin")).expect("a directory");
    fs::create_dir_all(engine.join("lib")).expect("a directory");
    fs::write(engine.join("lib/libmpi.so.12"), "").expect("a library");
    let script = "#!/bin/sh\nprintf 'HYDRA build details:\\n    Version:    4.3.2\\n'\n";
    let launcher = engine.join("bin/mpiexec");
    let written = Command::new("sh")
        .args(["-c", "printf %s \"$1\" >\"$2\" && chmod +x \"$2\"", "sh", script])
        .arg(&launcher)
        .status();
    assert!(written.expect("sh runs").success());
    let path = format!("{}:/usr/bin:/bin", engine.join("bin").display());
    let (code, output, error) = finish(command.arg("--json").env("PATH", path));
    assert_eq!((code, error.as_str()), (Some(0), ""));
    let info: Value = serde_json::from_str(&output).expect("it is JSON");
    assert_eq!(info["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(info["libraries"][0]["name"], "libmpi_abi.so.1");
    assert_eq!(info["libraries"][0]["is_installed"], true);
    assert_eq!(info["libraries"][1]["is_installed"], false);
    let named: Vec<&str> = info["libraries"]
        .as_array()
        .expect("a list")
        .iter()
        .filter_map(|library| library["name"].as_str())
        .collect();
    for name in ["libmpifort_abi.so.1", "libpostrider_overlap.so", "libpostrider_ipc.so"] {
        assert!(named.contains(&name), "no {name} in {named:?}");
    }
    assert!(
        info["transports"]["single_copies"].is_boolean() && info["transports"]["membarrier"].is_boolean()
    );
    let found = &info["engines"][0];
    assert_eq!((&found["library"], &found["version"]), (&"MPICH".into(), &"4.3.2".into()), "{output}");
    assert_eq!(found["prefix"], engine.display().to_string());
    assert_eq!(found["libraries"][0], "libmpi.so.12");
    assert!(info["octave"]["package"].is_null());
}

#[test]
fn each_name_has_completions_in_each_shell() {
    for shell in ["bash", "zsh", "fish"] {
        for (name, word) in [("postrider", "doctor"), ("mpiexec", "transport"), ("mpicc", "compile_info")] {
            let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
            let (code, output, _) = finish(command.args(["completions", shell, name]));
            assert!(code == Some(0) && output.contains(name) && output.contains(word), "{shell} {name}");
            assert!(!output.contains("sweep"), "{shell} {name}: what is hidden stays so");
        }
    }
}

#[test]
fn manual_pages_show_all_options_and_nothing_hidden() {
    let directory = tempfile::tempdir().expect("a directory");
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    assert_eq!(finish(command.arg("manual").arg(directory.path())).0, Some(0));
    let page = |name: &str| fs::read_to_string(directory.path().join(name)).unwrap_or_default();
    for words in ["\\-\\-transport", "POSTRIDER_TRANSPORT", "Exit code", "mpiexec"] {
        assert!(page("mpiexec.1").contains(words), "no {words:?} in {}", page("mpiexec.1"));
    }
    assert_eq!(page("mpirun.1"), ".so man1/mpiexec.1\n");
    assert!(page("postrider-c++.1").contains("compile_info"));
    assert!(!directory.path().join("postrider-sweep.1").exists());
}
