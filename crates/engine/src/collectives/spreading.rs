//! How one process of a host tells the others of it what it has: the data of a broadcast, or the result of another collective.
//!
//! Along a binomial tree each process copies the data once more for the next ones. With a transport that gives one message
//! to several ([`Multicast`]) a flat tree is one copy for all of them, and nobody waits for a process in between.
//! The processes of a communicator on one host choose the same tree, since they know the same.

use super::arguments::Place;
use super::tree::Tree;
use crate::transports::Multicast;

algorithms! {
    /// The trees inside a host.
    {
        /// Binomial, as if each message were for one process.
        Binomial = "binomial",
        /// Flat, so that as many as possible get the data by one message.
        Flat = "flat",
    }
}

/// Where ranks share cores: from here on one copy for all is less work than one for each, measured with 3 to 16 ranks on two cores.
const CROWDED_BYTES_MIN: u64 = 2 << 10;

/// What the choice of the tree depends on, besides size and bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spreading {
    /// What the transport gives to several processes of a host.
    pub multicast: Multicast,
    /// Whether longer messages are read out of the sender's memory where the host is crowded, so that the sender copies nothing.
    pub single_copies: bool,
    /// More ranks than cores on this host.
    pub crowded: bool,
    /// What the user wants.
    pub forced: Option<Algorithm>,
}

impl Spreading {
    /// Without multicast.
    pub const BINOMIAL: Self =
        Self { multicast: Multicast::NONE, single_copies: false, crowded: false, forced: None };

    /// Whether a message of `bytes` to the others of `size` processes goes along a flat tree. Where ranks share cores, what counts is
    /// the work of all of them together; where each has a core, the sender must not be busy with telling its receivers for
    /// longer than a tree would copy.
    #[must_use]
    pub fn is_flat(&self, size: u32, bytes: i64) -> bool {
        let (bytes, receivers) = (bytes as u64, u64::from(size).saturating_sub(1));
        let per_receiver = self.multicast.bytes_per_receiver;
        let pays = match self.crowded {
            true => bytes >= CROWDED_BYTES_MIN || per_receiver == 0,
            false => bytes >= per_receiver * receivers,
        };
        let is_read = self.crowded && self.single_copies && bytes > self.multicast.bytes_max;
        match self.forced {
            Some(algorithm) => algorithm == Algorithm::Flat,
            None => receivers > 1 && (self.multicast.takes(bytes) && pays || is_read),
        }
    }

    /// The tree from `root` for a message of `bytes`.
    #[must_use]
    pub fn tree(&self, place: Place, root: u32, bytes: i64) -> Tree {
        match self.is_flat(place.size, bytes) {
            true => Tree::flat(place, root),
            false => Tree::binomial(place, root),
        }
    }
}
