//! Processes of the job that are not ranks: what ranks have started and left behind.
//!
//! While the launcher lives, every descendant that loses its parent becomes the launcher's child (`PR_SET_CHILD_SUBREAPER`), so
//! that ending children until there are none reaches all of them. When the launcher is dead, they are found by the
//! environment that they have inherited. Signals by name are here too.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use rustix::process::{Pid, Signal, getuid, kill_process, kill_process_group};

/// Bounds the wait for a process that the kernel cannot end, as one that waits for a dead file server.
const ROUNDS_MAX: u32 = 5000;
/// How often processes without an environment are looked at again, 2 ms apart.
const DOUBTFUL_ROUNDS_MAX: u32 = 50;

/// The children of this process. The kernel lists them for each thread, so that a launcher of many ranks need not look at every process of the
/// host whenever one has ended; where it has no such lists, that is done.
pub fn children() -> Vec<u32> {
    listed_children().unwrap_or_else(|| {
        let own = std::process::id();
        all().filter(|&pid| parent_of(pid) == Some(own)).collect()
    })
}

/// Whether no thread of a process does anything, or is ready to as soon as it gets a core. Where the system does not tell, that is taken for granted.
pub fn sleeps(pid: u32) -> bool {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return true };
    threads.flatten().all(|thread| {
        let facts = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        facts.rsplit_once(") ").is_none_or(|(_, state)| state.starts_with('S'))
    })
}

fn listed_children() -> Option<Vec<u32>> {
    let mut children = Vec::new();
    for thread in fs::read_dir("/proc/self/task").ok()? {
        let list = fs::read_to_string(thread.ok()?.path().join("children")).ok()?;
        children.extend(list.split_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Some(children)
}

/// Ends every process that has `NAME=value` in its environment, and those that these start meanwhile.
///
/// A process in the middle of `exec` shows an empty environment for a moment. So whatever has memory and shows none is
/// looked at again, for a while: some programs have none for good.
pub fn end_all_with(name: &str, value: &str) {
    let entry = format!("{name}={value}");
    let mut doubts = DOUBTFUL_ROUNDS_MAX;
    for _ in 0..ROUNDS_MAX {
        let (mut found, mut doubtful) = (false, false);
        for pid in all() {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            if is_guard(pid) {
                // That of a job that this one has spawned, whose launcher is among these: it ends by itself when it has cleaned up.
            } else if environment.split(|&byte| byte == 0).any(|variable| variable == entry.as_bytes()) {
                found = true;
                send(pid, Signal::KILL);
            } else {
                doubtful |= environment.is_empty() && is_ours_with_memory(pid);
            }
        }
        doubts -= u32::from(!found);
        if !found && (!doubtful || doubts == 0) {
            return;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Whether process `pid` is a launcher's guard. Guards are not ended: they end when their launcher is dead and its job is too.
pub fn is_guard(pid: u32) -> bool {
    fs::read_to_string(format!("/proc/{pid}/comm")).is_ok_and(|name| name.trim_end() == "postrider-guard")
}

/// Whether process `pid` is the launcher of a spawned job, which goes on when those have ended that have asked for it.
pub fn is_spawned_launcher(pid: u32) -> bool {
    let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    line.split(|&byte| byte == 0).nth(1) == Some(b"spawned") && !is_guard(pid)
}

/// Neither dead nor a part of the kernel, and of this user, whose environment we may read.
fn is_ours_with_memory(pid: u32) -> bool {
    let pages = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
    let owner = fs::metadata(format!("/proc/{pid}")).map(|facts| facts.uid());
    !pages.is_empty() && !pages.starts_with("0 ") && owner.is_ok_and(|owner| owner == getuid().as_raw())
}

/// Sends `signal` to process `pid`. That it is gone already is no error.
pub fn send(pid: u32, signal: Signal) {
    if let Some(pid) = Pid::from_raw(pid as i32) {
        let _gone = kill_process(pid, signal);
    }
}

/// Sends `signal` to the process group that `leader` leads.
pub fn send_to_group(leader: u32, signal: Signal) {
    if let Some(leader) = Pid::from_raw(leader as i32) {
        let _gone = kill_process_group(leader, signal);
    }
}

fn all() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| std::str::from_utf8(entry.file_name().as_bytes()).ok()?.parse().ok())
}

/// The fourth field of `/proc/<pid>/stat`; the second is a name in parentheses that may contain anything.
fn parent_of(pid: u32) -> Option<u32> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// A signal's name, and what it means in words where that helps.
pub fn signal_name(signal: i32) -> String {
    let name = match signal {
        libc::SIGHUP => "SIGHUP, hangup",
        libc::SIGINT => "SIGINT, interrupt",
        libc::SIGQUIT => "SIGQUIT, quit",
        libc::SIGILL => "SIGILL, illegal instruction",
        libc::SIGTRAP => "SIGTRAP, trap",
        libc::SIGABRT => "SIGABRT, abort",
        libc::SIGBUS => "SIGBUS, bus error",
        libc::SIGFPE => "SIGFPE, arithmetic error",
        libc::SIGKILL => "SIGKILL, killed",
        libc::SIGSEGV => "SIGSEGV, segmentation fault",
        libc::SIGUSR1 => "SIGUSR1",
        libc::SIGUSR2 => "SIGUSR2",
        libc::SIGPIPE => "SIGPIPE, broken pipe",
        libc::SIGALRM => "SIGALRM, alarm clock",
        libc::SIGTERM => "SIGTERM, terminated",
        libc::SIGXCPU => "SIGXCPU, CPU time limit",
        libc::SIGXFSZ => "SIGXFSZ, file size limit",
        libc::SIGSYS => "SIGSYS, system call not allowed",
        _ => return format!("signal {signal}"),
    };
    format!("signal {signal} ({name})")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_child_is_found_by_its_parent_and_ended_by_its_environment() {
        let mut child = std::process::Command::new("sleep")
            .arg("60")
            .env("POSTRIDER_TEST_MARK", std::process::id().to_string())
            .spawn()
            .expect("sleep starts");
        assert!(children().contains(&child.id()));
        // The killed child stays a zombie until we wait for it, and a zombie has no environment.
        end_all_with("POSTRIDER_TEST_MARK", &std::process::id().to_string());
        assert!(!child.wait().expect("it has ended").success());
    }
}
