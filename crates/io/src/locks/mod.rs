//! Locks between the processes of a file, of which no file system knows: an access in atomic mode (section 14.6.1) acquires the
//! bytes that it touches, and releases them at its end.
//!
//! There are several, by what [`LockWay`] says: `hybrid`, `queue` and `tree` lock the whole file, `board` shared or
//! exclusive, and parts of it. They use windows and messages of MPI through `fabric`, and
//! nobody ever has to wait for a process that does not want the lock itself: it may compute for as long as it likes. `pieces` says what an access
//! touches, `disjoint` which views never touch the same.

mod board;
pub mod disjoint;
mod fabric;
mod hybrid;
#[cfg(test)]
mod models;
pub mod pieces;
mod queue;
mod tree;
pub mod ways;

use std::sync::{Mutex, PoisonError};

use postrider_client::{Communicator, Epochs, Numbers, Place};

use crate::error::Result;
use crate::view::Series;
use board::Board;
use fabric::OverMpi;
use hybrid::Hybrid;
use pieces::Request;
use queue::{Member, Queue};
use tree::Tree;
use ways::LockWay;

/// Tags of the messages by which processes wake each other; what is woken by one tag waits for nothing else.
mod channels {
    pub const QUEUE: i32 = 1;
    pub const GRANT: i32 = 2;
    /// And the next one.
    pub const TREE: i32 = 3;
    pub const HYBRID: i32 = 5;
    pub const POINTER: i32 = 6;
}

/// The parts of a file whose boards have different homes, in turn.
const DOMAIN_BYTES: i64 = 4 << 20;

/// At most so many homes.
const HOMES_MAX: i32 = 8;

/// Who accesses some bytes when nobody else does gets all of a part of this size.
const NEAR_BYTES: i64 = 1 << 20;

/// Locks for the bytes of a file.
#[derive(Debug)]
pub struct Locks {
    way: LockWay,
    /// Of which only one thread of this process may have some.
    lock: Mutex<Lock>,
}

#[derive(Debug)]
enum Lock {
    /// There is one process.
    Alone,
    Hybrid(PaperLock),
    Queue(OverMpi<Numbers>, Queue, Member),
    Tree(OverMpi<Numbers>, Tree),
    Boards(OverMpi<Numbers>, Vec<Board>),
}

/// The lock of the paper.
pub type PaperLock = Hybrid<OverMpi<Epochs>>;

/// Makes a lock of the paper for the shared file pointer. Collective.
///
/// # Errors
/// What MPI returns.
pub fn for_pointer(communicator: Communicator) -> Result<PaperLock> {
    hybrid(communicator, channels::POINTER)
}

fn hybrid(communicator: Communicator, channel: i32) -> Result<PaperLock> {
    let bytes = OverMpi::bytes(communicator, hybrid::bytes(communicator.size()?))?;
    Ok(Hybrid::new(bytes, channel))
}

impl Locks {
    /// Makes them. Collective.
    ///
    /// # Errors
    /// What MPI returns, for example that it has no windows.
    pub fn new(communicator: Communicator, way: LockWay) -> Result<Self> {
        let lock = match way {
            _ if communicator.size()? == 1 => Lock::Alone,
            LockWay::Hybrid => Lock::Hybrid(hybrid(communicator, channels::HYBRID)?),
            LockWay::Queue => {
                let fabric = OverMpi::numbers(communicator, 1 + queue::SLOTS)?;
                let tail = Place { rank: 0, index: 0 };
                let slots = Place { rank: communicator.rank()?, index: 1 };
                Lock::Queue(fabric, Queue { tail, channel: channels::QUEUE }, Member { slots, turn: 0 })
            }
            LockWay::Tree => {
                let rank = communicator.rank()?;
                let mut leader = [i64::from(rank)];
                communicator.of_this_host()?.broadcast(&mut leader)?;
                let fabric = OverMpi::numbers(communicator, tree::NUMBERS)?;
                Lock::Tree(fabric, Tree::new(rank, leader[0] as i32, 0, channels::TREE))
            }
            LockWay::Shared => boards(communicator, 1)?,
            LockWay::Auto | LockWay::Ranges => boards(communicator, HOMES_MAX)?,
        };
        Ok(Self { way, lock: Mutex::new(lock) })
    }

    /// Which they are.
    pub fn way(&self) -> LockWay {
        self.way
    }

    /// Does something while no other thread of this process does such a thing, for bytes that no other process accesses.
    ///
    /// # Errors
    /// What `action` returns.
    pub fn without_rivals<T>(&self, action: impl FnOnce() -> Result<T>) -> Result<T> {
        let _turn = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        action()
    }

    /// Does something with these bytes of the file while no other process has any of them; or only others that are not
    /// `exclusive` either.
    ///
    /// # Errors
    /// What MPI or `action` returns.
    pub fn with<T>(
        &self,
        blocks: impl Iterator<Item = Series>,
        exclusive: bool,
        action: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let mut lock = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *lock {
            Lock::Alone => action(),
            Lock::Hybrid(hybrid) => {
                hybrid.acquire()?;
                let result = action();
                hybrid.release(None)?;
                result
            }
            Lock::Queue(fabric, queue, member) => {
                queue.acquire(fabric, *member)?;
                let result = action();
                queue.release(fabric, *member, 0)?;
                *member = member.turned();
                result
            }
            Lock::Tree(fabric, tree) => {
                tree.acquire(fabric)?;
                let result = action();
                tree.release(fabric)?;
                result
            }
            Lock::Boards(fabric, boards) => {
                let pieces = match self.way {
                    LockWay::Shared => vec![Series::block(0, i64::MAX)],
                    _ => pieces::of_blocks(blocks),
                };
                with_boards(fabric, boards, &Request { exclusive, pieces }, action)
            }
        }
    }
}

/// At most so many boards, with homes all over the ranks.
fn boards(communicator: Communicator, homes_max: i32) -> Result<Lock> {
    let (rank, size) = (communicator.rank()?, communicator.size()?);
    let count = homes_max.min(size);
    let homes: Vec<i32> = (0..count).map(|index| index * size / count).collect();
    let base = board::NUMBERS * homes.len();
    let at_home = if homes.contains(&rank) { board::home_numbers(size) } else { 0 };
    let fabric = OverMpi::numbers(communicator, base + at_home)?;
    let each = |(index, &home): (usize, &i32)| {
        Board::new(rank, (home, base), board::NUMBERS * index, channels::QUEUE)
    };
    Ok(Lock::Boards(fabric, homes.iter().enumerate().map(each).collect()))
}

/// The parts of the file that a request touches have boards, which are asked in one order everywhere, so that nobody waits in a
/// circle.
fn with_boards<T>(
    fabric: &OverMpi<Numbers>,
    boards: &mut [Board],
    request: &Request,
    action: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let touched = touched(&request.pieces, boards.len());
    let mut asked = Vec::with_capacity(boards.len());
    asked.extend(boards.iter_mut().enumerate().filter(|(index, _)| touched >> index & 1 != 0));
    let near = || if touched.is_power_of_two() { near(request) } else { None };
    for (_, board) in &mut asked {
        board.acquire(fabric, request, near, channels::GRANT)?;
    }
    let result = action();
    for (_, board) in &mut asked {
        board.release(fabric, channels::GRANT)?;
    }
    result
}

/// Which of so many boards have to do with the parts of the file that the pieces lie in: a bit for each.
fn touched(pieces: &[Series], boards: usize) -> u32 {
    let mut touched = 0;
    for piece in pieces {
        let (first, last) = (piece.start / DOMAIN_BYTES, (piece.end() - 1) / DOMAIN_BYTES);
        let last = last.min(first + boards as i64 - 1);
        (first..=last).for_each(|domain| touched |= 1 << (domain as usize % boards));
    }
    touched
}

/// More than what is asked for: the part of the file around it, if it is in one.
fn near(request: &Request) -> Option<Request> {
    let first = request.pieces.iter().map(|piece| piece.start).min()?;
    let end = request.pieces.iter().map(|piece| piece.end()).max()?;
    let whole = Series::block(first - first % NEAR_BYTES, NEAR_BYTES);
    (end <= whole.end()).then(|| Request { exclusive: request.exclusive, pieces: vec![whole] })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_the_file_have_boards_in_turn() {
        let touches = |start: i64, bytes: i64| touched(&[Series::block(start, bytes)], 3);
        assert_eq!(touches(0, 1), 0b001);
        assert_eq!(touches(DOMAIN_BYTES * 4, DOMAIN_BYTES), 0b010);
        assert_eq!(touches(DOMAIN_BYTES * 2, DOMAIN_BYTES + 1), 0b101);
        assert_eq!(touches(5, i64::MAX - 5), 0b111);
    }

    #[test]
    fn what_is_near_is_in_one_part() {
        let request = |start, bytes| Request { exclusive: true, pieces: vec![Series::block(start, bytes)] };
        let around = near(&request(NEAR_BYTES + 7, 9)).expect("it is in one part");
        assert_eq!(around.pieces, [Series::block(NEAR_BYTES, NEAR_BYTES)]);
        assert_eq!(near(&request(NEAR_BYTES - 1, 2)), None);
    }
}
