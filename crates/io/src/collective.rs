//! Access by all processes of a file together, in two phases.
//!
//! Where the ranges of processes are interleaved, few processes, the *aggregators*, access the file for all: each of
//! them has a domain of the file, takes a window of it at a time, gets the bytes of all processes for that window, and writes
//! each run of neighbouring bytes by one call; or reads, and hands out. Otherwise each process accesses the file itself.
//!
//! Aggregators do not write the holes between runs back, as other libraries do under a lock of the file system: those
//! bytes are not theirs, and there are no locks here. Where ranges overlap, the highest rank's bytes win.

use postrider_client::{Communicator, Parts};

use crate::agreement::agree;
use crate::disk::Disk;
use crate::error::Result;
use crate::view::{Block, View};

/// Domains begin at multiples of this.
const ALIGNMENT: i64 = 64 << 10;

/// With fewer than one byte in so many wanted, windows would be mostly empty.
const SPARSE: i64 = 256;

/// The processes of a file, and which of them access it for the others.
#[derive(Debug)]
pub struct Team {
    /// All processes.
    pub communicator: Communicator,
    /// The ranks of the aggregators.
    pub aggregators: Vec<i32>,
    /// How much of its domain an aggregator takes at a time.
    pub window_bytes: i64,
}

/// The first process of each host. Collective.
///
/// # Errors
/// What MPI returns.
pub fn leaders(communicator: Communicator) -> Result<Vec<i32>> {
    let rank = i64::from(communicator.rank()?);
    let mut first = [rank];
    communicator.of_this_host()?.broadcast(&mut first)?;
    let all = communicator.all_gather(first)?;
    let leads = |(rank, [first]): &(i64, [i64; 1])| rank == first;
    Ok((0..).zip(all).filter(leads).map(|(rank, _)| rank as i32).collect())
}

/// The processes that access a file for all: the leaders of hosts, or as many processes as are asked for. If those are
/// more than there are hosts, others follow, spread over the ranks.
pub fn aggregators(leaders: &[i32], processes: i32, wanted: i64) -> Vec<i32> {
    if wanted == 0 {
        return leaders.to_vec();
    }
    let wanted = wanted.min(processes.into()) as usize;
    let mut chosen: Vec<i32> = leaders.iter().copied().take(wanted).collect();
    let spread = (0..wanted).map(|index| (index * processes as usize / wanted) as i32);
    for rank in spread.chain(0..processes) {
        if chosen.len() < wanted && !chosen.contains(&rank) {
            chosen.push(rank);
        }
    }
    chosen
}

/// A range of the file, and where its bytes are in this process's buffer.
#[derive(Clone, Copy, Debug)]
struct Piece {
    range: Block,
    at: i64,
}

/// What one process accesses: its pieces, by their places in the file.
fn pieces(view: &View, at: i64, bytes: i64) -> Vec<Piece> {
    let mut place = 0;
    let each = |range: Block| {
        place += range.bytes;
        Piece { range, at: place - range.bytes }
    };
    let mut pieces: Vec<Piece> = view.ranges(at, bytes).map(each).collect();
    pieces.sort_by_key(|piece| piece.range.offset);
    pieces
}

/// A plan that all processes have made alike.
#[derive(Debug)]
struct Plan {
    start: i64,
    domain_bytes: i64,
    rounds: i64,
    end: i64,
}

/// How the processes access the file together; none if each is to do it alone.
fn plan(team: &Team, pieces: &[Piece]) -> Result<Option<Plan>> {
    let start = pieces.first().map_or(0, |piece| piece.range.offset);
    let end = pieces.iter().map(|piece| piece.range.end()).max().unwrap_or(0);
    let bytes = pieces.iter().map(|piece| piece.range.bytes).sum();
    let mut all = team.communicator.all_gather([start, end, bytes])?;
    all.retain(|[.., bytes]| *bytes > 0);
    all.sort_unstable();
    let interleaved = all.windows(2).any(|pair| pair[1][0] < pair[0][1]);
    let (Some(first), Some(end)) = (all.first(), all.iter().map(|[_, end, _]| *end).max()) else {
        return Ok(None);
    };
    let total: i64 = all.iter().map(|[.., bytes]| bytes).sum();
    if !interleaved || (end - first[0]) / SPARSE > total {
        return Ok(None);
    }
    let start = first[0] - first[0] % ALIGNMENT;
    let share = (end - start + team.aggregators.len() as i64 - 1) / team.aggregators.len() as i64;
    let domain_bytes = (share + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    let rounds = (domain_bytes + team.window_bytes - 1) / team.window_bytes;
    Ok(Some(Plan { start, domain_bytes, rounds, end }))
}

impl Plan {
    /// What aggregator `index` does in a round.
    fn window(&self, team: &Team, index: usize, round: i64) -> Block {
        let domain = self.start + index as i64 * self.domain_bytes;
        let limit = (domain + self.domain_bytes).min(self.end);
        let offset = (domain + round * team.window_bytes).min(limit);
        Block { offset, bytes: (offset + team.window_bytes).min(limit) - offset }
    }

    /// The parts of this process's pieces in the window of each rank; those that aggregate nothing have none.
    fn wanted(&self, team: &Team, pieces: &[Piece], ranks: usize, round: i64) -> Vec<Vec<Piece>> {
        let mut wanted = vec![Vec::new(); ranks];
        for (index, &rank) in team.aggregators.iter().enumerate() {
            wanted[rank as usize] = within(pieces, self.window(team, index, round));
        }
        wanted
    }
}

/// The parts of pieces that are in a window.
fn within(pieces: &[Piece], window: Block) -> Vec<Piece> {
    let last = pieces.partition_point(|piece| piece.range.offset < window.end());
    let cut = |piece: &Piece| {
        let offset = piece.range.offset.max(window.offset);
        let bytes = piece.range.end().min(window.end()) - offset;
        let at = piece.at + offset - piece.range.offset;
        (bytes > 0).then_some(Piece { range: Block { offset, bytes }, at })
    };
    pieces[..last].iter().filter_map(cut).collect()
}

/// Writes together. Collective.
///
/// # Errors
/// What the system says, at any process.
pub fn write(team: &Team, disk: &Disk, view: &View, at: i64, bytes: &[u8]) -> Result<()> {
    let pieces = pieces(view, at, bytes.len() as i64);
    let Some(plan) = plan(team, &pieces)? else {
        return agree(team.communicator, crate::access::write(disk, view, at, bytes));
    };
    let ranks = team.communicator.size()? as usize;
    let (mut parts, mut received) = (Parts::default(), Parts::default());
    let (mut result, mut buffer) = (Ok(()), Vec::new());
    for round in 0..plan.rounds {
        let wanted = plan.wanted(team, &pieces, ranks, round);
        parts.clear();
        for pieces in &wanted {
            parts.add(|part| pack_write(part, pieces, bytes));
        }
        team.communicator.exchange(&parts, &mut received)?;
        if result.is_ok() {
            result = write_window(disk, &received, &mut buffer);
        }
    }
    agree(team.communicator, result)
}

/// Reads together, and returns how many bytes there were before the file ended. Collective.
///
/// # Errors
/// What the system says, at any process.
pub fn read(team: &Team, disk: &Disk, view: &View, at: i64, bytes: &mut [u8]) -> Result<usize> {
    let pieces = pieces(view, at, bytes.len() as i64);
    let Some(plan) = plan(team, &pieces)? else {
        return agree(team.communicator, crate::access::read(disk, view, at, bytes));
    };
    let ranks = team.communicator.size()? as usize;
    let (mut parts, mut asked, mut answers) = (Parts::default(), Parts::default(), Parts::default());
    let (mut result, mut buffer) = (Ok(()), Vec::new());
    let mut there: i64 = pieces.iter().map(|piece| piece.range.bytes).sum();
    for round in 0..plan.rounds {
        let wanted = plan.wanted(team, &pieces, ranks, round);
        parts.clear();
        for pieces in &wanted {
            parts.add(|part| pack_ranges(part, pieces));
        }
        team.communicator.exchange(&parts, &mut asked)?;
        parts.clear();
        if let Err(error) = read_window(disk, &asked, &mut parts, &mut buffer) {
            result = Err(error);
            parts.clear();
            (0..ranks).for_each(|_| parts.add(|_| ()));
        }
        team.communicator.exchange(&parts, &mut answers)?;
        for (pieces, answer) in wanted.iter().zip(answers.iter()) {
            there = there.min(take(pieces, answer, bytes));
        }
    }
    agree(team.communicator, result)?;
    Ok(there as usize)
}

/// Ranges as bytes: how many, then each.
fn pack_ranges(part: &mut Vec<u8>, pieces: &[Piece]) {
    if pieces.is_empty() {
        return;
    }
    part.extend((pieces.len() as i64).to_le_bytes());
    for piece in pieces {
        part.extend(piece.range.offset.to_le_bytes());
        part.extend(piece.range.bytes.to_le_bytes());
    }
}

fn pack_write(part: &mut Vec<u8>, pieces: &[Piece], bytes: &[u8]) {
    pack_ranges(part, pieces);
    for piece in pieces {
        part.extend_from_slice(&bytes[piece.at as usize..][..piece.range.bytes as usize]);
    }
}

/// The ranges that a process has sent, and what it has sent behind them.
fn unpack(message: &[u8]) -> (Vec<Block>, &[u8]) {
    let mut numbers = message.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes));
    let count = numbers.next().unwrap_or(0) as usize;
    let range = |_| Some(Block { offset: numbers.next()?, bytes: numbers.next()? });
    let ranges = (0..count).map_while(range).collect();
    (ranges, message.get(8 + 16 * count..).unwrap_or_default())
}

/// A part of the file in memory: the runs that are in it.
struct Window<'b> {
    runs: Vec<Block>,
    first: i64,
    bytes: &'b mut [u8],
}

impl<'b> Window<'b> {
    /// The one that all these ranges are in, joined where at most `gap` is between them; none if there are no ranges. Its bytes are
    /// whatever was in the buffer.
    fn new<'r>(ranges: impl Iterator<Item = &'r Block>, gap: i64, buffer: &'b mut Vec<u8>) -> Option<Self> {
        let runs = runs(ranges, gap);
        let (first, end) = (runs.first()?.offset, runs.last()?.end());
        let span = (end - first) as usize;
        if buffer.len() < span {
            buffer.resize(span, 0);
        }
        Some(Self { runs, first, bytes: &mut buffer[..span] })
    }

    fn place(&self, range: &Block) -> std::ops::Range<usize> {
        (range.offset - self.first) as usize..(range.end() - self.first) as usize
    }
}

/// Writes what processes have sent for a window.
fn write_window(disk: &Disk, received: &Parts, buffer: &mut Vec<u8>) -> Result<()> {
    let messages: Vec<(Vec<Block>, &[u8])> = received.iter().map(unpack).collect();
    let all = messages.iter().flat_map(|(ranges, _)| ranges);
    let Some(window) = Window::new(all, 0, buffer) else { return Ok(()) };
    for (ranges, mut bytes) in messages {
        for range in &ranges {
            let (now, later) = bytes.split_at(range.bytes as usize);
            let place = window.place(range);
            window.bytes[place].copy_from_slice(now);
            bytes = later;
        }
    }
    window.runs.iter().try_for_each(|run| disk.write(&window.bytes[window.place(run)], run.offset))
}

/// The part of a range before the end of the file.
fn before(range: &Block, end: i64) -> Block {
    Block { offset: range.offset, bytes: (end - range.offset).clamp(0, range.bytes) }
}

/// Reads what processes ask for in a window. An answer is the place where the file was found to end, if it was, and the
/// bytes of the ranges before that.
fn read_window(disk: &Disk, asked: &Parts, answers: &mut Parts, buffer: &mut Vec<u8>) -> Result<()> {
    let asked: Vec<Vec<Block>> = asked.iter().map(|message| unpack(message).0).collect();
    let Some(window) = Window::new(asked.iter().flatten(), ALIGNMENT, buffer) else {
        asked.iter().for_each(|_| answers.add(|_| ()));
        return Ok(());
    };
    let mut end = i64::MAX;
    for run in &window.runs {
        let place = window.place(run);
        let there = disk.read(&mut window.bytes[place], run.offset)? as i64;
        if there < run.bytes {
            end = end.min(run.offset + there);
        }
    }
    for ranges in &asked {
        answers.add(|answer| {
            if !ranges.is_empty() {
                answer.extend(end.to_le_bytes());
            }
            for range in ranges {
                answer.extend_from_slice(&window.bytes[window.place(&before(range, end))]);
            }
        });
    }
    Ok(())
}

/// Ranges joined where they overlap or are at most `gap` apart.
fn runs<'r>(ranges: impl Iterator<Item = &'r Block>, gap: i64) -> Vec<Block> {
    let mut ranges: Vec<Block> = ranges.copied().collect();
    ranges.sort_unstable();
    let mut runs: Vec<Block> = Vec::new();
    for range in ranges {
        match runs.last_mut() {
            Some(last) if range.offset <= last.end() + gap => {
                last.bytes = last.bytes.max(range.end() - last.offset);
            }
            _ => runs.push(range),
        }
    }
    runs
}

/// Stores an aggregator's answer, and returns the place in the buffer from which on there is nothing, if it says so.
fn take(pieces: &[Piece], answer: &[u8], bytes: &mut [u8]) -> i64 {
    let mut there = i64::MAX;
    let Some((end, mut left)) = answer.split_first_chunk::<8>() else { return there };
    let end = i64::from_le_bytes(*end);
    for piece in pieces {
        let valid = before(&piece.range, end).bytes;
        let (now, later) = left.split_at(valid as usize);
        left = later;
        bytes[piece.at as usize..][..valid as usize].copy_from_slice(now);
        if valid < piece.range.bytes {
            there = there.min(piece.at + valid);
        }
    }
    there
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(offset: i64, bytes: i64) -> Block {
        Block { offset, bytes }
    }

    #[test]
    fn runs_join_what_touches() {
        let ranges = [block(10, 5), block(0, 4), block(4, 2), block(12, 8), block(30, 1)];
        assert_eq!(runs(ranges.iter(), 0), [block(0, 6), block(10, 10), block(30, 1)]);
        assert_eq!(runs(ranges.iter(), 4), [block(0, 20), block(30, 1)]);
    }

    #[test]
    fn aggregators_are_as_many_as_are_wanted() {
        assert_eq!(aggregators(&[0, 4], 8, 0), [0, 4]);
        assert_eq!(aggregators(&[0, 4], 8, 1), [0]);
        assert_eq!(aggregators(&[0, 4], 8, 4), [0, 4, 2, 6]);
        assert_eq!(aggregators(&[0], 3, 9), [0, 1, 2]);
    }

    #[test]
    fn a_window_cuts_pieces() {
        let pieces = [Piece { range: block(0, 10), at: 0 }, Piece { range: block(20, 10), at: 10 }];
        let cut: Vec<(Block, i64)> =
            within(&pieces, block(5, 20)).iter().map(|piece| (piece.range, piece.at)).collect();
        assert_eq!(cut, [(block(5, 5), 5), (block(20, 5), 10)]);
    }

    #[test]
    fn nothing_is_taken_from_behind_the_end_of_the_file() {
        let pieces = [Piece { range: block(0, 2), at: 2 }, Piece { range: block(4, 2), at: 0 }];
        let answer: Vec<u8> = 5_i64.to_le_bytes().into_iter().chain([1, 2, 3]).collect();
        let mut bytes = [0; 4];
        assert_eq!(take(&pieces, &answer, &mut bytes), 1);
        assert_eq!(bytes, [3, 0, 1, 2]);
    }
}
