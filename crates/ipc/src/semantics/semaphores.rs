//! What a list of operations does to a set: all of it or nothing.

use super::limits::VALUE_MAX;

/// One operation, as `struct sembuf` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operation {
    /// Which semaphore.
    pub semaphore: u16,
    /// What is added; 0 waits for the value 0.
    pub change: i16,
    /// `IPC_NOWAIT` and `SEM_UNDO`.
    pub flags: i16,
}

/// Do not wait.
pub const NO_WAIT: i16 = 0o4000;
/// Take it back when the process ends.
pub const UNDO: i16 = 0x1000;

/// What has to happen, before anything has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All can be done: what `plan` has been told.
    Done,
    /// The operation with this number has to wait.
    Waits(usize),
    /// The same, but it must not wait.
    WouldWait,
    /// A value, or what is to be undone, is out of range.
    OutOfRange,
}

/// Finds out what becomes of a list of operations. `values` and `undone` say what semaphores have now and what is to be taken back when the process
/// ends. Each operation is told to `plan` with the new value and the new amount to be taken back; what was told counts only if all is done.
/// A later operation on a semaphore sees what earlier ones did: `plan` says so through the other two.
pub fn evaluate<S>(
    state: &mut S,
    operations: &[Operation],
    values: impl Fn(&S, u16) -> i32,
    undone: impl Fn(&S, u16) -> i32,
    mut plan: impl FnMut(&mut S, usize, i32, Option<i32>),
) -> Outcome {
    for (number, operation) in operations.iter().enumerate() {
        let value = values(state, operation.semaphore);
        let change = i32::from(operation.change);
        let result = value + change;
        if (change == 0 && value != 0) || result < 0 {
            return match operation.flags & NO_WAIT != 0 {
                true => Outcome::WouldWait,
                false => Outcome::Waits(number),
            };
        }
        if result > VALUE_MAX {
            return Outcome::OutOfRange;
        }
        let back = (operation.flags & UNDO != 0).then(|| undone(state, operation.semaphore) - change);
        if back.is_some_and(|back| !(-VALUE_MAX - 1..=VALUE_MAX).contains(&back)) {
            return Outcome::OutOfRange;
        }
        plan(state, number, result, back);
    }
    Outcome::Done
}

/// The value after what a dead process had to take back.
#[must_use]
pub fn taken_back(value: i32, back: i32) -> i32 {
    (value + back).clamp(0, VALUE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn all_or_nothing(
            start in prop::collection::vec(0..4_i32, 3),
            list in prop::collection::vec((0..3_u16, -3..4_i16, any::<bool>()), 1..6),
        ) {
            let operations: Vec<Operation> = list.iter().map(|&(semaphore, change, undo)| Operation {
                semaphore, change, flags: if undo { UNDO } else { 0 },
            }).collect();
            let mut state = (start.clone(), vec![0; 3]);
            let outcome = evaluate(
                &mut state,
                &operations,
                |state, at| state.0[at as usize],
                |state, at| state.1[at as usize],
                |state, number, value, back| {
                    let at = operations[number].semaphore as usize;
                    state.0[at] = value;
                    if let Some(back) = back { state.1[at] = back }
                },
            );
            // One after the other, as long as nothing is in the way.
            let mut values = start;
            let mut stopped = None;
            for (number, one) in operations.iter().enumerate() {
                let at = one.semaphore as usize;
                let blocked = if one.change == 0 { values[at] != 0 } else { values[at] + i32::from(one.change) < 0 };
                if blocked { stopped = Some(number); break; }
                values[at] += i32::from(one.change);
            }
            prop_assert_eq!(outcome, stopped.map_or(Outcome::Done, Outcome::Waits));
            if outcome == Outcome::Done {
                prop_assert_eq!(&state.0, &values);
                for at in 0..3 {
                    let undone: i32 = operations.iter()
                        .filter(|one| one.semaphore == at && one.flags & UNDO != 0)
                        .map(|one| -i32::from(one.change)).sum();
                    prop_assert_eq!(state.1[at as usize], undone);
                }
            }
        }
    }

    #[test]
    fn the_edges() {
        let one = |change, flags| [Operation { semaphore: 0, change, flags }];
        let outcome = |value: i32, list: &[Operation]| {
            evaluate(&mut (), list, |(), _| value, |(), _| 0, |(), _, _, _| {})
        };
        assert_eq!(outcome(VALUE_MAX, &one(1, 0)), Outcome::OutOfRange);
        assert_eq!(outcome(0, &one(-1, NO_WAIT)), Outcome::WouldWait);
        assert_eq!(outcome(1, &one(0, 0)), Outcome::Waits(0));
        assert_eq!(taken_back(3, -5), 0);
        assert_eq!(taken_back(VALUE_MAX, 5), VALUE_MAX);
    }
}
