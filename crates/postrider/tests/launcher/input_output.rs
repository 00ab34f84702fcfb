//! Standard input, output and error output of ranks.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};

use crate::support::{begin, expect, finish, run, script, wait_until};

#[test]
fn lines_of_different_ranks_never_mix() {
    // Each rank writes its lines in pieces that end within lines.
    let text = r#"awk -v r=$POSTRIDER_RANK 'BEGIN {
        for (i = 0; i < 20000; i++) printf "%d:%d:%s:end\n", r, i, substr("----------------------------------------", 1, i % 40) }'"#;
    let (code, output, _) = finish(&mut script(&["-n", "4", "-l"], text));
    assert_eq!(code, Some(0));
    let mut next = [0; 4];
    for line in output.lines() {
        let (label, rest) = line.split_once("] ").expect("a label");
        let fields: Vec<&str> = rest.split(':').collect();
        assert_eq!((fields.len(), fields[3], &label[1..]), (4, "end", fields[0]), "{line}");
        let rank: usize = fields[0].parse().expect("a rank");
        assert_eq!(fields[1].parse(), Ok(next[rank]), "lines of one rank stay in order");
        next[rank] += 1;
    }
    assert_eq!(next, [20000; 4]);
}

#[test]
fn both_outputs_can_be_one_file() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("both");
    let file = File::create(&path).expect("a file");
    let text = "i=0; while [ $i -lt 500 ]; do echo out; echo err >&2; i=$((i+1)); done";
    let mut command = script(&["-n", "3", "-l"], text);
    command.stdout(file.try_clone().expect("a copy")).stderr(file);
    assert!(command.status().expect("it runs").success());
    let text = fs::read_to_string(path).expect("text");
    assert_eq!(text.lines().count(), 3000);
    assert!(text.lines().all(|line| line.ends_with("] out") || line.ends_with("] err")));
}

#[test]
fn a_last_line_without_newline_is_kept_as_it_is() {
    let (_, output, _) = finish(&mut script(&["-n", "1"], "printf 'a\\nb'"));
    assert_eq!(output, "a\nb");
    let (_, output, _) = finish(&mut script(&["-n", "2"], "printf x"));
    assert_eq!(output, "x\nx");
}

#[test]
fn binary_output_of_one_rank_arrives_byte_for_byte() {
    let (code, output, _) =
        finish(&mut script(&["-n", "2"], "[ $POSTRIDER_RANK = 1 ] || yes | tr -d '\\n' | head -c 5000000"));
    assert_eq!((code, output.len()), (Some(0), 5_000_000));
    assert!(output.bytes().all(|byte| byte == b'y'));
}

#[test]
fn a_slow_reader_loses_nothing() {
    let mut child = begin(&mut script(&["-n", "2"], "seq 1 100000"));
    let mut output = child.stdout.take().expect("a pipe");
    // The job writes far more than pipes hold; while nobody reads, it must wait and not end.
    let mut first = [0; 1];
    output.read_exact(&mut first).expect("it begins");
    assert!(child.try_wait().expect("it can be asked").is_none());
    let mut rest = String::new();
    output.read_to_string(&mut rest).expect("text");
    assert_eq!(rest.lines().count(), 200_000);
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn a_reader_that_leaves_ends_the_job_quietly() {
    let mut child = begin(&mut run(&["-n", "3", "yes"]));
    let mut output = child.stdout.take().expect("a pipe");
    output.read_exact(&mut [0; 100]).expect("it begins");
    drop(output);
    let result = child.wait_with_output().expect("it ends");
    assert_eq!((result.status.code(), result.stderr), (Some(141), Vec::new()));
}

#[test]
fn a_full_disk_is_named() {
    let full = File::options().write(true).open("/dev/full").expect("/dev/full");
    let output = script(&["-n", "2"], "echo x; sleep 1000").stdout(full).output().expect("it runs");
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{error}");
    assert!(error.contains("No space left"), "{error}");
}

#[test]
fn input_goes_to_rank_0_only() {
    let mut child = begin(run(&["-n", "3", "-l", "cat"]).stdin(Stdio::piped()));
    child.stdin.take().expect("a pipe").write_all(b"one\ntwo\n").expect("it takes them");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "[0] one\n[0] two\n");
}

/// The launcher on a terminal of its own, and the terminal's other end.
fn on_terminal(command: &Command) -> (Command, File) {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a terminal");
    grantpt(&ours).expect("ours");
    unlockpt(&ours).expect("open");
    let name = ptsname(&ours, Vec::new()).expect("its name");
    let open = || {
        let path = name.to_str().expect("text");
        OwnedFd::from(File::options().read(true).write(true).open(path).expect("it opens"))
    };
    let mut session = Command::new("setsid");
    session.args(["--ctty", "--wait"]).arg(command.get_program()).args(command.get_args());
    session.stdin(open()).stdout(open()).stderr(open());
    (session, File::from(ours))
}

fn read_until(terminal: &mut File, seen: &mut String, word: &str) {
    let mut buffer = [0; 1024];
    while !seen.contains(word) {
        let n = terminal.read(&mut buffer).unwrap_or(0);
        assert!(n > 0, "no {word:?} in {seen:?}");
        seen.push_str(&String::from_utf8_lossy(&buffer[..n]));
    }
}

#[test]
fn rank_0_can_ask_a_person() {
    let text = "[ $POSTRIDER_RANK = 0 ] || exit 0; printf 'name? '; read name; echo hello $name";
    let (mut session, mut terminal) = on_terminal(&script(&["-n", "2"], text));
    let mut child = session.spawn().expect("it starts");
    drop(session);
    let mut seen = String::new();
    read_until(&mut terminal, &mut seen, "name? ");
    terminal.write_all(b"Postrider\n").expect("it is typed");
    read_until(&mut terminal, &mut seen, "hello Postrider");
    assert!(child.wait().expect("it ends").success());
}

#[test]
fn labels_have_colours_on_a_terminal_only() {
    let (mut session, mut terminal) = on_terminal(&run(&["-n", "1", "-l", "echo", "x"]));
    let mut seen = String::new();
    let mut child = session.env_remove("NO_COLOR").spawn().expect("it starts");
    read_until(&mut terminal, &mut seen, "x\r\n");
    child.wait().expect("it ends");
    assert!(seen.contains("\x1b[36m[0]\x1b[0m x"), "{seen:?}");
    let (mut session, mut terminal) = on_terminal(&run(&["-n", "1", "-l", "echo", "x"]));
    let mut seen = String::new();
    let mut child = session.env("NO_COLOR", "1").spawn().expect("it starts");
    read_until(&mut terminal, &mut seen, "x\r\n");
    child.wait().expect("it ends");
    assert_eq!(seen, "[0] x\r\n");
}

#[test]
fn control_c_ends_the_job() {
    let (mut session, mut terminal) = on_terminal(&script(&["-n", "2"], "echo ready; exec sleep 1000"));
    let mut child = session.spawn().expect("it starts");
    drop(session);
    let mut seen = String::new();
    read_until(&mut terminal, &mut seen, "ready\r\nready\r\n");
    terminal.write_all(&[3]).expect("it is typed");
    wait_until("the job has ended", || crate::support::is_gone(child.id()));
    assert!(!child.wait().expect("it ends").success());
}

#[test]
fn octave_is_told_to_keep_quiet() {
    let directory = tempfile::tempdir().expect("a directory");
    let octave = directory.path().join("octave");
    std::os::unix::fs::symlink("/bin/echo", &octave).expect("a link");
    let (code, output, _) = finish(run(&["-n", "1"]).arg(&octave).arg("x.m"));
    assert_eq!((code, output.as_str()), (Some(0), "--no-gui --quiet --no-history x.m\n"));
    expect(run(&["-n", "1"]).arg("true"), 0, &[]);
}
