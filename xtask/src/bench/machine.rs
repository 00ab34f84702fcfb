//! What has to stand beside every number: the machine, its load, the commit, the date.

use std::fs::read_to_string;
use std::path::Path;
use std::process::Command;

use serde::{Deserialize, Serialize};

use super::engines::Place;

/// The machine of a session.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Machine {
    /// Host name.
    pub host: String,
    /// Model of the processor.
    pub cpu: String,
    /// Cores that may be used.
    pub cores: usize,
    /// Release of the kernel.
    pub kernel: String,
    /// Memory in GiB.
    pub memory_gib: f64,
    /// Load of the last minute when the session began: what others were doing.
    pub load_at_start: String,
    /// Load of the last minute when the session was over, which includes the session's own.
    pub load_at_end: String,
    /// Type of the file system for temporary files.
    pub tmpdir_file_system: String,
}

impl Machine {
    /// This machine, now.
    pub fn here() -> Self {
        let cpuinfo = read_to_string("/proc/cpuinfo").unwrap_or_default();
        let meminfo = read_to_string("/proc/meminfo").unwrap_or_default();
        let tmpdir = Place::Tmpdir.directory().unwrap_or_default();
        Machine {
            host: host(),
            cpu: field(&cpuinfo, "model name"),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get()),
            kernel: first_word("/proc/sys/kernel/osrelease"),
            memory_gib: kib(&field(&meminfo, "MemTotal")) / f64::from(1 << 20),
            load_at_start: load(),
            load_at_end: String::new(),
            tmpdir_file_system: output(Command::new("stat").args(["-f", "-c", "%T"]).arg(tmpdir)),
        }
    }
}

/// The load of the last minute.
pub fn load() -> String {
    first_word("/proc/loadavg")
}

/// The name of this host.
pub fn host() -> String {
    first_word("/proc/sys/kernel/hostname")
}

/// Today, as year-month-day in UTC.
pub fn date() -> String {
    output(Command::new("date").args(["-u", "+%Y-%m-%d"]))
}

/// Date and time of day in UTC.
pub fn date_and_time() -> String {
    output(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))
}

/// The commit of the work tree at `root`, and whether files differ from it.
pub fn commit(root: &Path) -> String {
    output(Command::new("git").args(["describe", "--always", "--dirty", "--abbrev=12"]).current_dir(root))
}

fn output(command: &mut Command) -> String {
    let output = command.output().map(|output| output.stdout).unwrap_or_default();
    String::from_utf8_lossy(&output).trim().to_string()
}

fn first_word(path: &str) -> String {
    read_to_string(path).unwrap_or_default().split_whitespace().next().unwrap_or_default().to_string()
}

/// The value of a `name: value` line, which the kernel pads with tabs.
fn field(text: &str, name: &str) -> String {
    let value = |line: &str| {
        line.split_once(':').filter(|(key, _)| key.trim() == name).map(|(_, value)| value.to_string())
    };
    text.lines().find_map(value).unwrap_or_default().trim().to_string()
}

fn kib(text: &str) -> f64 {
    text.split_whitespace().next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}
