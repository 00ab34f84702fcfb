//! What a process says of its waiting, for the launcher, which finds out whether the ranks of a job wait for each other: that it
//! rests (see [`postrider_os::rest`]), and after a while for what, in words.
//!
//! Nothing of this is on the way of a message. A wait says it where it is about to sleep, a call that only asks (`MPI_Test`) where it has
//! found nothing.

use std::fmt::Write;

use postrider_os::clock;
use postrider_os::job::{self, Job};
use postrider_os::rest::{NOTE_BYTES, Outside};

use crate::State;
use crate::communicators::{Communicator, Process, Space};
use crate::point_to_point::Work;
use crate::point_to_point::matching::Pattern;
use crate::processes::WaysOutside;
use crate::transports::Waiter;

/// A rest that has lasted so long is worth words: shorter than a sleep without a message.
const WORTH_WORDS_SECONDS: f64 = 0.25;
/// Of each kind so many are named.
const NAMED_MAX: usize = 4;
/// Characters of a communicator's name that are told.
const NAME_MAX: usize = 64;

/// The rest of this process.
#[derive(Debug, Default)]
pub(crate) struct Rest {
    /// The number of the latest one; see [`postrider_os::rest`] for what is odd and what is even.
    number: u64,
    /// Whether that has not ended.
    lasts: bool,
    /// How many packets had been taken when it began.
    taken: u64,
    /// When it began.
    since: f64,
    /// For which one the words have been written.
    noted: u64,
    /// How often the launcher had asked when it was answered last.
    answered: u32,
}

impl Rest {
    #[inline]
    fn goes_on(&self, blocks: bool, taken: u64) -> bool {
        self.lasts && self.number & 1 == u64::from(blocks) && self.taken == taken
    }

    fn begin(&mut self, blocks: bool, taken: u64) -> u64 {
        self.number = if blocks { (self.number | 1) + 2 } else { (self.number & !1) + 2 };
        (self.lasts, self.taken, self.since) = (true, taken, clock::seconds());
        self.number
    }
}

impl State {
    /// A wait is about to sleep: it has just looked, and found nothing.
    pub(crate) fn rest_in_wait(&mut self, waiter: &Waiter) {
        let Some((job, rank)) = waiter.seat() else { return };
        let board = job.rest(rank);
        board.set_balance(self.transport.balance());
        if !self.rest.goes_on(true, self.taken) {
            board.begin(self.rest.begin(true, self.taken), self.unknown_outside());
            return;
        }
        if clock::seconds() - self.rest.since < WORTH_WORDS_SECONDS {
            board.look_again(self.unknown_outside());
            return;
        }
        board.look_again(self.outside());
        if std::mem::replace(&mut self.rest.noted, self.rest.number) != self.rest.number {
            board.write_note(self.rest.number, &self.words());
        }
    }

    /// A call that only asks has found nothing.
    #[inline]
    pub(crate) fn rest_between_calls(&mut self, waiter: &Waiter) {
        let Some((job, rank)) = waiter.seat() else { return };
        if !self.rest.goes_on(false, self.taken) || self.rest.answered != job.asked() {
            self.answer_launcher(job, rank);
        }
        let board = job.rest(rank);
        board.set_balance(self.transport.balance());
        board.ask_again();
    }

    #[cold]
    fn answer_launcher(&mut self, job: &Job, rank: u32) {
        let board = job.rest(rank);
        if !self.rest.goes_on(false, self.taken) {
            board.begin(self.rest.begin(false, self.taken), self.unknown_outside());
        }
        if std::mem::replace(&mut self.rest.answered, job.asked()) != job.asked() {
            board.write_note(self.rest.number, &self.words());
        }
    }

    /// Something has come, or the wait is over.
    #[cold]
    pub(crate) fn stir(&mut self, waiter: &Waiter) {
        if std::mem::take(&mut self.rest.lasts)
            && let Some((job, rank)) = waiter.seat()
        {
            job.rest(rank).begin(0, self.unknown_outside());
        }
    }

    /// The process sends nothing any more.
    pub(crate) fn settle_balance(&self, waiter: &Waiter) {
        if let Some((job, rank)) = waiter.seat() {
            job.rest(rank).set_balance(self.transport.balance());
        }
    }

    /// Of processes of other jobs nothing is known, but who looks at them.
    fn unknown_outside(&self) -> Outside {
        match self.ways_outside() {
            // The agents of this job look at its guests themselves.
            WaysOutside::None | WaysOutside::OwnPosts => Outside::Nobody,
            WaysOutside::Posts => Outside::Carried,
            WaysOutside::Bridges | WaysOutside::Several => Outside::Astir,
        }
    }

    /// Whether all processes of the jobs that this process is connected with rest, and those that these are connected with.
    fn outside(&self) -> Outside {
        if self.ways_outside() != WaysOutside::Bridges {
            return self.unknown_outside();
        }
        let (mut all, mut is_far_astir) = (0_u64, false);
        for job in self.jobs_of_strangers() {
            let Some(job) = job else { return Outside::Astir };
            for &rank in job.local_ranks() {
                let number = match (job.slot(rank).state(), job.rest(rank).seen()) {
                    (job::State::Finalized, _) => 0,
                    (_, Some(seen)) if seen.blocks() => {
                        is_far_astir |= seen.outside.is_near_astir();
                        seen.number
                    }
                    _ => return Outside::Astir,
                };
                all = (all ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
            }
        }
        if is_far_astir { Outside::Near(all) } else { Outside::AtRest(all) }
    }

    /// For what this process waits, and what has come to it that nobody has received.
    fn words(&self) -> String {
        let (waits, unmatched) = (self.waits(), self.unmatched());
        let mut text = match waits.is_empty() {
            true => String::new(),
            false => format!("for {}", listed(&waits, "; for ")),
        };
        if !unmatched.is_empty() {
            let separator = if text.is_empty() { "" } else { "; " };
            let _infallible = write!(text, "{separator}not received: {}", listed(&unmatched, "; "));
        }
        let mut end = text.len().min(NOTE_BYTES);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        text.truncate(end);
        text
    }

    fn waits(&self) -> Vec<String> {
        let mut waits = Vec::new();
        if let Some((context, pattern)) = self.probed {
            waits.push(format!("{} (a probe)", self.sought(context, pattern)));
        }
        for (context, pattern, key) in self.matching.all_posted() {
            let mut text = self.sought(context, pattern);
            if let Ok(Work::Receive(receiving)) = self.requests.get(key).map(|request| &request.work)
                && Space::PointToPoint.has(context)
            {
                let _infallible = write!(text, ", at most {} bytes", receiving.buffer.bytes());
            }
            waits.push(text);
        }
        for (_, request) in self.requests.iter() {
            match &request.work {
                Work::Send(send) if !send.matched => {
                    let (whom, place) = self.party(send.context, None, Some(send.peer));
                    waits.push(match Space::PointToPoint.has(send.context) {
                        true => {
                            format!("{whom} to receive tag {} on {place}, {} bytes", send.tag, send.bytes)
                        }
                        false => format!("{whom} {}{place}", purpose(send.context)),
                    });
                }
                Work::Receive(receiving) => {
                    if let Some(status) = receiving.matched {
                        let (whom, place) =
                            self.party(receiving.context, u32::try_from(status.source).ok(), None);
                        let (tag, bytes) = (status.tag, status.bytes);
                        waits.push(format!(
                            "the rest of a message from {whom}, tag {tag}, on {place}, {bytes} bytes"
                        ));
                    }
                }
                _ => {}
            }
        }
        waits
    }

    fn unmatched(&self) -> Vec<String> {
        let users = self.matching.all_unexpected().filter(|(context, ..)| Space::PointToPoint.has(*context));
        let text = |(context, envelope, arrived): (u64, crate::point_to_point::matching::Envelope, &_)| {
            let arrived: &crate::point_to_point::Arrived = arrived;
            let (whom, place) = self.party(context, Some(envelope.source), None);
            format!("a message from {whom}, tag {}, on {place}, {} bytes", envelope.tag, arrived.bytes)
        };
        users.map(text).collect()
    }

    /// What a receive or a probe looks for.
    fn sought(&self, context: u64, pattern: Pattern) -> String {
        let (whom, place) = self.party(context, pattern.source, None);
        if !Space::PointToPoint.has(context) {
            return format!("{whom} {}{place}", purpose(context));
        }
        let tag = pattern.tag.map_or_else(|| "any tag".to_owned(), |tag| format!("tag {tag}"));
        format!("a message from {whom}, {tag}, on {place}")
    }

    /// The other side of a message, by its rank or by its process, and the communicator, in words.
    fn party(&self, context: u64, rank: Option<u32>, process: Option<u32>) -> (String, String) {
        let space = context & Space::Partitioned as u64;
        let is_here =
            |found: &Communicator, local| found.context_of(Space::PointToPoint, local) == context - space;
        let found = self.communicators.iter().map(|(_, communicator)| communicator);
        let found = found.filter(|found| is_here(found, false) || is_here(found, true)).last();
        let Some(communicator) = found else {
            let whom = rank.map_or_else(|| "any rank".to_owned(), |rank| format!("rank {rank}"));
            return (whom, "a communicator that was freed".to_owned());
        };
        let group = if is_here(communicator, false) { communicator.peers() } else { &communicator.group };
        let process = process.or_else(|| Some(group.process(rank?)?.0));
        let rank = rank.or_else(|| group.rank(Process(process?)));
        let mut whom = rank.map_or_else(|| "any rank".to_owned(), |rank| format!("rank {rank}"));
        match process {
            Some(process) if self.is_stranger(process) => whom += ", a process of another job",
            Some(process) if Some(process) != rank => {
                let _infallible = write!(whom, " (rank {process} of the job)");
            }
            _ => {}
        }
        (whom, named(communicator))
    }
}

fn named(communicator: &Communicator) -> String {
    let name: String = String::from_utf8_lossy(&communicator.name).chars().take(NAME_MAX).collect();
    let name = if name.is_empty() { "a communicator without a name" } else { &name };
    match (&communicator.remote, communicator.size()) {
        (Some(remote), here) => format!("{name} ({here} and {} processes)", remote.size()),
        (None, 1) => format!("{name} (1 process)"),
        (None, all) => format!("{name} ({all} processes)"),
    }
}

/// For what a message is that the program has not sent itself.
fn purpose(context: u64) -> &'static str {
    if Space::Collective.has(context) {
        "in a collective call on "
    } else if Space::Creation.has(context) {
        "in a call that makes a communicator from "
    } else {
        "in a partitioned operation on "
    }
}

fn listed(all: &[String], separator: &str) -> String {
    let named = all[..all.len().min(NAMED_MAX)].join(separator);
    match all.len().saturating_sub(NAMED_MAX) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}
