//! The trees on which most small collectives run.
//!
//! Positions count from the root: position p belongs to rank (root + p) mod size. In the binomial tree the
//! parent of a position is the position without its lowest set bit; in the flat one it is the root. Either
//! way a subtree is a range of positions, which is what lets a non-commutative operator be applied in rank
//! order when the root is rank 0. A tree sends size - 1 messages, the fewest possible: the binomial one over
//! ceil(log2(size)) levels, the flat one over one level, in which the root does all the work.

use super::arguments::{Place, local};
use super::schedule::{Schedule, Span};

/// The smallest number of bits that counts `size` values: ceil(log2(size)).
pub fn log2_ceil(size: u32) -> u32 {
    u32::BITS - size.saturating_sub(1).leading_zeros()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Binomial,
    Flat,
}

/// A process in a tree.
#[derive(Clone, Copy, Debug)]
pub struct Tree {
    shape: Shape,
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

impl Tree {
    /// The place of a process in the binomial tree from `root`.
    pub fn binomial(place: Place, root: u32) -> Self {
        Self::new(Shape::Binomial, place, root)
    }

    /// The place of a process in the flat tree from `root`.
    pub fn flat(place: Place, root: u32) -> Self {
        Self::new(Shape::Flat, place, root)
    }

    fn new(shape: Shape, place: Place, root: u32) -> Self {
        let position = if place.rank >= root { place.rank - root } else { place.size - root + place.rank };
        Self { shape, root, size: place.size, position }
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
        let parent = match self.shape {
            Shape::Binomial => self.position & self.position.saturating_sub(1),
            Shape::Flat => 0,
        };
        (self.position != 0).then(|| self.rank(parent))
    }

    /// Number of positions from this one downwards.
    pub fn subtree(&self) -> u32 {
        self.subtree_of(self.position)
    }

    fn subtree_of(&self, position: u32) -> u32 {
        match (position, self.shape) {
            (0, _) => self.size,
            (_, Shape::Binomial) => (self.size - position).min(position & position.wrapping_neg()),
            (_, Shape::Flat) => 1,
        }
    }

    /// The children, smallest subtree first, which is also in rank order from the root.
    pub fn children(&self) -> impl DoubleEndedIterator<Item = Child> + ExactSizeIterator + use<> {
        let tree = *self;
        let count = match self.shape {
            Shape::Binomial => log2_ceil(self.subtree()),
            Shape::Flat => self.subtree() - 1,
        };
        (0..count).map(move |index| {
            let position = match tree.shape {
                Shape::Binomial => tree.position + (1 << index),
                Shape::Flat => 1 + index,
            };
            Child { rank: tree.rank(position), position, subtree: tree.subtree_of(position) }
        })
    }
}

/// Passes `span` from the root to everybody; largest subtree first, since it has the longest way to go.
pub fn broadcast(schedule: &mut Schedule, tree: &Tree, span: Span) {
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
pub fn notify(schedule: &mut Schedule, tree: &Tree) {
    for child in tree.children() {
        schedule.receive(local(child.rank), Span::EMPTY);
    }
    schedule.end_round();
    if let Some(parent) = tree.parent() {
        schedule.send(local(parent), Span::EMPTY);
        schedule.end_round();
    }
}
