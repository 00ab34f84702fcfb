//! The head with agents that are stubs: what comes of what they say, whatever that is. No agent can make a job look better than it was, reach the
//! terminal, speak for others, or have more kept than it may.

use std::fs::File;
use std::io::{Read, Seek, Write};
use std::os::fd::OwnedFd;
use std::thread::ScopedJoinHandle;
use std::time::Duration;

use postrider_fuzz::{bytes, survives_slowly};
use postrider_os::hosts::Placement;
use postrider_os::launch::Signals;
use rustix::event::{PollFd, PollFlags, poll};

use super::agents::Agents;
use super::cleaners::Cleaners;
use super::ranks::{Map, RemoteRanks};
use super::relays::Relays;
use crate::control::{Channel, OUTPUT_WINDOW_BYTES, TO_AGENT_BYTES_MAX, TO_HEAD_BYTES_MAX, ToAgent, ToHead};
use crate::fuzz::{assignment, message, words_of_agents};
use crate::hosts::Host;
use crate::launch::Refusal;
use crate::output::Sink;
use crate::remote_shell::RemoteShell;
use crate::report::{Kind, Place};
use crate::run::Manner;
use crate::supervise::{Event, Failed, Outcome, Ranks, SIGNALS, Supervisor};

const SILENCE: Duration = Duration::from_secs(600);

/// What stands in an agent's place: one rank, whose number is that of its host.
struct Stub {
    host: u32,
    writer: File,
    told: Channel,
}

impl Stub {
    fn say(&mut self, words: &ToHead) {
        let _the_head_may_have_left = self.writer.write_all(&message(words));
    }

    /// What it is told next; nothing once the head has left.
    fn next(&mut self) -> Option<ToAgent> {
        loop {
            if let Some(words) = self.told.next() {
                return Some(words);
            }
            if self.told.end().is_some() {
                return None;
            }
            let _interrupted = poll(&mut [PollFd::from_borrowed_fd(self.told.reader(), PollFlags::IN)], None);
            self.told.fill();
        }
    }

    /// Does what an agent does, whose rank runs until it has said `words`.
    fn serve(mut self, words: &[ToHead]) {
        while let Some(told) = self.next() {
            match told {
                ToAgent::Prepare(_) => self.say(&prepared("/tmp/job")),
                ToAgent::Start(_) => {
                    self.say(&ToHead::Started(vec![7]));
                    words.iter().for_each(|words| self.say(words));
                }
                ToAgent::Ask(_) | ToAgent::Kill => self.say(&ended(self.host, false)),
                ToAgent::Finish => self.say(&ToHead::Over),
                _ => {}
            }
        }
    }
}

fn prepared(directory: &str) -> ToHead {
    ToHead::Prepared { directory: directory.to_owned(), cores: 1, warnings: Vec::new() }
}

fn ended(rank: u32, well: bool) -> ToHead {
    ToHead::Ended { rank, well, unborn: false, spawned_code: 0 }
}

fn pipe() -> (OwnedFd, OwnedFd) {
    rustix::pipe::pipe_with(rustix::pipe::PipeFlags::CLOEXEC).expect("a pipe")
}

/// A head with two stubs.
fn job() -> (RemoteRanks, [Stub; 2]) {
    let placement = Placement::new(vec![0, 1]).expect("two hosts");
    let mut parties = Vec::new();
    let stubs = [0, 1].map(|host| {
        let ((reader, writer), (told, tell)) = (pipe(), pipe());
        parties.push((Channel::new(reader, tell, TO_HEAD_BYTES_MAX).expect("a channel"), None));
        let nowhere = File::options().write(true).open("/dev/null").expect("it is there").into();
        Stub {
            host,
            writer: writer.into(),
            told: Channel::new(told, nowhere, TO_AGENT_BYTES_MAX).expect("a channel"),
        }
    });
    let hosts = ["h0", "h1"].map(|name| Host { name: name.to_owned(), slots: None });
    let agents = Agents::of_parties(parties, &hosts, &placement, SILENCE).expect("agents");
    // Whoever goes to a host that was given up does not get there.
    let shell = RemoteShell::new(Some("false")).expect("a command");
    let relays = Relays::new(shell.clone()).expect("relays");
    let mut ranks = RemoteRanks::new(agents, relays, Cleaners::new(shell).expect("cleaners"), placement);
    ranks.prepare(assignment());
    (ranks, stubs)
}

/// Runs a job to its end; how it ended, and what a terminal would have shown.
fn supervise(mut ranks: RemoteRanks) -> (Outcome, String) {
    let manner = Manner {
        label: false,
        timeout: None,
        deadline: None,
        grace: Duration::from_millis(50),
        quiet: false,
        codes_are_results: false,
        stall: Duration::ZERO,
    };
    let mut shown = tempfile::tempfile().expect("a file");
    let signals = Signals::receive(&SIGNALS).expect("signals");
    let programs = vec!["program".to_owned(); 2];
    ranks.tell_map(Map { programs: programs.clone(), how: "through stubs".to_owned() });
    let sink = Sink::plain(shown.try_clone().expect("a second descriptor"));
    let mut supervisor = Supervisor::new(ranks, programs, manner, signals, vec![sink]);
    (0..2).for_each(|_| supervisor.add_streams(None));
    let outcome = supervisor.supervise();
    // What ranks have written is shown as it is, and need not be text.
    let mut bytes = Vec::new();
    shown.rewind().expect("it is a file");
    shown.read_to_end(&mut bytes).expect("its bytes");
    (outcome, String::from_utf8_lossy(&bytes).into_owned())
}

/// A job whose stubs do what agents do, and say this while their ranks run.
fn after(words: [&[ToHead]; 2]) -> (Outcome, String) {
    let (ranks, stubs) = job();
    std::thread::scope(|scope| {
        let _stubs: Vec<ScopedJoinHandle<'_, ()>> =
            stubs.into_iter().zip(words).map(|(stub, words)| scope.spawn(|| stub.serve(words))).collect();
        scope.spawn(|| supervise(ranks)).join().expect("the head does not panic")
    })
}

#[test]
fn a_job_whose_ranks_have_all_ended_well_has_exit_code_0() {
    let (outcome, text) = after([&[ended(0, true)], &[ended(1, true)]]);
    assert_eq!(outcome, Outcome::Code(0), "{text}");
    assert!(text.contains("job directory /tmp/job"), "{text}");
}

#[test]
fn hosts_that_give_up_fail_the_job_and_are_named() {
    let gave_up = || ToHead::GaveUp(Duration::from_secs(8));
    let (outcome, text) = after([&[gave_up()], &[gave_up()]]);
    assert_eq!(outcome, Outcome::Code(1), "{text}");
    assert!(text.contains("hosts h0, h1 failed") && text.contains("8 seconds"), "{text}");
    // It makes no difference that its ranks have ended well before.
    let (outcome, text) = after([&[], &[ended(1, true), gave_up()]]);
    assert_eq!(outcome, Outcome::Code(1), "{text}");
    assert!(text.contains("host h1 failed"), "{text}");
}

#[test]
fn nobody_says_that_all_is_over_before_it_is_asked_to_end() {
    for words in [[ToHead::Over].as_slice(), &[ended(1, true), ToHead::Over], &[ended(0, true), ToHead::Over]]
    {
        let (outcome, text) = after([&[ended(0, true)], words]);
        assert_eq!(outcome, Outcome::Code(1), "{text}");
        assert!(text.contains("host h1 failed"), "{text}");
    }
}

#[test]
fn codes_and_signals_from_other_hosts_count_only_if_they_are_sane() {
    for code in [0, 256, 512, -256, i32::MIN, i32::MAX] {
        let (ranks, [mut first, second]) = job();
        first.say(&ToHead::Refused(Refusal::new(code, "no")));
        drop((first, second));
        assert_eq!(supervise(ranks).0, Outcome::Code(1), "refused with {code}");
    }
    let codes = [(9, 137), (0, 1), (128, 1), (i32::MAX, 1)];
    for (signal, code) in codes {
        let kind = Kind::Killed { signal, core: false };
        let failed = Failed { rank: 1, pid: 7, kind, place: Place::Outside };
        let (outcome, text) = after([&[], &[ToHead::Failed(failed), ended(1, false)]]);
        assert_eq!(outcome, Outcome::Code(code), "{text}");
    }
    for spawned_code in [256, -1] {
        let ended_badly = ToHead::Ended { rank: 1, well: true, unborn: false, spawned_code };
        let (outcome, text) = after([&[ended(0, true)], &[ended_badly]]);
        assert_eq!(outcome, Outcome::Code(1), "{text}");
    }
}

#[test]
fn what_hosts_say_cannot_steer_a_terminal() {
    let evil = || "\x1b[2J\x07\u{202e}\rpostrider: all is well".to_owned();
    let failed = Failed { rank: 1, pid: 7, kind: Kind::NotFinalized, place: Place::In(evil()) };
    let place_of_others = ToHead::Places(vec![(0, Place::In(evil())), (1, Place::In(evil()))]);
    let said: [&[ToHead]; 4] = [
        &[place_of_others, ToHead::Failed(failed)],
        &[ToHead::Broken(evil())],
        &[ToHead::LinkLost(0, evil())],
        &[ToHead::LinkFailed(0, evil())],
    ];
    for said in said {
        let (outcome, text) = after([&[], said]);
        assert_eq!(outcome, Outcome::Code(1), "{text}");
        let is_plain = |letter: char| "\n\t".contains(letter) || !letter.is_control() && letter != '\u{202e}';
        assert!(text.chars().all(is_plain), "{text:?}");
    }
    let (ranks, [first, mut second]) = job();
    second.say(&prepared("/tmp/\x1b[2J"));
    drop((first, second));
    let (outcome, text) = supervise(ranks);
    assert_eq!(outcome, Outcome::Code(1));
    assert!(text.contains("TMPDIR") && !text.contains('\x1b'), "{text:?}");
}

#[test]
fn output_without_credit_is_not_kept() {
    let (mut ranks, [_first, second]) = job();
    let flood = std::thread::spawn(move || {
        let Stub { mut writer, told: _told, .. } = second;
        let piece = message(&ToHead::Output(1, false, vec![b'x'; 64 << 10]));
        while writer.write_all(&piece).is_ok() {}
    });
    let mut events = Vec::new();
    let is_lost = |event: &Event| matches!(event, Event::HostFailed(failure) if failure.hosts == ["h1"]);
    while !events.iter().any(is_lost) {
        events.extend(ranks.look());
    }
    let mut kept = 0;
    while let Some(output) = ranks.output(|_| true) {
        kept += output.bytes.len();
    }
    assert!(kept <= OUTPUT_WINDOW_BYTES, "{kept} bytes were kept");
    ranks.abandon();
    flood.join().expect("it only writes");
}

#[test]
fn damaged_streams_of_agents_never_end_a_job_well() {
    let begin = [prepared("/tmp/job"), ToHead::Started(vec![7])];
    let course = |rank| {
        let output = ToHead::Output(rank, false, b"hello\n".to_vec());
        begin.iter().chain(&[output, ended(rank, true), ToHead::Over]).flat_map(message).collect::<Vec<u8>>()
    };
    let all = words_of_agents().iter().flat_map(message).collect();
    let samples: Vec<Vec<u8>> = vec![course(0), course(1), all];
    let streams = (bytes(samples.clone()), bytes(samples));
    survives_slowly(8 << 20, streams, |(first, second)| {
        let (ranks, stubs) = job();
        for (mut stub, bytes) in stubs.into_iter().zip([first, second]) {
            stub.writer.write_all(&bytes).map_err(|error| error.to_string())?;
        }
        let (outcome, text) = supervise(ranks);
        // What ranks have written is shown as it is.
        let own = text.lines().filter(|line| line.starts_with("postrider") || line.starts_with("  "));
        match outcome {
            Outcome::Code(code) if code & 0xff == 0 => Err(format!("it has ended with code {code}")),
            _ if own.flat_map(str::chars).any(|letter| letter != '\t' && letter.is_control()) => {
                Err(format!("it shows {text:?}"))
            }
            _ => Ok(()),
        }
    });
}
