//! A board on which processes write what they have and what they want: locks for ranges of bytes, shared or exclusive.
//!
//! The board is in the memory of one process, its home, and whoever reads or changes it holds the queue's lock for that
//! moment; nothing is needed of the home itself. An access that conflicts with none on the board has its bytes at once;
//! otherwise it stays there as one that waits, and whoever gives bytes back looks who can have theirs, in the order in
//! which they came. A conflict with one that waits is a conflict, too, so that nobody is overtaken for ever.
//!
//! What a process has had it keeps, as a *lease*: one number in its own memory says whether it uses it (`USED`) or does
//! not (`IDLE`). Who wants such bytes swaps `ASKED` into that number. If it was `IDLE` the lease is gone, and its holder
//! need not hear of it; if it was `USED`, the holder finds the question when it gives the bytes back. As long as nobody
//! asks, the next access to the same bytes costs one operation on the process's own memory, and so does its end.

use postrider_client::Place;

use super::fabric::Fabric;
use super::pieces::{PIECES_MAX, Request};
use super::queue::{Member, Queue, SLOTS};
use crate::error::Result;
use crate::view::Series;

const ASKED: i64 = 0;
const IDLE: i64 = 1;
const USED: i64 = 2;

/// How many numbers a line of the board has: ticket, state, whether it is exclusive, number of pieces, the pieces.
const LINE: usize = 4 + 4 * PIECES_MAX;

/// Before the lines: the queue's tail, the next ticket, whether anybody has ever had to ask.
const HEADER: usize = 3;
const TICKET: usize = 1;
const CONTENDED: usize = 2;

/// How many numbers each process has for a board, wherever its home is.
pub const NUMBERS: usize = SLOTS + 1;

/// How many numbers the home has for it besides.
pub fn home_numbers(processes: i32) -> usize {
    HEADER + processes as usize * LINE
}

/// What a process has or wants.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line {
    ticket: i64,
    waits: bool,
    request: Request,
}

impl Line {
    fn encode(line: Option<&Self>) -> [i64; LINE] {
        let mut numbers = [0; LINE];
        if let Some(Self { ticket, waits, request }) = line {
            numbers[..4].copy_from_slice(&[
                *ticket,
                1 + i64::from(*waits),
                request.exclusive.into(),
                request.pieces.len() as i64,
            ]);
            for (to, piece) in numbers[4..].as_chunks_mut::<4>().0.iter_mut().zip(&request.pieces) {
                *to = [piece.start, piece.bytes, piece.stride, piece.count];
            }
        }
        numbers
    }

    fn decode(numbers: &[i64; LINE]) -> Option<Self> {
        let [ticket, state, exclusive, count] = *numbers.first_chunk()?;
        if state == 0 {
            return None;
        }
        let pieces = numbers[4..].as_chunks::<4>().0.iter().take(count as usize);
        let piece = |&[start, bytes, stride, count]: &[i64; 4]| Series { start, bytes, stride, count };
        let request = Request { exclusive: exclusive != 0, pieces: pieces.map(piece).collect() };
        Some(Self { ticket, waits: state == 2, request })
    }
}

/// A process's view of a board.
#[derive(Debug)]
pub struct Board {
    home: i32,
    /// Where the board begins at its home.
    base: usize,
    queue: Queue,
    member: Member,
    /// Where the numbers begin that tell of leases.
    leases: usize,
    /// What this process has, unless somebody has asked.
    lease: Option<Request>,
}

/// The lines of the board, while this process holds its lock.
struct Lines {
    numbers: Vec<i64>,
    contended: bool,
    changed: Vec<usize>,
}

impl Lines {
    fn get(&self, rank: usize) -> Option<Line> {
        Line::decode(self.numbers[HEADER + rank * LINE..].first_chunk()?)
    }

    fn set(&mut self, rank: usize, line: Option<&Line>) {
        self.numbers[HEADER + rank * LINE..][..LINE].copy_from_slice(&Line::encode(line));
        self.changed.push(rank);
    }
}

impl Board {
    /// The board whose numbers begin at `base` at rank `home`, and at `own` at each process.
    pub fn new(rank: i32, (home, base): (i32, usize), own: usize, channel: i32) -> Self {
        let queue = Queue { tail: Place { rank: home, index: base }, channel };
        let member = Member { slots: Place { rank, index: own }, turn: 0 };
        Self { home, base, queue, member, leases: own + SLOTS, lease: None }
    }

    fn lease_of(&self, rank: i32) -> Place {
        Place { rank, index: self.leases }
    }

    /// Waits until this process may have the bytes. It gets what `near` says instead if nobody else is on the board: whoever
    /// accesses a part of the file is likely to access what is near.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn acquire(
        &mut self,
        fabric: &impl Fabric,
        wanted: &Request,
        near: impl Fn() -> Option<Request>,
        channel: i32,
    ) -> Result<()> {
        let own = self.lease_of(fabric.rank());
        if self.lease.as_ref().is_some_and(|lease| lease.covers(wanted))
            && fabric.compare_and_swap(own, IDLE, USED)? == IDLE
        {
            return Ok(());
        }
        self.lease = None;
        let mut lines = self.open(fabric)?;
        fabric.swap(own, ASKED)?;
        lines.set(fabric.rank() as usize, None);
        let ticket = lines.numbers[TICKET];
        lines.numbers[TICKET] += 1;
        let asked = Line { ticket, waits: true, request: wanted.clone() };
        let waits = self.is_blocked(fabric, &mut lines, fabric.rank(), &asked)?;
        let alone = !lines.contended && (0..fabric.size() as usize).all(|rank| lines.get(rank).is_none());
        let request = if alone { near() } else { None }.unwrap_or_else(|| wanted.clone());
        lines.set(fabric.rank() as usize, Some(&Line { ticket, waits, request: request.clone() }));
        if !waits {
            fabric.swap(own, USED)?;
        }
        self.close(fabric, lines)?;
        if waits {
            fabric.wait(channel)?;
        }
        self.lease = Some(request);
        Ok(())
    }

    /// Gives the bytes back, or keeps them until somebody asks.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn release(&mut self, fabric: &impl Fabric, channel: i32) -> Result<()> {
        if fabric.compare_and_swap(self.lease_of(fabric.rank()), USED, IDLE)? == USED {
            return Ok(());
        }
        self.lease = None;
        let mut lines = self.open(fabric)?;
        lines.set(fabric.rank() as usize, None);
        let mut waiting: Vec<(i32, Line)> =
            (0..fabric.size()).filter_map(|rank| Some((rank, lines.get(rank as usize)?))).collect();
        waiting.retain(|(_, line)| line.waits);
        waiting.sort_by_key(|(_, line)| line.ticket);
        let mut woken = Vec::new();
        for (rank, mut line) in waiting {
            if !self.is_blocked(fabric, &mut lines, rank, &line)? {
                line.waits = false;
                lines.set(rank as usize, Some(&line));
                fabric.swap(self.lease_of(rank), USED)?;
                woken.push(rank);
            }
        }
        self.close(fabric, lines)?;
        woken.iter().try_for_each(|&rank| fabric.wake(rank, channel, 0))
    }

    /// Whether somebody has what `line`, of `rank`, wants, or has wanted it before. All who have it are asked for it.
    fn is_blocked(&self, fabric: &impl Fabric, lines: &mut Lines, rank: i32, line: &Line) -> Result<bool> {
        let mut blocked = false;
        for other in (0..fabric.size()).filter(|other| *other != rank) {
            let Some(found) = lines.get(other as usize) else { continue };
            if !found.request.conflicts(&line.request) {
                continue;
            }
            lines.contended = true;
            if found.waits {
                blocked |= found.ticket < line.ticket;
            } else if fabric.swap(self.lease_of(other), ASKED)? == IDLE {
                lines.set(other as usize, None);
            } else {
                blocked = true;
            }
        }
        Ok(blocked)
    }

    /// Takes the board's lock, and reads the board.
    fn open(&self, fabric: &impl Fabric) -> Result<Lines> {
        self.queue.acquire(fabric, self.member)?;
        let mut numbers = vec![0; home_numbers(fabric.size())];
        fabric.read(Place { rank: self.home, index: self.base + 1 }, &mut numbers[1..])?;
        let contended = numbers[CONTENDED] != 0;
        Ok(Lines { numbers, contended, changed: Vec::new() })
    }

    /// Writes what has changed, and gives the board's lock back.
    fn close(&mut self, fabric: &impl Fabric, mut lines: Lines) -> Result<()> {
        lines.numbers[CONTENDED] = lines.contended.into();
        let header = Place { rank: self.home, index: self.base + TICKET };
        fabric.write(header, &lines.numbers[TICKET..HEADER])?;
        lines.changed.sort_unstable();
        lines.changed.dedup();
        for &rank in &lines.changed {
            let index = HEADER + rank * LINE;
            let place = Place { rank: self.home, index: self.base + index };
            fabric.write(place, &lines.numbers[index..index + LINE])?;
        }
        self.queue.release(fabric, self.member, 0)?;
        self.member = self.member.turned();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_what_was_written() {
        let pieces = vec![Series::block(3, 4), Series { start: 8, bytes: 1, stride: 5, count: 7 }];
        let request = Request { exclusive: true, pieces };
        let line = Line { ticket: 5, waits: true, request };
        assert_eq!(Line::decode(&Line::encode(Some(&line))), Some(line));
        assert_eq!(Line::decode(&Line::encode(None)), None);
    }
}
