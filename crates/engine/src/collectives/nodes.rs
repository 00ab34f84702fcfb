//! The hosts of a communicator, for schedules in which the processes of a host act together.
//!
//! A node is the processes of a communicator that run on one host. It has a leader, its lowest rank, which speaks for it
//! to the other nodes; in an operation with a root, the root speaks for its own node, so that its data takes no extra
//! hop ("File-based messaging with a local file system", figures 5 and 6). A node-aware schedule is made of parts that each
//! run among the processes of one node, or among the leaders: [`Seat`] says where a process stands in both, and
//! [`Schedule::among`] lets any algorithm run there as if the others did not exist.
//!
//! Nodes are numbered by their lowest ranks. If the ranks of every node follow one another, the nodes are *in order*: then
//! the parts of a reduction in rank order are the parts of the nodes, and packed blocks of the nodes are packed blocks in
//! rank order. Otherwise (ranks dealt out in turn) an operator must be commutative, and blocks are copied to their places.

use std::collections::BTreeMap;

use postrider_os::hosts::Placement;

use super::arguments::{Place, local};
use super::schedule::{Schedule, Span};
use super::spreading::Spreading;
use super::tree::Tree;

/// How the processes of a communicator are spread over hosts; of communicators on several hosts only.
#[derive(Debug, PartialEq, Eq)]
pub struct Nodes {
    map: Placement,
    /// For each node the first of its ranks in node order; one more is the number of processes.
    starts: Vec<u32>,
    in_order: bool,
    spreading: Spreading,
    largest: u32,
}

impl Nodes {
    /// Of a communicator whose ranks run on `hosts`, whatever these numbers are; none if they are all the same.
    /// `spreading` is that of this host.
    #[must_use]
    pub fn new(hosts: impl Iterator<Item = u32>, spreading: Spreading) -> Option<Self> {
        let mut numbers = BTreeMap::new();
        let mut number = |host| {
            let next = numbers.len() as u32;
            *numbers.entry(host).or_insert(next)
        };
        let map = Placement::new(hosts.map(&mut number).collect())?;
        if map.hosts() == 1 {
            return None;
        }
        let mut starts = vec![0];
        for node in 0..map.hosts() {
            starts.push(starts[node as usize] + map.ranks_on(node).len() as u32);
        }
        let in_order = map.host_of_each().is_sorted();
        let largest = (0..map.hosts()).map(|node| map.ranks_on(node).len()).max().unwrap_or(0) as u32;
        Some(Self { map, starts, in_order, spreading, largest })
    }

    /// Number of nodes: at least two.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.map.hosts()
    }

    /// The node of a rank.
    #[must_use]
    pub fn of(&self, rank: u32) -> u32 {
        self.map.host_of(rank)
    }

    /// The ranks of a node, ascending.
    #[must_use]
    pub fn members(&self, node: u32) -> &[u32] {
        self.map.ranks_on(node)
    }

    /// Which of its node's ranks a rank is.
    #[must_use]
    pub fn position(&self, rank: u32) -> u32 {
        self.map.place_of(rank)
    }

    /// How many ranks the nodes before this one have.
    #[must_use]
    pub fn start(&self, node: u32) -> u32 {
        self.starts[node as usize]
    }

    /// All ranks, node by node.
    pub fn ranks(&self) -> impl Iterator<Item = u32> {
        (0..self.count()).flat_map(|node| self.members(node).iter().copied())
    }

    /// The ranks of some nodes one after the other, as runs of consecutive ranks: first rank and number.
    pub fn runs(&self, nodes: impl Iterator<Item = u32>) -> Vec<(u32, u32)> {
        let mut runs: Vec<(u32, u32)> = Vec::new();
        for rank in nodes.flat_map(|node| self.members(node)) {
            match runs.last_mut() {
                Some((first, count)) if *first + *count == *rank => *count += 1,
                _ => runs.push((*rank, 1)),
            }
        }
        runs
    }

    /// Whether the ranks of every node follow one another.
    #[must_use]
    pub fn in_order(&self) -> bool {
        self.in_order
    }

    /// Number of processes of the largest node: one if there is nothing to gain from nodes.
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.largest
    }
}

/// Where a process stands: in its node, and among the leaders.
#[derive(Clone, Copy, Debug)]
pub struct Seat<'a> {
    /// The nodes.
    pub nodes: &'a Nodes,
    /// This process's node.
    pub node: u32,
    /// The node of the root.
    pub root_node: u32,
    rank: u32,
    root: u32,
}

impl<'a> Seat<'a> {
    /// In an operation whose root is `root`.
    pub fn new(nodes: &'a Nodes, rank: u32, root: u32) -> Self {
        Self { nodes, node: nodes.of(rank), root_node: nodes.of(root), rank, root }
    }

    /// In an operation without a root: the lowest ranks lead.
    pub fn rootless(nodes: &'a Nodes, rank: u32) -> Self {
        Self::new(nodes, rank, nodes.members(0)[0])
    }

    /// The rank that leads a node.
    pub fn leader(&self, node: u32) -> u32 {
        if node == self.root_node { self.root } else { self.nodes.members(node)[0] }
    }

    /// Whether this process leads its node.
    pub fn leads(&self) -> bool {
        self.leader(self.node) == self.rank
    }

    /// This process.
    pub fn rank(&self) -> u32 {
        self.rank
    }

    /// Whether this process is the root.
    pub fn is_root(&self) -> bool {
        self.rank == self.root
    }

    /// The other ranks of this process's node.
    pub fn others(&self) -> impl Iterator<Item = u32> + use<'a> {
        let own = self.rank;
        self.members().iter().copied().filter(move |rank| *rank != own)
    }

    /// The ranks of this process's node.
    pub fn members(&self) -> &'a [u32] {
        self.nodes.members(self.node)
    }

    /// This process among those of its node.
    pub fn inside(&self) -> Place<'static> {
        let spreading = self.nodes.spreading;
        Place {
            rank: self.nodes.position(self.rank),
            size: self.members().len() as u32,
            nodes: None,
            spreading,
        }
    }

    /// The position of the leader in its node.
    pub fn leader_position(&self) -> u32 {
        self.nodes.position(self.leader(self.node))
    }

    /// This process's node among the nodes.
    pub fn outside(&self) -> Place<'static> {
        Place::on_one_host(self.node, self.nodes.count())
    }

    /// Adds what `build` makes of the processes of this node, whose ranks there are their positions.
    pub fn in_node(&self, schedule: &mut Schedule, build: impl FnOnce(&mut Schedule)) {
        schedule.among(|position| self.members()[position as usize], build);
    }

    /// Adds what `build` makes of the leaders, whose ranks there are the numbers of their nodes; nothing at others.
    pub fn among_leaders(&self, schedule: &mut Schedule, build: impl FnOnce(&mut Schedule)) {
        if self.leads() {
            schedule.among(|node| self.leader(node), build);
        }
    }

    /// The tree by which this node's leader tells the others something of `bytes`.
    pub fn spreading(&self, bytes: i64) -> Tree {
        self.nodes.spreading.tree(self.inside(), self.leader_position(), bytes)
    }

    /// Passes `span` of `bytes` from the leaders to the others of their nodes.
    pub fn spread(&self, schedule: &mut Schedule, span: Span, bytes: i64) {
        self.in_node(schedule, |schedule| super::tree::broadcast(schedule, &self.spreading(bytes), span));
    }

    /// Passes `span` of `bytes` from the root to everybody, along a binomial tree of nodes and inside each of them. A leader first
    /// serves those that have the longest way to go: the leaders of other nodes.
    pub fn broadcast(&self, schedule: &mut Schedule, span: Span, bytes: i64) {
        let (nodes, inside) = (Tree::binomial(self.outside(), self.root_node), self.spreading(bytes));
        let parent = match self.leads() {
            true => nodes.parent().map(|node| self.leader(node)),
            false => inside.parent().map(|position| self.members()[position as usize]),
        };
        if let Some(parent) = parent {
            schedule.receive(local(parent), span);
            schedule.end_round();
        }
        if self.leads() {
            for child in nodes.children().rev() {
                schedule.send(local(self.leader(child.rank)), span);
            }
        }
        for child in inside.children().rev() {
            schedule.send(local(self.members()[child.rank as usize]), span);
        }
        schedule.end_round();
    }
}
