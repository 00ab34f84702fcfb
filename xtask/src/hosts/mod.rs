//! `cargo xtask hosts`: several hosts on one machine, and the tests that need them.
//!
//! A bed is h0, where users log in, to hN. Each host has its own network, PID, IPC, UTS and mount namespace, its own /tmp,
//! /dev/shm and home directory, and its own sshd behind a firewall that leaves only port 22. All hosts see the repository
//! and the target folder at their places, read-only, and share /shared and /central. `tests/hosts/README.md` says more.
//!
//! - [`bed`]: bringing a bed up, running commands in it, taking it down.
//! - [`keys`]: what ssh needs: keys, known hosts, the configuration of sshd.
//! - [`watch`]: running one command under a watchdog, and what it must not leave behind.
//! - [`runner`]: the tests, over the cases of [`parts`].

pub mod bed;
mod keys;
mod parts;
pub mod runner;
pub mod watch;

use anyhow::{Context, Result, ensure};
use bed::{Bed, Firewall, Link, Options};
use clap::Subcommand;
use std::path::PathBuf;

/// Several hosts on one machine as namespaces: bring them up, run commands on them, test over them.
#[derive(clap::Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Bring a bed up, in place of one of the same name that may be there.
    Up(Up),
    /// Take a bed down.
    Down(Name),
    /// Run a command on a host; its exit code becomes that of this one.
    Run(Run),
    /// Which beds are up.
    Status,
    /// Bring beds up, run the tests that need several hosts, and take the beds down.
    Test(runner::Arguments),
}

#[derive(clap::Args)]
struct Name {
    /// Name of the bed.
    #[arg(long, default_value = "bed")]
    name: String,
}

#[derive(clap::Args)]
struct Up {
    #[command(flatten)]
    name: Name,
    /// How many hosts beside h0.
    #[arg(long, default_value_t = 3)]
    hosts: usize,
    /// What can be reached on a host.
    #[arg(long, value_enum, default_value_t = Firewall::Yes)]
    firewall: Firewall,
    /// Only h0 has a key to log in on others.
    #[arg(long)]
    no_keys: bool,
    /// Microseconds that each packet is on its way.
    #[arg(long, value_name = "MICROSECONDS")]
    delay: Option<u32>,
    /// Millions of bits that a link carries in a second.
    #[arg(long, value_name = "MBIT/S", default_value_t = 1000, requires = "delay")]
    rate: u32,
    /// Size of /tmp on each host, such as 16m.
    #[arg(long, value_name = "SIZE")]
    tmp: Option<String>,
    /// Make /central a slow file system, with these options of postrider-slowfs.
    #[arg(long, value_name = "OPTIONS", allow_hyphen_values = true)]
    slow: Option<String>,
    /// With Slurm, for which slurmctld, slurmd, slurm-client and munge have to be installed; the firewall then has to be
    /// `slurm` or `no`.
    #[arg(long)]
    slurm: bool,
    /// Without rights of root, by a user namespace.
    #[arg(long)]
    rootless: bool,
}

#[derive(clap::Args)]
struct Run {
    #[command(flatten)]
    name: Name,
    /// The host: h0, h1, …
    host: String,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, required = true, allow_hyphen_values = true)]
    command: Vec<String>,
}

/// Does what was asked for.
pub fn run(arguments: &Arguments) -> Result<()> {
    match &arguments.action {
        Action::Up(up) => bring_up(up),
        Action::Down(name) => bed::end(&bed::state(&name.name)?),
        Action::Run(run) => run_on(run),
        Action::Status => status(),
        Action::Test(arguments) => runner::run(arguments),
    }
}

fn bring_up(up: &Up) -> Result<()> {
    let options = Options {
        hosts: up.hosts,
        firewall: up.firewall,
        keys: !up.no_keys,
        link: up.delay.map(|delay_us| Link { delay_us, mbit_s: up.rate }),
        tmp: up.tmp.clone(),
        slow: up.slow.clone(),
        rootless: up.rootless,
        slurm: up.slurm,
        visible: None,
    };
    let bed = Bed::start(&up.name.name, options, bed::Life::Stays)?;
    let last = bed.options().hosts;
    println!("h0 to h{last} are up; for example: cargo xtask hosts run h0 ssh h{last} hostname");
    Ok(())
}

fn run_on(run: &Run) -> Result<()> {
    let bed = Bed::find(&run.name.name)?;
    let host = number(&run.host, &bed)?;
    let directory = std::env::current_dir().context("the working directory")?;
    let directory =
        if directory.starts_with(crate::workspace::root()) { directory } else { PathBuf::from("/") };
    let status = bed.command(host, &directory, &run.command)?.status().context("nsenter does not start")?;
    std::process::exit(status.code().unwrap_or(1))
}

fn number(host: &str, bed: &Bed) -> Result<usize> {
    let number = host.strip_prefix('h').and_then(|digits| digits.parse::<usize>().ok());
    let number = number.with_context(|| format!("{host} is no host: they are called h0, h1, …"))?;
    ensure!(
        number <= bed.options().hosts,
        "this bed has no {host}: its last host is h{}",
        bed.options().hosts
    );
    Ok(number)
}

fn status() -> Result<()> {
    for name in bed::names()? {
        match Bed::find(&name) {
            Ok(bed) => println!("{name}: h0 to h{}, process {}", bed.options().hosts, bed.process()),
            Err(error) => println!("{name}: {error:#}"),
        }
    }
    Ok(())
}
