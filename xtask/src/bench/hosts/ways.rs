//! How a program is started on the hosts of a bed, in each of the ways that messages can travel.
//!
//! Two beds are up during a session, each with h0, on which users log in, and two hosts more: in one of them the central
//! directory is on a slow file system. All ports are open, since MPICH needs them. Nodes of 32 ranks share h0: there the remote
//! shell is `bench/src/remote_shell`, which only gives each node a directory of its own, and agents are linked by pipes.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::super::build::Workshop;
use super::super::engines::{Engine, Place};
use super::figures::{NODE_RANKS, Program, Task};
use crate::hosts::bed::{Bed, Firewall, Life, Options};
use crate::hosts::runner::remove_dead;
use crate::hosts::watch::Snapshot;

/// What the slow file system is like, as options of postrider-slowfs.
pub const SLOW: &str = "--delay-us 500 --requests-per-second 2000";
/// A directory that exists on every host.
const DIRECTORY: &str = "/shared";
/// The directory that all hosts see.
const CENTRAL: &str = "/central";

/// How many watches a user can have.
const WATCHES: &str = "/proc/sys/fs/inotify/max_user_instances";

/// A bed and what was there before anything ran on it.
struct Site {
    bed: Bed,
    before: Snapshot,
}

impl Site {
    fn start(name: &str, workshop: &Workshop, slow: Option<&str>) -> Result<Self> {
        let name = format!("bench-{}-{name}", std::process::id());
        let options = Options {
            hosts: 2,
            firewall: Firewall::No,
            slow: slow.map(str::to_owned),
            visible: Some(workshop.prefix.clone()),
            ..Options::default()
        };
        let bed =
            Bed::start(&name, options, Life::Scoped).context("a bed is needed: see tests/hosts/README.md")?;
        let before = Snapshot::take(&bed);
        Ok(Site { bed, before })
    }
}

/// The beds of a session; they end with it.
pub struct Sites<'a> {
    workshop: &'a Workshop,
    plain: Site,
    slow: Result<Site>,
}

impl<'a> Sites<'a> {
    /// Brings the beds up; the slow one only where it is wanted.
    pub fn start(workshop: &'a Workshop, ways: &[Engine]) -> Result<Self> {
        remove_dead()?;
        let plain = Site::start("plain", workshop, None)?;
        let slow = match ways.contains(&Engine::PostriderCentralSlow) {
            true => Site::start("slow", workshop, Some(SLOW)),
            false => Err(anyhow!("this way was not chosen")),
        };
        Ok(Sites { workshop, plain, slow })
    }

    fn site(&self, engine: Engine) -> Result<&Site> {
        match (engine, &self.slow) {
            (Engine::PostriderCentralSlow, Ok(site)) => Ok(site),
            (Engine::PostriderCentralSlow, Err(error)) => bail!("no slow file system: {error:#}"),
            _ => Ok(&self.plain),
        }
    }

    /// The command for a task.
    pub fn command(&self, task: &Task) -> Result<Command> {
        let site = self.site(task.engine)?;
        if task.program == Program::Pipe {
            return site.bed.command(1, Path::new(DIRECTORY), &self.pipe(task));
        }
        let mut words = match task.engine {
            Engine::Mpich => self.mpich(task)?,
            way if way.is_postrider() => self.postrider(task)?,
            other => bail!("{} is not measured between hosts", other.name()),
        };
        words.push(match task.program {
            Program::Mpi(name) => text(&self.workshop.binaries(task.engine).join(name)),
            Program::True | Program::Pipe => "true".to_owned(),
        });
        words.extend(task.arguments.iter().cloned());
        site.bed.command(0, Path::new(DIRECTORY), &words)
    }

    /// Ends what a task may have left, and removes its files.
    pub fn clear(&self, engine: Engine) {
        if let Ok(site) = self.site(engine) {
            site.before.clear(&site.bed);
        }
    }

    fn postrider(&self, task: &Task) -> Result<Vec<String>> {
        let prefix = &self.workshop.prefix;
        let launcher = prefix.join("bin/postrider");
        ensure!(launcher.exists(), "there is no {}: run `cargo xtask build` first", launcher.display());
        let mut words = vec!["env".to_owned(), format!("LD_LIBRARY_PATH={}", text(&prefix.join("lib")))];
        words.extend(task.setting.map(str::to_owned));
        words.extend([text(&launcher), "run".to_owned(), "--hosts".to_owned(), hosts(task)]);
        if task.place == Place::Nodes {
            words.extend(["--ssh".to_owned(), text(&self.workshop.root.join("bench/src/remote_shell"))]);
        }
        words.extend(options(task.engine).iter().map(|&option| option.to_owned()));
        Ok(words)
    }

    /// MPICH's launcher starts a proxy on each host over ssh; everything else goes over ports that the system gives it.
    fn mpich(&self, task: &Task) -> Result<Vec<String>> {
        ensure!(task.place != Place::Nodes, "nodes that share a machine are not for MPICH");
        let prefix = self.workshop.environment("mpich", "mpich")?;
        let (hosts, each) = if task.place == Place::OneHost { ("h1", "2") } else { ("h1,h2", "1") };
        let (library, launcher) = (text(&prefix.join("lib")), text(&prefix.join("bin/mpiexec")));
        let words = ["env", &format!("LD_LIBRARY_PATH={library}"), &launcher, "-launcher", "ssh"];
        let words = words.into_iter().chain(["-hosts", hosts, "-ppn", each, "-n", "2"]);
        Ok(words.map(str::to_owned).collect())
    }

    fn pipe(&self, task: &Task) -> Vec<String> {
        let program = text(&self.workshop.binaries(Engine::Floor).join("floor_pipe"));
        let mut words = vec![program.clone()];
        words.extend(task.arguments.iter().cloned());
        words.extend(["--", "ssh", "-T", "-o", "BatchMode=yes", "h2", &program, "--far"].map(str::to_owned));
        words
    }
}

/// The list of hosts for a task.
fn hosts(task: &Task) -> String {
    match task.place {
        Place::TwoHosts => "h1:1,h2:1".to_owned(),
        Place::Nodes if task.ranks > NODE_RANKS => {
            format!("n[1-{}]:{NODE_RANKS}", task.ranks.div_ceil(NODE_RANKS))
        }
        Place::Nodes => format!("n1:{}", task.ranks),
        _ => format!("h1:{}", task.ranks),
    }
}

/// The launcher's options for a way.
fn options(way: Engine) -> &'static [&'static str] {
    match way {
        Engine::PostriderFile => &["--transport", "file"],
        Engine::PostriderScp => &["--transport", "file", "--transfer", "scp"],
        Engine::PostriderCentral | Engine::PostriderCentralSlow => &["--central", CENTRAL],
        _ => &[],
    }
}

fn text(path: &Path) -> String {
    path.display().to_string()
}

/// How many processes of a user can watch directories at once: each rank with the file transport does, and all nodes share the
/// machine. The limit is raised for the session, where that is allowed, by a shell that puts it back when its input ends: so
/// it does however the session ends.
pub struct Watches {
    shell: Option<Child>,
}

impl Watches {
    /// Raises the limit to what `ranks` need, if it is lower.
    pub fn for_ranks(ranks: u32) -> Result<Self> {
        let wanted = ranks + 512;
        let limit = std::fs::read_to_string(WATCHES).unwrap_or_default().trim().to_owned();
        if limit.parse().is_ok_and(|limit: u32| limit >= wanted) {
            return Ok(Watches { shell: None });
        }
        if std::fs::OpenOptions::new().write(true).open(WATCHES).is_err() {
            eprintln!(
                "bench: fs.inotify.max_user_instances is {limit}: nodes of ranks with files will be few"
            );
            return Ok(Watches { shell: None });
        }
        eprintln!(
            "bench: fs.inotify.max_user_instances is {wanted} for this session, and {limit} again afterwards"
        );
        let script = format!("echo {wanted} >{WATCHES}; echo; cat >/dev/null; echo {limit} >{WATCHES}");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut shell = shell.spawn().context("sh")?;
        if let Some(output) = &mut shell.stdout {
            // It says so when it has raised the limit.
            output.read_exact(&mut [0])?;
        }
        Ok(Watches { shell: Some(shell) })
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        // Waiting closes its input first.
        if let Some(shell) = &mut self.shell
            && let Err(error) = shell.wait()
        {
            eprintln!("bench: fs.inotify.max_user_instances may not be what it was: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::{Figure, Scale, tasks};
    use super::*;

    #[test]
    fn hosts_are_as_many_as_the_ranks_need() {
        let scale = Scale::new(false, &[2, 32, 64, 2048]);
        let tasks = tasks(&[Figure::Broadcast, Figure::TwoHosts], &scale, &[Engine::Postrider]);
        let mut lists: Vec<String> = tasks.iter().map(hosts).collect();
        lists.dedup();
        assert_eq!(lists, ["n1:2", "n1:32", "n[1-2]:32", "n[1-64]:32", "h1:1,h2:1"]);
    }
}
