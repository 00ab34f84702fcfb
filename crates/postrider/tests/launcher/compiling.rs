//! `postrider cc` and `postrider c++` in installations made for the occasion, with a library that is only a stand-in.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use crate::support::{expect, finish};

const PROGRAM: &str = "#include <mpi.h>\nint main(void) { return answer() - 42; }\n";

/// An installation at `name`, which may have a space in it.
fn install(name: &str) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().expect("a directory");
    let prefix = directory.path().join(name);
    for part in ["bin", "lib", "include", "work"] {
        fs::create_dir_all(prefix.join(part)).expect("a directory");
    }
    // Not by this process: a child that it starts meanwhile would keep the file busy.
    let copied =
        Command::new("cp").arg(env!("CARGO_BIN_EXE_postrider")).arg(prefix.join("bin/postrider")).status();
    assert!(copied.expect("cp runs").success());
    for link in ["mpicc", "mpicxx", "mpic++", "mpiexec"] {
        std::os::unix::fs::symlink("postrider", prefix.join("bin").join(link)).expect("a link");
    }
    let header = "#ifdef __cplusplus\nextern \"C\"\n#endif\nint answer(void);\n";
    fs::write(prefix.join("include/mpi.h"), header).expect("the header");
    let source = prefix.join("work/library.c");
    fs::write(&source, "int answer(void) { return 42; }\n").expect("the library's source");
    let library = prefix.join("lib/libmpi_abi.so");
    let built = Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(library).arg(source).status();
    assert!(built.expect("cc runs").success());
    for name in ["ring.c", "ring.cc"] {
        fs::write(prefix.join("work").join(name), PROGRAM).expect("the program");
    }
    (directory, prefix)
}

fn driver(prefix: &Path, name: &str) -> Command {
    let mut command = Command::new(prefix.join("bin").join(name));
    command.current_dir(prefix.join("work")).env_remove("POSTRIDER_CC").env_remove("POSTRIDER_CXX");
    command
}

#[test]
fn programs_compile_link_and_run_from_any_prefix() {
    for name in ["plain", "with space", "with,comma"] {
        let (_kept, prefix) = install(name);
        for (driver_name, source) in [("mpicc", "ring.c"), ("mpicxx", "ring.cc"), ("mpic++", "ring.cc")] {
            expect(driver(&prefix, driver_name).args([source, "-o", "ring"]), 0, &[]);
            expect(&mut Command::new(prefix.join("work/ring")), 0, &[]);
        }
        expect(driver(&prefix, "postrider").args(["cc", "-c", "ring.c"]), 0, &[]);
        expect(driver(&prefix, "postrider").args(["cc", "ring.o", "-o", "in two steps"]), 0, &[]);
        expect(&mut Command::new(prefix.join("work/in two steps")), 0, &[]);
    }
}

#[test]
fn the_installation_may_move_and_be_linked_to() {
    let (kept, prefix) = install("before");
    let after = kept.path().join("after");
    fs::rename(&prefix, &after).expect("it moves");
    let link = kept.path().join("mpicc");
    std::os::unix::fs::symlink(after.join("bin/mpicc"), &link).expect("a link");
    let (code, output, _) = finish(Command::new(&link).arg("-show"));
    assert_eq!(code, Some(0));
    assert!(output.contains(&format!("-I{}/include", after.display())), "{output}");
}

#[test]
fn the_compilers_exit_code_is_passed_on() {
    let (_kept, prefix) = install("plain");
    fs::write(prefix.join("work/wrong.c"), "int main(void) { return }\n").expect("a program");
    let (code, _, error) = finish(driver(&prefix, "mpicc").arg("wrong.c"));
    assert!(code == Some(1) && error.contains("wrong.c"), "{error}");
    let (code, output, _) = finish(driver(&prefix, "mpicc").arg("--version"));
    assert!(code == Some(0) && !output.is_empty());
    expect(driver(&prefix, "mpicc").env("POSTRIDER_CC", "no-such-cc").arg("ring.c"), 127, &["no-such-cc"]);
    fs::remove_file(prefix.join("include/mpi.h")).expect("it was there");
    expect(driver(&prefix, "mpicc").arg("ring.c"), 1, &["include/mpi.h", "not complete"]);
}

#[test]
fn questions_are_answered() {
    let (_kept, prefix) = install("plain");
    let ask = |arguments: &[&str]| finish(driver(&prefix, "mpicc").args(arguments)).1;
    let at = prefix.display();
    let compiling = format!("-I{at}/include");
    let linking = format!("-L{at}/lib -Wl,-rpath,{at}/lib -Wl,--enable-new-dtags -lmpi_abi");
    assert_eq!(ask(&["-show"]), format!("cc {compiling} {linking}\n"));
    assert_eq!(ask(&["-show", "-c", "x.c"]), format!("cc -c x.c {compiling}\n"));
    assert_eq!(ask(&["-showme:compile"]), format!("{compiling}\n"));
    assert_eq!(ask(&["-compile_info"]), format!("{compiling}\n"));
    assert_eq!(ask(&["-showme:link"]), format!("{linking}\n"));
    assert_eq!(ask(&["-link_info"]), format!("{linking}\n"));
}
