//! Hosts that are folders, and the doctor that visits them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// The executable under test.
pub const EXECUTABLE: &str = env!("CARGO_BIN_EXE_postrider");
/// The remote shell.
const SHELL: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/remote/fake_shell");

/// Some hosts.
pub struct Bed {
    root: TempDir,
}

/// What the doctor says.
#[derive(Debug)]
pub struct Report {
    pub code: Option<i32>,
    pub text: String,
    pub errors: String,
}

impl Report {
    /// Asserts that all of `words` are said.
    pub fn says(&self, words: &[&str]) {
        for word in words {
            assert!(self.text.contains(word), "no {word:?} in {self:?}");
        }
    }
}

impl Bed {
    /// Hosts with nothing peculiar about them.
    pub fn new(hosts: &[&str]) -> Self {
        // Beside the executable, which can have a second name only on its own file system.
        let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a folder");
        let bed = Self { root };
        bed.folder("homes");
        hosts.iter().for_each(|host| bed.add(host));
        bed
    }

    /// Adds a host.
    pub fn add(&self, host: &str) {
        fs::create_dir_all(self.home(host).join(".fake")).expect("a home");
    }

    /// The home of a host.
    pub fn home(&self, host: &str) -> PathBuf {
        self.root.path().join("homes").join(host)
    }

    /// A new folder that no host has for its home.
    pub fn folder(&self, name: &str) -> PathBuf {
        let path = self.root.path().join(name);
        fs::create_dir(&path).expect("a folder");
        path
    }

    /// Says something peculiar about a host.
    pub fn peculiar(&self, host: &str, what: &str, value: &str) {
        fs::write(self.home(host).join(".fake").join(what), value).expect("it can be written");
    }

    /// Lets a host's shells read a text first.
    pub fn environment(&self, host: &str, text: &str) {
        self.peculiar(host, "environment", text);
    }

    /// Takes the installation from a host.
    pub fn lacks_the_build(&self, host: &str) {
        let executable = fs::canonicalize(EXECUTABLE).expect("the executable");
        self.peculiar(host, "lacks", &executable.display().to_string());
    }

    /// Gives a host a program of its own. Another process writes it: nothing can be executed while somebody has it open
    /// for writing, and this process has children that might, for a moment.
    pub fn program(&self, host: &str, name: &str, script: &str) {
        let folder = self.home(host).join("programs");
        fs::create_dir_all(&folder).expect("a folder");
        let write = "printf '#!/bin/sh\\n%s\\n' \"$1\" >\"$0\" && chmod +x \"$0\"";
        let mut command = Command::new("sh");
        command.args(["-c", write]).arg(folder.join(name)).arg(script);
        assert!(command.status().expect("sh starts").success());
        self.environment(host, "PATH=$HOME/programs:$PATH\nexport PATH\n");
    }

    /// `postrider doctor`.
    pub fn doctor(&self, arguments: &[&str]) -> Report {
        self.run(Path::new(EXECUTABLE), arguments)
    }

    /// `postrider doctor --json`.
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let report = self.doctor(&[arguments, &["--json"]].concat());
        serde_json::from_str(&report.text).unwrap_or_else(|error| panic!("{error}: {report:?}"))
    }

    /// The doctor, called by any name of the executable.
    pub fn run(&self, executable: &Path, arguments: &[&str]) -> Report {
        let mut command = Command::new(executable);
        command.arg("doctor").args(arguments).stdin(Stdio::null());
        command.env("FAKE_HOMES", self.root.path().join("homes")).env("POSTRIDER_SSH", format!("'{SHELL}'"));
        let output = command.output().expect("the doctor starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Report { code: output.status.code(), text: text(&output.stdout), errors: text(&output.stderr) }
    }
}

/// What is in a folder.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).expect("the folder is there");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}
