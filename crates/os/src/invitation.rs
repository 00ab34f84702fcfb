//! Invitations: where in its memory a process wants messages of others of its host, which they may write there while it computes.
//!
//! Each process of a host has [`CARDS`] cards in shared memory. A card is one cache line: a word of state, and what the invitation says.
//! The state is a number that grows with each invitation, and what becomes of it: *open*, *accepted*, or neither. Who does what:
//!
//! - The process that invites writes what the invitation says, then the state ([`Card::lay_out`], a release). It alone opens a card, and only one
//!   that is not in use.
//! - A sender reads the state (an acquire) and what the card says, and if its message is meant it exchanges *open* for *accepted* ([`Card::accept`]). As the
//!   number is part of the state, that succeeds only if the card has been the same all the time.
//! - The process that invites takes an invitation back in the same way ([`Card::take_back`]): one of the two succeeds. What has been accepted
//!   will be written, and said by a packet; then the card is free again ([`Card::clear`]).

use crate::sync::AtomicU64;
use crate::sync::Ordering::{AcqRel, Acquire, Relaxed, Release};

/// Invitations that a process can have at once.
pub const CARDS: usize = 8;
/// Words of a card.
pub const CARD_WORDS: usize = 8;

const PHASES: u64 = 4;
const OPEN: u64 = 1;
const ACCEPTED: u64 = 2;

/// What an invitation says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Invitation {
    /// Whose message is meant: its rank in the job.
    pub sender: u32,
    /// The message's context.
    pub context: u64,
    /// Its tag, or -1 for any.
    pub tag: i32,
    /// Where it is to be written.
    pub address: u64,
    /// The most bytes that it may have.
    pub bytes: u64,
    /// How far the process had read the ring from the sender: the message is meant that comes next.
    pub position: u64,
    /// The number of the receive, for the packet that says that the message is there.
    pub receive: u32,
}

/// The place of one invitation.
#[derive(Clone, Copy, Debug)]
pub struct Card<'a> {
    state: &'a AtomicU64,
    says: &'a [AtomicU64],
}

impl<'a> Card<'a> {
    /// The card that consists of these words, which start as zeros.
    ///
    /// # Panics
    /// When there are no words.
    #[must_use]
    pub fn new(words: &'a [AtomicU64; CARD_WORDS]) -> Self {
        Self { state: &words[0], says: &words[1..] }
    }

    /// Whether it is in use (the process that invites).
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        !self.state.load(Relaxed).is_multiple_of(PHASES)
    }

    /// Invites, on a card that is not in use.
    pub fn lay_out(&self, invitation: &Invitation) {
        let Invitation { sender, context, tag, address, bytes, position, receive } = *invitation;
        let envelope = u64::from(sender) | u64::from(tag as u32) << 32;
        for (word, value) in
            self.says.iter().zip([envelope, context, address, bytes, position, receive.into()])
        {
            word.store(value, Relaxed);
        }
        let before = self.state.load(Relaxed);
        self.state.store(before + PHASES + OPEN, Release);
    }

    /// Takes an invitation back; false if it has been accepted.
    #[must_use]
    pub fn take_back(&self) -> bool {
        let state = self.state.load(Relaxed);
        state % PHASES == OPEN && self.state.compare_exchange(state, state - OPEN, AcqRel, Relaxed).is_ok()
    }

    /// The message of an accepted invitation is there.
    pub fn clear(&self) {
        let state = self.state.load(Relaxed);
        self.state.store(state - state % PHASES, Relaxed);
    }

    /// Accepts the invitation if there is one, and `is_meant` says that it is for the message.
    pub fn accept(&self, is_meant: impl FnOnce(&Invitation) -> bool) -> Option<Invitation> {
        let state = self.state.load(Acquire);
        if state % PHASES != OPEN {
            return None;
        }
        let [envelope, context, address, bytes, position, receive] =
            [0, 1, 2, 3, 4, 5].map(|index: usize| self.says[index].load(Relaxed));
        let (sender, tag) = (envelope as u32, (envelope >> 32) as i32);
        let invitation =
            Invitation { sender, context, tag, address, bytes, position, receive: receive as u32 };
        let accepted = is_meant(&invitation)
            && self.state.compare_exchange(state, state - OPEN + ACCEPTED, AcqRel, Relaxed).is_ok();
        accepted.then_some(invitation)
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    fn invitation(number: u64) -> Invitation {
        Invitation {
            sender: number as u32,
            context: number,
            tag: number as i32,
            address: number,
            bytes: number,
            position: number,
            receive: number as u32,
        }
    }

    #[test]
    fn loom_an_invitation_is_accepted_whole_or_taken_back() {
        loom::model(|| {
            let words: Arc<[AtomicU64; CARD_WORDS]> = Arc::new([0; CARD_WORDS].map(AtomicU64::new));
            Card::new(&words).lay_out(&invitation(1));
            let sender = {
                let words = Arc::clone(&words);
                thread::spawn(move || Card::new(&words).accept(|_| true))
            };
            let card = Card::new(&words);
            let first_is_back = card.take_back();
            if first_is_back {
                card.lay_out(&invitation(2));
            }
            let accepted = sender.join().unwrap();
            match accepted {
                // What it says is of one invitation, and that one has not been taken back.
                Some(said) => {
                    assert_eq!(said, invitation(if first_is_back { 2 } else { 1 }));
                    assert!(!card.take_back());
                    card.clear();
                }
                None => assert!(first_is_back && card.take_back()),
            }
            assert!(!card.is_in_use());
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn who_is_not_meant_leaves_a_card_as_it_is() {
        let words = [0; CARD_WORDS].map(AtomicU64::new);
        let card = Card::new(&words);
        assert!(card.accept(|_| true).is_none() && !card.is_in_use() && !card.take_back());
        let meant = Invitation {
            sender: 3,
            context: 1 << 40,
            tag: -1,
            address: 8,
            bytes: 9,
            position: 1 << 33,
            receive: 7,
        };
        card.lay_out(&meant);
        assert!(card.accept(|_| false).is_none() && card.is_in_use());
        assert_eq!(card.accept(|invitation| invitation.tag < 0), Some(meant));
        assert!(card.accept(|_| true).is_none() && !card.take_back() && card.is_in_use());
        card.clear();
        assert!(!card.is_in_use());
    }
}
