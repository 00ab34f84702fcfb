//! A job that a running program has asked for by `MPI_Comm_spawn`. Its root starts this command as its child and describes the job
//! on its standard input: texts that each end with a zero byte. For each program these are the number of processes, the directory
//! to start in (empty for this one), the number of words of the command, and the words.
//!
//! Everything else is as for any job on one host: its own segment, its own guard, its own exit code. Its ranks are told the
//! port at which the processes wait that have asked for them, and go there in `MPI_Init`. The launcher goes there as well, and
//! says that all ranks have been started (an empty reason), or why they cannot be. Its environment is that of the asking rank, so the guard of that job ends this one too.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::ffi::OsStringExt;
use std::time::Duration;

use postrider_os::launch::die_by;
use postrider_os::port::{Connection, LAUNCHER_SPEAKS};
use postrider_os::process::{cores, say_error};

use crate::flags::{Section, Transport};
use crate::launch::{Application, Refusal};
use crate::run::{HereJob, Manner, run_here};
use crate::supervise::Outcome;

/// Time that ranks have to end on request before they are killed.
const GRACE: Duration = Duration::from_secs(2);

/// Runs the job and returns the exit code.
pub fn run(port: String, transport: Transport) -> i32 {
    let manner = Manner {
        label: false,
        timeout: None,
        deadline: None,
        grace: GRACE,
        quiet: false,
        codes_are_results: false,
        stall: Duration::ZERO,
    };
    let job = read_applications().map(|applications| {
        let parent = Some(port.clone());
        HereJob { applications, transport, verbose: false, parent }
    });
    match job.and_then(|job| run_here(job, manner)) {
        Ok(Outcome::Code(code)) => code,
        Ok(Outcome::Signal(signal)) => {
            die_by(signal);
            128 + signal
        }
        // Those who have asked know it then, and go on as they like: for the jobs around nothing has failed.
        Err(refusal) if tell(&port, &refusal.message) => 0,
        Err(refusal) => {
            say_error(&format!("postrider: {}", refusal.message));
            refusal.exit_code
        }
    }
}

/// Says that all ranks have been started.
pub fn tell_started(port: &str) {
    // Should nobody wait any more, the ranks will notice that themselves.
    let _told = tell(port, "");
}

/// Tells those who wait why there is no job; false if they are not there any more.
fn tell(port: &str, reason: &str) -> bool {
    let words = [LAUNCHER_SPEAKS, reason.as_bytes()].concat();
    Connection::to(port).and_then(|mut connection| connection.send(&words)).is_ok()
}

fn read_applications() -> Result<Vec<Application>, Refusal> {
    let mut bytes = Vec::new();
    let read = std::io::stdin().read_to_end(&mut bytes);
    read.map_err(|error| Refusal::new(1, format!("cannot read what is to be spawned: {error}")))?;
    parse(&bytes).ok_or_else(|| Refusal::new(2, "the description of what is to be spawned is cut short"))
}

fn parse(bytes: &[u8]) -> Option<Vec<Application>> {
    let mut texts = bytes.strip_suffix(&[0])?.split(|&byte| byte == 0).map(<[u8]>::to_vec);
    let mut applications = Vec::new();
    let number = |text: Vec<u8>| std::str::from_utf8(&text).ok()?.parse().ok();
    while let Some(ranks) = texts.next() {
        let ranks = number(ranks);
        let wdir = texts.next().map(OsString::from_vec).filter(|wdir| !wdir.is_empty());
        let words = number(texts.next()?)?;
        let command: Vec<OsString> = texts.by_ref().take(words as usize).map(OsString::from_vec).collect();
        if ranks.is_none() || command.len() != words as usize {
            return None;
        }
        let wdir = wdir.map(Into::into);
        let section = Section { ranks, wdir, export: Vec::new(), env: Vec::new(), command };
        applications.push(Application::new(section, cores(), &[]));
    }
    Some(applications)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_read_as_they_were_written() {
        let read = parse(b"2\0/tmp\x003\0./a\0:\0-n\x001\0\x001\0b\0").expect("it is whole");
        let facts: Vec<(u32, String)> = read.iter().map(|found| (found.ranks, found.program())).collect();
        assert_eq!(facts, [(2, "./a".to_owned()), (1, "b".to_owned())]);
        assert!(parse(b"2\0/tmp\x003\0./a\0").is_none());
        assert!(parse(b"").is_none());
    }
}
