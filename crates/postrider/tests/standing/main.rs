//! Ranks that another launcher has started, and the standing agents that they start: real processes, on one host and on several
//! that are all this machine.
//!
//! This test executable plays the ranks, see [`play`]: it does what the library does in `MPI_Init` and `MPI_Finalize`, by the words
//! of `postrider_os::standing`. No test sleeps for a fixed time, and a watchdog ends a wait that has become hopeless.
#![deny(unsafe_code)]

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use postrider_os::job::{Job, State};
use postrider_os::standing::{Word, address, cores, listen, peer, start};
use rustix::process::{Pid, Signal, kill_process};

const LIMIT: Duration = Duration::from_secs(120);
const PAUSE: Duration = Duration::from_millis(5);
const CRASHED: i32 = 3;

/// One rank: joins as `RANK` of the job `KEY` on host `HOST`, does what `SCRIPT` says. Without that variable nothing.
#[test]
fn play() {
    let Ok(script) = std::env::var("SCRIPT") else { return };
    let number = |name: &str| std::env::var(name).expect("it is set").parse::<u32>().expect("a number");
    let (rank, host, hosts, count) = (number("RANK"), number("HOST"), number("HOSTS"), number("COUNT"));
    let key = std::env::var("KEY").expect("it is set");
    for _ in 0..script.matches("again").count() + 1 {
        let mut agent = join(&key, host, hosts, rank, count);
        let word = next(&mut agent);
        let Some(Word::Job { place, local, central }) = word else { panic!("no job, but {word:?}") };
        let job = Job::open(&place).expect("the job opens");
        assert_eq!(job.placement().ranks(), hosts * count);
        assert_eq!((job.host(), job.placement().host_of(rank)), (host, host));
        assert!(job.slot(rank).claim());
        job.slot(rank).set_state(State::Initialized);
        assert!(local.iter().chain(&central).all(|directory| Path::new(directory).is_dir()));
        println!("rank {rank} {}", if central.is_some() { "central" } else { "near" });
        match &script[..] {
            "crash" if rank == 1 => std::process::exit(CRASHED),
            "vanish" if rank == count => vanish(&job, &key),
            "crash" | "vanish" => loop {
                std::thread::sleep(LIMIT);
            },
            _ => {}
        }
        job.slot(rank).set_state(State::Finalized);
        agent.get_mut().write_all(Word::Done.line().as_bytes()).expect("it is said");
        assert_eq!(next(&mut agent), Some(Word::Over));
        assert!(local.iter().all(|directory| !Path::new(directory).exists()));
    }
    std::process::exit(0);
}

/// The agent of this host is not heard of any more until that of host 0 has given it up.
fn vanish(job: &Job, key: &str) -> ! {
    let agent = Pid::from_raw(job.launcher() as i32).expect("a process");
    kill_process(agent, Signal::STOP).expect("it is ours");
    let first = address(key, 0).expect("an address");
    while UnixStream::connect_addr(&first).is_ok() {
        std::thread::sleep(PAUSE);
    }
    kill_process(agent, Signal::CONT).expect("it is ours");
    loop {
        std::thread::sleep(LIMIT);
    }
}

/// Finds the agent of this host, or starts it, and says which rank this is.
fn join(key: &str, host: u32, hosts: u32, rank: u32, count: u32) -> BufReader<UnixStream> {
    let address = address(key, host).expect("an address");
    let until = Instant::now() + LIMIT;
    while Instant::now() < until {
        if let Ok(mut stream) = UnixStream::connect_addr(&address) {
            peer(&stream).expect("this user");
            let join = Word::Join { rank, cores: cores() }.line();
            // The agent of the job before this one hangs up, without a word.
            let mut one = [0; 1];
            if stream.write_all(join.as_bytes()).is_ok() && stream.peek_one(&mut one) {
                return BufReader::new(stream);
            }
        } else if let Some(listener) = listen(&address).expect("it listens") {
            let arguments = [("host", host), ("hosts", hosts), ("ranks", hosts * count), ("count", count)]
                .map(|(name, value)| format!("--{name}={value}"));
            let arguments = [vec!["stand".to_owned(), key.to_owned()], arguments.to_vec()].concat();
            start(Path::new(env!("CARGO_BIN_EXE_postrider")), &arguments, listener).expect("it starts");
        }
        std::thread::sleep(PAUSE);
    }
    panic!("no agent");
}

trait Peek {
    fn peek_one(&self, byte: &mut [u8; 1]) -> bool;
}

impl Peek for UnixStream {
    /// Waits for a byte and leaves it there; false when none comes any more.
    fn peek_one(&self, byte: &mut [u8; 1]) -> bool {
        let flags = rustix::net::RecvFlags::PEEK;
        rustix::net::recv(self, byte, flags).is_ok_and(|(_, bytes)| bytes > 0)
    }
}

fn next(agent: &mut BufReader<UnixStream>) -> Option<Word> {
    let mut line = String::new();
    agent.read_line(&mut line).ok()?;
    Word::parse(&line)
}

/// A job of a launcher that is this test.
struct Launch {
    ranks: Vec<Child>,
}

impl Launch {
    fn new(script: &str, hosts: u32, count: u32, variables: &[(&str, &str)]) -> Self {
        static JOBS: AtomicU32 = AtomicU32::new(0);
        let key = format!("test-{}-{}", std::process::id(), JOBS.fetch_add(1, Ordering::Relaxed));
        let ranks = (0..hosts * count).map(|rank| {
            let mut command = Command::new(std::env::current_exe().expect("this executable"));
            command.args(["play", "--exact", "--nocapture", "--test-threads=1"]);
            command.env("SCRIPT", script).env("KEY", &key).env("RANK", rank.to_string());
            command.env("HOST", (rank / count).to_string()).env("HOSTS", hosts.to_string());
            command.env("COUNT", count.to_string()).envs(variables.iter().copied());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).stdin(Stdio::null());
            command.spawn().expect("a rank starts")
        });
        Self { ranks: ranks.collect() }
    }

    /// How all ranks have ended, what they have printed, and what has been said on their error outputs.
    fn end(self) -> (Vec<ExitStatus>, String, String) {
        let (mut statuses, mut output, mut errors) = (Vec::new(), String::new(), String::new());
        for mut rank in self.ranks {
            let until = Instant::now() + LIMIT;
            while rank.try_wait().expect("it is ours").is_none() {
                if Instant::now() > until {
                    rank.kill().expect("it is ours");
                    panic!("a rank does not end: {output} {errors}");
                }
                std::thread::sleep(PAUSE);
            }
            let ended = rank.wait_with_output().expect("it has ended");
            statuses.push(ended.status);
            output += &String::from_utf8_lossy(&ended.stdout);
            errors += &String::from_utf8_lossy(&ended.stderr);
        }
        (statuses, output, errors)
    }
}

/// A directory for all that jobs make, with what else is needed: a remote shell that stays here, and one that refuses.
struct Surroundings(tempfile::TempDir);

impl Surroundings {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a directory");
        let stays = "#!/bin/sh\nwhile [ $# -gt 0 ]; do case $1 in -o) shift 2;; -*) shift;; *) break;; esac; done\n\
                     shift\nexec sh -c \"$*\"\n";
        let refuses = "#!/bin/sh\necho 'Permission denied (publickey).' >&2\nexit 255\n";
        for (name, text) in [("stays", stays), ("refuses", refuses)] {
            let path = directory.path().join(name);
            std::fs::write(&path, text).expect("it is written");
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).expect("it is ours");
        }
        for name in ["tmp", "shared"] {
            std::fs::create_dir(directory.path().join(name)).expect("it is made");
        }
        Self(directory)
    }

    fn launch(&self, script: &str, hosts: u32, count: u32, shell: &str) -> Launch {
        let at = |name: &str| self.0.path().join(name).display().to_string();
        let variables = [
            ("TMPDIR", at("tmp")),
            ("POSTRIDER_RENDEZVOUS", at("shared")),
            ("POSTRIDER_SSH", at(shell)),
            ("POSTRIDER_TRANSPORT", "shared-memory".to_owned()),
            ("POSTRIDER_HOST_TIMEOUT", if script == "vanish" { "2" } else { "60" }.to_owned()),
        ];
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (*name, value.as_str())).collect();
        Launch::new(script, hosts, count, &variables)
    }

    /// Nothing is left, at the latest soon after the ranks.
    fn check_empty(&self) {
        let until = Instant::now() + LIMIT;
        let left = || -> Vec<_> {
            let entries = ["tmp", "shared"].map(|name| std::fs::read_dir(self.0.path().join(name)));
            entries.into_iter().flatten().flatten().flatten().map(|entry| entry.path()).collect()
        };
        while !left().is_empty() {
            assert!(Instant::now() < until, "{:?} is left", left());
            std::thread::sleep(PAUSE);
        }
    }
}

fn check_all_well((statuses, output, errors): (Vec<ExitStatus>, String, String), line: &str) {
    assert!(statuses.iter().all(ExitStatus::success), "{statuses:?} {output} {errors}");
    assert_eq!(output.matches(line).count(), statuses.len(), "{output} {errors}");
}

#[test]
fn ranks_of_one_host_join_one_job() {
    let surroundings = Surroundings::new();
    check_all_well(surroundings.launch("finish", 1, 3, "refuses").end(), "near");
    surroundings.check_empty();
}

#[test]
fn programs_follow_one_another_in_the_same_job() {
    let surroundings = Surroundings::new();
    let (statuses, output, errors) = surroundings.launch("finish again", 1, 2, "refuses").end();
    assert!(statuses.iter().all(ExitStatus::success), "{statuses:?} {errors}");
    assert_eq!(output.matches("near").count(), 4, "{output}");
    surroundings.check_empty();
}

#[test]
fn hosts_meet_and_are_linked_by_remote_shells() {
    let surroundings = Surroundings::new();
    check_all_well(surroundings.launch("finish", 3, 2, "stays").end(), "near");
    surroundings.check_empty();
}

#[test]
fn hosts_without_remote_shell_use_the_directory_that_all_see() {
    let surroundings = Surroundings::new();
    check_all_well(surroundings.launch("finish", 2, 2, "refuses").end(), "central");
    surroundings.check_empty();
}

#[test]
fn a_rank_that_ends_too_early_ends_the_others_on_all_hosts() {
    for shell in ["stays", "refuses"] {
        let surroundings = Surroundings::new();
        let (statuses, output, errors) = surroundings.launch("crash", 2, 2, shell).end();
        assert_eq!(statuses[1].code(), Some(CRASHED), "{output} {errors}");
        for rank in [0, 2, 3] {
            assert!(statuses[rank].signal().is_some(), "{statuses:?} {errors}");
        }
        assert_eq!(errors.matches("postrider: rank 1 on host ").count(), 1, "{errors}");
        surroundings.check_empty();
    }
}

#[test]
fn a_host_that_falls_silent_ends_the_job_without_any_traffic() {
    for shell in ["stays", "refuses"] {
        let surroundings = Surroundings::new();
        let (statuses, output, errors) = surroundings.launch("vanish", 2, 2, shell).end();
        assert!(statuses.iter().all(|status| status.signal().is_some()), "{statuses:?} {output} {errors}");
        assert!(errors.contains("has not answered for 2 seconds"), "{errors}");
        surroundings.check_empty();
    }
}

#[test]
fn who_does_not_come_is_named() {
    let key = format!("test-{}-alone", std::process::id());
    let address = address(&key, 0).expect("an address");
    let listener = listen(&address).expect("it listens").expect("nobody else does");
    let mut command = Command::new(env!("CARGO_BIN_EXE_postrider"));
    command.args(["stand", &key, "--host=0", "--hosts=1", "--ranks=3", "--count=3"]);
    command.env("POSTRIDER_JOIN_TIMEOUT", "1").stdin(std::os::fd::OwnedFd::from(listener));
    let mut starting = command.spawn().expect("it starts");
    let mut stream = UnixStream::connect_addr(&address).expect("it listens");
    stream.write_all(Word::Join { rank: 2, cores: cores() }.line().as_bytes()).expect("it is said");
    stream.set_read_timeout(Some(LIMIT)).expect("a time limit");
    let word = next(&mut BufReader::new(stream));
    let Some(Word::Refused(why)) = word else { panic!("{word:?}") };
    assert!(why.contains("only 2 have called") && why.contains("POSTRIDER_JOIN_TIMEOUT"), "{why}");
    assert!(starting.wait().expect("it is ours").success());
}
