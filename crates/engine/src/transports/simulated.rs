//! A network in memory, for tests: N processes of one test share a [`Network`], which delays packets at random, lets pairs
//! overtake one another (never two packets of the same pair), runs out of room, and cuts processes off. Everything follows
//! from a seed, so a failure can be run again.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use postrider_os::memory::{OwnedMemory, UserMemory};

use super::wire::Header;
use super::{Body, Incoming, Limits};

/// What the processes of a simulation share.
#[derive(Debug)]
pub struct Network {
    state: Mutex<State>,
    changed: Condvar,
    limits: Limits,
    room: usize,
}

#[derive(Debug)]
struct State {
    /// Packets under way, by receiver and sender.
    pairs: Vec<Vec<VecDeque<Flying>>>,
    random: u64,
    killed: Vec<bool>,
    rings: u64,
}

#[derive(Debug)]
struct Flying {
    header: Header,
    body: OwnedMemory,
    /// How many looks it takes until it has arrived.
    delay: u32,
}

impl Network {
    /// A network of `ranks` processes in which each pair has room for `room` packets.
    #[must_use]
    pub fn new(ranks: u32, seed: u64, limits: Limits, room: usize) -> Arc<Self> {
        let ranks = ranks as usize;
        let pairs = (0..ranks).map(|_| (0..ranks).map(|_| VecDeque::new()).collect()).collect();
        let state = State { pairs, random: seed | 1, killed: vec![false; ranks], rings: 0 };
        Arc::new(Self { state: Mutex::new(state), changed: Condvar::new(), limits, room })
    }

    /// From now on, nothing from or to `rank` arrives.
    pub fn kill(&self, rank: u32) {
        let mut state = self.lock();
        state.killed[rank as usize] = true;
        for (receiver, pairs) in state.pairs.iter_mut().enumerate() {
            for (sender, pair) in pairs.iter_mut().enumerate() {
                if receiver == rank as usize || sender == rank as usize {
                    pair.clear();
                }
            }
        }
    }

    /// Packets that nobody has taken.
    #[must_use]
    pub fn under_way(&self) -> usize {
        self.lock().pairs.iter().flatten().map(VecDeque::len).sum()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn random(&mut self, below: u32) -> u32 {
        // xorshift64: enough for choices in a test, and the same everywhere.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        ((self.random >> 33) % u64::from(below)) as u32
    }
}

/// One process's access to the network.
#[derive(Debug)]
pub struct Simulated {
    network: Arc<Network>,
    rank: u32,
    current: OwnedMemory,
}

/// How a simulated process sleeps.
#[derive(Clone, Debug)]
pub struct Bell(Arc<Network>);

impl Bell {
    /// Lets the others run, and looks again soon: in a simulation time passes by looking.
    pub fn sleep(&self, limit: Duration) -> bool {
        let state = self.0.lock();
        let wait = self.0.changed.wait_timeout(state, limit.min(Duration::from_micros(50)));
        wait.unwrap_or_else(PoisonError::into_inner).1.timed_out()
    }

    /// Wakes all that sleep.
    pub fn ring(&self) {
        self.0.lock().rings += 1;
        self.0.changed.notify_all();
    }
}

impl Simulated {
    /// Process `rank` of the network.
    #[must_use]
    pub fn new(network: Arc<Network>, rank: u32) -> Self {
        Self { network, rank, current: OwnedMemory::new(0) }
    }

    /// What the waiter sleeps on.
    #[must_use]
    pub fn bell(&self) -> Bell {
        Bell(Arc::clone(&self.network))
    }

    pub(super) fn limits(&self) -> Limits {
        self.network.limits
    }

    pub(super) fn send(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: usize) -> bool {
        let mut state = self.network.lock();
        if state.killed[peer as usize] || state.killed[self.rank as usize] {
            return true;
        }
        if state.pairs[peer as usize][self.rank as usize].len() >= self.network.room {
            return false;
        }
        let mut copy = OwnedMemory::new(bytes);
        body.copy_to(UserMemory::of(&mut copy), bytes);
        let delay = state.random(4);
        let flying = Flying { header: *header, body: copy, delay };
        state.pairs[peer as usize][self.rank as usize].push_back(flying);
        drop(state);
        self.network.changed.notify_all();
        true
    }

    pub(super) fn receive(&mut self) -> Option<Incoming> {
        let mut state = self.network.lock();
        let ranks = state.pairs.len() as u32;
        let first = state.random(ranks);
        for step in 0..ranks {
            let sender = (first + step) % ranks;
            let pair = &mut state.pairs[self.rank as usize][sender as usize];
            match pair.front_mut() {
                Some(flying) if flying.delay > 0 => flying.delay -= 1,
                Some(_) => {
                    let Some(flying) = pair.pop_front() else { continue };
                    self.current = flying.body;
                    let bytes = self.current.len();
                    let body = Body::Memory(UserMemory::of(&mut self.current), bytes);
                    drop(state);
                    self.network.changed.notify_all();
                    return Some(Incoming { peer: sender, header: flying.header, body });
                }
                None => {}
            }
        }
        None
    }
}
