//! What is said about a job that failed: which rank was the first, how, and where everybody was.
//!
//! Pure: deaths and places go in, texts and exit codes come out. "First" is the order in which the ranks died, because
//! the deaths of the others are often only a consequence.

use std::collections::BTreeMap;
use std::fmt::Write;

use postrider_os::job::State;
use postrider_os::launch::Ended;
use serde::{Deserialize, Serialize};

use crate::processes::signal_name;

/// Exit code of a job that `--timeout` has ended.
pub const TIMED_OUT: i32 = 124;

/// More lines about ranks than that are nothing that one reads.
const LINES_MAX: usize = 32;
/// The highest number that a signal has.
const SIGNAL_MAX: i32 = 64;

/// The exit code of a job that has failed with `code`, which may come from another host: never 0, nor what the system makes 0 of.
pub fn failure_code(code: i32) -> i32 {
    if (1..=255).contains(&code) { code } else { 1 }
}

/// Where a rank is, or was when it died.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Place {
    /// Before `MPI_Init`, or in a program without MPI.
    BeforeInit,
    /// In this MPI call.
    In(String),
    /// In this MPI call, and waits there, as the rank says itself: "for a message from rank 1, ...".
    Waits(String, String),
    /// It asks again and again (`MPI_Test`), and waits as it says itself.
    Asks(String),
    /// In the program's own code.
    Outside,
    /// After `MPI_Finalize`.
    AfterFinalize,
    /// The rank has ended.
    Gone,
    /// Its host does not say.
    Unknown,
}

impl Place {
    /// What the board says.
    pub fn of(state: State, call: Option<String>) -> Self {
        match (state, call) {
            (_, Some(call)) => Self::In(call),
            (State::Unborn, None) => Self::BeforeInit,
            (State::Finalized, None) => Self::AfterFinalize,
            (State::Initialized | State::Aborted, None) => Self::Outside,
        }
    }

    /// Whether the rank waits for others, as far as is known.
    pub fn waits(&self) -> bool {
        matches!(self, Self::Waits(..) | Self::Asks(_))
    }

    fn text(&self) -> String {
        let text = match self {
            Self::BeforeInit => "before MPI_Init".to_owned(),
            Self::Waits(call, words) if !words.is_empty() => format!("in {call}, {words}"),
            Self::In(call) | Self::Waits(call, _) => format!("in {call}"),
            Self::Asks(words) if words.is_empty() => "in MPI_Test or the like, again and again".to_owned(),
            Self::Asks(words) => format!("in MPI_Test or the like, again and again, {words}"),
            Self::Outside => "outside MPI, in the program's own code".to_owned(),
            Self::AfterFinalize => "after MPI_Finalize".to_owned(),
            Self::Gone => "already ended".to_owned(),
            Self::Unknown => "on a host that does not answer".to_owned(),
        };
        // Calls and words come from the ranks, which may have been overwritten, or give their communicators names like these.
        text.chars().map(|letter| if letter.is_control() { '?' } else { letter }).collect()
    }
}

/// In which way a rank has failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// It called `MPI_Abort`, or met an error that is fatal by its error handler.
    Aborted(i32),
    /// It ended with an exit code other than 0.
    Exited(i32),
    /// It was killed by a signal.
    Killed { signal: i32, core: bool },
    /// It ended with exit code 0 between `MPI_Init` and `MPI_Finalize`.
    NotFinalized,
    /// It ended with exit code 0 and never called `MPI_Init`, for which others wait.
    NeverJoined,
}

impl Kind {
    /// Whether, and how, a rank that ended thus has failed.
    pub fn of(ended: Ended, state: State, abort_code: i32) -> Option<Self> {
        match (ended, state) {
            (_, State::Aborted) => Some(Self::Aborted(abort_code)),
            (Ended::Killed { signal, core }, _) => Some(Self::Killed { signal, core }),
            (Ended::Exited(0), State::Initialized) => Some(Self::NotFinalized),
            (Ended::Exited(0), State::Unborn | State::Finalized) => None,
            (Ended::Exited(code), _) => Some(Self::Exited(code)),
        }
    }

    /// The job's exit code. Never 0: an abort with code 0 is no success either.
    pub fn exit_code(self) -> i32 {
        match self {
            Self::Aborted(code) | Self::Exited(code) if code & 0xff != 0 => code & 0xff,
            Self::Killed { signal: signal @ 1..=SIGNAL_MAX, .. } => 128 + signal,
            _ => 1,
        }
    }

    fn text(self, place: &Place) -> String {
        match self {
            Self::Exited(code) if *place == Place::AfterFinalize => {
                format!("had finalized MPI, and then exited with code {code}")
            }
            Self::Aborted(code) => format!("aborted the job with code {code}"),
            Self::Exited(code) => format!("exited with code {code}"),
            Self::Killed { signal, core: true } => {
                format!("was killed by {}; core dumped", signal_name(signal))
            }
            Self::Killed { signal, .. } => format!("was killed by {}", signal_name(signal)),
            Self::NotFinalized => "exited with code 0 without calling MPI_Finalize".to_owned(),
            Self::NeverJoined => {
                "exited with code 0 without calling MPI_Init, and others wait for it".to_owned()
            }
        }
    }

    fn hint(self, place: &Place) -> Option<&'static str> {
        Some(match self {
            Self::Killed { signal: libc::SIGKILL, .. } => {
                "SIGKILL comes from outside; often the kernel was out of memory (see `dmesg`), or a batch system was"
            }
            Self::Killed {
                signal: libc::SIGSEGV | libc::SIGBUS | libc::SIGFPE | libc::SIGILL,
                core: false,
            } => "`ulimit -c unlimited` before the run lets the next crash leave a core dump",
            Self::Killed { core: true, .. } => {
                "the core dump shows where: gdb PROGRAM CORE, or coredumpctl gdb"
            }
            Self::NotFinalized => "every rank must call MPI_Finalize before it ends",
            Self::NeverJoined => "all ranks of a job must be MPI programs, or none",
            Self::Exited(_) if *place == Place::AfterFinalize => {
                "in Python an uncaught exception looks like this, wherever it was raised: mpi4py finalizes MPI at exit, after \
                 the exception; its traceback is above. The others had time to finish"
            }
            _ => return None,
        })
    }
}

/// The first failure of a job.
#[derive(Clone, Debug)]
pub struct Failure {
    /// Who.
    pub rank: u32,
    /// The process that was this rank.
    pub pid: u32,
    /// Its program.
    pub program: String,
    /// How.
    pub kind: Kind,
    /// Where it was.
    pub place: Place,
}

impl Failure {
    /// The block for the user, with the rank's host, and the places of all ranks at that time.
    pub fn text(&self, host: &str, places: &[(u32, Place)]) -> String {
        let ranks = places.len();
        let others: Vec<_> = places.iter().filter(|(rank, _)| *rank != self.rank).cloned().collect();
        let mut text = format!(
            "postrider: rank {} of {ranks} failed first: it {}\n",
            self.rank,
            self.kind.text(&self.place)
        );
        let mut line = |name: &str, value: &str| {
            let _infallible = writeln!(text, "  {name:<10} {value}");
        };
        line("program", &self.program);
        line("process", &format!("{} on host {host}", self.pid));
        line("place", &self.place.text());
        for (number, others) in by_place(&others).iter().enumerate() {
            line(if number == 0 { "others" } else { "" }, others);
        }
        if let Some(hint) = self.kind.hint(&self.place) {
            line("hint", hint);
        }
        line("exit code", &self.kind.exit_code().to_string());
        text
    }
}

/// Hosts that the job has lost, or that cannot go on.
#[derive(Clone, Debug)]
pub struct HostFailure {
    /// Their names.
    pub hosts: Vec<String>,
    /// The ranks there.
    pub ranks: Vec<u32>,
    /// What happened.
    pub why: String,
}

impl HostFailure {
    /// The block for the user, with the places of all ranks at that time.
    pub fn text(&self, places: &[(u32, Place)]) -> String {
        let (name, ranks) = (ranks_word(&self.ranks), spans(&self.ranks));
        let word = if self.hosts.len() == 1 { "host" } else { "hosts" };
        let mut text = format!("postrider: {word} {} failed: {}\n", self.hosts.join(", "), self.why);
        let mut line = |name: &str, value: &str| {
            let _infallible = writeln!(text, "  {name:<10} {value}");
        };
        line("there", &format!("{name} {ranks}"));
        let others: Vec<_> = places.iter().filter(|(rank, _)| !self.ranks.contains(rank)).cloned().collect();
        for (number, others) in by_place(&others).iter().enumerate() {
            line(if number == 0 { "others" } else { "" }, others);
        }
        line("exit code", "1");
        text
    }
}

fn ranks_word(ranks: &[u32]) -> &'static str {
    if ranks.len() == 1 { "rank" } else { "ranks" }
}

/// What is said of a job of which nobody has seen a failure, and whose ranks `ranks` have not been seen to end well either.
pub fn unknown_end(ranks: &[u32]) -> String {
    let (name, ranks) = (ranks_word(ranks), spans(ranks));
    format!(
        "postrider: nobody has seen that {name} {ranks} ended with exit code 0\n  {:<10} 1\n",
        "exit code"
    )
}

/// What is said when the time is over.
pub fn timed_out(limit: std::time::Duration, places: &[(u32, Place)]) -> String {
    let mut text =
        format!("postrider: the job was ended after {} seconds (--timeout)\n", limit.as_secs_f64());
    for places in by_place(places) {
        let _infallible = writeln!(text, "  {places}");
    }
    let _infallible = writeln!(text, "  {:<10} {TIMED_OUT}", "exit code");
    text
}

/// What is said when the time is over before all ranks have been started.
pub fn not_started(limit: std::time::Duration, quiet: bool) -> String {
    let seconds = limit.as_secs_f64();
    match quiet {
        true => String::new(),
        false => format!(
            "postrider: the job had not been started after {seconds} seconds (--timeout)\n  {:<10} {TIMED_OUT}\n",
            "exit code"
        ),
    }
}

/// What is said of a job whose ranks have all waited for each other so long.
pub fn stalled(time: std::time::Duration, places: &[(u32, Place)]) -> String {
    // Who asks may wait for something else as well, of which we know nothing.
    let asks = places.iter().any(|(_, place)| matches!(place, Place::Asks(_)));
    let or_asked = if asks { " or asked for messages" } else { "" };
    let mut text = format!(
        "postrider: for {} seconds all ranks have waited for each other{or_asked}, and no message has come\n",
        time.as_secs_f64()
    );
    for places in by_place(places) {
        let _infallible = writeln!(text, "  {places}");
    }
    let hint =
        "a receive without its send, or a collective call that not all ranks make? The job goes on waiting";
    let _infallible = writeln!(text, "  {:<10} {hint}", "hint");
    text
}

/// What is said of a job that a signal to its launcher has ended.
pub fn signalled(signal: i32, places: &[(u32, Place)]) -> String {
    let mut text = format!("postrider: the job was ended by {}\n", signal_name(signal));
    for places in by_place(places) {
        let _infallible = writeln!(text, "  {places}");
    }
    text
}

/// Ranks at the same place on one line, as in "ranks 0, 2-5 in MPI_Recv".
fn by_place(places: &[(u32, Place)]) -> Vec<String> {
    // Of one rank it may be known already that it waits where another one still is in the call.
    let mut together: BTreeMap<String, Vec<u32>> = BTreeMap::new();
    for (rank, place) in places {
        together.entry(place.text()).or_default().push(*rank);
    }
    let mut groups: Vec<_> = together.into_iter().collect();
    groups.sort_by_key(|(_, ranks)| ranks[0]);
    let line =
        |(place, ranks): &(String, Vec<u32>)| format!("{} {} {place}", ranks_word(ranks), spans(ranks));
    let mut lines: Vec<String> = groups.iter().take(LINES_MAX).map(line).collect();
    let left = groups.len().saturating_sub(LINES_MAX);
    if left > 0 {
        lines.push(format!("and ranks at {left} more places"));
    }
    lines
}

/// Ascending numbers as "0, 2-5".
pub fn spans(numbers: &[u32]) -> String {
    let mut spans: Vec<(u32, u32)> = Vec::new();
    for &number in numbers {
        match spans.last_mut() {
            Some((_, last)) if *last + 1 == number => *last = number,
            _ => spans.push((number, number)),
        }
    }
    let span = |&(first, last): &(u32, u32)| match first == last {
        true => first.to_string(),
        false => format!("{first}-{last}"),
    };
    spans.iter().map(span).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_counts_as_a_failure() {
        let kind = |ended, state| Kind::of(ended, state, 7);
        assert_eq!(kind(Ended::Exited(0), State::Unborn), None);
        assert_eq!(kind(Ended::Exited(0), State::Finalized), None);
        assert_eq!(kind(Ended::Exited(0), State::Initialized), Some(Kind::NotFinalized));
        assert_eq!(kind(Ended::Exited(3), State::Finalized), Some(Kind::Exited(3)));
        assert_eq!(kind(Ended::Exited(0), State::Aborted), Some(Kind::Aborted(7)));
        let killed = Ended::Killed { signal: 11, core: false };
        assert_eq!(kind(killed, State::Initialized), Some(Kind::Killed { signal: 11, core: false }));
    }

    #[test]
    fn exit_codes_are_never_zero() {
        assert_eq!(Kind::Aborted(0).exit_code(), 1);
        assert_eq!(Kind::Aborted(256).exit_code(), 1);
        assert_eq!(Kind::Aborted(-1).exit_code(), 255);
        assert_eq!(Kind::Exited(5).exit_code(), 5);
        assert_eq!(Kind::Killed { signal: 9, core: false }.exit_code(), 137);
        assert_eq!(Kind::NotFinalized.exit_code(), 1);
        assert_eq!([0, 1, 127, 255, 256, -1, i32::MAX].map(failure_code), [1, 1, 127, 255, 1, 1, 1]);
        for signal in [i32::MIN, -128, 0, 65, 128, i32::MAX] {
            assert_eq!(Kind::Killed { signal, core: false }.exit_code(), 1, "there is no signal {signal}");
        }
    }

    #[test]
    fn who_fails_after_finalize_is_told_what_python_does() {
        let kind = Kind::Exited(1);
        let failure = |place| Failure { rank: 0, pid: 7, program: "python3".to_owned(), kind, place };
        let text = failure(Place::AfterFinalize).text("here", &[(0, Place::AfterFinalize)]);
        assert!(text.contains("it had finalized MPI, and then exited with code 1\n"), "{text}");
        assert!(
            text.contains("mpi4py finalizes MPI at exit") && text.contains("traceback is above"),
            "{text}"
        );
        let text = failure(Place::Outside).text("here", &[(0, Place::Outside)]);
        assert!(!text.contains("finalize"), "{text}");
    }

    #[test]
    fn what_ranks_say_cannot_steer_a_terminal() {
        let place = Place::Waits("MPI_\x1b[2J".to_owned(), "for a message on \"a\nb\"".to_owned());
        assert_eq!(place.text(), "in MPI_?[2J, for a message on \"a?b\"");
    }

    #[test]
    fn ranks_at_one_place_share_a_line() {
        let recv = || Place::In("MPI_Recv".to_owned());
        let places = [(0, recv()), (1, Place::Gone), (2, recv()), (3, recv())];
        assert_eq!(by_place(&places), ["ranks 0, 2-3 in MPI_Recv", "rank 1 already ended"]);
        let waits = Place::Waits("MPI_Barrier".to_owned(), String::new());
        let places = [(0, waits), (1, Place::In("MPI_Barrier".to_owned()))];
        assert_eq!(by_place(&places), ["ranks 0-1 in MPI_Barrier"]);
    }
}
