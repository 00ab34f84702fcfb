//! `postrider-slowfs SOURCE MOUNTPOINT`: a directory seen through a file system that is slow, as a loaded central one is.
//!
//! Everything that is done below MOUNTPOINT is done below SOURCE, by FUSE and without its C library. What it adds:
//!
//! - `--delay-us`: every request waits so long, as over a network. Requests of several processes wait side by side.
//! - `--requests-per-second`: all requests pass one queue at this rate, as on one metadata server that is loaded.
//! - `--fail-after`: writes end with EIO once so many bytes have been written, as those to a disk that dies.
//! - `--no-locks`: `flock` and `fcntl` locks are refused with ENOLCK, as on mounts without a lock service.
//!
//! What processes see of each other's changes is at least what close-to-open consistency promises: `open` drops cached data, `close` has
//! all data written, and names and attributes are cached for `--cache-ms`, 0 by default: then each use of a path asks again.
//! All processes that use one mount share its cache; for a client with stale attributes let each host mount its own.
//!
//! It unmounts and exits on SIGTERM and SIGINT, after `umount MOUNTPOINT`, and with `--until-input-ends` when its
//! standard input ends, so that it does not outlive the one who started it.

#![forbid(unsafe_code)]

mod filesystem;
mod nodes;
mod queue;

use clap::Parser;
use filesystem::{Passthrough, Settings};
use fuser::{Config, MountOption, Session, SessionACL};
use rustix::mount::UnmountFlags;
use rustix::process::Resource;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use std::io::Read;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

/// How many requests can wait side by side.
const THREADS: usize = 32;

/// A directory seen through a slow file system.
#[derive(Parser)]
#[command(name = "postrider-slowfs")]
struct Arguments {
    /// The directory that holds the files.
    source: PathBuf,
    /// The directory at which they are seen.
    mountpoint: PathBuf,
    /// Microseconds that each request waits.
    #[arg(long, value_name = "N", default_value_t = 0)]
    delay_us: u64,
    /// How many requests are served in a second, in a queue; without it there is no limit.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    requests_per_second: Option<u32>,
    /// After how many bytes writes fail.
    #[arg(long, value_name = "BYTES")]
    fail_after: Option<u64>,
    /// Refuse locks.
    #[arg(long)]
    no_locks: bool,
    /// For how many milliseconds the kernel may hold names and attributes.
    #[arg(long, value_name = "N", default_value_t = 0)]
    cache_ms: u64,
    /// Unmount and exit when standard input ends.
    #[arg(long)]
    until_input_ends: bool,
}

fn main() -> ExitCode {
    match serve(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("postrider-slowfs: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Mounts, says so on standard output, and serves until it is to end.
fn serve(arguments: &Arguments) -> Result<(), String> {
    let (source, mountpoint) = (arguments.source.display(), arguments.mountpoint.display());
    // Files get exactly the modes that callers ask for.
    rustix::process::umask(rustix::fs::Mode::empty());
    raise_open_files();
    let settings = Settings {
        delay: Duration::from_micros(arguments.delay_us),
        requests_per_second: arguments.requests_per_second,
        written_max: arguments.fail_after.unwrap_or(u64::MAX),
        locks: !arguments.no_locks,
        cached: Duration::from_millis(arguments.cache_ms),
    };
    let filesystem =
        Passthrough::new(&arguments.source, settings).map_err(|error| format!("{source}: {error}"))?;
    let root = rustix::process::geteuid().is_root();
    let mut config = Config::default();
    config.mount_options = vec![MountOption::FSName("slowfs".into()), MountOption::DefaultPermissions];
    config.acl = if root { SessionACL::All } else { SessionACL::Owner };
    config.n_threads = Some(THREADS);
    let (sender, ends) = channel();
    // Before the mount, so that a signal cannot leave it behind.
    await_signals(sender.clone())?;
    let session = Session::new(filesystem, &arguments.mountpoint, &config).map_err(|error| {
        format!("{mountpoint} cannot be mounted: {error}; it takes /dev/fuse, and the right to mount or fusermount3")
    })?;
    let session = session.spawn().map_err(|error| format!("{mountpoint}: {error}"))?;
    println!("{source} is seen at {mountpoint}");
    if arguments.until_input_ends {
        await_input(sender);
    }
    // Somebody else may unmount it, which ends the session.
    while ends.recv_timeout(Duration::from_millis(200)) == Err(RecvTimeoutError::Timeout) {
        if session.guard.is_finished() {
            break;
        }
    }
    // Files may still be open: whoever uses them gets errors from now on. Without root, the session sees to the rest.
    let _ = rustix::mount::unmount(&arguments.mountpoint, UnmountFlags::DETACH);
    drop(session);
    Ok(())
}

/// Each file that is known to the kernel costs a descriptor.
fn raise_open_files() {
    let mut limit = rustix::process::getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // With the limit that there is, it serves fewer files.
    let _ = rustix::process::setrlimit(Resource::Nofile, limit);
}

fn await_signals(sender: Sender<()>) -> Result<(), String> {
    let mut signals = Signals::new([SIGTERM, SIGINT]).map_err(|error| format!("signals: {error}"))?;
    std::thread::spawn(move || {
        for _ in &mut signals {
            let _ = sender.send(());
        }
    });
    Ok(())
}

fn await_input(sender: Sender<()>) {
    std::thread::spawn(move || {
        let mut input = std::io::stdin();
        let mut unread = [0; 512];
        while input.read(&mut unread).is_ok_and(|bytes| bytes > 0) {}
        let _ = sender.send(());
    });
}
