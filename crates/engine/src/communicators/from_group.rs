//! Communicators that are made of groups alone (MPI 5.0, sections 7.4.2 and 7.6.2): no communicator is there to agree in.
//!
//! The processes find each other by the text that all of them give. A hash of it and of the groups is the context in which their few
//! messages travel; such contexts have their highest bit set, which those of communicators have not. In it a process says who it
//! is by its rank in the group. The first process, or the local leader, makes the communicator's context and tells the others.

use std::sync::Arc;

use postrider_abi::{MPI_ERR_ARG, MPI_ERR_COMM, MPI_ERR_GROUP, MPI_ERR_RANK};

use super::create::Way;
use super::{Group, Process, Route, Space};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::processes::Identity;
use crate::{Instance, State};

/// The highest bit of a context: of those that belong to no communicator.
const RESERVED: u64 = 1 << 63;

/// A hash (FNV-1a) of a text and of groups: the same for all processes that mean the same.
fn hash(text: &[u8], groups: &[Vec<Identity>]) -> u64 {
    let members = groups.iter().flat_map(|group| {
        let words = group.iter().flat_map(|member| [member.job, u64::from(member.rank)]);
        std::iter::once(group.len() as u64).chain(words).flat_map(u64::to_le_bytes)
    });
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.iter().copied().chain([0]).chain(members).fold(0xcbf2_9ce4_8422_2325, step)
}

impl State {
    fn identities(&self, group: &Group) -> Vec<Identity> {
        group.processes().map(|process| self.identity(process)).collect()
    }
}

impl Instance {
    /// The way between these processes that nobody else uses; `source` is how this one says who it is.
    fn reserved_way(
        &self,
        text: &[u8],
        groups: &[Vec<Identity>],
        (source, members): (u32, Vec<(Process, u32)>),
    ) -> Way {
        let context = RESERVED | hash(text, groups) >> 3 << 2 | Space::Creation as u64;
        let route = Route { communicator: State::SELF, peer: 0, context, source };
        Way { route, tag: groups.len() as i32, members }
    }

    fn identities(&self, group: &Group) -> Result<Vec<Identity>> {
        self.with(|state| Ok(state.identities(group)))
    }

    fn forget_way(&self, way: &Way) -> Result<()> {
        self.with(|state| {
            state.matching.forget(way.route.context);
            Ok(())
        })
    }

    /// Makes a communicator of a group; its processes call with the same text (`MPI_Comm_create_from_group`). None for the
    /// empty group.
    ///
    /// # Errors
    /// When this process is not in the group, or communication fails.
    pub fn create_from_group(&self, group: &Arc<Group>, text: &[u8]) -> Result<Option<Key>> {
        if group.is_empty() {
            return Ok(None);
        }
        let rank = self.rank_in(group)?;
        let mut words = vec![self.with(|state| Ok(state.make_context()))?];
        let members = group.processes().zip(0..).collect();
        let way = self.reserved_way(text, &[self.identities(group)?], (rank, members));
        self.tell_group(&way, rank, &mut words)?;
        self.forget_way(&way)?;
        self.insert(words[0], words[0], Arc::clone(group), None).map(Some)
    }

    fn rank_in(&self, group: &Group) -> Result<u32> {
        let outside = || Error::new(MPI_ERR_GROUP, "this process is not in the group");
        group.rank(Process(self.facts.rank)).ok_or_else(outside)
    }

    /// Makes an inter-communicator of two groups (`MPI_Intercomm_create_from_groups`). The remote group and its leader count only
    /// at the local leader.
    ///
    /// # Errors
    /// When ranks are wrong, the groups overlap, or communication fails.
    pub fn create_intercommunicator_from_groups(
        &self,
        (local, local_leader): (&Arc<Group>, i32),
        (remote, remote_leader): (&Group, i32),
        text: &[u8],
    ) -> Result<Key> {
        let rank = self.rank_in(local)?;
        let size = local.size();
        let Some(leader) = u32::try_from(local_leader).ok().filter(|&leader| leader < size) else {
            return Err(crate::point_to_point::no_such_rank(local_leader, size));
        };
        // The leader comes first, the others follow in a circle.
        let circle = (0..size).map(|step| (leader + step) % size);
        let members = circle.filter_map(|rank| Some((local.process(rank)?, rank))).collect();
        let way = self.reserved_way(text, &[self.identities(local)?], (rank, members));
        let place = (rank + size - leader) % size;
        let (mut words, mut failed) = (Vec::new(), Ok(()));
        if rank == leader {
            match self.meet_remote_group(local, (remote, remote_leader), text) {
                Ok(met) => words = met,
                // The others wait for word from here: they get none, and fail as well.
                Err(error) => failed = Err(error),
            }
        }
        let mut count = vec![words.len() as u64];
        self.tell_group(&way, place, &mut count)?;
        words.resize(count[0] as usize, 0);
        self.tell_group(&way, place, &mut words)?;
        self.forget_way(&way)?;
        failed?;
        let [context, local_context, remote @ ..] = words.as_slice() else {
            return Err(Error::new(
                MPI_ERR_RANK,
                "the leader of this group could not reach the remote leader",
            ));
        };
        let remote = self.with(|state| {
            let identity = |words: &[u64]| Identity { job: words[0], rank: words[1] as u32 };
            remote.chunks_exact(2).map(|words| state.process(identity(words))).collect::<Result<_>>()
        })?;
        self.insert(*context, *local_context, Arc::clone(local), Some(Arc::new(Group::of(remote))))
    }

    /// The leaders agree on a context: it, one for the local group, and the remote processes.
    fn meet_remote_group(
        &self,
        local: &Group,
        (remote, remote_leader): (&Group, i32),
        text: &[u8],
    ) -> Result<Vec<u64>> {
        let leader = u32::try_from(remote_leader).ok().and_then(|leader| remote.process(leader));
        let Some(leader) = leader else {
            return Err(crate::point_to_point::no_such_rank(remote_leader, remote.size()));
        };
        if local.processes().any(|process| remote.rank(process).is_some()) {
            return Err(Error::new(MPI_ERR_COMM, "the two groups of an inter-communicator must be disjoint"));
        }
        let (ours, theirs) = (self.identities(local)?, self.identities(remote)?);
        let members = theirs.iter().flat_map(|member| [member.job, u64::from(member.rank)]);
        let members: Vec<u64> = members.collect();
        let mut both = [ours, theirs];
        both.sort();
        // There are only the two of them.
        let way = self.reserved_way(text, &both, (0, vec![(leader, 0)]));
        let own = self.with(|state| Ok([state.make_context(), state.make_context()]))?;
        let route = Route { peer: leader.0, ..way.route };
        let theirs = self.swap_words(route, 0, way.tag, &own[..1])?;
        self.forget_way(&way)?;
        let Some(other) = theirs.first() else {
            return Err(Error::new(MPI_ERR_ARG, "the leaders of the two groups do not mean each other"));
        };
        Ok([own[0].min(*other), own[1]].into_iter().chain(members).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_means_something_else_gets_another_hash() {
        let group = |ranks: std::ops::Range<u32>, job| ranks.map(|rank| Identity { job, rank }).collect();
        let (low, high): (Vec<_>, Vec<_>) = (group(0..2, 1), group(2..4, 1));
        let hashes = [
            hash(b"text", std::slice::from_ref(&low)),
            hash(b"text", std::slice::from_ref(&high)),
            hash(b"other", std::slice::from_ref(&low)),
            hash(b"text", &[low, high]),
            hash(b"text", &[group(0..4, 1)]),
            hash(b"text", &[group(0..2, 2)]),
        ];
        assert!((0..6).all(|one| (0..one).all(|other| hashes[one] != hashes[other])));
    }
}
