//! The locks that are simulated: the paper's, queues of ranks and of nodes, and a file server's.

use std::collections::{BTreeSet, VecDeque};

use super::world::{NODE_RANKS, Place, Protocol, World};

/// The rank that has what all share.
const HOME: usize = 0;

/// The paper's: a byte for each rank at the home rank. A rank puts its own and gets all others in one exclusive epoch, and the next one
/// after it, in a circle, is woken by a message.
pub struct Hybrid {
    waiting: BTreeSet<usize>,
    /// Whom the last epoch of each rank has found.
    found: Vec<Option<usize>>,
    /// Whose first epoch is over, and who was woken before.
    entered: Vec<bool>,
    woken: Vec<bool>,
}

impl Hybrid {
    /// Nobody has the lock.
    pub fn new(ranks: usize) -> Self {
        let (entered, woken) = (vec![false; ranks], vec![false; ranks]);
        Hybrid { waiting: BTreeSet::new(), found: vec![None; ranks], entered, woken }
    }

    /// The rank has the lock once its epoch is over and, if it found others, a message has come.
    fn look(&mut self, world: &mut World<Self>, rank: usize) {
        if self.entered[rank] && (self.woken[rank] || self.found[rank].is_none()) {
            (self.entered[rank], self.woken[rank]) = (false, false);
            world.granted(rank);
        }
    }
}

/// The two epochs.
#[derive(Clone, Copy, Debug)]
pub enum Epoch {
    Enter,
    Leave,
}

impl Protocol for Hybrid {
    type Operation = Epoch;
    type Message = ();

    fn acquire(&mut self, world: &mut World<Self>, rank: usize) {
        world.epoch(rank, HOME, world.ranks, Epoch::Enter);
    }

    fn release(&mut self, world: &mut World<Self>, rank: usize) {
        world.epoch(rank, HOME, world.ranks, Epoch::Leave);
    }

    fn serve(&mut self, _: &mut World<Self>, rank: usize, epoch: Epoch) {
        self.waiting.remove(&rank);
        self.found[rank] = self.waiting.range(rank..).next().or(self.waiting.first()).copied();
        if let Epoch::Enter = epoch {
            self.waiting.insert(rank);
        }
    }

    fn reply(&mut self, world: &mut World<Self>, rank: usize, epoch: Epoch) {
        match (epoch, self.found[rank]) {
            (Epoch::Enter, _) => {
                self.entered[rank] = true;
                self.look(world, rank);
            }
            (Epoch::Leave, next) => {
                if let Some(next) = next {
                    world.send(rank, next, ());
                }
                world.released(rank);
            }
        }
    }

    fn message(&mut self, world: &mut World<Self>, rank: usize, (): ()) {
        self.woken[rank] = true;
        self.look(world, rank);
    }
}

/// A queue of members: the last of them at its home, and with each member the one after it. One swap to get in; out by a message to the
/// next, or by a compare-and-swap where there is none.
#[derive(Clone, Default)]
struct Queue {
    last: Option<usize>,
}

/// What a member knows.
#[derive(Clone, Copy, Default)]
struct Member {
    next: Option<usize>,
    /// It gives the lock back, and waits for the next one to be known.
    leaves: bool,
    /// What the last operation of it has found: who was last in the queue.
    found: Option<usize>,
}

/// Queues of ranks: one of all, or one in each node and one of nodes.
pub struct Queues {
    /// How many ranks a queue has, and how often it hands the lock on before another node may have it.
    group: usize,
    bound: u32,
    groups: Vec<Queue>,
    ranks: Vec<Member>,
    /// The queue of nodes, its members, which rank is active for each, and how often the lock was handed on there.
    top: Queue,
    nodes: Vec<Member>,
    active: Vec<usize>,
    handed: Vec<u32>,
}

/// Which queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    Ranks,
    Nodes,
}

/// Operations at a queue's home.
#[derive(Clone, Copy, Debug)]
pub enum Step {
    Swap(Level),
    Compare(Level),
}

/// Messages between members.
#[derive(Clone, Copy, Debug)]
pub enum Word {
    /// This one is after you.
    Next(Level, usize, usize),
    /// It is your turn in the queue; and whether you have the lock with it.
    Turn(Level, bool),
}

impl Queues {
    /// One queue of all ranks.
    pub fn of_all(ranks: usize) -> Self {
        Self::new(ranks, ranks, u32::MAX)
    }

    /// A queue in each node, and one of nodes; so often is the lock handed on in a node.
    pub fn tree(ranks: usize, bound: u32) -> Self {
        Self::new(ranks, NODE_RANKS, bound)
    }

    fn new(ranks: usize, group: usize, bound: u32) -> Self {
        let groups = ranks.div_ceil(group);
        Queues {
            group,
            bound,
            groups: vec![Queue::default(); groups],
            ranks: vec![Member::default(); ranks],
            top: Queue::default(),
            nodes: vec![Member::default(); groups],
            active: vec![0; groups],
            handed: vec![0; groups],
        }
    }

    fn has_top(&self) -> bool {
        self.groups.len() > 1
    }

    fn node(&self, rank: usize) -> usize {
        rank / self.group
    }

    fn home(&self, level: Level, rank: usize) -> usize {
        if level == Level::Ranks { self.node(rank) * self.group } else { HOME }
    }

    fn queue(&mut self, level: Level, rank: usize) -> &mut Queue {
        let node = self.node(rank);
        if level == Level::Ranks { &mut self.groups[node] } else { &mut self.top }
    }

    /// The member that a rank is, or is active for.
    fn name(&self, level: Level, rank: usize) -> usize {
        if level == Level::Ranks { rank } else { self.node(rank) }
    }

    fn member(&mut self, level: Level, rank: usize) -> &mut Member {
        let name = self.name(level, rank);
        if level == Level::Ranks { &mut self.ranks[name] } else { &mut self.nodes[name] }
    }

    fn rank_of(&self, level: Level, name: usize) -> usize {
        if level == Level::Ranks { name } else { self.active[name] }
    }

    /// It is this rank's turn in a queue.
    fn has_turn(&mut self, world: &mut World<Self>, rank: usize, level: Level, with_lock: bool) {
        if level == Level::Ranks && self.has_top() && !with_lock {
            let node = self.node(rank);
            self.active[node] = rank;
            self.handed[node] = 0;
            return world.fetch(rank, HOME, Step::Swap(Level::Nodes));
        }
        world.granted(rank);
    }

    /// Leaves a queue: to the next one, or, where nobody is known to come after, by a look at the queue's home.
    fn leave(&mut self, world: &mut World<Self>, rank: usize, level: Level) {
        match self.member(level, rank).next.take() {
            Some(next) => self.hand_over(world, rank, level, next),
            None => world.fetch(rank, self.home(level, rank), Step::Compare(level)),
        }
    }

    fn hand_over(&mut self, world: &mut World<Self>, rank: usize, level: Level, next: usize) {
        // With a queue of nodes, who is next in its node has to wait for the node's turn.
        let with_lock = level == Level::Nodes || !self.has_top();
        let to = self.rank_of(level, next);
        world.send(rank, to, Word::Turn(level, with_lock));
        self.left(world, rank, level);
    }

    /// This rank is out of a queue.
    fn left(&mut self, world: &mut World<Self>, rank: usize, level: Level) {
        match level {
            Level::Nodes => self.leave(world, rank, Level::Ranks),
            Level::Ranks => world.released(rank),
        }
    }
}

impl Protocol for Queues {
    type Operation = Step;
    type Message = Word;

    fn acquire(&mut self, world: &mut World<Self>, rank: usize) {
        world.fetch(rank, self.home(Level::Ranks, rank), Step::Swap(Level::Ranks));
    }

    fn release(&mut self, world: &mut World<Self>, rank: usize) {
        let node = self.node(rank);
        if !self.has_top() {
            return self.leave(world, rank, Level::Ranks);
        }
        if self.handed[node] < self.bound
            && let Some(next) = self.ranks[rank].next.take()
        {
            self.handed[node] += 1;
            self.active[node] = next;
            world.send(rank, next, Word::Turn(Level::Ranks, true));
            return world.released(rank);
        }
        self.leave(world, rank, Level::Nodes);
    }

    fn serve(&mut self, _: &mut World<Self>, rank: usize, step: Step) {
        match step {
            Step::Swap(level) => {
                let name = self.name(level, rank);
                self.member(level, rank).found = self.queue(level, rank).last.replace(name);
            }
            Step::Compare(level) => {
                let name = self.name(level, rank);
                let queue = self.queue(level, rank);
                let found = queue.last;
                if found == Some(name) {
                    queue.last = None;
                }
                self.member(level, rank).found = found;
            }
        }
    }

    fn reply(&mut self, world: &mut World<Self>, rank: usize, step: Step) {
        match step {
            Step::Swap(level) => match self.member(level, rank).found {
                None => self.has_turn(world, rank, level, level == Level::Nodes || !self.has_top()),
                Some(before) => {
                    let name = self.name(level, rank);
                    world.send(rank, self.rank_of(level, before), Word::Next(level, before, name));
                }
            },
            Step::Compare(level) => {
                let name = self.name(level, rank);
                let member = self.member(level, rank);
                if member.found == Some(name) {
                    return self.left(world, rank, level);
                }
                match member.next.take() {
                    Some(next) => self.hand_over(world, rank, level, next),
                    None => member.leaves = true,
                }
            }
        }
    }

    fn message(&mut self, world: &mut World<Self>, rank: usize, word: Word) {
        match word {
            Word::Turn(level, with_lock) => self.has_turn(world, rank, level, with_lock),
            Word::Next(level, name, next) => {
                // The one that is active for a node may have changed while the message was under way; what it says stays with the node.
                let rank = self.rank_of(level, name);
                let member = self.member(level, rank);
                if std::mem::take(&mut member.leaves) {
                    self.hand_over(world, rank, level, next);
                } else {
                    member.next = Some(next);
                }
            }
        }
    }
}

/// A file server's locks: it has a list of its own and calls whoever is next, or clients ask again and again, after pauses that double.
pub struct Server {
    polls: bool,
    holder: Option<usize>,
    waiting: VecDeque<usize>,
    has: Vec<bool>,
    pauses: Vec<f64>,
}

/// The longest pause of a client that asks again.
const PAUSE_MAX_S: f64 = 1.0;

impl Server {
    /// A server that calls, or one that is asked.
    pub fn new(ranks: usize, polls: bool) -> Self {
        let (holder, waiting) = (None, VecDeque::new());
        Server { polls, holder, waiting, has: vec![false; ranks], pauses: vec![0.0; ranks] }
    }
}

impl Protocol for Server {
    type Operation = Epoch;
    type Message = ();

    fn acquire(&mut self, world: &mut World<Self>, rank: usize) {
        world.operate(rank, Place::Server, world.costs.server.1, Epoch::Enter);
    }

    fn release(&mut self, world: &mut World<Self>, rank: usize) {
        world.operate(rank, Place::Server, world.costs.server.1, Epoch::Leave);
    }

    fn serve(&mut self, world: &mut World<Self>, rank: usize, epoch: Epoch) {
        match epoch {
            Epoch::Enter if self.holder.is_none() => {
                self.holder = Some(rank);
                self.has[rank] = true;
            }
            Epoch::Enter if !self.polls => self.waiting.push_back(rank),
            Epoch::Enter => {}
            Epoch::Leave => {
                self.has[rank] = false;
                self.holder = self.waiting.pop_front();
                if let Some(next) = self.holder {
                    world.tell(next, ());
                }
            }
        }
    }

    fn reply(&mut self, world: &mut World<Self>, rank: usize, epoch: Epoch) {
        match epoch {
            Epoch::Leave => world.released(rank),
            Epoch::Enter if self.has[rank] => {
                self.pauses[rank] = 0.0;
                world.granted(rank);
            }
            Epoch::Enter if self.polls => {
                let least = world.costs.server.0 + world.costs.server.1;
                self.pauses[rank] = (2.0 * self.pauses[rank]).clamp(least, PAUSE_MAX_S);
                world.retry(rank, self.pauses[rank]);
            }
            Epoch::Enter => {}
        }
    }

    fn message(&mut self, world: &mut World<Self>, rank: usize, (): ()) {
        world.granted(rank);
    }
}
