//! What a run must not leave behind, and what a hanging run is doing.

use super::job::Outcome;
use super::stacks;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

/// The environment variable by which the processes of a run are found.
pub const TOKEN: &str = "POSTRIDER_TEST_RUN";

/// How long something may take to disappear after the end of a run.
const GRACE: Duration = Duration::from_secs(5);

/// The processes that carry a token, zombies excepted.
pub fn processes(token: &str) -> Vec<u32> {
    let wanted = format!("{TOKEN}={token}");
    let carries = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == wanted.as_bytes())
    };
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(carries).collect()
}

/// What is still there after the grace.
fn after_grace<T>(look: impl Fn() -> Vec<T>) -> Vec<T> {
    let start = Instant::now();
    loop {
        let left = look();
        if left.is_empty() || start.elapsed() > GRACE {
            return left;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// The processes that are still there after the grace, as problems to report.
pub fn survivors(token: &str) -> Vec<String> {
    let left = after_grace(|| processes(token));
    left.into_iter().map(|pid| format!("outlives the launcher: {}", stack(pid))).collect()
}

/// Ends processes at once.
pub fn kill(pids: &[u32]) {
    if !pids.is_empty() {
        let _ = Command::new("kill").arg("-9").args(pids.iter().map(u32::to_string)).output();
    }
}

/// What a process is doing: the stacks of all its threads where gdb is installed.
pub fn stack(pid: u32) -> String {
    let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
    let words = stacks::command(pid);
    let lines = match Command::new(&words[0]).args(&words[1..]).output() {
        Ok(output) => stacks::brief(&String::from_utf8_lossy(&output.stdout), "  "),
        Err(error) => format!("  no stack: {error}\n"),
    };
    format!("process {pid} ({})\n{}", name.trim(), lines.trim_end())
}

/// What lies in the temporary directory of a run after the grace: what takes a launcher more than a second to remove, another process removes.
pub fn files(temporary: &Path) -> Option<String> {
    let left = after_grace(|| names(temporary).into_iter().collect());
    (!left.is_empty()).then(|| format!("left behind in the temporary directory: {}", left.join(", ")))
}

/// The project's entries in /dev/shm.
pub fn shared_memory() -> BTreeSet<String> {
    names(Path::new("/dev/shm")).into_iter().filter(|name| name.contains("postrider")).collect()
}

/// Whether an entry of /dev/shm belongs to a job whose launcher lives: `postrider-USER-PROCESS-…`.
fn is_in_use(name: &str) -> bool {
    let process = name.split('-').nth(2).and_then(|number| number.parse::<u32>().ok());
    process.is_some_and(|process| Path::new("/proc").join(process.to_string()).exists())
}

/// Whether /dev/shm holds nothing that was not there before, but for jobs of somebody else that are under way.
pub fn check(before: &BTreeSet<String>) -> Outcome {
    let left = after_grace(|| {
        let mut left = shared_memory().difference(before).cloned().collect::<Vec<_>>();
        left.retain(|name| !is_in_use(name));
        left
    });
    if left.is_empty() { Outcome::Passed } else { Outcome::Failed(left.join("\n")) }
}

fn names(folder: &Path) -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_found_by_its_token_until_it_is_killed() {
        let token = format!("test-{}", std::process::id());
        let mut child = Command::new("sleep").arg("1000").env(TOKEN, &token).spawn().expect("sleep starts");
        // The token is there once the child has executed its program.
        while processes(&token).is_empty() {
            std::thread::yield_now();
        }
        assert_eq!(processes(&token), [child.id()]);
        assert!(stack(child.id()).contains(&child.id().to_string()));
        kill(&processes(&token));
        child.wait().expect("the child can be waited for");
        assert!(survivors(&token).is_empty());
    }
}
