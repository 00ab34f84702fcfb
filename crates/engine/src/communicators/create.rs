//! How communicators are made (MPI 5.0, sections 7.4 and 7.6).
//!
//! Everything comes down to one agreement: which processes, in which order, and which context. Candidates for the context
//! travel with what has to be exchanged anyway, and the first process of the new communicator provides it. Name, info,
//! attributes and error handler of what is made here are the caller's business.

use std::sync::Arc;

use postrider_abi::{MPI_ERR_COMM, MPI_ERR_GROUP, MPI_UNDEFINED};
use postrider_os::memory::{OwnedMemory, UserMemory};

use super::{Communicator, Group, Process, Route, Space};
use crate::Instance;
use crate::collectives::arguments::{Block, Blocks, Contribution, Layout, Place};
use crate::collectives::schedule::Schedule;
use crate::collectives::select::{self, Situation};
use crate::collectives::{allgather, broadcast};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::point_to_point::Buffer;
use crate::point_to_point::matching::Pattern;
use crate::processes::Identity;

const BYTES: Layout = Layout { size: 1, extent: 1, contiguous: true };

/// What a process says of itself when communicators are split: eight-byte numbers on the wire.
#[derive(Clone, Copy, Debug)]
struct Wish {
    color: i64,
    key: i64,
    identity: Identity,
    context: u64,
    local_context: u64,
}

const WISH_BYTES: usize = 48;

impl Wish {
    fn encode(self) -> [u8; WISH_BYTES] {
        let mut out = [0; WISH_BYTES];
        let Identity { job, rank } = self.identity;
        let (color, key) = (self.color as u64, self.key as u64);
        let words = [color, key, job, u64::from(rank), self.context, self.local_context];
        for (bytes, word) in out.chunks_exact_mut(8).zip(words) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        out
    }

    fn decode_all(bytes: &[u8]) -> Vec<Self> {
        let wish = |bytes: &[u8]| {
            let words = words_of(bytes);
            Self {
                color: words[0] as i64,
                key: words[1] as i64,
                identity: Identity { job: words[2], rank: words[3] as u32 },
                context: words[4],
                local_context: words[5],
            }
        };
        bytes.chunks_exact(WISH_BYTES).map(wish).collect()
    }
}

/// How processes that are to share a communicator reach each other before they have it.
pub(super) struct Way {
    /// The route to any of them, up to the process.
    pub route: Route,
    pub tag: i32,
    /// The processes, and the number by which each says who it is.
    pub members: Vec<(Process, u32)>,
}

pub(crate) fn words_of(bytes: &[u8]) -> Vec<u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
    bytes.chunks_exact(8).map(word).collect()
}

fn bytes_of(words: &[u64]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The processes of one colour, in the order of their keys, then of their ranks.
fn of_color(wishes: &[Wish], color: i64) -> Vec<Wish> {
    let mut chosen: Vec<Wish> = wishes.iter().filter(|wish| wish.color == color).copied().collect();
    chosen.sort_by_key(|wish| wish.key);
    chosen
}

impl Instance {
    /// Where this process is in the local group.
    pub(crate) fn place(&self, communicator: Key) -> Result<(Place<'static>, bool)> {
        self.with(|state| {
            let found = state.communicators.get(communicator)?;
            Ok((Place::on_one_host(found.rank, found.size()), found.remote.is_some()))
        })
    }

    /// The schedule of a collective in the local group.
    fn schedule_locally(
        &self,
        communicator: Key,
        build: impl FnOnce(Place, Situation) -> Schedule,
    ) -> Result<Schedule> {
        self.with(|state| {
            let found = state.communicators.get(communicator)?;
            let place = found.place(&self.facts);
            Ok(build(place, found.situation(place, &self.facts)))
        })
    }

    /// Everybody in the local group gets everybody's `own`, in rank order.
    pub(crate) fn gather_locally(&self, communicator: Key, own: &[u8]) -> Result<Vec<u8>> {
        let (place, _) = self.place(communicator)?;
        let block = Block { count: own.len() as i64, layout: BYTES };
        let mut all = OwnedMemory::new(own.len() * place.size as usize);
        let memory = UserMemory::of(&mut all);
        memory.offset(i64::from(place.rank) * block.count).write(own);
        let schedule = self.schedule_locally(communicator, |place, situation| {
            let algorithm = select::allgather(situation, block.bytes() * i64::from(place.size));
            allgather::allgather(algorithm, place, Contribution::InPlace, Blocks::Equal(block))
        })?;
        self.run_bytes(communicator, &schedule, memory)?;
        Ok(all.as_slice().to_vec())
    }

    /// Everybody in the local group gets rank `root`'s `bytes`, which all have the same number of.
    pub(crate) fn tell_locally(&self, communicator: Key, root: u32, bytes: &mut [u8]) -> Result<()> {
        let mut copy = OwnedMemory::new(bytes.len());
        let memory = UserMemory::of(&mut copy);
        memory.write(bytes);
        let block = Block { count: bytes.len() as i64, layout: BYTES };
        let schedule = self.schedule_locally(communicator, |place, situation| {
            broadcast::broadcast(select::broadcast(situation, block.bytes()), place, root, block)
        })?;
        self.run_bytes(communicator, &schedule, memory)?;
        memory.read(bytes);
        Ok(())
    }

    /// As [`Instance::tell_locally`], when only the root knows how many words there are.
    pub(crate) fn tell_words(&self, communicator: Key, root: u32, words: &mut Vec<u64>) -> Result<()> {
        let mut count = (words.len() as u64).to_le_bytes();
        self.tell_locally(communicator, root, &mut count)?;
        words.resize(u64::from_le_bytes(count) as usize, 0);
        let mut bytes = bytes_of(words);
        self.tell_locally(communicator, root, &mut bytes)?;
        *words = words_of(&bytes);
        Ok(())
    }

    /// Sends words to a process and receives its words, in the creation space of a communicator.
    pub(super) fn swap_words(&self, route: Route, from: u32, tag: i32, words: &[u64]) -> Result<Vec<u64>> {
        let count = self.swap_bytes(route, from, tag, &(words.len() as u64).to_le_bytes(), 8)?;
        let bytes = words_of(&count).first().copied().unwrap_or(0) as usize * 8;
        Ok(words_of(&self.swap_bytes(route, from, tag, &bytes_of(words), bytes)?))
    }

    fn swap_bytes(&self, route: Route, from: u32, tag: i32, own: &[u8], theirs: usize) -> Result<Vec<u8>> {
        let (mut sent, mut received) = (OwnedMemory::new(own.len()), OwnedMemory::new(theirs));
        UserMemory::of(&mut sent).write(own);
        let send = Buffer::dense(UserMemory::of(&mut sent), own.len() as u64);
        let receive = Buffer::dense(UserMemory::of(&mut received), theirs as u64);
        let pattern = Pattern { source: Some(from), tag: Some(tag) };
        let (receiving, sending) = self.with(|state| {
            let receiving = state.post_receive(route.communicator, route.context, pattern, receive)?;
            Ok((receiving, state.post_send(route, tag, &send, false)?))
        })?;
        if let Some(sending) = sending {
            self.wait(sending)?.completion.into_result()?;
        }
        self.wait(receiving)?.completion.into_result()?;
        Ok(received.as_slice().to_vec())
    }

    /// The leaders of an inter-communicator's two groups (rank 0 of each) swap words; everybody gets the other side's.
    fn swap_with_remote(&self, communicator: Key, own: Vec<u64>) -> Result<Vec<u64>> {
        let (place, _) = self.place(communicator)?;
        let mut theirs = Vec::new();
        if place.rank == 0 {
            let route = self.with(|state| {
                let found = state.communicators.get(communicator)?;
                let context = found.context_of(Space::Creation, false);
                Ok(Route { communicator, peer: found.peer(0)?, context, source: 0 })
            })?;
            theirs = self.swap_words(route, 0, 0, &own)?;
        }
        self.tell_words(communicator, 0, &mut theirs)?;
        Ok(theirs)
    }

    fn wish(&self, color: i64, key: i64) -> Result<Wish> {
        self.with(|state| {
            let (context, local_context) = (state.make_context(), state.make_context());
            let identity = state.identity(Process(state.own));
            Ok(Wish { color, key, identity, context, local_context })
        })
    }

    /// The group of those who wish.
    fn group_of(&self, wishes: &[Wish]) -> Result<Arc<Group>> {
        self.with(|state| {
            let processes = wishes.iter().map(|wish| state.process(wish.identity));
            Ok(Arc::new(Group::of(processes.collect::<Result<_>>()?)))
        })
    }

    /// Splits a communicator by colour, in the order of keys (`MPI_Comm_split`); no colour means no communicator.
    ///
    /// # Errors
    /// When communication fails.
    pub fn split(&self, communicator: Key, color: Option<i32>, key: i64) -> Result<Option<Key>> {
        let own = self.wish(i64::from(color.unwrap_or(MPI_UNDEFINED)), key)?;
        let bytes = self.gather_locally(communicator, &own.encode())?;
        let (_, inter) = self.place(communicator)?;
        let remote = if inter { Some(self.swap_with_remote(communicator, words_of(&bytes))?) } else { None };
        if color.is_none() {
            return Ok(None);
        }
        let local = of_color(&Wish::decode_all(&bytes), own.color);
        let first = local[0];
        let Some(remote) = remote else {
            return self.insert(first.context, first.context, self.group_of(&local)?, None).map(Some);
        };
        let remote = of_color(&Wish::decode_all(&bytes_of(&remote)), own.color);
        let Some(other) = remote.first() else { return Ok(None) };
        let context = first.context.min(other.context);
        self.insert(context, first.local_context, self.group_of(&local)?, Some(self.group_of(&remote)?))
            .map(Some)
    }

    pub(crate) fn insert(
        &self,
        context: u64,
        local_context: u64,
        group: Arc<Group>,
        remote: Option<Arc<Group>>,
    ) -> Result<Key> {
        self.with(|state| {
            let Some(rank) = group.rank(Process(state.own)) else {
                return Err(Error::new(MPI_ERR_GROUP, "this process is not in the new communicator's group"));
            };
            state.communicators.insert(Communicator::new(context, local_context, group, rank, remote))
        })
    }

    /// Makes a communicator of a group that is part of this one's (`MPI_Comm_create`). Several disjoint groups may be
    /// given at once, each by its own processes.
    ///
    /// # Errors
    /// When the group is not part of the communicator's, or communication fails.
    pub fn create(&self, communicator: Key, group: &Group) -> Result<Option<Key>> {
        let own = Process(self.facts.rank);
        let first = self.with(|state| {
            let all = &state.communicators.get(communicator)?.group;
            let ranks: Option<Vec<u32>> = group.processes().map(|process| all.rank(process)).collect();
            let Some(ranks) = ranks else {
                return Err(Error::new(
                    MPI_ERR_GROUP,
                    "the group has processes that the communicator has not",
                ));
            };
            Ok(ranks.first().copied())
        })?;
        let (_, inter) = self.place(communicator)?;
        match (first, group.rank(own)) {
            (Some(first), Some(rank)) => {
                let color = if inter { 0 } else { first as i32 };
                self.split(communicator, Some(color), i64::from(rank))
            }
            _ => self.split(communicator, None, 0),
        }
    }

    /// Makes a communicator of a group; only its processes call (`MPI_Comm_create_group`).
    ///
    /// # Errors
    /// When the group is not part of the communicator's, or communication fails.
    pub fn create_group(&self, communicator: Key, group: &Arc<Group>, tag: i32) -> Result<Option<Key>> {
        let Some(rank) = group.rank(Process(self.facts.rank)) else { return Ok(None) };
        let (candidate, way) = self.with(|state| {
            let candidate = state.make_context();
            let found = state.communicators.get(communicator)?;
            if found.remote.is_some() {
                let detail = "MPI_Comm_create_group is for intra-communicators; use MPI_Comm_create";
                return Err(Error::new(MPI_ERR_COMM, detail));
            }
            let member = |process| Some((process, found.group.rank(process)?));
            let members: Option<Vec<_>> = group.processes().map(member).collect();
            let outside =
                || Error::new(MPI_ERR_GROUP, "the group has processes that the communicator has not");
            let context = found.context_of(Space::Creation, true);
            let route = Route { communicator, peer: 0, context, source: found.rank };
            Ok((candidate, Way { route, tag, members: members.ok_or_else(outside)? }))
        })?;
        let mut words = vec![candidate];
        self.tell_group(&way, rank, &mut words)?;
        self.insert(words[0], words[0], Arc::clone(group), None).map(Some)
    }

    /// The first of the members tells the others its words, whose number all know, along a binomial tree.
    pub(super) fn tell_group(&self, way: &Way, rank: u32, words: &mut Vec<u64>) -> Result<()> {
        let size = way.members.len() as u32;
        let mut distance = 1;
        while distance < size && rank & distance == 0 {
            distance <<= 1;
        }
        if rank != 0 {
            self.creation_message(way, rank - distance, false, words)?;
        }
        distance >>= 1;
        while distance > 0 {
            if rank + distance < size {
                self.creation_message(way, rank + distance, true, words)?;
            }
            distance >>= 1;
        }
        Ok(())
    }

    /// Sends words to a member, or receives as many from it.
    fn creation_message(&self, way: &Way, member: u32, send: bool, words: &mut Vec<u64>) -> Result<()> {
        let (peer, rank) = way.members[member as usize];
        let mut memory = OwnedMemory::new(words.len() * 8);
        let buffer = Buffer::dense(UserMemory::of(&mut memory), memory.len() as u64);
        if send {
            UserMemory::of(&mut memory).write(&bytes_of(words));
        }
        self.blocking(|state| {
            let route = Route { peer: peer.0, ..way.route };
            if send {
                return state.post_send(route, way.tag, &buffer, false);
            }
            let pattern = Pattern { source: Some(rank), tag: Some(way.tag) };
            state.post_receive(route.communicator, route.context, pattern, buffer.clone()).map(Some)
        })?
        .into_result()?;
        if !send {
            *words = words_of(memory.as_slice());
        }
        Ok(())
    }

    /// Joins two groups to an inter-communicator (`MPI_Intercomm_create`). `peer_communicator` and `remote_leader` count
    /// only at the local leader.
    ///
    /// # Errors
    /// When ranks are wrong, the groups overlap, or communication fails.
    pub fn create_intercommunicator(
        &self,
        local: Key,
        local_leader: i32,
        peer: Option<(Key, i32)>,
        tag: i32,
    ) -> Result<Key> {
        let (place, inter) = self.place(local)?;
        if inter {
            return Err(Error::new(MPI_ERR_COMM, "the local communicator must be an intra-communicator"));
        }
        let Some(leader) = u32::try_from(local_leader).ok().filter(|&leader| leader < place.size) else {
            return Err(crate::point_to_point::no_such_rank(local_leader, place.size));
        };
        if place.rank != leader {
            return self.join_agreed(local, leader, None);
        }
        match self.way_to_remote_leader(peer) {
            Ok((route, from)) => {
                let mut swap = |words: &[u64]| self.swap_words(route, from, tag, words);
                self.join_agreed(local, leader, Some((Ok(()), &mut swap)))
            }
            // The others wait for word from here: they get the error, and fail as well.
            Err(error) => self.join_agreed(local, leader, Some((Err(error), &mut |_| Ok(Vec::new())))),
        }
    }

    /// The way between the leaders.
    fn way_to_remote_leader(&self, peer: Option<(Key, i32)>) -> Result<(Route, u32)> {
        let Some((communicator, remote_leader)) = peer else {
            return Err(Error::new(MPI_ERR_COMM, "the leader's peer communicator is MPI_COMM_NULL"));
        };
        self.with(|state| {
            let found = state.communicators.get(communicator)?;
            let peer = found.peer(remote_leader)?;
            let context = found.context_of(Space::Creation, false);
            Ok((Route { communicator, peer, context, source: found.rank }, remote_leader as u32))
        })
    }

    /// Makes one group of an inter-communicator's two (`MPI_Intercomm_merge`); the group that says `high` comes second.
    ///
    /// # Errors
    /// When it is no inter-communicator, or communication fails.
    pub fn merge(&self, communicator: Key, high: bool) -> Result<Key> {
        let (own_group, remote_group) = self.with(|state| {
            let found = state.communicators.get(communicator)?;
            let Some(remote) = &found.remote else {
                return Err(Error::new(MPI_ERR_COMM, "only an inter-communicator can be merged"));
            };
            Ok((Arc::clone(&found.group), Arc::clone(remote)))
        })?;
        let own = self.wish(i64::from(high), 0)?;
        let mut leader = words_of(&own.encode());
        let mut bytes = bytes_of(&leader);
        self.tell_locally(communicator, 0, &mut bytes)?;
        leader = words_of(&bytes);
        let theirs = self.swap_with_remote(communicator, leader.clone())?;
        let (own, other) = (Wish::decode_all(&bytes_of(&leader))[0], Wish::decode_all(&bytes_of(&theirs))[0]);
        let first = (own.color, own.identity) < (other.color, other.identity);
        let (low, high) = if first { (own_group, remote_group) } else { (remote_group, own_group) };
        let processes = low.processes().chain(high.processes()).collect();
        let context = own.context.min(other.context);
        self.insert(context, context, Arc::new(Group::of(processes)), None)
    }
}
