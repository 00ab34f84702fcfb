//! How far a process may run ahead of another one to which it sends files.
//!
//! A pair of processes has two accounts in each direction, of [`WINDOW_BYTES`] each. The sender charges them, and the receiver
//! gives back what it is done with, in quarters, by a [`Credit`]: a file among the others of its way back, which is charged to nobody.
//!
//! - *On the way* is what lies in the receiver's inbox. A packet counts its bytes, and at least those of the longest one that is read at once, so
//!   that many short ones cannot use the file system up either. When it is taken, it counts no more: so a receiver that makes progress always
//!   makes room, whatever it waits for, and what has no room waits in the sender's queue.
//! - *Held* are long messages that are on the way, or lie where they are since nobody has received them. A message for which there is no room is
//!   announced instead, like a long one in shared memory, and its data follows when it is matched. Nothing waits for this account: a message behind many that
//!   nobody receives still arrives.
//!
//! Up to a quarter of an account is not given back while nothing more comes. So a packet never counts more than three quarters, and one of
//! any length has room in time.

/// What may be charged to each account of a pair.
const WINDOW_BYTES: u64 = 64 << 20;
/// The least that is given back.
const QUARTER_BYTES: u64 = WINDOW_BYTES / 4;
/// The most that a packet counts.
const CHARGE_BYTES_MAX: u64 = WINDOW_BYTES - QUARTER_BYTES;

/// The longest file that is read as soon as it is found; what is in a longer one may stay there.
pub(super) const SHORT_BYTES_MAX: usize = 64 << 10;

/// The accounts of both directions between this process and one other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Window {
    /// What this process has sent and the other one has not given back.
    sent: Credit,
    /// What this process has not yet given back of what the other one has sent.
    done: Credit,
}

/// An amount of each account; as a packet, what its sender is done with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Credit {
    on_the_way: u64,
    held: u64,
}

/// What a file with so many bytes counts on the way.
fn weight(file_bytes: u64) -> u64 {
    file_bytes.clamp(SHORT_BYTES_MAX as u64, CHARGE_BYTES_MAX)
}

/// What a message in a file with so many bytes counts while it is held.
fn held(file_bytes: u64) -> u64 {
    if file_bytes > SHORT_BYTES_MAX as u64 { file_bytes.min(CHARGE_BYTES_MAX) } else { 0 }
}

impl Window {
    /// Whether a file with so many bytes may be sent.
    pub fn has_room(&self, file_bytes: u64) -> bool {
        self.sent.on_the_way + weight(file_bytes) <= WINDOW_BYTES
    }

    /// The longest file in which a message may be sent that has not been announced.
    pub fn eager_file_bytes_max(&self) -> u64 {
        match WINDOW_BYTES.saturating_sub(self.sent.held) {
            CHARGE_BYTES_MAX.. => u64::MAX,
            room => room.max(SHORT_BYTES_MAX as u64),
        }
    }

    /// A file was sent, with a message that has not been announced or with something else.
    pub fn charge(&mut self, file_bytes: u64, is_message: bool) {
        self.sent.on_the_way += weight(file_bytes);
        self.sent.held += if is_message { held(file_bytes) } else { 0 };
    }

    /// The other process is done with this much.
    pub fn redeem(&mut self, credit: Credit) {
        self.sent.on_the_way = self.sent.on_the_way.saturating_sub(credit.on_the_way);
        self.sent.held = self.sent.held.saturating_sub(credit.held);
    }

    /// A file of the other process was taken.
    pub fn take(&mut self, file_bytes: u64) {
        self.done.on_the_way += weight(file_bytes);
    }

    /// A message of the other process is not held any more.
    pub fn let_go(&mut self, file_bytes: u64) {
        self.done.held += held(file_bytes);
    }

    /// What is to be given back, if that is enough to be worth a file; it counts as given back.
    pub fn due(&mut self) -> Option<Credit> {
        let is_due = self.done.on_the_way >= QUARTER_BYTES || self.done.held >= QUARTER_BYTES;
        is_due.then(|| std::mem::take(&mut self.done))
    }
}

impl Credit {
    pub const BYTES: usize = 16;

    pub fn encode(self) -> [u8; Self::BYTES] {
        let mut bytes = [0; Self::BYTES];
        bytes[..8].copy_from_slice(&self.on_the_way.to_le_bytes());
        bytes[8..].copy_from_slice(&self.held.to_le_bytes());
        bytes
    }

    /// None when it is not what [`Credit::encode`] writes.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let bytes: [u8; Self::BYTES] = bytes.try_into().ok()?;
        let (on_the_way, held) = bytes.split_at(8);
        let word = |bytes: &[u8]| bytes.try_into().ok().map(u64::from_le_bytes);
        Some(Self { on_the_way: word(on_the_way)?, held: word(held)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    #[test]
    fn a_sender_is_stopped_after_a_window_of_short_files_or_of_long_ones() {
        for (file_bytes, count) in [(28, 1024), (64 << 10, 1024), (1 << 20, 64), (1 << 40, 1)] {
            let mut window = Window::default();
            let mut sent = 0;
            while window.has_room(file_bytes) {
                window.charge(file_bytes, true);
                sent += 1;
            }
            assert_eq!(sent, count, "files of {file_bytes} bytes");
        }
    }

    #[test]
    fn short_messages_are_never_announced() {
        let mut window = Window::default();
        assert_eq!(window.eager_file_bytes_max(), u64::MAX);
        (0..4).for_each(|_| window.charge(16 << 20, true));
        assert_eq!(window.eager_file_bytes_max(), SHORT_BYTES_MAX as u64);
    }

    proptest! {
        /// A receiver that takes all that comes always lets the sender go on, whatever it holds; the accounts stay within their bounds.
        #[test]
        fn files_of_all_lengths_get_through(lengths in prop::collection::vec(28_u64..100 << 20, 1..200), lets_go: bool) {
            let (mut sender, mut receiver) = (Window::default(), Window::default());
            let mut inbox = VecDeque::new();
            for file_bytes in lengths {
                while !sender.has_room(file_bytes) {
                    let (taken, is_message) = inbox.pop_front().expect("nothing is on the way, and there is no room");
                    receiver.take(taken);
                    if lets_go && is_message {
                        receiver.let_go(taken);
                    }
                    if let Some(credit) = receiver.due() {
                        sender.redeem(Credit::decode(&credit.encode()).unwrap());
                    }
                }
                let is_message = file_bytes <= sender.eager_file_bytes_max();
                sender.charge(file_bytes, is_message);
                inbox.push_back((file_bytes, is_message));
                prop_assert!(sender.sent.on_the_way <= WINDOW_BYTES && sender.sent.held <= WINDOW_BYTES);
            }
        }

        #[test]
        fn no_bytes_are_trusted(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
            if let Some(credit) = Credit::decode(&bytes) {
                prop_assert_eq!(&credit.encode()[..], &bytes[..]);
                let mut window = Window::default();
                window.redeem(credit);
            }
        }
    }
}
