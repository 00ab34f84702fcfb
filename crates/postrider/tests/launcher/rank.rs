//! A rank of an MPI program, played by this test executable.
//!
//! The variable `SCRIPT` holds one script for each rank, separated by semicolons (the last one serves all further ranks). A
//! script is a list of words, done in order; see [`act`]. Without the variable the test does nothing.

use std::process::exit;
use std::sync::Arc;
use std::time::Duration;

use postrider_os::job::{CallName, ENV_JOB, ENV_RANK, Job, State};
use postrider_os::rest::Outside;
use rustix::process::{Pid, Signal, getpid, kill_process};

use crate::support::{POLL, is_gone};

#[test]
fn play() {
    let Ok(scripts) = std::env::var("SCRIPT") else { return };
    let job = Job::open(&std::env::var(ENV_JOB).expect("the job is named")).expect("the job opens");
    let job = Arc::new(job);
    let rank: u32 = std::env::var(ENV_RANK).expect("the rank is named").parse().expect("a number");
    let scripts: Vec<&str> = scripts.split(';').collect();
    let script = scripts.get(rank as usize).or(scripts.last()).expect("a script");
    for word in script.split_whitespace() {
        act(word, &job, rank);
    }
    exit(0);
}

fn act(word: &str, job: &Arc<Job>, rank: u32) {
    let (action, value) = word.split_once(':').unwrap_or((word, "0"));
    let number = || value.parse::<u32>().expect("a number");
    let slot = job.slot(rank);
    match action {
        "init" => {
            assert!(slot.claim());
            slot.set_state(State::Initialized);
        }
        "enter" => job.nameplate(rank).enter(CallName::new(value)),
        // Rests in the call, and looks again, until the end.
        "rest" => {
            job.rest(rank).begin(3, Outside::Nobody);
            job.rest(rank).write_note(3, &value.replace('_', " "));
            wait_for(|| {
                job.rest(rank).look_again(Outside::Nobody);
                false
            });
        }
        "leave" => job.nameplate(rank).leave(),
        "finalize" => slot.set_state(State::Finalized),
        "abort" => {
            slot.abort(number() as i32);
            exit(number() as i32);
        }
        "exit" => exit(number() as i32),
        "signal" => {
            let signal = Signal::from_named_raw(number() as i32).expect("a signal");
            kill_process(getpid(), signal).expect("it is sent");
            // It may reach another thread, a moment later.
            wait_for(|| false);
        }
        // Waits until this rank has called MPI_Init, and stays in this call.
        "joined" => wait_for(|| job.slot(number()).state() != State::Unborn),
        "in-call" => wait_for(|| job.slot(number()).call().is_some()),
        "dead" => wait_for(|| job.slot(number()).pid() != 0 && is_gone(job.slot(number()).pid())),
        "forever" => wait_for(|| false),
        _ => panic!("{word} is no action"),
    }
}

fn wait_for(condition: impl Fn() -> bool) {
    let launcher = Pid::as_raw(rustix::process::getppid());
    while !condition() && Pid::as_raw(rustix::process::getppid()) == launcher {
        std::thread::sleep(POLL.max(Duration::from_millis(1)));
    }
}
