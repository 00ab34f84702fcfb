//! Starting the launcher, and waiting for what it does.

use std::fs;
use std::io::{BufRead, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

/// How often a condition is looked at.
pub const POLL: Duration = Duration::from_millis(2);
/// When a wait has become hopeless.
const WATCHDOG: Duration = Duration::from_secs(120);

/// `postrider run` with `options`; the program follows. Signals that we were told to ignore, as all are that a script
/// starts in the background, the launcher takes nevertheless.
pub fn run(options: &[&str]) -> Command {
    let mut command = Command::new("env");
    command.args(["--default-signal=HUP,INT,QUIT,TERM", env!("CARGO_BIN_EXE_postrider"), "run"]);
    command.args(options).stdin(Stdio::null());
    for name in ["POSTRIDER_TRANSPORT", "POSTRIDER_TIMEOUT", "POSTRIDER_GRACE", "OMP_NUM_THREADS", "SCRIPT"] {
        command.env_remove(name);
    }
    command
}

/// `postrider run` with `options` of a shell script.
pub fn script(options: &[&str], text: &str) -> Command {
    let mut command = run(options);
    command.args(["sh", "-c", text]);
    command
}

/// `postrider run` with `options` of ranks that this executable plays, each by its script.
pub fn play(options: &[&str], scripts: &str) -> Command {
    let mut command = run(options);
    let ourselves = std::env::current_exe().expect("this executable");
    command.arg(ourselves).args(["--exact", "rank::play", "--quiet"]).env("SCRIPT", scripts);
    command
}

/// Exit code, output and error output of a finished job.
pub fn finish(command: &mut Command) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command.output().expect("the launcher starts");
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (status.code(), text(stdout), text(stderr))
}

/// Asserts that a job ends with `code` and says all of `words` on its error output.
pub fn expect(command: &mut Command, code: i32, words: &[&str]) {
    let (found, _, error) = finish(command);
    assert_eq!(found, Some(code), "{error}");
    for word in words {
        assert!(error.contains(word), "no {word:?} in\n{error}");
    }
}

/// A started job with its outputs as pipes.
pub fn begin(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the launcher starts")
}

/// What a job says on its error output up to a line that begins with `beginning`; then it is told to end, and says the rest.
pub fn said_until(command: &mut Command, beginning: &str) -> String {
    let mut child = begin(command);
    let mut error = std::io::BufReader::new(child.stderr.take().expect("a pipe"));
    let (mut said, mut line) = (String::new(), String::new());
    while !line.starts_with(beginning) {
        line.clear();
        assert_ne!(error.read_line(&mut line).expect("it can be read"), 0, "only this came:\n{said}");
        said += &line;
    }
    send(child.id(), Signal::TERM);
    error.read_to_string(&mut said).expect("it can be read");
    child.wait().expect("it ends");
    said
}

/// The first `count` lines of a job's output, which stays open.
pub fn lines(child: &mut Child, count: usize) -> Vec<String> {
    let output = child.stdout.as_mut().expect("a pipe");
    let (mut lines, mut line, mut byte) = (Vec::new(), Vec::new(), [0]);
    while lines.len() < count {
        assert_eq!(output.read(&mut byte).expect("it can be read"), 1, "only {lines:?} came");
        match byte[0] {
            b'\n' => lines.push(String::from_utf8_lossy(&std::mem::take(&mut line)).into_owned()),
            byte => line.push(byte),
        }
    }
    lines
}

/// Waits until `condition` holds.
pub fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < WATCHDOG, "waited in vain until {what}");
        std::thread::sleep(POLL);
    }
}

/// Whether process `pid` is dead, collected or not.
pub fn is_gone(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_none_or(|(_, rest)| rest.trim_start().starts_with(['Z', 'X']))
}

/// Whether process `pid` is stopped.
pub fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| rest.trim_start().starts_with('T'))
}

/// Sends a signal.
pub fn send(pid: u32, signal: Signal) {
    let pid = Pid::from_raw(pid as i32).expect("a process");
    kill_process(pid, signal).expect("the process is there");
}

/// Waits until `directory` is empty.
pub fn wait_until_empty(directory: &Path) {
    wait_until("the directory is empty", || fs::read_dir(directory).expect("it is there").count() == 0);
}
