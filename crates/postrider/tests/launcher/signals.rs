//! Signals to the launcher.

use std::os::unix::process::ExitStatusExt;

use rustix::process::Signal;

use crate::support::{begin, is_gone, is_stopped, lines, script, send, wait_until};

const READY: &str = "echo $$; while :; do sleep 0.01; done";

#[test]
fn signals_that_end_programs_reach_all_ranks() {
    for (signal, name) in [(Signal::INT, "INT"), (Signal::TERM, "TERM"), (Signal::HUP, "HUP")] {
        let trap = format!("trap 'echo got {name}; exit 0' {name}; {READY}");
        let mut child = begin(&mut script(&["-n", "2", "--grace", "100"], &trap));
        lines(&mut child, 2);
        send(child.id(), signal);
        assert_eq!(lines(&mut child, 2), [format!("got {name}"), format!("got {name}")]);
        assert_eq!(child.wait().expect("it ends").code(), Some(0), "the ranks have all ended well");
    }
}

#[test]
fn a_job_ended_by_a_signal_says_so_as_a_shell_expects() {
    for signal in [Signal::INT, Signal::TERM] {
        let mut child = begin(&mut script(&["-n", "2"], "echo $$; exec sleep 1000"));
        let pids = lines(&mut child, 2);
        send(child.id(), signal);
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(output.status.signal(), Some(signal.as_raw()));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(pids.iter().all(|pid| is_gone(pid.parse().expect("a process"))));
    }
}

#[test]
fn the_second_interrupt_kills() {
    let mut child = begin(&mut script(&["-n", "2", "--grace", "1000"], &format!("trap '' INT; {READY}")));
    lines(&mut child, 2);
    send(child.id(), Signal::INT);
    let id = child.id();
    wait_until("the first interrupt is taken", || {
        let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
        let pending = status.lines().find_map(|line| line.strip_prefix("ShdPnd:")).unwrap_or("").trim();
        u64::from_str_radix(pending, 16) == Ok(0)
    });
    send(child.id(), Signal::INT);
    assert_eq!(child.wait().expect("it ends").signal(), Some(Signal::INT.as_raw()));
}

#[test]
fn user_signals_are_passed_on() {
    let text = format!("trap 'echo one' USR1; trap 'echo two; exit 0' USR2; {READY}");
    let mut child = begin(&mut script(&["-n", "2"], &text));
    lines(&mut child, 2);
    send(child.id(), Signal::USR1);
    assert_eq!(lines(&mut child, 2), ["one", "one"]);
    send(child.id(), Signal::USR2);
    // Shells whose `sleep` the signal has killed say so; only the traps' own lines matter.
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.stdout, b"two\ntwo\n");
    assert!(output.status.success());
}

#[test]
fn a_job_can_be_stopped_and_continued() {
    // No loop of a shell: one that waits for a child between vfork and exec, which was stopped there, is not stopped itself.
    let mut child = begin(&mut script(&["-n", "2"], "echo $$; exec sleep 1000"));
    let ranks: Vec<u32> = lines(&mut child, 2).iter().map(|pid| pid.parse().expect("a process")).collect();
    let id = child.id();
    send(id, Signal::TSTP);
    wait_until("all have stopped", || is_stopped(id) && ranks.iter().all(|&rank| is_stopped(rank)));
    send(id, Signal::CONT);
    wait_until("all go on", || !is_stopped(id) && !ranks.iter().any(|&rank| is_stopped(rank)));
    send(id, Signal::TERM);
    child.wait().expect("it ends");
}

#[test]
fn ranks_have_no_signal_blocked() {
    let (code, output, _) =
        crate::support::finish(&mut script(&["-n", "1"], "grep SigBlk /proc/self/status"));
    assert_eq!((code, output.as_str()), (Some(0), "SigBlk:\t0000000000000000\n"));
}
