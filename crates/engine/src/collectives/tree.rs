//! The binomial tree, on which most small collectives run.
//!
//! Positions count from the root: position p belongs to rank (root + p) mod size. The parent of a position is the
//! position without its lowest set bit, so that every subtree is a range of positions, which is what lets a
//! non-commutative operator be applied in rank order when the root is rank 0. A tree sends size - 1 messages, the fewest
//! possible, over ceil(log2(size)) levels.

use super::arguments::{Place, local};
use super::schedule::{Schedule, Span};

/// The smallest number of bits that counts `size` values: ceil(log2(size)).
pub fn log2_ceil(size: u32) -> u32 {
    u32::BITS - size.saturating_sub(1).leading_zeros()
}

/// A process in a binomial tree.
#[derive(Clone, Copy, Debug)]
pub struct Binomial {
    root: u32,
    size: u32,
    /// This process, counted from the root.
    pub position: u32,
}

/// A child of a process, and the subtree below it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Child {
    /// Rank of the child.
    pub rank: u32,
    /// Position of the child, the first of its subtree.
    pub position: u32,
    /// Number of positions in its subtree.
    pub subtree: u32,
}

impl Binomial {
    /// The place of a process in the tree from `root`.
    pub fn new(place: Place, root: u32) -> Self {
        let position = if place.rank >= root { place.rank - root } else { place.size - root + place.rank };
        Self { root, size: place.size, position }
    }

    /// The same tree, seen from another position.
    pub fn at(&self, position: u32) -> Self {
        Self { position, ..*self }
    }

    /// The rank at a position.
    pub fn rank(&self, position: u32) -> u32 {
        ((u64::from(self.root) + u64::from(position)) % u64::from(self.size)) as u32
    }

    /// The rank of the parent; none at the root.
    pub fn parent(&self) -> Option<u32> {
        (self.position != 0).then(|| self.rank(self.position & (self.position - 1)))
    }

    /// Number of positions from this one downwards.
    pub fn subtree(&self) -> u32 {
        self.subtree_of(self.position)
    }

    fn subtree_of(&self, position: u32) -> u32 {
        match position {
            0 => self.size,
            _ => (self.size - position).min(position & position.wrapping_neg()),
        }
    }

    /// The children, smallest subtree first, which is also in rank order from the root.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = Child> + use<> {
        let tree = *self;
        (0..log2_ceil(self.subtree())).map(move |level| {
            let position = tree.position + (1 << level);
            Child { rank: tree.rank(position), position, subtree: tree.subtree_of(position) }
        })
    }
}

/// Passes `span` from the root to everybody; largest subtree first, since it has the longest way to go.
pub fn broadcast(schedule: &mut Schedule, tree: &Binomial, span: Span) {
    if let Some(parent) = tree.parent() {
        schedule.receive(local(parent), span);
        schedule.end_round();
    }
    for child in tree.children().rev() {
        schedule.send(local(child.rank), span);
    }
    schedule.end_round();
}

/// Tells the root that everybody has come.
pub fn notify(schedule: &mut Schedule, tree: &Binomial) {
    for child in tree.children() {
        schedule.receive(local(child.rank), Span::EMPTY);
    }
    schedule.end_round();
    if let Some(parent) = tree.parent() {
        schedule.send(local(parent), Span::EMPTY);
        schedule.end_round();
    }
}
