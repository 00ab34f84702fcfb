//! Matching: which receive gets which message (MPI 5.0, section 3.5).
//!
//! Each context (a communicator's message space) has two queues: receives that were posted and found no message yet,
//! and messages that arrived and found no receive yet, the unexpected message queue. Both keep their order, and the
//! first that fits is taken, so messages of one pair never overtake one another. Pure: values in, values out.

use std::collections::{HashMap, VecDeque};
use std::hash::{BuildHasherDefault, Hasher};

/// What a message says of itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The sender's rank in the communicator.
    pub source: u32,
    /// The tag.
    pub tag: i32,
}

/// What a receive asks for; none is the wildcard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The sender's rank, or `MPI_ANY_SOURCE`.
    pub source: Option<u32>,
    /// The tag, or `MPI_ANY_TAG`.
    pub tag: Option<i32>,
}

impl Pattern {
    /// Whether a message with this envelope fits.
    #[inline]
    #[must_use]
    pub fn fits(self, envelope: Envelope) -> bool {
        self.source.is_none_or(|source| source == envelope.source)
            && self.tag.is_none_or(|tag| tag == envelope.tag)
    }

    /// Whether there is a message that fits both.
    fn overlaps(self, other: Self) -> bool {
        fn meet<T: PartialEq>(one: Option<T>, other: Option<T>) -> bool {
            one.is_none() || other.is_none() || one == other
        }
        meet(self.source, other.source) && meet(self.tag, other.tag)
    }
}

/// The most posted receives that [`Matching::is_first`] looks at.
const LOOKED_AT: usize = 32;

/// The two queues of every context. `R` stands for a receive, `M` for a message.
#[derive(Debug)]
pub struct Matching<R, M> {
    contexts: HashMap<u64, Queues<R, M>, BuildHasherDefault<ContextHasher>>,
}

#[derive(Debug)]
struct Queues<R, M> {
    posted: VecDeque<(Pattern, R)>,
    unexpected: VecDeque<(Envelope, M)>,
}

impl<R, M> Default for Queues<R, M> {
    fn default() -> Self {
        Self { posted: VecDeque::new(), unexpected: VecDeque::new() }
    }
}

impl<R, M> Default for Matching<R, M> {
    fn default() -> Self {
        Self { contexts: HashMap::default() }
    }
}

/// Contexts are small distinct numbers: one multiplication spreads them.
#[derive(Debug, Default)]
struct ContextHasher(u64);

impl Hasher for ContextHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    #[inline]
    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 ^= self.0 >> 32;
    }
}

fn take_first<T>(queue: &mut VecDeque<T>, mut fits: impl FnMut(&T) -> bool) -> Option<T> {
    if fits(queue.front()?) {
        return queue.pop_front();
    }
    let index = queue.iter().position(fits)?;
    queue.remove(index)
}

impl<R: Copy + PartialEq, M> Matching<R, M> {
    /// A message has arrived: takes the first posted receive that it fits.
    #[inline]
    pub fn take_posted(&mut self, context: u64, envelope: Envelope) -> Option<R> {
        let queues = self.contexts.get_mut(&context)?;
        take_first(&mut queues.posted, |(pattern, _)| pattern.fits(envelope)).map(|(_, receive)| receive)
    }

    /// A message has arrived that fits no posted receive.
    pub fn hold(&mut self, context: u64, envelope: Envelope, message: M) {
        self.contexts.entry(context).or_default().unexpected.push_back((envelope, message));
    }

    /// Takes the first message that `pattern` fits.
    #[inline]
    pub fn take_unexpected(&mut self, context: u64, pattern: Pattern) -> Option<(Envelope, M)> {
        let queues = self.contexts.get_mut(&context)?;
        take_first(&mut queues.unexpected, |(envelope, _)| pattern.fits(*envelope))
    }

    /// The first message that `pattern` fits, which stays where it is.
    #[must_use]
    pub fn peek_unexpected(&self, context: u64, pattern: Pattern) -> Option<(Envelope, &M)> {
        let queues = self.contexts.get(&context)?;
        queues
            .unexpected
            .iter()
            .find(|(envelope, _)| pattern.fits(*envelope))
            .map(|(envelope, m)| (*envelope, m))
    }

    /// Whether no receive waits in the context, and no message that `pattern` fits: it gets the next one that comes.
    #[inline]
    #[must_use]
    pub fn is_next(&self, context: u64, pattern: Pattern) -> bool {
        let queues = self.contexts.get(&context);
        let is_held = |queues: &Queues<R, M>| queues.unexpected.iter().any(|(held, _)| pattern.fits(*held));
        queues.is_none_or(|queues| queues.posted.is_empty() && !is_held(queues))
    }

    /// Whether the next message that fits `pattern` is for `receive`, which was posted with it: no receive before it could take one. Only few are looked at.
    #[must_use]
    pub fn is_first(&self, context: u64, pattern: Pattern, receive: R) -> bool {
        let queues = self.contexts.get(&context);
        let mut posted = queues.iter().flat_map(|queues| &queues.posted).take(LOOKED_AT);
        posted.find(|(other, _)| other.overlaps(pattern)).is_some_and(|(_, first)| *first == receive)
    }

    /// Whether nothing is in the context's queues.
    #[must_use]
    pub fn is_idle(&self, context: u64) -> bool {
        let queues = self.contexts.get(&context);
        queues.is_none_or(|queues| queues.posted.is_empty() && queues.unexpected.is_empty())
    }

    /// Whether a receive waits in the context for a message.
    #[must_use]
    pub fn has_posted(&self, context: u64) -> bool {
        self.contexts.get(&context).is_some_and(|queues| !queues.posted.is_empty())
    }

    /// A receive was posted that no held message fits.
    #[inline]
    pub fn post(&mut self, context: u64, pattern: Pattern, receive: R) {
        self.contexts.entry(context).or_default().posted.push_back((pattern, receive));
    }

    /// Takes a posted receive back; false when it has been matched.
    pub fn withdraw(&mut self, context: u64, receive: R) -> bool {
        let queues = self.contexts.get_mut(&context);
        queues.is_some_and(|queues| take_first(&mut queues.posted, |(_, other)| *other == receive).is_some())
    }

    /// Takes a held message back; false when it has been matched. `is` finds it, in whatever context it is held.
    pub fn revoke(&mut self, mut is: impl FnMut(&M) -> bool) -> bool {
        self.contexts.values_mut().any(|queues| take_first(&mut queues.unexpected, |(_, m)| is(m)).is_some())
    }

    /// The receives that wait for a message, by context.
    pub fn all_posted(&self) -> impl Iterator<Item = (u64, Pattern, R)> {
        self.contexts.iter().flat_map(|(context, queues)| {
            queues.posted.iter().map(|(pattern, receive)| (*context, *pattern, *receive))
        })
    }

    /// The messages that wait for a receive, by context.
    pub fn all_unexpected(&self) -> impl Iterator<Item = (u64, Envelope, &M)> {
        self.contexts.iter().flat_map(|(context, queues)| {
            queues.unexpected.iter().map(|(envelope, message)| (*context, *envelope, message))
        })
    }

    /// How many receives and messages wait for one another.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.posted() + self.unexpected()
    }

    /// How many receives wait for a message.
    #[must_use]
    pub fn posted(&self) -> usize {
        self.contexts.values().map(|queues| queues.posted.len()).sum()
    }

    /// How many messages wait for a receive.
    #[must_use]
    pub fn unexpected(&self) -> usize {
        self.contexts.values().map(|queues| queues.unexpected.len()).sum()
    }

    /// Forgets a context that nobody uses any more, unless something is still in its queues.
    pub fn forget(&mut self, context: u64) {
        if self.is_idle(context) {
            self.contexts.remove(&context);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The standard's rule, said as plainly as possible: each side remembers everything, and looks from the beginning.
    #[derive(Default)]
    struct Naive {
        receives: Vec<(u64, Pattern, usize)>,
        messages: Vec<(u64, Envelope, usize)>,
    }

    fn pattern() -> impl Strategy<Value = Pattern> {
        (prop::option::of(0_u32..3), prop::option::of(0_i32..3))
            .prop_map(|(source, tag)| Pattern { source, tag })
    }

    fn envelope() -> impl Strategy<Value = Envelope> {
        (0_u32..3, 0_i32..3).prop_map(|(source, tag)| Envelope { source, tag })
    }

    #[derive(Clone, Debug)]
    enum Action {
        Receive(u64, Pattern),
        Arrive(u64, Envelope),
    }

    fn action() -> impl Strategy<Value = Action> {
        prop_oneof![
            (0_u64..2, pattern()).prop_map(|(context, pattern)| Action::Receive(context, pattern)),
            (0_u64..2, envelope()).prop_map(|(context, envelope)| Action::Arrive(context, envelope)),
        ]
    }

    proptest! {
        #[test]
        fn the_first_that_fits_is_taken(actions in prop::collection::vec(action(), 0..200)) {
            let (mut matching, mut naive) = (Matching::<usize, usize>::default(), Naive::default());
            for (number, action) in actions.into_iter().enumerate() {
                match action {
                    Action::Receive(context, pattern) => {
                        let found = naive.messages.iter().position(|m| m.0 == context && pattern.fits(m.1));
                        let is_next = found.is_none() && !naive.receives.iter().any(|posted| posted.0 == context);
                        prop_assert_eq!(matching.is_next(context, pattern), is_next);
                        let expected = found.map(|at| naive.messages.remove(at).2);
                        prop_assert_eq!(matching.peek_unexpected(context, pattern).map(|m| *m.1), expected);
                        prop_assert_eq!(matching.take_unexpected(context, pattern).map(|m| m.1), expected);
                        if expected.is_none() {
                            matching.post(context, pattern, number);
                            let competes = |(_, other, _): &(u64, Pattern, usize)| {
                                let mut messages = (0..3).flat_map(|source| (0..3).map(move |tag| Envelope { source, tag }));
                                messages.any(|message| pattern.fits(message) && other.fits(message))
                            };
                            let before = naive.receives.iter().filter(|receive| receive.0 == context);
                            let is_first = before.clone().count() < LOOKED_AT && !before.into_iter().any(competes);
                            prop_assert_eq!(matching.is_first(context, pattern, number), is_first);
                            naive.receives.push((context, pattern, number));
                        }
                    }
                    Action::Arrive(context, envelope) => {
                        let found = naive.receives.iter().position(|r| r.0 == context && r.1.fits(envelope));
                        let expected = found.map(|at| naive.receives.remove(at).2);
                        prop_assert_eq!(matching.take_posted(context, envelope), expected);
                        if expected.is_none() {
                            matching.hold(context, envelope, number);
                            naive.messages.push((context, envelope, number));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn what_was_taken_back_matches_nothing() {
        let mut matching = Matching::<u32, u32>::default();
        let any = Pattern { source: None, tag: None };
        let envelope = Envelope { source: 0, tag: 7 };
        matching.post(1, any, 10);
        assert!(matching.withdraw(1, 10));
        assert!(!matching.withdraw(1, 10));
        matching.hold(1, envelope, 20);
        assert!(matching.revoke(|&message| message == 20));
        assert!(matching.take_unexpected(1, any).is_none());
        matching.forget(1);
        assert!(matching.contexts.is_empty());
    }
}
