//! Name spaces over several hosts: an MPI job with a server on each, which is this program once more (`postrider ipc-serve`).
//!
//! The job is that of `postrider run`, with its remote shell, its supervision and its end; `--engine` chooses another MPI library. Of `ipc run` the servers also
//! start the programs, and all ends together. Those of `ipc start` go on by themselves until `ipc stop`; if they die, each host has its part of the name space left.

use std::ffi::{CString, OsString};
use std::io::{BufRead, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use postrider_client::Mpi;
use postrider_ipc::hosts::{self, Waiting};
use postrider_ipc::space::{Host, Space};
use postrider_os::job::ENV_ENGINE;
use postrider_os::launch::Guard;

use rustix::process::{Signal, set_parent_process_death_signal};

use super::programs::{self, Calls, Programs};
use super::{Failure, base, chosen, failed, made, named, new, objects};
use crate::directory::{self, JobDirectory};
use crate::flags::{IpcHosts, IpcLimits};
use crate::hosts::{merged, parse_list};
use crate::installation;
use crate::other_engine::OWN;
use crate::removal::remove_until;

/// The MPI library of the server, by name, and in an installation of ours.
const MPI: &str = "libmpi_abi.so.1";
/// What the server of host 0 says when all are there.
const READY: &str = "ready";
/// How long all servers may take to end, and how often it is looked.
const STOP_LIMIT: Duration = Duration::from_secs(30);
const LOOK_EVERY: Duration = Duration::from_millis(10);

fn failure(error: impl ToString) -> Failure {
    (1, error.to_string())
}

/// The command that starts a server on each host, up to what the servers are told.
fn job(hosts: &IpcHosts, limits: &IpcLimits) -> Result<(Command, Vec<u32>), Failure> {
    chosen(limits)?;
    let list = merged(parse_list(hosts.hosts.as_deref().unwrap_or_default()).map_err(|error| (2, error))?);
    if list.len() > Host::MOST as usize {
        return Err((2, format!("a name space has at most {} hosts", Host::MOST)));
    }
    let this = std::env::current_exe().and_then(|path| path.canonicalize()).map_err(failure)?;
    let names: Vec<String> = list.iter().map(|host| format!("{}:1", host.name)).collect();
    let mut command = Command::new(&this);
    command.args([
        "run",
        "--stall-warning",
        "0",
        "--codes-are-results",
        "--engine",
        &hosts.engine,
        "--hosts",
        &names.join(","),
    ]);
    command.args(["-n", &list.len().to_string()]);
    if let Some(shell) = &hosts.ssh {
        command.args(["--ssh", shell]);
    }
    command.arg(this).arg("ipc-serve");
    for (name, value) in &limits.limits {
        command.arg("--limit").arg(format!("{name}={value}"));
    }
    if let Some(home) = &hosts.home {
        let number = list.iter().position(|host| host.name == *home);
        let number = number.ok_or_else(|| (2, format!("--home {home}: it is none of the hosts")))?;
        command.args(["--home", &number.to_string()]);
    }
    let names: Vec<&str> = list.iter().map(|host| host.name.as_str()).collect();
    command.args(["--names", &names.join(",")]);
    Ok((command, list.iter().map(|host| host.slots.unwrap_or(1)).collect()))
}

/// `ipc run --hosts`: becomes the launcher of the job.
pub fn run(hosts: &IpcHosts, limits: &IpcLimits, programs: &[OsString]) -> Result<i32, Failure> {
    let (mut command, numbers) = job(hosts, limits)?;
    let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
    command.args(["--numbers", &numbers.join(","), "--"]).args(programs);
    Err(failure(command.exec()))
}

/// `ipc start --hosts`: the job goes on when all servers are there.
pub fn start(name: &str, hosts: &IpcHosts, limits: &IpcLimits) -> Result<i32, Failure> {
    new(name)?;
    let (mut command, _) = job(hosts, limits)?;
    command.args(["--name", name]);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).process_group(0);
    let mut servers = command.spawn().map_err(failure)?;
    let mut lines = BufReader::new(servers.stdout.take().expect("a pipe")).lines();
    match lines.next() {
        Some(Ok(line)) if line == READY => Ok(0),
        _ => Err((1, format!("the servers of {name} do not start ({})", servers.wait().map_err(failure)?))),
    }
}

/// `ipc stop` where there is a server.
pub fn stop(space: &Space) -> Result<i32, Failure> {
    space.stop_hosts();
    let due = Instant::now() + STOP_LIMIT;
    while space.directory().exists() && space.is_served() {
        if Instant::now() > due {
            return Err((1, "the servers of the other hosts do not end".to_owned()));
        }
        std::thread::sleep(LOOK_EVERY);
    }
    while space.directory().exists() && Instant::now() < due {
        std::thread::sleep(LOOK_EVERY);
    }
    Ok(0)
}

/// The MPI library of the engine that has started this process.
fn mpi() -> Result<(Mpi, Waiting), Failure> {
    let own = std::env::var_os(ENV_ENGINE).is_none_or(|engine| engine == OWN);
    let library = match installation::libraries().filter(|_| own) {
        Some(folder) => folder.join(MPI),
        None => PathBuf::from(MPI),
    };
    let path = CString::new(library.as_os_str().as_bytes()).map_err(failure)?;
    let mpi = Mpi::load(&path).map_err(failure)?;
    mpi.initialize_for_threads().map_err(failure)?;
    match mpi.threads_may_meet() {
        // Others look again and again while they wait.
        Ok(true) => Ok((mpi, if own { Waiting::InMpi } else { Waiting::Here })),
        Ok(false) => Err(failure("the MPI library lets no two threads call it at the same time")),
        Err(error) => Err(failure(error)),
    }
}

/// The part of the name space that this host has, with what removes it in the end.
enum Part {
    Job(JobDirectory),
    Named(PathBuf),
}

/// `ipc-serve`.
pub fn serve(
    name: Option<&str>,
    numbers: &[u32],
    (home, names): (Option<u32>, &[String]),
    limits: &IpcLimits,
    command: &[OsString],
) -> Result<i32, Failure> {
    let limits = chosen(limits)?;
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failure)?;
    let (part, _guard) = match name {
        Some(name) => (Part::Named(named(name)?), None),
        None => {
            let base = base();
            directory::sweep(&base);
            let job = JobDirectory::create(&base).map_err(failure)?;
            let guard = Guard::post(|| directory::sweep(&base)).map_err(failure)?;
            (Part::Job(job), Some(guard))
        }
    };
    let programs = name.is_none().then(Programs::new).transpose()?;
    let (mpi, waiting) = mpi()?;
    let world = mpi.world().private().map_err(failure)?;
    let (number, all) = (world.rank().map_err(failure)? as u32, world.size().map_err(failure)? as u32);
    let host = Host { number, all, home: home.filter(|home| *home < all) };
    let space = match &part {
        Part::Job(job) => {
            Space::create(job.path(), limits, host).map_err(|error| failed(job.path(), &error))?
        }
        Part::Named(_) => made(name.unwrap_or_default(), limits, host)?,
    };
    let space: &'static Space = Box::leak(Box::new(space));
    space.name_hosts(names).map_err(|error| failed(space.directory(), &error))?;
    let run = || run_here(space, programs.as_ref(), numbers.get(number as usize).copied(), command);
    let code = hosts::serve(space, *world, waiting, run).map_err(failure)?;
    drop(world);
    if let Part::Named(directory) = &part {
        objects::remove_all_here(space);
        remove_until(directory, None).map_err(|error| failed(directory, &error))?;
    }
    mpi.finalize().map_err(failure)?;
    Ok(code)
}

/// Runs the programs of this host, or says that all servers are there.
fn run_here(
    space: &Space,
    programs: Option<&Programs>,
    number: Option<u32>,
    command: &[OsString],
) -> Option<i32> {
    let Some(programs) = programs else {
        if let Ok(space) = Space::open(space.directory()) {
            programs::care_for(space);
        }
        if space.host().number == 0 {
            println!("{READY}");
        }
        return None;
    };
    let number = number.unwrap_or(0);
    let code = if number == 0 {
        Ok(0)
    } else {
        programs.run(space.directory(), (number, Calls::OfLibrary), command)
    };
    Some(code.unwrap_or_else(|(code, message)| {
        eprintln!("postrider ipc: {message}");
        code
    }))
}
