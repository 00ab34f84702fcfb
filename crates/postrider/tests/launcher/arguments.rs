//! The command line: mpiexec's conventions, environments, and what is said about mistakes.

use std::os::unix::process::CommandExt;
use std::process::Command;

use crate::support::{expect, finish, run, script};

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn programs_without_mpi_run_on_as_many_ranks_as_asked_for() {
    for option in [&["-n", "3"][..], &["-np", "3"], &["--np", "3"], &["-n3"], &["--n=3"]] {
        let (code, output, error) = finish(run(option).arg("echo").arg("x"));
        assert_eq!((code, output.as_str(), error.as_str()), (Some(0), "x\nx\nx\n", ""), "{option:?}");
    }
}

#[test]
fn the_default_is_a_rank_for_each_core() {
    let cores = std::thread::available_parallelism().expect("known").get();
    let (_, output, _) = finish(run(&[]).arg("echo"));
    assert_eq!(output.lines().count(), cores);
}

#[test]
fn several_programs_have_options_and_numbers_of_their_own() {
    let echo = "echo $POSTRIDER_APPLICATION $POSTRIDER_RANK $A $B $C";
    let mut command = script(&["-genv", "A", "-1", "-n", "1", "-x", "B=b"], echo);
    command.args([":", "-np", "2", "-env", "C", "c", "-x", "A=2", "sh", "-c", echo]);
    let (code, output, _) = finish(&mut command);
    assert_eq!((code, sorted(&output)), (Some(0), vec!["0 0 -1 b", "1 1 2 c", "1 2 2 c"]));
}

#[test]
fn ranks_start_in_the_directory_asked_for() {
    for option in ["-wdir", "--wdir", "--wd"] {
        let (code, output, _) = finish(run(&["-n", "1", option, "/usr"]).arg("pwd"));
        assert_eq!((code, output.as_str()), (Some(0), "/usr\n"));
    }
    expect(run(&["--wdir", "/nowhere"]).arg("pwd"), 1, &["/nowhere", "no such directory"]);
}

#[test]
fn arguments_of_the_program_are_its_own() {
    let (_, output, _) = finish(run(&["-n", "1"]).args(["echo", "-n", "-np", "4", "--timeout", "x"]));
    assert_eq!(output, "-np 4 --timeout x");
}

#[test]
fn threads_share_the_cores_unless_the_user_has_chosen() {
    let echo = "echo $OMP_NUM_THREADS";
    let (_, output, _) = finish(&mut script(&["-n", "64"], echo));
    assert!(output.lines().all(|line| line == "1"), "{output}");
    let (_, output, _) = finish(script(&["-n", "64"], echo).env("OMP_NUM_THREADS", "7"));
    assert!(output.lines().all(|line| line == "7"), "{output}");
    let (_, output, _) = finish(&mut script(&["-n", "64", "-x", "OMP_NUM_THREADS=5"], echo));
    assert!(output.lines().all(|line| line == "5"), "{output}");
}

#[test]
fn mistakes_are_named_with_code_2() {
    expect(&mut run(&["-n", "0", "true"]), 2, &["'0'", "--np"]);
    expect(&mut run(&["-n", "many", "true"]), 2, &["many"]);
    expect(&mut run(&["-n", "4000", "true", ":", "-n", "4000", "true"]), 2, &["8000 ranks are too many"]);
    expect(&mut run(&["--nonsense", "true"]), 2, &["--nonsense"]);
    expect(&mut run(&["-zz", "true"]), 2, &["-z"]);
    expect(&mut run(&["true", ":", "-n", "2"]), 2, &["PROGRAM"]);
    expect(&mut run(&["-q", "-v", "true"]), 2, &["-q", "-v"]);
    expect(&mut run(&["--transport", "pigeon", "true"]), 2, &["pigeon", "shared-memory", "file"]);
    expect(&mut run(&[]), 2, &["PROGRAM", "Usage"]);
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    expect(command.arg("walk"), 2, &["walk"]);
}

#[test]
fn programs_that_cannot_start_are_named_once() {
    let (code, _, error) = finish(&mut run(&["-n", "4", "no-such-program"]));
    assert_eq!(code, Some(127));
    assert_eq!(error.matches("no-such-program").count(), 1, "{error}");
    expect(&mut run(&["/no/such/program"]), 127, &["/no/such/program"]);
    expect(&mut run(&["/usr"]), 126, &["/usr", "directory"]);
    expect(&mut run(&["/etc/passwd"]), 126, &["/etc/passwd", "not executable"]);
    expect(&mut run(&["-n", "2", "sleep", "1000", ":", "no-such-program"]), 127, &["no-such-program"]);
}

#[test]
fn other_names_of_the_executable_work() {
    for name in ["mpiexec", "/usr/bin/mpirun"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
        let (code, output, _) = finish(command.arg0(name).args(["-np", "2", "echo", "x"]));
        assert_eq!((code, output.as_str()), (Some(0), "x\nx\n"));
        let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
        let (code, output, _) = finish(command.arg0(name).arg("--version"));
        assert!(code == Some(0) && output.starts_with("postrider "), "{output}");
    }
}

#[test]
fn help_and_completions_are_complete() {
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    let (code, output, _) = finish(command.args(["run", "--help"]));
    assert_eq!(code, Some(0));
    for word in ["--np", "--wdir", "--transport", "--timeout", "--label", "--genv", "Exit code"] {
        assert!(output.contains(word), "no {word} in\n{output}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
        let (code, output, _) = finish(command.args(["completions", shell]));
        assert!(code == Some(0) && output.contains("transport"), "{shell}");
    }
}

#[test]
fn the_placement_is_told_on_request() {
    expect(&mut run(&["-v", "-n", "2", "true"]), 0, &["2 ranks", "shared memory", "rank 1 is process"]);
}
