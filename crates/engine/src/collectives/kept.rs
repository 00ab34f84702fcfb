//! The latest collective calls of a communicator, kept for the next ones with the same arguments.
//!
//! Programs call collectives in loops. Checking arguments, choosing an algorithm, making its schedule and getting scratch memory take
//! longer than a short message between two cores; so a communicator keeps its latest plans, and a call whose [`Arguments`] are those of
//! a kept one runs that. Whoever makes arguments answers for it that equal ones mean the same: numbers, addresses and predefined handles
//! do, and a handle that may be freed and given out again does not. Of arrays among the arguments, which mean what is in them, a plan
//! keeps a copy ([`Arrays`]). What else it depends on never changes: the communicator's group, and the settings. A plan that runs
//! is with its caller, not here, so that its scratch memory is used by one call at a time. The blocking and the nonblocking form of a call
//! have the same plans.

use std::sync::Arc;

use postrider_os::memory::UserMemory;

use super::report::Used;
use super::script::Script;

/// The most plans that a communicator keeps: roots in turn make one plan each.
const PLANS_MAX: usize = 16;
/// The most scratch memory that it keeps with them.
const SCRATCH_BYTES_MAX: usize = 8 << 20;
/// The most arguments of a call that is kept.
const WORDS: usize = 9;
/// The most bytes of arrays of a call that is kept: to look at more takes about as long as making a plan.
const ARRAY_BYTES_MAX: usize = 4 << 10;

/// The arguments of a call as numbers, with its name.
#[derive(Clone, Copy, Debug)]
pub struct Arguments {
    words: [usize; WORDS],
    name: &'static str,
}

impl Arguments {
    /// None if there are too many.
    #[inline(always)]
    #[must_use]
    pub fn new<const N: usize>(name: &'static str, arguments: [usize; N]) -> Option<Self> {
        let mut words = [0; WORDS];
        words.get_mut(..N)?.copy_from_slice(&arguments);
        Some(Self { words, name })
    }

    /// Names first: most plans of a communicator are of different calls. The words are so few that a call to compare them takes longer.
    #[inline]
    fn are(&self, others: &Self) -> bool {
        let words = || self.words.iter().zip(&others.words);
        std::ptr::eq(self.name, others.name)
            && words().fold(0, |differ, (one, other)| differ | (one ^ other)) == 0
    }
}

/// The arrays of the program that a plan was made from, with what was in them.
#[derive(Debug, Default)]
pub(crate) struct Arrays {
    copies: Vec<(UserMemory, Vec<u8>)>,
    /// Bytes of all; none when there are too many of them, or something else in them that has no lasting meaning.
    bytes: Option<usize>,
}

impl Arrays {
    /// None yet, of a plan that may be kept or not.
    pub fn new(may_be_kept: bool) -> Self {
        Self { copies: Vec::new(), bytes: may_be_kept.then_some(0) }
    }

    /// The plan is made from the `bytes` bytes at `array`, and anything equal to them would make it.
    pub fn note(&mut self, array: UserMemory, bytes: usize) {
        let sum = self.bytes.map(|sum| sum.saturating_add(bytes));
        self.bytes = sum.filter(|sum| *sum <= ARRAY_BYTES_MAX);
        if self.may_be_kept() {
            let mut copy = vec![0; bytes];
            array.read(&mut copy);
            self.copies.push((array, copy));
        }
    }

    /// The plan is made from something that may be another thing the next time.
    pub fn forbid(&mut self) {
        self.bytes = None;
    }

    /// Whether the plan may be kept.
    pub fn may_be_kept(&self) -> bool {
        self.bytes.is_some()
    }

    #[inline]
    fn are_unchanged(&self) -> bool {
        self.copies.iter().all(|(array, copy)| array.holds(copy))
    }
}

/// A call that can be run, and run again.
#[derive(Debug)]
pub(crate) struct Plan {
    /// With which arguments; none if it is not to be kept.
    pub arguments: Option<Arguments>,
    /// What the arrays among them held.
    pub arrays: Arrays,
    /// What to do.
    pub script: Script,
    /// What is reported of it.
    pub used: Option<Used>,
}

/// The plans that a communicator keeps, the latest last, and the others about in the order of their last use.
#[derive(Debug, Default)]
pub(crate) struct Plans {
    kept: Vec<Arc<Plan>>,
    scratch_bytes: usize,
}

impl Plans {
    /// Takes out the plan of a call with these arguments.
    #[inline]
    pub fn take(&mut self, arguments: &Arguments) -> Option<Arc<Plan>> {
        let is_it = |plan: &Plan| {
            plan.arguments.as_ref().is_some_and(|kept| kept.are(arguments)) && plan.arrays.are_unchanged()
        };
        let index = self.kept.iter().rposition(|plan| is_it(plan))?;
        let plan = self.kept.swap_remove(index);
        self.scratch_bytes -= plan.script.scratch_bytes();
        Some(plan)
    }

    /// Puts a plan in, and lets the oldest go if that is too much.
    #[inline]
    pub fn keep(&mut self, plan: Arc<Plan>) {
        self.scratch_bytes += plan.script.scratch_bytes();
        self.kept.push(plan);
        while self.kept.len() > PLANS_MAX || self.scratch_bytes > SCRATCH_BYTES_MAX {
            self.scratch_bytes -= self.kept.remove(0).script.scratch_bytes();
        }
    }
}

#[cfg(test)]
mod tests {
    use postrider_os::memory::{OwnedMemory, UserMemory};

    use super::*;
    use crate::objects::Key;

    fn arguments(word: usize) -> Arguments {
        Arguments::new("MPI_Bcast", [word, 1]).unwrap()
    }

    fn plan(word: usize, scratch_bytes: usize) -> Arc<Plan> {
        let mut memory = OwnedMemory::new(scratch_bytes);
        let scratch = vec![(UserMemory::of(&mut memory), memory)];
        let (acts, rounds) = (Vec::new(), Vec::new());
        let script = Script { communicator: Key(0), acts, rounds, operation: None, scratch };
        Arc::new(Plan { arguments: Some(arguments(word)), arrays: Arrays::new(true), script, used: None })
    }

    #[test]
    fn a_plan_is_found_by_all_of_its_arguments_and_taken_out() {
        let mut plans = Plans::default();
        plans.keep(plan(7, 1));
        assert!(plans.take(&arguments(8)).is_none());
        assert!(plans.take(&Arguments::new("MPI_Reduce", [7, 1]).unwrap()).is_none());
        assert!(plans.take(&arguments(7)).is_some());
        assert!(plans.take(&arguments(7)).is_none());
    }

    #[test]
    fn what_is_kept_is_bounded_and_the_oldest_goes() {
        let mut plans = Plans::default();
        (0..=PLANS_MAX).for_each(|word| plans.keep(plan(word, 1)));
        assert!(plans.take(&arguments(0)).is_none());
        assert!(plans.take(&arguments(1)).is_some());
        plans.keep(plan(100, SCRATCH_BYTES_MAX));
        assert!(plans.take(&arguments(2)).is_none());
        assert!(plans.take(&arguments(100)).is_some());
        plans.keep(plan(101, SCRATCH_BYTES_MAX + 1));
        assert!(plans.kept.is_empty());
        assert_eq!(plans.scratch_bytes, 0);
    }

    #[test]
    fn a_plan_is_not_found_when_an_array_holds_something_else() {
        let mut memory = OwnedMemory::new(100);
        let array = UserMemory::of(&mut memory);
        let mut kept = plan(7, 1);
        Arc::get_mut(&mut kept).unwrap().arrays.note(array, 100);
        let mut plans = Plans::default();
        plans.keep(kept);
        array.offset(99).store(1_u8);
        assert!(plans.take(&arguments(7)).is_none());
        array.offset(99).store(0_u8);
        assert!(plans.take(&arguments(7)).is_some());
    }

    #[test]
    fn long_arrays_and_what_has_no_lasting_meaning_are_not_kept() {
        let mut memory = OwnedMemory::new(1);
        let array = UserMemory::of(&mut memory);
        let mut long = Arrays::new(true);
        long.note(array, 1);
        assert!(long.may_be_kept());
        long.note(array, ARRAY_BYTES_MAX);
        assert!(!long.may_be_kept());
        let mut forbidden = Arrays::new(true);
        forbidden.forbid();
        assert!(!forbidden.may_be_kept());
    }

    #[test]
    fn too_many_arguments_are_not_kept() {
        assert!(Arguments::new("MPI_Alltoallw", [1; WORDS + 1]).is_none());
    }
}
