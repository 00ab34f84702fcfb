//! What the bench asks of the engine: its settings, and how long its schedules take by given costs.
//!
//! Examples of the engine answer that, which are built when they are asked. Were the engine a part of this program, everybody would wait for
//! it before the first command of a fresh clone.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace;

/// A setting of the engine.
pub struct Setting {
    /// The environment variable.
    pub name: String,
    /// The values that it takes.
    pub values: Vec<String>,
}

/// All settings.
pub fn settings() -> Result<Vec<Setting>> {
    let text = said(&mut Command::new(example("settings")?))?;
    let setting = |line: &str| {
        let mut words = line.split(' ').map(str::to_owned);
        words.next().map(|name| Setting { name, values: words.collect() })
    };
    Ok(text.lines().filter_map(setting).collect())
}

/// What a message costs, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Way {
    /// From its leaving the sender to its being with the receiver.
    pub latency: f64,
    /// Its sender's and its receiver's time, whatever its length.
    pub per_message: f64,
    /// Its sender's time for each byte.
    pub per_byte: f64,
}

impl Way {
    fn words(&self) -> String {
        format!("{:e},{:e},{:e}", self.latency, self.per_message, self.per_byte)
    }
}

/// The program that simulates schedules.
pub struct Simulator(PathBuf);

impl Simulator {
    /// Builds it where it is missing.
    pub fn prepare() -> Result<Self> {
        example("completion_time").map(Self)
    }

    /// Seconds of a broadcast by this algorithm, with so many processes, of which each host has so many. The costs are those inside a host and
    /// between hosts; so few bytes go to each receiver by themselves.
    pub fn broadcast(
        &self,
        algorithm: &str,
        (ranks, ranks_per_host, bytes): (u32, u32, u64),
        (inside, between): (&Way, &Way),
    ) -> Result<f64> {
        let mut command = Command::new(&self.0);
        command.args(["BCAST", algorithm]);
        command.args([ranks.to_string(), ranks_per_host.to_string(), bytes.to_string()]);
        command.args([inside.words(), between.words(), format!("{:e}", inside.per_byte)]);
        said(&mut command)?.trim().parse().context("seconds")
    }
}

/// Builds an example of the engine. With all packages asked for, Cargo takes the crates that the tests have been built with.
fn example(name: &str) -> Result<PathBuf> {
    workspace::run(workspace::cargo().args(["build", "--quiet", "--workspace", "--example", name]))?;
    Ok(workspace::target()?.join("debug/examples").join(name))
}

fn said(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("{command:?} does not start"))?;
    ensure!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_have_values() {
        let all = settings().expect("the example");
        let broadcast = all.iter().find(|setting| setting.name == "POSTRIDER_BCAST").expect("a setting");
        assert!(broadcast.values.iter().any(|value| value == "node-aware"), "{:?}", broadcast.values);
    }
}
