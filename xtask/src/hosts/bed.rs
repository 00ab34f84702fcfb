//! One bed: the processes that hold its namespaces, and commands inside of them.
//!
//! `tests/hosts/bed.sh` is the first process of a PID namespace that holds everything of the bed, so that the kernel ends
//! all of it when that process ends: it does when its standard input does, which is a pipe from here, or when it is killed.
//! Mounts and network interfaces are in namespaces that only these processes hold. What is left then is the state
//! directory `hosts/NAME` in the target folder. Each host is a PID namespace within the first, and its first process is
//! `tests/hosts/host.sh`.
//!
//! From outside, the files and processes of a host are reached through `/proc`: there the bed's process has a link to its root
//! directory, with a `/proc` of its own, where the host's process has one.

use super::keys;
use crate::workspace;
use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::time::{Duration, Instant};

/// How long a step of a bed may take before it counts as failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// What can be reached on a host from others.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
pub enum Firewall {
    /// Port 22 and nothing else.
    Yes,
    /// Port 22, and that only from h0.
    Peers,
    /// Port 22 and those of Slurm.
    Slurm,
    /// Everything.
    No,
}

/// The links between the hosts, when they are slow ones.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub struct Link {
    /// How long each packet is on its way.
    pub delay_us: u32,
    /// How much a link carries in each direction.
    pub mbit_s: u32,
}

/// What a bed is like.
#[derive(Clone, Serialize, Deserialize)]
pub struct Options {
    /// How many hosts there are beside h0.
    pub hosts: usize,
    /// What can be reached on each.
    pub firewall: Firewall,
    /// Whether hosts other than h0 can log in on others.
    pub keys: bool,
    /// Links that are slow.
    pub link: Option<Link>,
    /// The size of /tmp.
    pub tmp: Option<String>,
    /// Options of postrider-slowfs when /central is to be slow.
    pub slow: Option<String>,
    /// Whether a user namespace stands in for the rights of root.
    pub rootless: bool,
    /// Whether Slurm runs on the hosts.
    pub slurm: bool,
    /// What all hosts see beside the repository and the target folder.
    pub visible: Option<PathBuf>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            hosts: 3,
            firewall: Firewall::Yes,
            keys: true,
            link: None,
            tmp: None,
            slow: None,
            rootless: false,
            slurm: false,
            visible: None,
        }
    }
}

/// How long a bed lives.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Life {
    /// Until it is taken down.
    Stays,
    /// As long as the value that stands for it, and not longer than this program.
    Scoped,
}

/// A bed that is up.
pub struct Bed {
    state: PathBuf,
    options: Options,
    account: Account,
    process: u32,
    /// What a scoped bed lives by.
    owned: Option<(Child, Option<ChildStdin>)>,
}

/// What `hosts/NAME/bed.json` says.
#[derive(Serialize, Deserialize)]
struct Record {
    process: u32,
    options: Options,
}

/// The state directory of a bed.
pub fn state(name: &str) -> Result<PathBuf> {
    Ok(folder()?.join(name))
}

/// The names of all beds that have a state directory.
pub fn names() -> Result<Vec<String>> {
    let folder = folder()?;
    if !folder.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&folder).with_context(|| folder.display().to_string())?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

fn folder() -> Result<PathBuf> {
    Ok(workspace::target()?.join("hosts"))
}

/// Ends the bed of a state directory, if it is up, and removes the directory.
pub fn end(state: &Path) -> Result<()> {
    if let Ok(record) = Record::read(state)
        && is_of(record.process, state)
    {
        Command::new("kill").args(["-9", &record.process.to_string()]).status().context("kill")?;
        wait_for("the end of the bed", || Ok((!is_of(record.process, state)).then_some(())))?;
    }
    if state.exists() {
        std::fs::remove_dir_all(state).with_context(|| state.display().to_string())?;
    }
    Ok(())
}

/// Whether a process is the first one of the bed with this state.
fn is_of(process: u32, state: &Path) -> bool {
    let token = format!("BED_STATE={}", state.display());
    let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    environment.split(|&byte| byte == 0).any(|variable| variable == token.as_bytes())
}

impl Record {
    fn read(state: &Path) -> Result<Self> {
        let path = state.join("bed.json");
        let text = std::fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }
}

impl Bed {
    /// Brings a bed up: all hosts with sshd listening.
    pub fn start(name: &str, options: Options, life: Life) -> Result<Self> {
        ensure!(options.hosts <= 200, "a bed has at most 200 hosts");
        let state = state(name)?;
        end(&state)?;
        for folder in ["shared", "central", "pids", "log"] {
            let path = state.join(folder);
            std::fs::create_dir_all(&path).with_context(|| path.display().to_string())?;
        }
        keys::make(&state.join("ssh"), options.hosts)?;
        let account = Account::of(&options)?;
        if options.rootless {
            let mut owner = Command::new("chown");
            workspace::run(owner.arg("--recursive").arg(&account.numbers).arg(&state))?;
        }
        let (child, input) = launch(&state, &options, life)?;
        let mut bed = Self { state, options, account, process: child.id(), owned: Some((child, input)) };
        bed.process = bed.first_process()?;
        let record = Record { process: bed.process, options: bed.options.clone() };
        std::fs::write(bed.state.join("bed.json"), serde_json::to_string(&record)?)?;
        for host in 0..=bed.options.hosts {
            bed.launch_host(host)?;
        }
        for host in 0..=bed.options.hosts {
            bed.await_host(host)?;
        }
        if bed.options.slurm {
            bed.start_slurm()?;
        }
        if life == Life::Stays {
            bed.owned = None;
        }
        Ok(bed)
    }

    /// Starts the daemons on all hosts; h0, which waits for the others, is the last.
    fn start_slurm(&self) -> Result<()> {
        let last = self.options.hosts;
        let words = [scripts().join("slurm.sh").display().to_string(), last.to_string()];
        for host in (0..=last).rev() {
            let log_file = File::create(self.state.join(format!("log/slurm{host}")))?;
            let mut start = self.command(host, Path::new("/"), &words)?;
            start.stdin(Stdio::null()).stdout(log_file.try_clone()?).stderr(log_file);
            let status = start.status().context("nsenter")?;
            ensure!(status.success(), "no Slurm on h{host}: {}", log(&self.state, &format!("slurm{host}")));
        }
        Ok(())
    }

    /// A bed that is up.
    pub fn find(name: &str) -> Result<Self> {
        let state = state(name)?;
        let record = Record::read(&state).with_context(|| format!("no bed {name} is up"))?;
        ensure!(
            is_of(record.process, &state),
            "the bed {name} has died; `cargo xtask hosts down --name {name}` removes the rest"
        );
        let account = Account::of(&record.options)?;
        Ok(Self { state, options: record.options, account, process: record.process, owned: None })
    }

    /// What it is like.
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// The first process of it.
    pub fn process(&self) -> u32 {
        self.process
    }

    /// The directory that is /shared on all hosts.
    pub fn shared(&self) -> PathBuf {
        self.state.join("shared")
    }

    /// A place for files of the one who runs commands.
    pub fn scratch(&self) -> PathBuf {
        self.state.join("log")
    }

    /// The root directory of a host, seen from outside.
    pub fn root_of(&self, host: usize) -> Result<PathBuf> {
        let process = self.host_process(host)?;
        let bed = Path::new("/proc").join(self.process.to_string()).join("root");
        Ok(bed.join("proc").join(process).join("root"))
    }

    /// A command on a host, as its user would start it, with an environment of its own.
    pub fn command(&self, host: usize, directory: &Path, command: &[String]) -> Result<Command> {
        let mut enter = self.inside();
        let Account { name, home, .. } = &self.account;
        enter.args(["nsenter", "--target", &self.host_process(host)?]);
        enter.args(["--mount", "--uts", "--ipc", "--net", "--pid"]);
        if self.options.rootless {
            enter.args(["--user", "--preserve-credentials"]);
        }
        enter.args(["env", "-i"]).arg(format!("--chdir={}", directory.display()));
        let programs = workspace::installation().join("bin");
        let path =
            format!("{}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", programs.display());
        let terminal = std::env::var("TERM").unwrap_or_else(|_| "dumb".into());
        for (variable, value) in [("PATH", &path), ("HOME", home), ("USER", name), ("LOGNAME", name)] {
            enter.arg(format!("{variable}={value}"));
        }
        enter.args(["TMPDIR=/tmp", "LANG=C.UTF-8", "SHELL=/bin/bash"]).arg(format!("TERM={terminal}"));
        enter.args(command);
        Ok(enter)
    }

    /// A command in the network of the bed, outside of its hosts.
    pub fn inside(&self) -> Command {
        let mut command = unprivileged("nsenter", &self.options);
        command.args(["--target", &self.process.to_string()]);
        if self.options.rootless {
            command.args(["--user", "--preserve-credentials"]);
        }
        command.args(["--mount", "--net", "--pid"]);
        command
    }

    /// Ends a host at once, as a loss of power does. [`Bed::start_host`] brings it back.
    pub fn kill_host(&self, host: usize) -> Result<()> {
        workspace::run(self.inside().args(["kill", "-9", &self.host_process(host)?]))
    }

    /// Takes a host from the network, or puts it back.
    pub fn plug(&self, host: usize, connected: bool) -> Result<()> {
        let state = if connected { "up" } else { "down" };
        workspace::run(self.inside().args(["ip", "link", "set", &format!("port{host}"), state]))
    }

    /// Starts a host that has been ended.
    pub fn start_host(&self, host: usize) -> Result<()> {
        self.launch_host(host)?;
        self.await_host(host)
    }

    fn host_process(&self, host: usize) -> Result<String> {
        let path = self.state.join(format!("pids/h{host}"));
        let text = std::fs::read_to_string(&path).with_context(|| format!("no host h{host} is up"))?;
        Ok(text.trim().to_owned())
    }

    /// The first process of the bed once it is ready; `self.process` is unshare until then.
    fn first_process(&mut self) -> Result<u32> {
        let children = format!("/proc/{0}/task/{0}/children", self.process);
        let (state, Some((child, _))) = (&self.state, &mut self.owned) else {
            bail!("this bed has no owner")
        };
        wait_for("the bed", || {
            if state.join("ready").exists()
                && let Ok(Ok(process)) = std::fs::read_to_string(&children).map(|text| text.trim().parse())
            {
                return Ok(Some(process));
            }
            if let Some(status) = child.try_wait()? {
                bail!("the namespaces of a bed cannot be made here ({status}): {}", log(state, "bed"));
            }
            Ok(None)
        })
    }

    fn launch_host(&self, host: usize) -> Result<()> {
        let name = format!("h{host}");
        let log_file = File::create(self.state.join(format!("log/{name}")))?;
        let mut command = self.inside();
        command.arg(scripts().join("host.sh")).arg("start");
        command.stdin(Stdio::null()).stdout(log_file.try_clone()?).stderr(log_file);
        let places =
            [Some(workspace::root().to_owned()), Some(workspace::target()?), self.options.visible.clone()];
        let visible: Vec<String> =
            places.into_iter().flatten().map(|place| place.display().to_string()).collect();
        let Options { firewall, keys, tmp, rootless, .. } = &self.options;
        let firewall = match firewall {
            Firewall::Yes => "yes",
            Firewall::Peers => "peers",
            Firewall::Slurm => "slurm",
            Firewall::No => "no",
        };
        let Account { numbers, home, .. } = &self.account;
        let user = if *rootless { numbers.as_str() } else { "" };
        let key = if *keys || host == 0 { "yes" } else { "no" };
        command.env("HOME", home).env("BED_STATE", &self.state).env("BED_HOST", &name);
        command.env("BED_INDEX", host.to_string()).env("BED_VISIBLE", visible.join("\n")).env("BED_KEY", key);
        command.env("BED_TMP", tmp.as_deref().unwrap_or("")).env("BED_FIREWALL", firewall);
        command.env("BED_USER", user);
        let status = command.status().context("nsenter does not start: scripts/setup installs it")?;
        ensure!(status.success(), "{name} does not start: {}", log(&self.state, &name));
        Ok(())
    }

    /// Waits for the sshd of a host.
    fn await_host(&self, host: usize) -> Result<()> {
        let name = format!("h{host}");
        wait_for(&format!("sshd of {name}"), || {
            let text = log(&self.state, &name);
            if text.contains("Server listening") {
                return Ok(Some(()));
            }
            ensure!(self.root_of(host)?.exists(), "{name} does not start: {text}");
            Ok(None)
        })
        .with_context(|| log(&self.state, &name))
    }
}

impl Drop for Bed {
    fn drop(&mut self) {
        if let Some((mut child, input)) = self.owned.take() {
            drop(input);
            // Without its input the bed ends; what it does not do by itself is done to it.
            let _ = wait_for("the end of the bed", || Ok(child.try_wait()?));
            let _ = end(&self.state);
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Starts the process that holds the namespaces of a bed.
fn launch(state: &Path, options: &Options, life: Life) -> Result<(Child, Option<ChildStdin>)> {
    let log_file = File::create(state.join("log/bed"))?;
    let mut command = unprivileged("unshare", options);
    if options.rootless {
        command.args(["--user", "--map-root-user"]);
    }
    command.args(["--mount", "--net", "--pid", "--mount-proc", "--fork", "--kill-child=KILL"]);
    command.arg(scripts().join("bed.sh"));
    command.env("BED_STATE", state).process_group(0);
    if let Some(slow) = &options.slow {
        std::fs::create_dir_all(state.join("slow-source"))?;
        command.env("BED_SLOW", slow).env("BED_SLOWFS", slowfs()?);
    }
    if let Some(Link { delay_us, mbit_s }) = options.link {
        command.env("BED_LINK", format!("{delay_us} {mbit_s}")).env("BED_SLOW_LINK", slow_link()?);
    }
    command.stdout(log_file.try_clone()?).stderr(log_file);
    if life == Life::Stays {
        command.env("BED_STAYS", "yes").stdin(Stdio::null());
    } else {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().context("unshare does not start: scripts/setup installs it")?;
    let input = child.stdin.take();
    Ok((child, input))
}

/// The slow file system's program, built when it is missing or old.
pub fn slowfs() -> Result<PathBuf> {
    let mut cargo = workspace::cargo();
    workspace::run(cargo.args(["build", "--quiet", "--package", "postrider-slowfs"]))?;
    Ok(workspace::target()?.join("debug/postrider-slowfs"))
}

/// The program of slow links, compiled when it is missing or old.
fn slow_link() -> Result<PathBuf> {
    let (source, program) =
        (scripts().join("programs/slow_link.c"), workspace::target()?.join("debug/slow_link"));
    let changed = |path: &Path| std::fs::metadata(path).and_then(|data| data.modified()).ok();
    if changed(&program) < changed(&source) {
        let mut compile = Command::new("cc");
        workspace::run(compile.args(["-O2", "-std=c11", "-o"]).arg(&program).arg(&source))?;
    }
    Ok(program)
}

/// Where the scripts are that hosts run.
pub fn scripts() -> PathBuf {
    workspace::root().join("tests/hosts")
}

/// What a process of the bed has said.
fn log(state: &Path, name: &str) -> String {
    std::fs::read_to_string(state.join("log").join(name)).unwrap_or_default().trim().to_owned()
}

/// The user and group number of nobody, who stands in for an ordinary user when root tries a bed without root.
const NOBODY: &str = "65534";

/// Who uses the hosts.
struct Account {
    name: String,
    /// The home directory that sshd finds, whatever HOME says.
    home: String,
    /// User and group, with a colon.
    numbers: String,
}

impl Account {
    /// Whoever runs this program; without root, a user `bed` with the same number on all hosts.
    fn of(options: &Options) -> Result<Self> {
        let number = user_number()?;
        if options.rootless {
            let output = Command::new("id").arg("-g").output().context("id")?;
            let group = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            let numbers =
                if number == "0" { format!("{NOBODY}:{NOBODY}") } else { format!("{number}:{group}") };
            return Ok(Self { name: "bed".to_owned(), home: "/bed".to_owned(), numbers });
        }
        let text = std::fs::read_to_string("/etc/passwd").context("/etc/passwd")?;
        let lines = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let found = lines.filter(|fields| fields.len() > 5).find(|fields| fields[2] == number);
        let fields = found.with_context(|| format!("/etc/passwd has no user {number}"))?;
        let numbers = format!("{}:{}", fields[2], fields[3]);
        Ok(Self { name: fields[0].to_owned(), home: fields[5].to_owned(), numbers })
    }
}

fn user_number() -> Result<String> {
    let output = Command::new("id").arg("-u").output().context("id")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// A command without the rights of root when the bed is to do without them.
fn unprivileged(program: &str, options: &Options) -> Command {
    if !options.rootless || user_number().is_ok_and(|number| number != "0") {
        return Command::new(program);
    }
    let mut command = Command::new("setpriv");
    command
        .arg(format!("--reuid={NOBODY}"))
        .arg(format!("--regid={NOBODY}"))
        .args(["--clear-groups", program]);
    command
}

/// Asks again until there is an answer.
pub fn wait_for<T>(what: &str, mut ask: impl FnMut() -> Result<Option<T>>) -> Result<T> {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask()? {
            return Ok(answer);
        }
        ensure!(start.elapsed() < PATIENCE, "{what}: nothing for {} seconds", PATIENCE.as_secs());
        std::thread::sleep(Duration::from_millis(10));
    }
}
