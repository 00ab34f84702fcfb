//! Jobs over several hosts, which are folders here: the remote shell is a script that runs everything on this machine.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::support::{begin, finish, is_gone, lines, run, said_until, send, wait_until, wait_until_empty};

/// Hosts a, b and c, each with a home, and a folder for temporary files.
struct Hosts {
    folder: TempDir,
}

impl Hosts {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a directory");
        for name in ["a", "b", "c", "temporary"] {
            fs::create_dir(folder.path().join(name)).expect("a directory");
        }
        Self { folder }
    }

    fn temporary(&self) -> std::path::PathBuf {
        self.folder.path().join("temporary")
    }

    /// What host `name` reads before it runs anything.
    fn environment(&self, name: &str, text: &str) {
        let folder = self.folder.path().join(name).join(".fake");
        fs::create_dir_all(&folder).expect("a directory");
        fs::write(folder.join("environment"), text).expect("it can be written");
    }

    fn run(&self, options: &[&str]) -> Command {
        let shell = concat!("sh ", env!("CARGO_MANIFEST_DIR"), "/tests/remote/fake_shell");
        let mut command = run(&["--ssh", shell]);
        command.args(options).env("FAKE_HOMES", self.folder.path()).env("TMPDIR", self.temporary());
        for name in ["POSTRIDER_SSH", "POSTRIDER_TRANSFER", "POSTRIDER_CENTRAL", "POSTRIDER_HOST_TIMEOUT"] {
            command.env_remove(name);
        }
        command
    }

    fn script(&self, options: &[&str], text: &str) -> Command {
        let mut command = self.run(options);
        command.args(["sh", "-c", text]);
        command
    }

    /// Ranks that this executable plays, see `rank`.
    fn play(&self, options: &[&str], scripts: &str) -> Command {
        let mut command = self.run(options);
        let ourselves = std::env::current_exe().expect("this executable");
        command.args(["-x", "SCRIPT"]).arg(ourselves).args(["--exact", "rank::play", "--quiet"]);
        command.env("SCRIPT", scripts);
        command
    }

    /// Asserts that a job ends with `code` and says all of `words`, and that nothing is left of it.
    fn expect(&self, command: &mut Command, code: i32, words: &[&str]) {
        let (found, _, error) = finish(command);
        assert_eq!(found, Some(code), "{error}");
        for word in words {
            assert!(error.contains(word), "no {word:?} in\n{error}");
        }
        wait_until_empty(&self.temporary());
    }
}

fn sorted(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    lines.sort_unstable();
    lines
}

#[test]
fn ranks_run_where_the_list_says_and_their_output_comes_here() {
    let hosts = Hosts::new();
    let text = "echo $(basename $HOME) on $POSTRIDER_RANK; echo error >&2";
    let (code, output, error) = finish(&mut hosts.script(&["--hosts", "a:2,b", "-l"], text));
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(sorted(&output), ["[0] a on 0", "[1] a on 1", "[2] b on 2"]);
    assert_eq!(sorted(&error), ["[0] error", "[1] error", "[2] error"]);
    wait_until_empty(&hosts.temporary());
}

#[test]
fn a_file_can_list_the_hosts() {
    let hosts = Hosts::new();
    let file = hosts.folder.path().join("list");
    fs::write(&file, "# two hosts\nc slots=1\na:1\n").expect("it can be written");
    let options = ["--hostfile", &*file.to_string_lossy()];
    let (code, output, error) = finish(&mut hosts.script(&options, "echo $POSTRIDER_RANK $(basename $HOME)"));
    assert_eq!((code, sorted(&output)), (Some(0), vec!["0 c", "1 a"]), "{error}");
}

#[test]
fn the_map_is_told_and_written() {
    let hosts = Hosts::new();
    let text = "test $POSTRIDER_RANK = 0 && cat $POSTRIDER_DIRECTORY/hosts; true";
    let (code, output, error) = finish(&mut hosts.script(&["-v", "--hosts", "a,b:2"], text));
    assert_eq!(code, Some(0), "{error}");
    let rows: Vec<Vec<&str>> = output.lines().map(|line| line.split(' ').collect()).collect();
    let map: Vec<(&str, &str)> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert_eq!(map, [("0", "a"), ("1", "b"), ("2", "b")]);
    assert!(rows[0][2] != rows[1][2] && rows[1][2] == rows[2][2], "{output}");
    assert!(error.contains("on host a: sh") && error.contains("3 ranks on 2 hosts"), "{error}");
}

#[test]
fn input_goes_to_rank_0_however_much_it_is() {
    let hosts = Hosts::new();
    let mut command = hosts.script(&["--hosts", "a,b"], "wc -c");
    let mut child = begin(command.stdin(Stdio::piped()));
    let mut input = child.stdin.take().expect("a pipe");
    input.write_all(&vec![b'x'; 3_000_000]).expect("it is taken");
    drop(input);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(sorted(&String::from_utf8_lossy(&output.stdout)), ["0", "3000000"]);
}

#[test]
fn a_rank_that_reads_nothing_does_not_hold_up_the_job() {
    let hosts = Hosts::new();
    let mut command = hosts.script(&["--hosts", "a,b"], "exec <&-; echo done");
    let mut child = begin(command.stdin(Stdio::piped()));
    let kept_open = child.stdin.take();
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(sorted(&String::from_utf8_lossy(&output.stdout)), ["done", "done"]);
    drop(kept_open);
}

#[test]
fn much_output_arrives_whole() {
    let hosts = Hosts::new();
    let (code, output, error) =
        finish(&mut hosts.script(&["--hosts", "a:2,b:2"], "seq 1 50000; seq 1 20000 >&2"));
    assert_eq!(code, Some(0));
    assert_eq!((output.lines().count(), error.lines().count()), (200_000, 80_000));
    assert!(output.lines().all(|line| line.parse::<u32>().is_ok()), "no two lines are mixed");
}

#[test]
fn several_programs_share_a_job_over_hosts() {
    let hosts = Hosts::new();
    let mut command = hosts.script(&["--hosts", "a:2,b:2", "-n", "1"], "echo first $POSTRIDER_APPLICATION");
    command.args([":", "-n", "3", "sh", "-c", "echo second $POSTRIDER_APPLICATION"]);
    let (code, output, error) = finish(&mut command);
    assert_eq!(code, Some(0), "{error}");
    assert_eq!(sorted(&output), ["first 0", "second 1", "second 1", "second 1"]);
}

#[test]
fn the_first_failure_is_named_with_its_host() {
    let hosts = Hosts::new();
    let text = "test $POSTRIDER_RANK = 2 && exit 3; sleep 1000";
    let words = ["rank 2 of 3 failed first", "exited with code 3", "on host b", "ranks 0-1"];
    hosts.expect(&mut hosts.script(&["--hosts", "a:2,b"], text), 3, &words);
    let text = "test $POSTRIDER_RANK = 1 && kill -SEGV $$; sleep 1000";
    let words = ["rank 1 of 2", "signal 11", "on host b"];
    hosts.expect(&mut hosts.script(&["--hosts", "a,b"], text), 139, &words);
}

#[test]
fn ranks_of_mpi_programs_are_judged_as_on_one_host() {
    let hosts = Hosts::new();
    let play = |scripts| hosts.play(&["--hosts", "a,b"], scripts);
    hosts.expect(&mut play("init enter:MPI_Recv forever;init abort:7"), 7, &["rank 1", "with code 7"]);
    hosts.expect(&mut play("init exit:0;init finalize"), 1, &["rank 0", "without calling MPI_Finalize"]);
    hosts.expect(&mut play("init forever;exit:0"), 1, &["rank 1", "without calling MPI_Init"]);
    hosts.expect(&mut play("init finalize"), 0, &[]);
}

#[test]
fn what_cannot_start_is_named_with_its_host() {
    let hosts = Hosts::new();
    let mut command = hosts.run(&["--hosts", "a,b", "no-such-program"]);
    hosts.expect(&mut command, 127, &["host ", "program not found in PATH: no-such-program"]);
    let mut command = hosts.run(&["--hosts", "a,b", "--wdir", "/nowhere", "true"]);
    hosts.expect(&mut command, 1, &["host ", "--wdir /nowhere"]);
    let mut command = hosts.run(&["--hosts", "a,nowhere", "true"]);
    hosts.expect(&mut command, 1, &["host nowhere"]);
    hosts.environment("b", "TMPDIR=/nowhere; export TMPDIR");
    let mut command = hosts.run(&["--hosts", "a,b", "sleep", "1000"]);
    hosts.expect(&mut command, 1, &["host b", "/nowhere/postrider-"]);
}

#[test]
fn the_launchers_tmpdir_serves_hosts_that_have_it_and_name_none() {
    let hosts = Hosts::new();
    let own = hosts.folder.path().join("own");
    fs::create_dir(&own).expect("a directory");
    hosts.environment("a", "unset TMPDIR");
    hosts.environment("b", &format!("TMPDIR='{}'; export TMPDIR", own.display()));
    let text = "echo $POSTRIDER_RANK $TMPDIR; echo $POSTRIDER_RANK $POSTRIDER_DIRECTORY";
    let (code, output, error) = finish(&mut hosts.script(&["--hosts", "a,b"], text));
    assert_eq!(code, Some(0), "{error}");
    for line in output.lines() {
        let place = if line.starts_with('0') { hosts.temporary() } else { own.clone() };
        assert!(line[2..].starts_with(&*place.to_string_lossy()), "{output}");
    }
    hosts.environment("a", "unset TMPDIR");
    let mut command = hosts.script(&["--hosts", "a"], "echo ${TMPDIR:-none}");
    let (_, output, _) = finish(command.env("TMPDIR", "/nowhere"));
    assert_eq!(output, "none\n");
}

#[test]
fn only_what_is_meant_for_ranks_is_passed_on() {
    let hosts = Hosts::new();
    for host in ["a", "b"] {
        hosts.environment(host, "unset SECRET GIVEN POSTRIDER_SETTING OMP_NUM_THREADS");
    }
    let text =
        "echo ${SECRET:-none} ${GIVEN:-none} ${POSTRIDER_SETTING:-none} ${OMP_NUM_THREADS:-none} $NEW $PWD";
    let mut command = hosts.script(&["--hosts", "a,b", "-x", "GIVEN", "-x", "NEW=value"], text);
    command.env("SECRET", "s").env("GIVEN", "g").env("POSTRIDER_SETTING", "p").env("OMP_NUM_THREADS", "3");
    let here = hosts.temporary().canonicalize().expect("it is there");
    let (code, output, error) = finish(command.current_dir(&here));
    assert_eq!(code, Some(0), "{error}");
    let line = format!("none g p 3 value {}", here.display());
    assert_eq!(output, format!("{line}\n{line}\n"));
}

#[test]
fn a_program_is_found_as_it_is_found_here() {
    let hosts = Hosts::new();
    for host in ["a", "b"] {
        hosts.environment(host, "PATH=/usr/bin:/bin");
    }
    let bin = hosts.folder.path().join("bin");
    fs::create_dir(&bin).expect("a directory");
    std::os::unix::fs::symlink("/bin/echo", bin.join("my-own-echo")).expect("a link");
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let (code, output, error) =
        finish(hosts.run(&["--hosts", "a,b", "my-own-echo", "found"]).env("PATH", path));
    assert_eq!((code, output.as_str()), (Some(0), "found\nfound\n"), "{error}");
}

/// Each rank prints its own number, its agent's, and those of two children that want to outlive it.
const FAMILY: &str = "setsid sleep 1001 & echo $!; sleep 1000 & echo $!; echo $PPID; echo $$; wait";

fn family(lines: &[String]) -> Vec<u32> {
    lines.iter().map(|line| line.parse().expect("a process")).collect()
}

#[test]
fn a_killed_head_leaves_nothing_on_any_host() {
    let hosts = Hosts::new();
    let mut child = begin(&mut hosts.script(&["--hosts", "a:2,b"], FAMILY));
    let pids = family(&lines(&mut child, 12));
    send(child.id(), Signal::KILL);
    child.wait().expect("it is dead");
    wait_until("all are gone", || pids.iter().all(|&pid| is_gone(pid)));
    wait_until_empty(&hosts.temporary());
}

/// Kills or stops the agent of host b, and waits for what the head makes of that.
fn lose_an_agent(signal: Signal, words: &[&str]) {
    let hosts = Hosts::new();
    let text = format!("if [ $POSTRIDER_RANK = 1 ]; then {FAMILY}; else sleep 1000; fi");
    let mut command = hosts.script(&["--hosts", "a,b"], &text);
    let mut child = begin(command.env("POSTRIDER_HOST_TIMEOUT", "2"));
    let pids = family(&lines(&mut child, 4));
    send(pids[2], signal);
    let output = child.wait_with_output().expect("it ends");
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{error}");
    for word in words {
        assert!(error.contains(word), "no {word:?} in\n{error}");
    }
    wait_until("all are gone", || pids.iter().all(|&pid| is_gone(pid)));
    wait_until_empty(&hosts.temporary());
}

#[test]
fn an_agent_that_is_killed_ends_the_job_everywhere() {
    lose_an_agent(Signal::KILL, &["host b failed", "rank 1", "connection"]);
}

#[test]
fn an_agent_that_does_not_answer_is_given_up() {
    lose_an_agent(Signal::STOP, &["host b failed", "rank 1", "not answered for 2 seconds"]);
}

#[test]
fn an_agent_that_is_asked_to_end_ends_the_job() {
    lose_an_agent(Signal::TERM, &["host b failed", "rank 1", "SIGTERM"]);
}

#[test]
fn signals_and_time_limits_reach_all_hosts() {
    let hosts = Hosts::new();
    let text = "trap 'echo asked; exit 5' TERM; echo ready; while :; do sleep 0.01; done";
    let mut child = begin(&mut hosts.script(&["--hosts", "a,b"], text));
    lines(&mut child, 2);
    send(child.id(), Signal::TERM);
    assert_eq!(lines(&mut child, 2), ["asked", "asked"]);
    assert_eq!(child.wait().expect("it ends").code(), None, "it dies by the signal");
    wait_until_empty(&hosts.temporary());
    let mut command = hosts.run(&["--hosts", "a,b", "--timeout", "5", "sleep", "1000"]);
    hosts.expect(&mut command, 124, &["--timeout", "ranks 0-1 before MPI_Init"]);
}

#[test]
fn a_central_directory_is_made_and_removed() {
    let hosts = Hosts::new();
    let shared = hosts.folder.path().join("shared");
    fs::create_dir(&shared).expect("a directory");
    let text = "stat -c %a $POSTRIDER_CENTRAL_DIRECTORY";
    let path = shared.to_string_lossy().into_owned();
    let (code, output, error) = finish(&mut hosts.script(&["--hosts", "a,b", "--central", &path], text));
    assert_eq!((code, output.as_str()), (Some(0), "700\n700\n"), "{error}");
    wait_until_empty(&shared);
    let mut child = begin(&mut hosts.script(&["--hosts", "a,b", "--central", &path], FAMILY));
    let pids = family(&lines(&mut child, 8));
    assert!(!is_empty(&shared));
    send(child.id(), Signal::KILL);
    child.wait().expect("it is dead");
    wait_until("all are gone", || pids.iter().all(|&pid| is_gone(pid)));
    wait_until_empty(&shared);
    // The head together with its guard: as when its host dies.
    let mut child = begin(&mut hosts.script(&["--hosts", "a,b", "--central", &path], FAMILY));
    let pids = family(&lines(&mut child, 8));
    send(child.id(), Signal::STOP);
    for guard in guards(child.id()) {
        send(guard, Signal::KILL);
    }
    send(child.id(), Signal::KILL);
    child.wait().expect("it is dead");
    wait_until("all are gone", || pids.iter().all(|&pid| is_gone(pid)));
    wait_until_empty(&shared);
}

/// The children of the launcher `pid` that are copies of it, and not agents, which here are its children as well.
fn guards(pid: u32) -> Vec<u32> {
    let program = |pid: u32| fs::read(format!("/proc/{pid}/cmdline")).ok();
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).expect("its children");
    let children = children.split_whitespace().map(|pid| pid.parse().expect("a process"));
    children.filter(|&child| program(child) == program(pid)).collect()
}

fn is_empty(directory: &Path) -> bool {
    fs::read_dir(directory).expect("it is there").count() == 0
}

#[test]
fn ranks_of_all_hosts_that_wait_for_each_other_are_spoken_of() {
    let hosts = Hosts::new();
    let scripts = "init enter:MPI_Recv rest:for_rank_1;init enter:MPI_Barrier rest:for_rank_2;finalize";
    let said =
        said_until(&mut hosts.play(&["--hosts", "a,b,c", "--stall-warning", "0.5"], scripts), "  hint");
    for words in [
        "rank 0 in MPI_Recv, for rank 1\n",
        "rank 1 in MPI_Barrier, for rank 2\n",
        "rank 2 already ended",
        "by signal 15 (SIGTERM",
    ] {
        assert!(said.contains(words), "no {words:?} in\n{said}");
    }
}

#[test]
fn ranks_of_two_hosts_may_wait_for_one_of_a_third() {
    let hosts = Hosts::new();
    let rests = "init enter:MPI_Recv rest";
    let scripts = format!("{rests};{rests};init forever");
    let options = ["--hosts", "a,b,c", "--stall-warning", "0.2", "--timeout", "4"];
    let (code, _, error) = finish(&mut hosts.play(&options, &scripts));
    assert_eq!(code, Some(124), "{error}");
    assert!(!error.contains("waited for each other"), "{error}");
}
