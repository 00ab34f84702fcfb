//! Groups: ordered sets of processes (MPI 5.0, section 7.3).
//!
//! A group answers two questions, which process has a rank and which rank a process has, the second one for
//! every name that a group operation compares. Most groups are an arithmetic sequence of processes (all, the
//! upper half, every second one): these are stored as first, count and step, whatever their size, and both
//! questions are a few instructions. Others have the processes in rank order and, sorted, the way back, for a
//! binary search. Which form a group has is decided by its members alone, so that equal groups have equal
//! representations.
//!
//! Groups never change. A copy shares its memory, since every communicator that is duplicated keeps one.

use std::sync::Arc;

use postrider_abi as abi;

use crate::error::{Error, Result};

/// A process of the job: its number, the same everywhere in the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Process(pub u32);

/// An ordered set of processes; a rank is a position in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    members: Members,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Members {
    /// Rank r is process first + r * step; the step is 1 if there are fewer than two.
    Sequence { first: u32, count: u32, step: i64 },
    /// Any other.
    Table(Arc<Table>),
}

#[derive(Debug, PartialEq, Eq)]
struct Table {
    processes: Vec<Process>,
    /// Processes with their ranks, in order of processes.
    ranks: Vec<(Process, u32)>,
}

/// How two groups are related.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Comparison {
    /// The same processes in the same order.
    Ident = abi::MPI_IDENT,
    /// The same processes in another order.
    Similar = abi::MPI_SIMILAR,
    /// Different processes.
    Unequal = abi::MPI_UNEQUAL,
}

/// A range of ranks of `MPI_Group_range_incl` and `MPI_Group_range_excl`: first, last and stride.
pub type RankRange = [i32; 3];

impl Default for Group {
    fn default() -> Self {
        Self::empty()
    }
}

impl Group {
    /// `MPI_GROUP_EMPTY`.
    pub fn empty() -> Self {
        Self::range(Process(0), 0)
    }

    /// `count` processes from `first` on.
    pub fn range(first: Process, count: u32) -> Self {
        let first = if count == 0 { 0 } else { first.0 };
        Self { members: Members::Sequence { first, count, step: 1 } }
    }

    /// These processes, which are distinct, in this order.
    pub fn of(processes: Vec<Process>) -> Self {
        let count = processes.len() as u32;
        let step = match processes[..] {
            [] => return Self::empty(),
            [only] => return Self::range(only, 1),
            [first, second, ..] => i64::from(second.0) - i64::from(first.0),
        };
        let is_step = |pair: &[Process]| i64::from(pair[1].0) - i64::from(pair[0].0) == step;
        if processes.windows(2).all(is_step) {
            return Self { members: Members::Sequence { first: processes[0].0, count, step } };
        }
        let mut ranks: Vec<(Process, u32)> = processes.iter().copied().zip(0..).collect();
        ranks.sort_unstable();
        debug_assert!(ranks.windows(2).all(|pair| pair[0].0 != pair[1].0), "a process is in a group once");
        Self { members: Members::Table(Arc::new(Table { processes, ranks })) }
    }

    /// Number of processes.
    pub fn size(&self) -> u32 {
        match &self.members {
            Members::Sequence { count, .. } => *count,
            Members::Table(table) => table.processes.len() as u32,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.size() == 0
    }

    /// The process that has `rank`; none if no process has.
    pub fn process(&self, rank: u32) -> Option<Process> {
        match &self.members {
            Members::Sequence { first, count, step } => {
                (rank < *count).then(|| Process((i64::from(*first) + i64::from(rank) * step) as u32))
            }
            Members::Table(table) => table.processes.get(rank as usize).copied(),
        }
    }

    /// The rank that `process` has; none if it is not in the group.
    pub fn rank(&self, process: Process) -> Option<u32> {
        match &self.members {
            Members::Sequence { first, count, step } => {
                let distance = i64::from(process.0) - i64::from(*first);
                let rank = if *step == 1 { distance } else { distance / step };
                let is_member = (0..i64::from(*count)).contains(&rank) && rank * step == distance;
                is_member.then_some(rank as u32)
            }
            Members::Table(table) => {
                let found = table.ranks.binary_search_by_key(&process, |(process, _)| *process);
                found.ok().map(|index| table.ranks[index].1)
            }
        }
    }

    /// The process with the greatest number; none in an empty group.
    pub fn greatest(&self) -> Option<Process> {
        match &self.members {
            Members::Sequence { count: 0, .. } => None,
            Members::Sequence { .. } => self.process(0).max(self.process(self.size() - 1)),
            Members::Table(table) => table.ranks.last().map(|(process, _)| *process),
        }
    }

    /// Whether `process` is a member.
    pub fn contains(&self, process: Process) -> bool {
        self.rank(process).is_some()
    }

    /// The processes in rank order.
    pub fn processes(&self) -> impl Iterator<Item = Process> {
        (0..self.size()).filter_map(|rank| self.process(rank))
    }

    /// `MPI_Group_compare`.
    pub fn compare(&self, other: &Group) -> Comparison {
        if self == other {
            Comparison::Ident
        } else if self.size() == other.size() && self.processes().all(|process| other.contains(process)) {
            Comparison::Similar
        } else {
            Comparison::Unequal
        }
    }

    /// The ranks in `other` of the processes that have `ranks` here: `MPI_UNDEFINED` for those that are not
    /// there, `MPI_PROC_NULL` for `MPI_PROC_NULL`. `MPI_ERR_RANK` for what is no rank here.
    pub fn translate_ranks(&self, ranks: &[i32], other: &Group) -> Result<Vec<i32>> {
        let translate = |rank: &i32| match *rank {
            abi::MPI_PROC_NULL => Ok(abi::MPI_PROC_NULL),
            rank => {
                let process = self.member("MPI_Group_translate_ranks", rank)?;
                Ok(other.rank(process).map_or(abi::MPI_UNDEFINED, |rank| rank as i32))
            }
        };
        ranks.iter().map(translate).collect()
    }

    /// The processes of this group, then those of `other` that are not in it: `MPI_Group_union`.
    pub fn union(&self, other: &Group) -> Group {
        let added = other.processes().filter(|process| !self.contains(*process));
        Self::of(self.processes().chain(added).collect())
    }

    /// The processes that are in both, in the order of this group: `MPI_Group_intersection`.
    pub fn intersection(&self, other: &Group) -> Group {
        Self::of(self.processes().filter(|process| other.contains(*process)).collect())
    }

    /// The processes that are not in `other`, in the order of this group: `MPI_Group_difference`.
    pub fn difference(&self, other: &Group) -> Group {
        Self::of(self.processes().filter(|process| !other.contains(*process)).collect())
    }

    /// The processes that have `ranks`, in the order of `ranks`: `MPI_Group_incl`.
    /// `MPI_ERR_RANK` for what is no rank here, or occurs twice.
    pub fn incl(&self, ranks: &[i32]) -> Result<Group> {
        self.include("MPI_Group_incl", ranks.iter().copied())
    }

    /// The processes that do not have any of `ranks`: `MPI_Group_excl`.
    /// `MPI_ERR_RANK` for what is no rank here, or occurs twice.
    pub fn excl(&self, ranks: &[i32]) -> Result<Group> {
        self.exclude("MPI_Group_excl", ranks.iter().copied())
    }

    /// The processes whose ranks are in `ranges`, in the order of these: `MPI_Group_range_incl`.
    /// `MPI_ERR_ARG` for a stride that does not lead from first to last; `MPI_ERR_RANK` as for
    /// [`Group::incl`].
    pub fn range_incl(&self, ranges: &[RankRange]) -> Result<Group> {
        const CALL: &str = "MPI_Group_range_incl";
        check_strides(CALL, ranges)?;
        self.include(CALL, ranges.iter().flat_map(ranks_in))
    }

    /// The processes whose ranks are not in `ranges`: `MPI_Group_range_excl`. `MPI_ERR_ARG` for a stride that
    /// does not lead from first to last; `MPI_ERR_RANK` as for [`Group::excl`].
    pub fn range_excl(&self, ranges: &[RankRange]) -> Result<Group> {
        const CALL: &str = "MPI_Group_range_excl";
        check_strides(CALL, ranges)?;
        self.exclude(CALL, ranges.iter().flat_map(ranks_in))
    }

    /// The process that has `rank`, an argument of `call`.
    fn member(&self, call: &str, rank: i32) -> Result<Process> {
        let member = u32::try_from(rank).ok().and_then(|rank| self.process(rank));
        member.ok_or_else(|| {
            let size = self.size();
            let detail = format!(
                "{call}: {rank} is not a rank of the group, which has {size} processes; ranks count from 0"
            );
            Error::new(abi::MPI_ERR_RANK, detail)
        })
    }

    /// Marks `rank`, an argument of `call`, and returns its process; each rank may be marked once.
    fn mark(&self, call: &str, rank: i32, marked: &mut [bool]) -> Result<Process> {
        let process = self.member(call, rank)?;
        if std::mem::replace(&mut marked[rank as usize], true) {
            let detail = format!("{call}: rank {rank} is given twice; every rank may occur once");
            return Err(Error::new(abi::MPI_ERR_RANK, detail));
        }
        Ok(process)
    }

    fn include(&self, call: &str, ranks: impl Iterator<Item = i32>) -> Result<Group> {
        let mut marked = vec![false; self.size() as usize];
        let processes: Result<Vec<Process>> = ranks.map(|rank| self.mark(call, rank, &mut marked)).collect();
        Ok(Self::of(processes?))
    }

    fn exclude(&self, call: &str, ranks: impl Iterator<Item = i32>) -> Result<Group> {
        let mut marked = vec![false; self.size() as usize];
        for rank in ranks {
            self.mark(call, rank, &mut marked)?;
        }
        let kept = self.processes().zip(marked).filter(|(_, marked)| !marked);
        Ok(Self::of(kept.map(|(process, _)| process).collect()))
    }
}

fn check_strides(call: &str, ranges: &[RankRange]) -> Result<()> {
    for [first, last, stride] in ranges {
        let leads = *stride != 0 && (first == last || (first < last) == (*stride > 0));
        if !leads {
            let advice = "it must not be 0, and negative if the first rank is the larger one";
            let detail =
                format!("{call}: a stride of {stride} does not lead from {first} to {last}; {advice}");
            return Err(Error::new(abi::MPI_ERR_ARG, detail));
        }
    }
    Ok(())
}

/// first, first + stride, … as far as last, which need not be met. The stride leads there.
fn ranks_in(&[first, last, stride]: &RankRange) -> impl Iterator<Item = i32> + use<> {
    let [first, last, stride] = [first, last, stride].map(i64::from);
    (0..=(last - first) / stride).map(move |index| (first + index * stride) as i32)
}

#[cfg(test)]
mod tests;
