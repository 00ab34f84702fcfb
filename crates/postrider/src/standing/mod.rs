//! `postrider stand`: the launcher of ranks that another launcher has started, on one host.
//!
//! Processes of `srun` or of another MPI's `mpiexec` know their ranks and nothing else. The first of them on each host starts this agent,
//! which lives as long as the job: it waits until all ranks of its host have come ([`guests`]), meets the agents of the other
//! hosts ([`meeting`], [`facts`]), makes the job segment and the post, lets the ranks go, and watches over them ([`serving`]).
//! It is no parent of the ranks and does not pass their output on; both are the launcher's business.
//!
//! In `MPI_Finalize` ranks wait until all are done and the agents have removed what there was of the job, because a launcher may
//! end everything on a host as soon as its own processes have ended.

mod facts;
mod guests;
mod meeting;
mod peers;
mod preparing;
mod serving;

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::process::{Command, Stdio};
use std::time::Instant;

use postrider_os::launch::Signals;
use postrider_os::process::host_name;
use postrider_os::standing::{Word, time_limit, use_all_cores};
use rustix::stdio::{dup2_stdin, stdin};

use crate::flags::Stand;
use crate::remote_shell::harmless;
use guests::Guests;
use serving::Serving;

/// Signals that are for the ranks, which get them as well. The agent ends when they have.
const SIGNALS: [i32; 6] =
    [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGUSR1, libc::SIGUSR2];

/// Does all of it; the listening socket is standard input.
pub fn stand(stand: Stand) -> i32 {
    let done = if stand.detached { work(&stand) } else { detach() };
    match done {
        Ok(()) => 0,
        Err(error) => {
            complain(&error.to_string());
            1
        }
    }
}

/// Starts the agent proper and leaves it alone, so that the rank that has started us has no child it does not know.
fn detach() -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(std::env::args_os().skip(1)).arg("--detached").stdout(Stdio::null());
    command.spawn().map(drop)
}

fn work(stand: &Stand) -> io::Result<()> {
    use_all_cores();
    let failed = |error: postrider_os::error::Error| io::Error::other(error.to_string());
    let signals = Signals::receive(&SIGNALS).map_err(failed)?;
    let listener = stdin().as_fd().try_clone_to_owned()?;
    dup2_stdin(File::open("/dev/null")?)?;
    let mut guests = Guests::new(listener, stand.ranks, stand.count)?;
    let prepared = time_limit().and_then(|limit| {
        let until = Instant::now() + limit;
        preparing::prepare(stand, &mut guests, limit, until)
    });
    match prepared {
        Ok(prepared) => Serving::new(prepared, guests, signals, stand.host_timeout).serve(),
        Err(why) => guests.say_to_all(&Word::Refused(why)),
    }
    Ok(())
}

/// Tells the user something, which may come from another host. Standard error may be gone.
fn complain(what: &str) {
    let _nobody_listens = writeln!(io::stderr(), "postrider: {}", harmless(what.as_bytes()));
}

/// The name of this host for other hosts.
fn own_name() -> String {
    std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty()).unwrap_or_else(host_name)
}
