//! Joining a job that another launcher has started: `srun`, MPICH's `mpiexec`, Open MPI's `mpiexec`.
//!
//! These processes know their rank ([`launchers`]), and have no launcher of ours that would give them a job segment and watch over them.
//! So the first of them on each host that comes to `MPI_Init` starts one, the standing agent (`postrider stand`), from the installation
//! that this library is a part of. All of them find it at an address that follows from the launcher's name of the job
//! (`postrider_os::standing`), and wait there until all ranks of all hosts have come. Where the launcher offers a key-value
//! space, it is through the host's lowest rank that the agents of several hosts meet; otherwise they have a shared directory for it.
//!
//! A rank that is started anew in the same job, as by `srun sh -c './first; ./second'`, finds an agent that is not its own, waits until
//! that one has gone, and then belongs to the next.

mod launchers;
mod pmi;
mod relay;
mod wire;

use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::net::{SocketAddr, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use postrider_os::standing::{self, LINE_BYTES_MAX, Word};

use launchers::{Host, Launched, Place};
use pmi::Pmi;
use relay::Relay;

/// Agents that a rank starts before it gives up.
const STARTS_MAX: u32 = 3;
/// From one look for the agent to the next.
const PAUSE: Duration = Duration::from_millis(5);
/// What an agent has beyond the time limit to say that it is over.
const PATIENCE: Duration = Duration::from_secs(30);

/// A rank's place in a job that it has joined.
#[derive(Debug)]
pub struct Seat {
    /// The rank.
    pub rank: u32,
    /// Where the job's segment is, in the form of `POSTRIDER_JOB`.
    pub place: String,
    /// The job's directory on this host.
    pub local: Option<PathBuf>,
    /// The job's directory that all hosts see.
    pub central: Option<PathBuf>,
    agent: Mutex<BufReader<UnixStream>>,
}

impl Seat {
    /// Says that this rank is done, and waits until all are.
    pub fn leave(&self) {
        let Ok(mut agent) = self.agent.lock() else { return };
        let _no_limit = agent.get_ref().set_read_timeout(None);
        // An agent that is gone has nothing more to say.
        if agent.get_mut().write_all(Word::Done.line().as_bytes()).is_ok() {
            let _over = next(&mut agent);
        }
    }
}

/// The number of ranks that another launcher has started.
pub fn ranks() -> Option<u32> {
    Some(launchers::find(variable).ok()??.size)
}

/// Joins the job that another launcher has started this process for. None when there is none.
///
/// # Errors
/// Why it cannot be joined, and what to do about it.
pub fn join() -> Result<Option<Seat>, String> {
    let Some(launched) = launchers::find(variable)? else { return Ok(None) };
    let advice = |why: String| {
        let Launched { launcher, rank, size, .. } = &launched;
        format!("rank {rank} of {size}, started by {launcher}, cannot join the others: {why}")
    };
    let limit = standing::time_limit().map_err(advice)?;
    take_seat(&launched, limit).map_err(advice).map(Some)
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

fn take_seat(launched: &Launched, limit: Duration) -> Result<Seat, String> {
    let Launched { rank, size, .. } = *launched;
    let (host, mut relay) = match &launched.place {
        Place::Known(host) => (host.clone(), None),
        Place::Asked(descriptor, job) => {
            let mut pmi = Pmi::begin(*descriptor, job.as_deref(), rank, limit)?;
            let (host, leads) = pmi.host(rank, size)?;
            let relay = Relay::begin(pmi, leads, host.number, host.hosts)?;
            (host, Some(relay))
        }
    };
    let address = standing::address(&host.key, host.number).map_err(|error| error.to_string())?;
    let arguments = arguments(&host, size, relay.is_some());
    let until = Instant::now() + limit + PATIENCE;
    let join = Word::Join { rank, cores: standing::cores() }.line();
    let mut starts = 0;
    loop {
        if let Some(mut agent) = meet(&address, &arguments, &mut starts)? {
            agent.get_ref().set_read_timeout(Some(limit + PATIENCE)).map_err(|error| error.to_string())?;
            // Without a word from it, it was the agent of the job before this one, and has gone.
            if agent.get_mut().write_all(join.as_bytes()).is_ok()
                && let Some(seat) = sit(rank, agent, &mut relay, limit + PATIENCE)?
            {
                return Ok(seat);
            }
        }
        if Instant::now() > until {
            return Err(
                "the agent of this host does not answer; is another program of this job still running?"
                    .to_owned(),
            );
        }
        std::thread::sleep(PAUSE);
    }
}

/// Connects to the host's agent, or starts it.
fn meet(
    address: &SocketAddr,
    arguments: &[String],
    starts: &mut u32,
) -> Result<Option<BufReader<UnixStream>>, String> {
    if let Ok(stream) = UnixStream::connect_addr(address) {
        standing::peer(&stream).map_err(|error| error.to_string())?;
        return Ok(Some(BufReader::new(stream)));
    }
    let Some(listener) = standing::listen(address).map_err(|error| error.to_string())? else {
        return Ok(None);
    };
    if *starts == STARTS_MAX {
        return Err("agents of this host end as soon as they are started".to_owned());
    }
    *starts += 1;
    let program = program()?;
    standing::start(&program, arguments, listener).map_err(|error| error.to_string())?;
    Ok(None)
}

/// The command line of the installation that this library is a part of.
///
/// # Errors
/// When there is none.
pub fn program() -> Result<PathBuf, String> {
    let library = standing::own_file();
    let program = library.as_deref().and_then(Path::parent).map(|folder| folder.join("../bin/postrider"));
    match program.filter(|program| program.is_file()) {
        Some(program) => Ok(program),
        None => Err(format!(
            "there is no ../bin/postrider beside {}; the library must stay in its installation",
            library.unwrap_or_default().display()
        )),
    }
}

/// The arguments of the host's agent.
fn arguments(host: &Host, size: u32, by_relay: bool) -> Vec<String> {
    let mut arguments = vec!["stand".to_owned(), host.key.clone()];
    for (name, value) in
        [("host", host.number), ("hosts", host.hosts), ("ranks", size), ("count", host.count)]
    {
        arguments.push(format!("--{name}={value}"));
    }
    if by_relay {
        arguments.push("--relay".to_owned());
    }
    arguments
}

/// Does what the agent says, until it says where the job is. None when it hangs up without a word.
fn sit(
    rank: u32,
    mut agent: BufReader<UnixStream>,
    relay: &mut Option<Relay>,
    limit: Duration,
) -> Result<Option<Seat>, String> {
    let mut silent = true;
    loop {
        if let Some(relay) = relay.as_mut().filter(|_| agent.buffer().is_empty())
            && relay.wait(agent.get_ref(), limit)
        {
            if let Some(word) = relay.fence_passed()? {
                agent.get_mut().write_all(word.line().as_bytes()).map_err(|error| error.to_string())?;
            }
            continue;
        }
        let word = match next(&mut agent) {
            Ok(Some(word)) => word,
            _ if silent => return Ok(None),
            Ok(None) => return Err("the agent of this host has gone".to_owned()),
            Err(error) => return Err(format!("the agent of this host is silent: {error}")),
        };
        silent = false;
        match word {
            Word::Job { place, local, central } => {
                relay.take().map_or(Ok(()), Relay::end)?;
                let (local, central) = (local.map(PathBuf::from), central.map(PathBuf::from));
                return Ok(Some(Seat { rank, place, local, central, agent: Mutex::new(agent) }));
            }
            Word::Refused(why) => return Err(why),
            Word::Share(text) => {
                relay.as_mut().ok_or("there is no key-value space to share in")?.share(&text)?;
            }
            Word::Apart => *relay = None,
            _ => return Err("the agent of this host speaks in riddles".to_owned()),
        }
    }
}

/// The next word of the agent; none when it has hung up.
fn next(agent: &mut BufReader<UnixStream>) -> io::Result<Option<Word>> {
    let mut line = Vec::new();
    agent.take(LINE_BYTES_MAX as u64).read_until(b'\n', &mut line)?;
    if line.last() != Some(&b'\n') {
        return Ok(None);
    }
    let word = std::str::from_utf8(&line).ok().and_then(Word::parse);
    word.map(Some).ok_or_else(|| io::Error::from(io::ErrorKind::InvalidData))
}
