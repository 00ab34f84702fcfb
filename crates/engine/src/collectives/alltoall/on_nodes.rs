//! The exchange of short blocks between hosts: what goes from one node to another travels as one message.
//!
//! For each other node one process of a node is its agent; the agents of a node are different ones as far as there are
//! processes. Everybody gives the agents its blocks; the agents of two nodes for each other exchange them; and each hands
//! its node out what has come. An agent has the blocks from p processes to d others by p, and sends them by d, so that what
//! arrives at the other agent lies in one piece for each receiver.

use super::super::arguments::{Block, Place, local};
use super::super::nodes::{Nodes, Seat};
use super::super::schedule::{Buffer, Schedule, Span};

/// The other nodes of a process, and its part in the exchange with each.
struct Exchange<'a> {
    seat: Seat<'a>,
    nodes: &'a Nodes,
    bytes: i64,
    send: Block,
    receive: Block,
}

/// Where the blocks between this node and another one lie, at the agent.
struct Post {
    node: u32,
    start: i64,
}

pub(super) fn on_nodes(place: Place, nodes: &Nodes, send: Block, receive: Block) -> Schedule {
    let mut schedule = Schedule::with_capacity(4 * place.size as usize);
    let bytes = receive.bytes();
    if bytes == 0 {
        return schedule;
    }
    let exchange = Exchange { seat: Seat::rootless(nodes, place.rank), nodes, bytes, send, receive };
    let (posts, total) = exchange.posts();
    let gathered = schedule.scratch_bytes(total);
    let sorted = schedule.scratch_bytes(total);
    let scattered = schedule.scratch_bytes(exchange.scattered_bytes());
    exchange.collect(&mut schedule, &posts, gathered, scattered);
    exchange.sort(&mut schedule, &posts, gathered, sorted);
    for Post { node, start } in &posts {
        let whole = |buffer| Span::packed(buffer, *start, exchange.between(*node) * bytes);
        let peer = local(exchange.agent(*node, exchange.seat.node));
        schedule.receive(peer, whole(gathered));
        schedule.send(peer, whole(sorted));
    }
    schedule.end_round();
    exchange.hand_out(&mut schedule, &posts, gathered, scattered);
    schedule
}

impl Exchange<'_> {
    /// The rank of `node` that is its agent for node `other`.
    fn agent(&self, node: u32, other: u32) -> u32 {
        let members = self.nodes.members(node);
        members[other as usize % members.len()]
    }

    fn own_agent(&self, other: u32) -> u32 {
        self.agent(self.seat.node, other)
    }

    fn others(&self) -> impl Iterator<Item = u32> {
        let own = self.seat.node;
        (0..self.nodes.count()).filter(move |node| *node != own)
    }

    fn size(&self, node: u32) -> i64 {
        self.nodes.members(node).len() as i64
    }

    /// The number of blocks between this node and another one, in one direction.
    fn between(&self, node: u32) -> i64 {
        self.size(self.seat.node) * self.size(node)
    }

    /// The nodes that this process is the agent for, and the bytes of all of them.
    fn posts(&self) -> (Vec<Post>, i64) {
        let mut end = 0;
        let mine = self.others().filter(|node| self.own_agent(*node) == self.seat.rank());
        let posts = mine.map(|node| {
            let start = end;
            end += self.between(node) * self.bytes;
            Post { node, start }
        });
        (posts.collect(), end)
    }

    /// The ranks of a node, if they follow one another.
    fn run(&self, node: u32) -> Option<(u32, u32)> {
        let members = self.nodes.members(node);
        let (first, last) = (members[0], members[members.len() - 1]);
        (last - first + 1 == members.len() as u32).then_some((first, members.len() as u32))
    }

    fn scattered_bytes(&self) -> i64 {
        self.others().filter(|node| self.run(*node).is_none()).map(|node| self.size(node) * self.bytes).sum()
    }

    /// This process's blocks for, or from, the other nodes: in the user's buffer, or where its part of `scattered` is.
    fn user_spans(
        &self,
        scattered: Buffer,
        user: fn(&Block, u32, u32) -> Span,
        block: Block,
    ) -> Vec<(u32, Span)> {
        let mut end = 0;
        let place = |node| match self.run(node) {
            Some((first, count)) => (node, user(&block, first, count)),
            None => {
                let bytes = self.size(node) * self.bytes;
                end += bytes;
                (node, Span::packed(scattered, end - bytes, bytes))
            }
        };
        self.others().map(place).collect()
    }

    /// Where process `position` of this node has its blocks at the agent, by p.
    fn row(&self, post: &Post, buffer: Buffer, position: i64) -> Span {
        let bytes = self.size(post.node) * self.bytes;
        Span::packed(buffer, post.start + position * bytes, bytes)
    }

    /// Brings all blocks to the agents, and those for this node to their places.
    fn collect(&self, schedule: &mut Schedule, posts: &[Post], gathered: Buffer, scattered: Buffer) {
        let spans = self.user_spans(scattered, Block::run_in_send, self.send);
        for (node, span) in &spans {
            if self.run(*node).is_none() {
                for (index, rank) in (0..).zip(self.nodes.members(*node)) {
                    let start = span.displacement + index * self.bytes;
                    schedule
                        .copy(self.send.run_in_send(*rank, 1), Span::packed(scattered, start, self.bytes));
                }
            }
        }
        schedule.end_round();
        for member in self.seat.others() {
            for post in posts {
                let position = i64::from(self.nodes.position(member));
                schedule.receive(local(member), self.row(post, gathered, position));
            }
            schedule.receive(local(member), self.receive.run_in_receive(member, 1));
        }
        for (node, span) in spans.iter().filter(|(node, _)| self.own_agent(*node) != self.seat.rank()) {
            schedule.send(local(self.own_agent(*node)), *span);
        }
        for member in self.seat.others() {
            schedule.send(local(member), self.send.run_in_send(member, 1));
        }
        for post in posts {
            let own = spans.iter().find(|(node, _)| *node == post.node);
            if let Some((_, span)) = own {
                schedule.copy(*span, self.row(post, gathered, i64::from(self.seat.inside().rank)));
            }
        }
        let own = self.seat.rank();
        schedule.copy(self.send.run_in_send(own, 1), self.receive.run_in_receive(own, 1));
    }

    /// From the order of senders to the order of receivers.
    fn sort(&self, schedule: &mut Schedule, posts: &[Post], gathered: Buffer, sorted: Buffer) {
        let block = |buffer, post: &Post, index: i64| {
            Span::packed(buffer, post.start + index * self.bytes, self.bytes)
        };
        let senders = self.size(self.seat.node);
        for post in posts {
            let receivers = self.size(post.node);
            for sender in 0..senders {
                for receiver in 0..receivers {
                    let from = block(gathered, post, sender * receivers + receiver);
                    schedule.copy(from, block(sorted, post, receiver * senders + sender));
                }
            }
        }
    }

    /// What has come from the other nodes goes from the agents to its receivers.
    fn hand_out(&self, schedule: &mut Schedule, posts: &[Post], gathered: Buffer, scattered: Buffer) {
        let spans = self.user_spans(scattered, Block::run_in_receive, self.receive);
        for (node, span) in spans.iter().filter(|(node, _)| self.own_agent(*node) != self.seat.rank()) {
            schedule.receive(local(self.own_agent(*node)), *span);
        }
        for post in posts {
            for member in self.seat.others() {
                let position = i64::from(self.nodes.position(member));
                schedule.send(local(member), self.row(post, gathered, position));
            }
        }
        for post in posts {
            let own = spans.iter().find(|(node, _)| *node == post.node);
            if let Some((_, span)) = own {
                schedule.copy(self.row(post, gathered, i64::from(self.seat.inside().rank)), *span);
            }
        }
        for (node, span) in spans.iter().filter(|(node, _)| self.run(*node).is_none()) {
            for (index, rank) in (0..).zip(self.nodes.members(*node)) {
                let start = span.displacement + index * self.bytes;
                schedule
                    .copy(Span::packed(scattered, start, self.bytes), self.receive.run_in_receive(*rank, 1));
            }
        }
    }
}
