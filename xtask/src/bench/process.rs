//! Runs one program with a limit on its time, so that nothing it does can hold up the session.
//!
//! The program leads a process group of its own, which is ended as a whole, first politely, because launchers then take
//! their ranks with them. Its output goes to files and not to pipes: a descendant that outlives the launcher would keep a
//! pipe open, and the reader would wait for it.

use std::fs::File;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::record::Line;

/// How long a program may take to end after it was asked to.
const GRACE: Duration = Duration::from_secs(5);

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// With exit code 0.
    Succeeded,
    /// With another code, by a signal, or it could not be started.
    Failed,
    /// It was ended after this time.
    TimedOut(Duration),
}

/// What is left of a program that has run.
pub struct Finished {
    /// How it ended.
    pub outcome: Outcome,
    /// From its start to its end.
    pub elapsed: Duration,
    /// What it said on standard error.
    pub said: String,
    stdout: String,
    complaint: String,
}

impl Finished {
    /// A program that could not even be started.
    pub fn not_started(reason: &str) -> Self {
        let complaint = reason.to_string();
        let (said, stdout) = (String::new(), String::new());
        Finished { outcome: Outcome::Failed, elapsed: Duration::ZERO, said, stdout, complaint }
    }

    /// The measurements that it printed; whatever else it says is not ours.
    pub fn lines(&self) -> impl Iterator<Item = Line> {
        self.stdout.lines().filter_map(|line| serde_json::from_str(line).ok())
    }

    /// Why there is no result, in one line.
    pub fn reason(&self) -> String {
        match self.outcome {
            Outcome::TimedOut(limit) => format!("ended after {} s without a result", limit.as_secs()),
            Outcome::Failed => self.complaint.clone(),
            Outcome::Succeeded => "ended well, but did not run on the library that was meant".into(),
        }
    }
}

/// Runs `command` until it ends, or until `limit` is over. `work` takes the files with its output.
pub fn run(command: &mut Command, limit: Duration, work: &Path) -> Finished {
    match run_to_files(command, limit, work) {
        Ok(finished) => finished,
        Err(error) => {
            let program = command.get_program().to_string_lossy().into_owned();
            Finished::not_started(&format!("{program} cannot be started: {error}"))
        }
    }
}

fn run_to_files(command: &mut Command, limit: Duration, work: &Path) -> io::Result<Finished> {
    let (out, err) = (work.join("stdout.txt"), work.join("stderr.txt"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?).process_group(0);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let group = child.id();
    let (sender, receiver) = mpsc::channel();
    let waiter = std::thread::spawn(move || {
        let status = child.wait();
        // The receiver is gone only when even SIGKILL did not help, and then nobody asks any more.
        let _ = sender.send((status, start.elapsed()));
    });
    let (outcome, status, elapsed) = match receiver.recv_timeout(limit) {
        Ok((status, elapsed)) => (Outcome::Failed, Some(status?), elapsed),
        Err(_) => {
            end_group(group, &receiver);
            (Outcome::TimedOut(limit), None, limit)
        }
    };
    drop(waiter);
    let stdout = String::from_utf8_lossy(&std::fs::read(&out)?).into_owned();
    let said = String::from_utf8_lossy(&std::fs::read(&err)?).into_owned();
    let complaint = complaint(status, &said);
    let succeeded = status.is_some_and(|status| status.success());
    let outcome = if succeeded { Outcome::Succeeded } else { outcome };
    Ok(Finished { outcome, elapsed, said, stdout, complaint })
}

/// Ends a process group: SIGTERM, and SIGKILL for what is still there after the grace. Both go through kill(1), since a
/// signal to a group is unsafe code in this language and this crate has none.
fn end_group<T>(group: u32, ended: &mpsc::Receiver<T>) {
    let kill = |signal: &str| {
        // A group that has just ended by itself is no error.
        let _ =
            Command::new("kill").args([signal, "--", &format!("-{group}")]).stderr(Stdio::null()).status();
    };
    kill("-TERM");
    let _ = ended.recv_timeout(GRACE);
    kill("-KILL");
}

/// The exit status and what was said on standard error: the first lines and the last, since some programs name the cause
/// at once and others at the end.
fn complaint(status: Option<ExitStatus>, stderr: &str) -> String {
    // Some say things that are no text.
    let text: String = stderr.chars().filter(|letter| *letter == '\n' || !letter.is_control()).collect();
    let mut lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    if lines.len() > 6 {
        lines.splice(3..lines.len() - 3, ["…"]);
    }
    let words = lines.join(" / ");
    match status {
        Some(status) => format!("{status}: {words}"),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, limit: Duration, name: &str) -> Finished {
        let work = std::env::temp_dir().join(format!("postrider-bench-test-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&work).expect("a directory for the output");
        let finished = run(Command::new("sh").args(["-c", script]), limit, &work);
        std::fs::remove_dir_all(&work).expect("the directory can be removed");
        finished
    }

    #[test]
    fn measurements_are_found_between_other_lines() {
        let script = r#"echo hello; echo '{"figure":"latency","ranks":2,"bytes":8,"value":0.5,"unit":"us"}'"#;
        let finished = shell(script, Duration::from_secs(60), "lines");
        assert_eq!(finished.outcome, Outcome::Succeeded);
        assert_eq!(finished.lines().count(), 1);
    }

    #[test]
    fn a_failure_names_the_exit_code_and_the_last_words() {
        let finished = shell("echo no room >&2; exit 7", Duration::from_secs(60), "failure");
        assert_eq!(finished.outcome, Outcome::Failed);
        assert_eq!(finished.reason(), "exit status: 7: no room");
    }

    #[test]
    fn a_program_that_hangs_is_ended_with_its_children() {
        let finished = shell("sleep 600 & echo $!; wait", Duration::from_millis(200), "hang");
        assert!(matches!(finished.outcome, Outcome::TimedOut(_)));
        let child: u32 = finished.stdout.trim().parse().expect("the child's number");
        // An orphan may stay a zombie until init has read its status; it no longer runs then.
        let stat = || std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
        while !(stat().is_empty() || stat().contains(") Z ")) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let finished = run(&mut Command::new("/nowhere/to/be/found"), GRACE, &std::env::temp_dir());
        assert_eq!(finished.outcome, Outcome::Failed);
        assert!(finished.reason().contains("/nowhere/to/be/found"));
    }
}
