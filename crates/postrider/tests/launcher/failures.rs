//! Ranks that fail: which one is blamed, what is said, what becomes of the others, and the exit code.

use rustix::process::Signal;

use crate::support::{begin, expect, finish, is_gone, lines, play, said_until, script, send, wait_until};

#[test]
fn a_rank_killed_in_a_call_is_the_first() {
    let scripts = "init enter:MPI_Barrier forever;init enter:MPI_Recv in-call:0 signal:8";
    expect(
        &mut play(&["-n", "2"], scripts),
        136,
        &["rank 1 of 2 failed first", "SIGFPE", "in MPI_Recv", "rank 0 in MPI_Barrier", "136", "host"],
    );
}

#[test]
fn an_abort_ends_the_job_with_its_code() {
    let scripts = "init forever;init enter:MPI_Abort abort:42";
    expect(&mut play(&["-n", "2"], scripts), 42, &["rank 1 of 2", "aborted the job with code 42"]);
    expect(&mut play(&["-n", "2"], "init abort:0"), 1, &["code 0"]);
}

#[test]
fn leaving_without_finalize_is_a_failure() {
    let scripts = "init enter:MPI_Recv forever;init exit:0";
    expect(&mut play(&["-n", "2"], scripts), 1, &["rank 1 of 2", "without calling MPI_Finalize"]);
}

#[test]
fn a_rank_that_never_joins_is_a_failure_of_mpi_programs() {
    let scripts = "init enter:MPI_Recv forever;exit:0";
    expect(&mut play(&["-n", "2"], scripts), 1, &["rank 1 of 2", "without calling MPI_Init"]);
}

#[test]
fn all_well_is_silent() {
    let (code, _, error) = finish(&mut play(&["-n", "3"], "init enter:MPI_Send leave finalize"));
    assert_eq!((code, error.as_str()), (Some(0), ""));
}

#[test]
fn a_code_after_finalize_ends_the_others_in_the_end() {
    let scripts = "init enter:MPI_Recv forever;init finalize exit:5";
    let mut command = play(&["-n", "2", "--grace", "0.1"], scripts);
    expect(&mut command, 5, &["rank 1 of 2", "exited with code 5", "after MPI_Finalize"]);
}

#[test]
fn others_may_finish_after_such_a_code() {
    let scripts = "init dead:1 finalize exit:0;init finalize exit:5";
    let (code, _, error) = finish(&mut play(&["-n", "2", "--grace", "100"], scripts));
    assert_eq!(code, Some(5), "{error}");
}

#[test]
fn exit_codes_and_signals_of_plain_programs_are_the_jobs() {
    let failing = |how: &str| format!("[ $POSTRIDER_RANK = 2 ] || exec sleep 1000; {how}");
    expect(&mut script(&["-n", "3"], &failing("exit 7")), 7, &["rank 2 of 3", "code 7", "before MPI_Init"]);
    expect(&mut script(&["-n", "3"], &failing("kill -KILL $$")), 137, &["SIGKILL", "out of memory"]);
    let (code, _, error) = finish(&mut script(&["-n", "3", "-q"], &failing("exit 7")));
    assert_eq!((code, error.as_str()), (Some(7), ""));
}

#[test]
fn the_first_to_die_is_blamed_however_close_the_others_follow() {
    for order in [[0, 1, 2], [2, 1, 0], [1, 2, 0]] {
        let mut child = begin(&mut script(&["-n", "3", "-l"], "echo $$; exec sleep 1000"));
        let mut pids = [0; 3];
        for line in lines(&mut child, 3) {
            let (label, pid) = line.split_once("] ").expect("a label");
            pids[label[1..].parse::<usize>().expect("a rank")] = pid.parse().expect("a process");
        }
        // The launcher sees all deaths at once, when it goes on.
        send(child.id(), Signal::STOP);
        wait_until("the launcher has stopped", || crate::support::is_stopped(child.id()));
        for rank in order {
            send(pids[rank], Signal::KILL);
            wait_until("the rank is dead", || is_gone(pids[rank]));
        }
        send(child.id(), Signal::CONT);
        let output = child.wait_with_output().expect("it ends");
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(error.contains(&format!("rank {} of 3 failed first", order[0])), "{order:?}: {error}");
    }
}

#[test]
fn ranks_that_refuse_to_end_are_killed_when_their_grace_is_over() {
    let text = "trap '' TERM; [ $POSTRIDER_RANK = 1 ] && exit 3; while :; do sleep 1; done";
    expect(&mut script(&["-n", "2", "--grace", "0.1"], text), 3, &["rank 1 of 2"]);
}

#[test]
fn ranks_may_use_their_grace() {
    let text = "trap 'echo saved; exit 0' TERM; echo ready >&2; [ $POSTRIDER_RANK = 1 ] && { read x < $FIFO; exit 3; }; \
                while :; do sleep 0.01; done";
    let directory = tempfile::tempdir().expect("a directory");
    let fifo = directory.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().expect("mkfifo").success());
    let mut command = script(&["-n", "2", "--grace", "100"], text);
    let mut child = begin(command.env("FIFO", &fifo));
    let mut ready = [0; 12];
    std::io::Read::read_exact(child.stderr.as_mut().expect("a pipe"), &mut ready).expect("both are ready");
    std::fs::write(&fifo, "go\n").expect("it goes");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(3), &b"saved\n"[..]));
}

#[test]
fn a_timeout_says_where_everybody_was() {
    let scripts = "init enter:MPI_Bcast forever;init enter:MPI_Recv forever;init enter:MPI_Recv forever";
    let mut command = play(&["-n", "3", "-timeout", "3"], scripts);
    expect(&mut command, 124, &["--timeout", "rank 0 in MPI_Bcast", "ranks 1-2 in MPI_Recv", "124"]);
}

#[test]
fn ranks_that_all_wait_for_each_other_are_spoken_of() {
    let receives = "init enter:MPI_Recv rest:for_a_message";
    let scripts = format!("{receives};{receives};init enter:MPI_Barrier rest");
    let said = said_until(&mut play(&["-n", "3", "--stall-warning", "0.5"], &scripts), "  hint");
    for words in [
        "all ranks have waited for each other",
        "ranks 0-1 in MPI_Recv, for a message\n",
        "rank 2 in MPI_Barrier",
        "by signal 15 (SIGTERM",
    ] {
        assert!(said.contains(words), "no {words:?} in\n{said}");
    }
}

#[test]
fn what_was_written_before_a_failure_comes_before_the_block() {
    let mut command = script(&["-n", "1"], "echo last words >&2; exit 9");
    let (_, _, error) = finish(&mut command);
    let words = error.find("last words").expect("the words");
    assert!(words < error.find("postrider: rank 0").expect("the block"));
}
