//! Two groups are joined to an inter-communicator (MPI 5.0, sections 7.6.2, 11.8 and 11.10).
//!
//! One process speaks for each group. The speakers have a way to swap words: a connection through a port, a socket of the
//! user's, or a communicator that both are in. They tell each other who the groups are ([`Party`]), and if processes of different
//! jobs meet, one of them makes a bridge; if one of the jobs has several hosts, its posts are the bridge. Each tells its own group, everybody
//! opens what is needed, and says whether that went well; only when all of both groups have said so there is a communicator. So an
//! error is an error everywhere, and nobody waits for somebody who could not come.
//!
//! What a process says then is its number for the posts, where they are needed, so that all learn the others' numbers. Once
//! everybody has said that he knows them, messages may come.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use postrider_abi::{MPI_ERR_COMM, MPI_ERR_INTERN, MPI_ERR_OTHER, MPI_ERR_ROOT};
use postrider_os::bridge::{Bridge, Side};
use postrider_os::job::{Job, Shape};
use postrider_os::port::Connection;
use postrider_os::process;

use super::party::{Means, Party, Reader, Writer};
use super::{Access, Identity};
use crate::communicators::create::words_of;
use crate::communicators::{Group, Process};
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::transports::SingleCopy;
use crate::transports::Transport;
use crate::transports::bridged::{Bridged, Far};
use crate::transports::shared_memory::which_once;
use crate::{Instance, State};

/// How long a speaker listens before it makes progress again.
pub(super) const LISTEN: Duration = Duration::from_millis(2);

/// How the speakers of two groups swap words.
pub(crate) type Swap<'a> = &'a mut dyn FnMut(&[u64]) -> Result<Vec<u64>>;

/// What the speakers have agreed on: what everybody is told.
struct Agreement {
    context: u64,
    local_context: u64,
    /// Where the bridge is, if there is one, and on which side of it this group is.
    bridge: String,
    side: Side,
    foreign: bool,
    /// The job whose posts carry the messages.
    carrier: Option<u64>,
    theirs: Party,
}

impl Agreement {
    fn write(&self) -> Vec<u64> {
        let mut writer = Writer::default();
        let left = u64::from(self.side == Side::Left);
        let carried = [u64::from(self.carrier.is_some()), self.carrier.unwrap_or_default()];
        let numbers = [self.context, self.local_context, left, u64::from(self.foreign)];
        numbers.into_iter().chain(carried).for_each(|number| writer.number(number));
        writer.text(&self.bridge);
        self.theirs.write(&mut writer);
        writer.0
    }

    fn read(words: &[u64]) -> Result<Self> {
        let mut reader = Reader(words);
        let broken = || Error::new(MPI_ERR_INTERN, "the words of an agreement are cut short");
        let mut number = || reader.number().ok_or_else(broken);
        let (context, local_context, left, foreign) = (number()?, number()?, number()?, number()?);
        let (carried, carrier) = (number()?, number()?);
        let carrier = (carried == 1).then_some(carrier);
        let bridge = reader.text().ok_or_else(broken)?;
        let side = if left == 1 { Side::Left } else { Side::Right };
        let theirs = Party::read(&mut reader)?;
        Ok(Self { context, local_context, bridge, side, foreign: foreign == 1, carrier, theirs })
    }
}

impl Instance {
    /// Joins the group of `communicator` and another one. Process `root` speaks: `meet` gives it a connection to the speaker of
    /// the other group. Where the standard knows no better class, errors have `class`.
    ///
    /// # Errors
    /// When the communicator or the root is wrong, or the groups cannot be connected; an error of `meet` is one of all processes.
    pub fn join_groups(
        &self,
        communicator: Key,
        root: i32,
        class: i32,
        meet: impl FnOnce() -> Result<Connection>,
    ) -> Result<Key> {
        let classified = |error: Error| match error.class {
            MPI_ERR_OTHER => Error { class, ..error },
            _ => error,
        };
        self.join_groups_by(communicator, root, meet).map_err(classified)
    }

    fn join_groups_by(
        &self,
        communicator: Key,
        root: i32,
        meet: impl FnOnce() -> Result<Connection>,
    ) -> Result<Key> {
        let (place, inter) = self.place(communicator)?;
        if inter {
            return Err(Error::new(MPI_ERR_COMM, "processes are connected by an intra-communicator"));
        }
        let Some(root) = u32::try_from(root).ok().filter(|&root| root < place.size) else {
            let detail = format!("root {root} is not a rank of the communicator, which has {}", place.size);
            return Err(Error::new(MPI_ERR_ROOT, detail));
        };
        if place.rank != root {
            return self.join_agreed(communicator, root, None);
        }
        match meet() {
            Err(error) => self.join_agreed(communicator, root, Some((Err(error), &mut |_| Ok(Vec::new())))),
            Ok(mut connection) => {
                let mut swap = |words: &[u64]| self.swap_over(&mut connection, words);
                self.join_agreed(communicator, root, Some((Ok(()), &mut swap)))
            }
        }
    }

    /// Swaps words over a connection, and lets other operations go on meanwhile.
    fn swap_over(&self, connection: &mut Connection, words: &[u64]) -> Result<Vec<u64>> {
        let failed = |error: postrider_os::error::Error| Error::new(MPI_ERR_OTHER, error.to_string());
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        connection.send(&bytes).map_err(failed)?;
        loop {
            if let Some(bytes) = connection.receive(LISTEN).map_err(failed)? {
                let word =
                    |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte));
                return Ok(bytes.chunks(8).map(word).collect());
            }
            self.go_on()?;
        }
    }

    /// What somebody does who waits for something else than messages.
    ///
    /// # Errors
    /// When progress fails, or the launcher is gone.
    pub fn go_on(&self) -> Result<()> {
        self.make_progress()?;
        self.waiter.check()
    }

    /// The collective part: the speaker comes with a way to swap words, or with an error.
    pub(crate) fn join_agreed(
        &self,
        communicator: Key,
        root: u32,
        mut speaker: Option<(Result<()>, Swap<'_>)>,
    ) -> Result<Key> {
        let mut words = Vec::new();
        let mut made = None;
        let mut own_error = None;
        if let Some((met, swap)) = &mut speaker {
            let agreed = met.clone().and_then(|()| self.agree(communicator, root, *swap));
            let mut writer = Writer::default();
            match agreed {
                Ok((agreement, bridge)) => {
                    writer.number(0);
                    writer.0.extend(agreement.write());
                    made = bridge;
                }
                Err(error) => {
                    writer.number(error.class as u64);
                    writer.text(&error.detail);
                    own_error = Some(error);
                }
            }
            words = writer.0;
        }
        self.tell_words(communicator, root, &mut words)?;
        let Some((&class, rest)) = words.split_first() else {
            return Err(Error::new(MPI_ERR_INTERN, "the root of a connection has said nothing"));
        };
        if class != 0 {
            let told = || Error::new(class as i32, Reader(rest).text().unwrap_or_default());
            return Err(own_error.unwrap_or_else(told));
        }
        let agreement = Agreement::read(rest)?;
        if agreement.foreign {
            let swap = speaker.as_mut().map(|(_, swap)| &mut **swap as Swap<'_>);
            self.meet_strangers(communicator, root, &agreement, swap).inspect_err(|_| {
                self.lock().part_from_strangers();
            })?;
        }
        // Until here the maker has kept the bridge, so that the others could open it.
        drop(made);
        let (group, remote) = self.with(|state| {
            let members = agreement.theirs.members.iter().map(|member| state.process(*member));
            let remote = Group::of(members.collect::<Result<Vec<Process>>>()?);
            if let Transport::Bridged(bridged) = &mut state.transport {
                remote.processes().for_each(|process| bridged.settle(process.0));
            }
            Ok((Arc::clone(&state.communicators.get(communicator)?.group), remote))
        })?;
        if group.processes().any(|process| remote.contains(process)) {
            return Err(Error::new(MPI_ERR_COMM, "the two groups of an inter-communicator must be disjoint"));
        }
        self.insert(agreement.context, agreement.local_context, group, Some(Arc::new(remote)))
    }

    /// Opens the ways to the processes of the other group, once all of both groups can.
    fn meet_strangers(
        &self,
        communicator: Key,
        root: u32,
        agreement: &Agreement,
        mut swap: Option<Swap<'_>>,
    ) -> Result<()> {
        let mut number_swapped = |own: Result<u32>| {
            let swap = swap.as_mut().map(|swap| &mut **swap as Swap<'_>);
            let numbers = self.swap_numbers(communicator, root, own.as_ref().ok().copied(), swap)?;
            let other = "another process could not open the connection between the two jobs";
            own.and_then(|_| numbers.ok_or_else(|| Error::new(MPI_ERR_OTHER, other)))
        };
        let Some(carrier) = agreement.carrier else {
            return number_swapped(self.open(communicator, agreement).map(|()| 0)).map(drop);
        };
        let numbers = number_swapped(self.number_at(carrier))?;
        let known = self.with(|state| state.know_carried(carrier, &agreement.theirs, &numbers));
        number_swapped(known.map(|()| 0)).map(drop)
    }

    /// The numbers of the processes of the other group; none unless all processes of both have one.
    fn swap_numbers(
        &self,
        communicator: Key,
        root: u32,
        own: Option<u32>,
        swap: Option<Swap<'_>>,
    ) -> Result<Option<Vec<u32>>> {
        // Without a number: all bits.
        let own = own.map_or(u64::MAX, u64::from);
        let ours = words_of(&self.gather_locally(communicator, &own.to_le_bytes())?);
        let mut theirs = Vec::new();
        if let Some(swap) = swap {
            theirs = swap(&ours).unwrap_or_default();
        }
        self.tell_words(communicator, root, &mut theirs)?;
        let all_well = !theirs.is_empty() && ours.iter().chain(&theirs).all(|&number| number != u64::MAX);
        Ok(all_well.then(|| theirs.iter().map(|&number| number as u32).collect()))
    }

    /// The speakers agree: on a context, and on a bridge if there has to be one.
    fn agree(&self, communicator: Key, root: u32, swap: Swap<'_>) -> Result<(Agreement, Option<Bridge>)> {
        let (ours, local_context) = self.party(communicator, root)?;
        let mut writer = Writer::default();
        ours.write(&mut writer);
        let theirs = Party::read(&mut Reader(&swap(&writer.0)?))?;
        let foreign = ours.is_foreign_to(&theirs);
        let side = if ours.speaker < theirs.speaker { Side::Left } else { Side::Right };
        let (mut bridge, mut made) = (String::new(), None);
        if foreign {
            ours.check_reach(&theirs)?;
        }
        let carrier = ours.carrier_with(&theirs);
        if foreign && carrier.is_none() && ours.means == Means::Memory {
            (bridge, made) = bridge_between(&ours, &theirs, side, swap)?;
        }
        let context = ours.context.min(theirs.context);
        Ok((Agreement { context, local_context, bridge, side, foreign, carrier, theirs }, made))
    }

    /// What the group of a communicator says of itself, and a context for its own use.
    fn party(&self, communicator: Key, root: u32) -> Result<(Party, u64)> {
        let (means, directory) = self.means();
        let posts = self.posts();
        let place = match means {
            Means::Nothing => String::new(),
            _ if posts > 0 => String::new(),
            _ => self.waiter.job().map_err(refused)?.map_or_else(String::new, |job| job.environment()),
        };
        self.with(|state| {
            let group = Arc::clone(&state.communicators.get(communicator)?.group);
            let members: Vec<Identity> = group.processes().map(|process| state.identity(process)).collect();
            let mut jobs = vec![Access { key: state.strangers.own_job, posts, place, directory }];
            for member in &members {
                if !jobs.iter().any(|job| job.key == member.job) {
                    jobs.push(state.access(member.job)?.clone());
                }
            }
            let (context, local) = (state.make_context(), state.make_context());
            let (namespace, host) = (process::namespace(), self.facts.host.clone());
            let speaker = members[root as usize];
            Ok((Party { speaker, context, means, namespace, host, jobs, members }, local))
        })
    }

    /// How processes of other jobs reach this one.
    pub(super) fn means(&self) -> (Means, Option<PathBuf>) {
        match self.lock().transport.to_own_job() {
            Transport::Alone | Transport::SharedMemory(_) | Transport::Hosts(_) => (Means::Memory, None),
            Transport::File(files) => (Means::Files, files.directory()),
            Transport::Simulated(_) | Transport::Bridged(_) => (Means::Nothing, None),
        }
    }

    /// How many hosts have a post of this job.
    fn posts(&self) -> u32 {
        let hosts = self.facts.placement.hosts();
        match self.lock().transport.to_own_job() {
            Transport::File(files) if files.is_central() => hosts,
            _ if hosts > 1 => hosts,
            _ => 0,
        }
    }

    /// The key of this job and the number of this host, if posts of the job lead here from its other hosts.
    pub fn home(&self) -> Option<(u64, u32)> {
        let host = self.facts.placement.host_of(self.facts.rank);
        (self.posts() > 0).then(|| (self.lock().strangers.own_job, host))
    }

    /// Whether this process exchanges messages as files, as a job must that it is to be connected with.
    ///
    /// # Errors
    /// When it cannot be connected with any.
    pub fn uses_files(&self) -> Result<bool> {
        match self.means().0 {
            Means::Memory => Ok(false),
            Means::Files => Ok(true),
            Means::Nothing => {
                Err(Error::new(MPI_ERR_OTHER, "a simulated process cannot be connected with other jobs"))
            }
        }
    }

    /// Opens what leads to the other group's processes of other jobs.
    fn open(&self, communicator: Key, agreement: &Agreement) -> Result<()> {
        let bridge = match agreement.bridge.as_str() {
            "" => None,
            place => Some(Arc::new(Bridge::open(place).map_err(refused)?)),
        };
        let which = which_once(self.facts.settings.long_messages, self.facts.crowded);
        let single_copy = which == SingleCopy::Always;
        self.with(|state| {
            let own = state.communicators.get(communicator)?.rank;
            for access in &agreement.theirs.jobs {
                state.get_to_know(access, true)?;
            }
            for (other, identity) in (0..).zip(&agreement.theirs.members) {
                if identity.job == state.strangers.own_job {
                    continue;
                }
                let Some((access, Some(job))) = state.strangers.jobs.get(&identity.job).cloned() else {
                    return Err(Error::new(
                        MPI_ERR_INTERN,
                        "a process of the other group has an unknown job",
                    ));
                };
                if identity.rank >= job.placement().ranks() {
                    return Err(Error::new(
                        MPI_ERR_INTERN,
                        "a process of the other group has no rank of its job",
                    ));
                }
                let number = state.meet(*identity);
                if state.carried(number).is_some() {
                    return Err(already_connected());
                }
                match (&bridge, access.directory) {
                    (Some(bridge), _) => {
                        let (bridge, side) = (Arc::clone(bridge), agreement.side);
                        let far = Far { job, rank: identity.rank, bridge, side, own, other };
                        let bridged = state.bridged();
                        bridged.single_copy = single_copy;
                        bridged.join(number, far);
                    }
                    (None, Some(directory)) => state.join_files(number, *identity, directory)?,
                    (None, None) => {
                        return Err(Error::new(MPI_ERR_INTERN, "the other job has no directory"));
                    }
                }
            }
            Ok(())
        })
    }
}

/// One of the speakers makes the bridge, and tells the other where it is.
fn bridge_between(
    ours: &Party,
    theirs: &Party,
    side: Side,
    swap: Swap<'_>,
) -> Result<(String, Option<Bridge>)> {
    let (left, right) = (ours.members.len() as u32, theirs.members.len() as u32);
    if side == Side::Right {
        let place = Reader(&swap(&[0])?).text().filter(|place| !place.is_empty());
        let missing =
            || Error::new(MPI_ERR_OTHER, "the other group could not make the bridge between the jobs");
        return Ok((place.ok_or_else(missing)?, None));
    }
    let made = Bridge::create(left, right, Shape::default_ring_bytes(left + right)).map_err(refused);
    let mut writer = Writer::default();
    writer.text(&made.as_ref().map_or_else(|_| String::new(), Bridge::place));
    swap(&writer.0)?;
    made.map(|bridge| (bridge.place(), Some(bridge)))
}

impl State {
    /// Takes note of another job, and opens its segment if that is needed.
    fn get_to_know(&mut self, access: &Access, segment: bool) -> Result<()> {
        if access.key == self.strangers.own_job {
            return Ok(());
        }
        let (_, known) = self.strangers.jobs.entry(access.key).or_insert_with(|| (access.clone(), None));
        if segment && known.is_none() {
            *known = Some(Arc::new(Job::open(&access.place).map_err(refused)?));
        }
        Ok(())
    }

    /// The number of a process of another job that is met.
    fn meet(&mut self, identity: Identity) -> u32 {
        let number = self.strangers.meet(identity);
        if self.outgoing.len() <= number as usize {
            self.outgoing.resize_with(number as usize + 1, Default::default);
        }
        number
    }

    /// From now on the posts of `carrier` lead to the processes of the other group, whose numbers there are these.
    fn know_carried(&mut self, carrier: u64, theirs: &Party, numbers: &[u32]) -> Result<()> {
        for access in &theirs.jobs {
            self.get_to_know(access, false)?;
        }
        if numbers.len() != theirs.members.len() {
            return Err(Error::new(MPI_ERR_INTERN, "not all processes of the other group have a number"));
        }
        for (identity, &there) in theirs.members.iter().zip(numbers) {
            if identity.job == self.strangers.own_job {
                continue;
            }
            let number = self.meet(*identity);
            if self.carried(number).is_some_and(|(other, _)| other != carrier) {
                return Err(already_connected());
            }
            let at_home = carrier == self.strangers.own_job;
            if let Transport::File(files) = &mut self.transport {
                files.carry(number, (!at_home).then_some(carrier), there)?;
            } else {
                self.bridged().carry(number, (!at_home).then_some(carrier), there);
            }
            self.strangers.known[(number - self.strangers.ranks) as usize].carried = Some((carrier, there));
        }
        Ok(())
    }

    /// The transport with bridges, which the one to this job's processes becomes when the first is needed.
    pub(super) fn bridged(&mut self) -> &mut Bridged {
        if !matches!(self.transport, Transport::Bridged(_)) {
            let inner = std::mem::replace(&mut self.transport, Transport::Alone);
            let bridged = Bridged::new(inner, self.strangers.ranks);
            self.transport = Transport::Bridged(Box::new(bridged));
        }
        match &mut self.transport {
            Transport::Bridged(bridged) => bridged,
            _ => unreachable!("it has just become one"),
        }
    }

    fn join_files(&mut self, number: u32, identity: Identity, directory: PathBuf) -> Result<()> {
        match &mut self.transport {
            Transport::File(files) => files.join(number, identity, &directory),
            _ => Err(Error::new(MPI_ERR_INTERN, "the other job sends files, and this one does not")),
        }
    }
}

fn already_connected() -> Error {
    let detail = "the processes are connected already, through another job; disconnect them first";
    Error::new(MPI_ERR_OTHER, detail)
}

pub(super) fn refused(error: postrider_os::error::Error) -> Error {
    Error::new(MPI_ERR_OTHER, error.to_string())
}
