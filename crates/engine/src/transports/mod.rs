//! Ways for packets to get from one process to another. A transport knows packets, not messages, and keeps one promise:
//! packets from one process to one other arrive once, whole and in order.
//!
//! [`Transport`] is a closed choice, so that the small-message path has no indirect call. Each has a file of its own and
//! none knows of the others; `conformance` runs one suite over all of them.

pub mod bridged;
pub mod file;
pub mod hosts;
mod post;
pub mod shared_memory;
pub mod simulated;
pub mod wire;

use std::io::{self, ErrorKind};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use postrider_abi::MPI_ERR_OTHER;
use postrider_os::file::Inbox;
use postrider_os::hosts::Placement;
use postrider_os::invitation::{Card, Invitation};
use postrider_os::job::{self, Job, Shape};
use postrider_os::memory::UserMemory;
use postrider_os::process;
use postrider_os::wait::{Doorbell, OwnBell};

use crate::error::{Error, Result};
use post::Watch;
use wire::Header;

/// Rings in a job of one rank, which nothing travels through.
const LONER_RING_BYTES: u32 = 4096;

/// The transport between this process and the others of its job.
#[derive(Debug)]
pub enum Transport {
    /// There is nobody else.
    Alone,
    /// Rings in shared memory.
    SharedMemory(shared_memory::SharedMemory),
    /// Rings in shared memory to the processes of this host, and the post to those of others.
    Hosts(Box<hosts::Hosts>),
    /// A file per packet.
    File(file::FileTransport),
    /// A network in this process's memory, for tests.
    Simulated(simulated::Simulated),
    /// Rings to processes of other jobs, beside one of these.
    Bridged(Box<bridged::Bridged>),
}

/// What a transport can do, for the protocol's choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest message that is sent at once, without asking the receiver.
    pub eager_bytes_max: u64,
    /// The longest piece of an announced message.
    pub piece_bytes_max: usize,
    /// Which announced messages the receiver reads from the sender's memory.
    pub single_copy: SingleCopy,
}

/// Which announced messages receivers read from the sender's memory, where the system allows that. Others come in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SingleCopy {
    /// None.
    Never,
    /// Those of senders that wait for a message themselves. Pieces keep both ends busy: for one message at a time that is faster, and
    /// for two that cross it is twice the work.
    Crossing,
    /// All.
    Always,
}

impl SingleCopy {
    /// All or none.
    #[must_use]
    pub fn all_if(wanted: bool) -> Self {
        if wanted { Self::Always } else { Self::Never }
    }
}

/// Which messages for several processes of this host are sent at the cost of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Multicast {
    /// The shortest.
    pub bytes_min: u64,
    /// The longest.
    pub bytes_max: u64,
    /// What one more receiver costs, as the length of a message whose copy costs the same; 0 for next to nothing.
    pub bytes_per_receiver: u64,
}

impl Multicast {
    /// None.
    pub const NONE: Self = Self { bytes_min: u64::MAX, bytes_max: 0, bytes_per_receiver: 0 };
    /// All, and another receiver costs next to nothing.
    pub const ALL: Self = Self { bytes_min: 0, bytes_max: u64::MAX, bytes_per_receiver: 0 };

    /// Whether it takes messages of this length.
    #[inline]
    #[must_use]
    pub fn takes(&self, bytes: u64) -> bool {
        self.bytes_min <= bytes && bytes <= self.bytes_max
    }
}

/// How many packets this process has sent to processes of other hosts, less those that it has taken from there: the sum over all
/// processes is what is on its way.
#[derive(Clone, Copy, Debug, Default)]
pub struct Balance(i64);

impl Balance {
    /// So many packets were sent to another host.
    #[inline]
    pub(crate) fn sent(&mut self, packets: usize) {
        self.0 = self.0.wrapping_add(packets as i64);
    }

    /// A packet was taken that has come from another host.
    #[inline]
    pub(crate) fn took_one(&mut self) {
        self.0 = self.0.wrapping_sub(1);
    }
}

/// A packet that has arrived. Give it back with [`Transport::release`] when its body is no longer needed.
#[derive(Debug)]
pub struct Incoming {
    /// The process that sent it.
    pub peer: u32,
    /// Its header.
    pub header: Header,
    /// What follows the header.
    pub body: Body,
}

/// The bytes that follow a packet's header.
#[derive(Debug)]
pub enum Body {
    /// In memory, until the packet is released.
    Memory(UserMemory, usize),
    /// In a file, for as long as this value lives.
    File(file::MessageFile),
}

impl Body {
    /// Length in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self {
            Self::Memory(_, bytes) => *bytes,
            Self::File(file) => file.bytes(),
        }
    }
}

/// How a process sleeps until a packet may have come. Shared by the threads of a process, outside of the engine's lock.
#[derive(Clone, Debug)]
pub enum Waiter {
    /// Nothing can come but from other threads of this process.
    Alone(Arc<Loner>),
    /// A futex in the job segment.
    Doorbell(Arc<Job>, u32),
    /// The inbox's directory.
    Inbox(Arc<Inbox>, Arc<Job>, u32),
    /// The simulated network.
    Simulated(simulated::Bell),
}

/// A process that nobody launched. Its own threads wake it, until it meets processes of other jobs: then it has a job of its own,
/// whose only rank it is, and they wake it as any rank.
#[derive(Debug, Default)]
pub struct Loner {
    bell: OwnBell,
    job: OnceLock<Arc<Job>>,
}

impl Loner {
    fn doorbell(&self) -> Doorbell<'_> {
        self.job.get().map_or_else(|| self.bell.doorbell(), |job| job.doorbell(0))
    }

    /// The job of its own, made when it is first asked for.
    ///
    /// # Errors
    /// When the system has no memory or descriptor left.
    fn own_job(&self) -> postrider_os::error::Result<Arc<Job>> {
        if let Some(job) = self.job.get() {
            return Ok(Arc::clone(job));
        }
        let (transport, ring_bytes) = (job::Transport::SharedMemory, LONER_RING_BYTES);
        let shape = Shape { cores: process::cores(), transport, ring_bytes };
        let made = Job::create(shape, &Placement::one_host(1), 0)?;
        let _nobody_else_knows_it = made.slot(0).claim();
        made.slot(0).set_state(job::State::Initialized);
        process::allow_neighbours();
        let job = Arc::clone(self.job.get_or_init(|| Arc::new(made)));
        // Threads that sleep already do so at the other bell.
        self.bell.doorbell().ring();
        Ok(job)
    }
}

/// What [`Waiter::prepare`] saw; [`Waiter::sleep`] returns at once if something has come since.
#[derive(Clone, Debug)]
pub enum Ticket {
    /// Of a doorbell.
    Futex(postrider_os::wait::Ticket),
    /// Of a doorbell too, beside a link.
    Watch(Watch),
    /// The system keeps count by itself; how often threads had been woken.
    Kept(u64),
}

impl Waiter {
    /// Announces the wish to sleep, with a link to watch or without; the caller must look once more for what it waits for
    /// before it does.
    #[must_use]
    pub fn prepare(&self, watch: Option<Watch>) -> Ticket {
        match (self, watch) {
            (Self::Alone(loner), _) => Ticket::Futex(loner.doorbell().prepare()),
            (Self::Doorbell(job, rank), Some(watch)) => {
                job.doorbell(*rank).prepare_tower();
                Ticket::Watch(watch)
            }
            (Self::Doorbell(job, rank), None) => Ticket::Futex(job.doorbell(*rank).prepare()),
            (Self::Inbox(inbox, ..), _) => Ticket::Kept(inbox.calls()),
            (Self::Simulated(_), _) => Ticket::Kept(0),
        }
    }

    /// The same for the helper, while the program computes.
    #[must_use]
    pub fn prepare_beside(&self) -> Ticket {
        match self {
            Self::Alone(loner) => Ticket::Futex(loner.doorbell().prepare_beside()),
            Self::Doorbell(job, rank) => Ticket::Futex(job.doorbell(*rank).prepare_beside()),
            Self::Inbox(inbox, ..) => Ticket::Kept(inbox.calls()),
            Self::Simulated(_) => Ticket::Kept(0),
        }
    }

    /// Whether a rank of this host has a helper that can be called.
    #[must_use]
    pub fn has_helpers(&self) -> bool {
        self.seat().is_some_and(|(job, _)| job.has_helpers())
    }

    /// Calls the helpers of those that compute: this process waits, perhaps for one of them.
    pub fn call_helpers(&self) {
        if let Some((job, _)) = self.seat().filter(|(job, _)| job.has_helpers()) {
            job.local_ranks().iter().for_each(|&rank| job.call_helper(rank));
        }
    }

    /// Takes the announcement back, before a sleep or after it; only when no other thread of this process is asleep.
    pub fn stay_awake(&self) {
        match self {
            Self::Alone(loner) => loner.doorbell().stay_awake(),
            Self::Doorbell(job, rank) => job.doorbell(*rank).stay_awake(),
            Self::Inbox(..) | Self::Simulated(_) => {}
        }
    }

    /// Sleeps until something may have come or `limit` has passed, which is what true means.
    pub fn sleep(&self, ticket: Ticket, limit: Duration) -> bool {
        match (self, ticket) {
            (_, Ticket::Watch(watch)) => {
                let nothing_came = watch.sleep(limit);
                if let Self::Doorbell(job, rank) = self {
                    job.doorbell(*rank).leave_tower();
                }
                nothing_came
            }
            (Self::Alone(loner), Ticket::Futex(ticket)) => loner.doorbell().sleep(ticket, Some(limit)),
            (Self::Doorbell(job, rank), Ticket::Futex(ticket)) => {
                job.doorbell(*rank).sleep(ticket, Some(limit))
            }
            (Self::Inbox(inbox, ..), Ticket::Kept(calls)) => inbox.sleep(calls, limit),
            (Self::Inbox(..), Ticket::Futex(_)) => false,
            (Self::Simulated(bell), _) => bell.sleep(limit),
            (Self::Alone(_) | Self::Doorbell(..), Ticket::Kept(_)) => false,
        }
    }

    /// Whether more ranks are awake than their host has cores, as far as that is known.
    #[inline]
    #[must_use]
    pub fn is_crowded(&self) -> bool {
        match self {
            Self::Doorbell(job, _) => job.awake() > job.shape().cores,
            Self::Alone(_) | Self::Inbox(..) | Self::Simulated(_) => true,
        }
    }

    /// This process begins to use MPI.
    pub fn begin(&self) {
        if let Self::Doorbell(job, _) = self {
            job.count_in();
        }
    }

    /// Makes sure that waiting still makes sense.
    ///
    /// # Errors
    /// When the launcher is gone: then nobody ends this job but its ranks.
    pub fn check(&self) -> Result<()> {
        match self {
            Self::Doorbell(job, _) | Self::Inbox(_, job, _) if !job.launcher_runs() => {
                Err(Error::new(MPI_ERR_OTHER, "the launcher, postrider run, is gone; this rank ends with it"))
            }
            _ => Ok(()),
        }
    }

    /// The segment in which this process says for its launcher that it waits, and its rank; none if it has no launcher.
    #[inline]
    #[must_use]
    pub fn seat(&self) -> Option<(&Job, u32)> {
        match self {
            Self::Doorbell(job, rank) | Self::Inbox(_, job, rank) => Some((job, *rank)),
            Self::Alone(_) | Self::Simulated(_) => None,
        }
    }

    /// The segment through which others wake this process; none in a simulation.
    ///
    /// # Errors
    /// When there is none yet, and the system has no memory or descriptor left.
    pub fn job(&self) -> postrider_os::error::Result<Option<Arc<Job>>> {
        match self {
            Self::Alone(loner) => loner.own_job().map(Some),
            Self::Doorbell(job, _) | Self::Inbox(_, job, _) => Ok(Some(Arc::clone(job))),
            Self::Simulated(_) => Ok(None),
        }
    }

    /// Says that this process is about to end, if nobody else does so.
    pub fn leave(&self) {
        if let Self::Doorbell(job, _) = self {
            job.count_out();
        }
        if let Self::Alone(loner) = self
            && let Some(job) = loner.job.get()
        {
            job.slot(0).set_state(job::State::Finalized);
        }
    }

    /// Wakes the other threads of this process.
    pub fn wake_others(&self) {
        match self {
            Self::Alone(loner) => loner.doorbell().ring(),
            Self::Doorbell(job, rank) => job.doorbell(*rank).ring(),
            Self::Inbox(inbox, ..) => inbox.wake(),
            Self::Simulated(bell) => bell.ring(),
        }
    }
}

impl Transport {
    /// Packets sent through posts less those taken from there.
    #[inline]
    pub(crate) fn balance(&self) -> i64 {
        match self {
            Self::Hosts(transport) => transport.balance.0,
            Self::File(transport) => transport.balance(),
            Self::Bridged(transport) => transport.balance(),
            Self::Alone | Self::SharedMemory(_) | Self::Simulated(_) => 0,
        }
    }

    /// What leads to the processes of this job.
    pub(crate) fn to_own_job(&self) -> &Self {
        match self {
            Self::Bridged(bridged) => &bridged.inner,
            other => other,
        }
    }

    /// The posts of job `carrier` are not needed any more. Returns the packets sent through them, less those taken from there.
    pub(crate) fn leave(&mut self, carrier: u64) -> i64 {
        match self {
            Self::Bridged(transport) => transport.leave(carrier),
            Self::File(transport) => transport.leave(carrier),
            Self::Alone | Self::SharedMemory(_) | Self::Hosts(_) | Self::Simulated(_) => 0,
        }
    }

    /// What can be done on the way to `peer`.
    #[inline]
    #[must_use]
    pub fn limits(&self, peer: u32) -> Limits {
        match self {
            Self::Alone => {
                Limits { eager_bytes_max: u64::MAX, piece_bytes_max: 0, single_copy: SingleCopy::Never }
            }
            Self::SharedMemory(transport) => transport.limits(),
            Self::Hosts(transport) => transport.limits(peer),
            Self::File(transport) => transport.limits(peer),
            Self::Simulated(transport) => transport.limits(),
            Self::Bridged(transport) => transport.limits(peer),
        }
    }

    /// Sends a packet whose body is the `bytes` bytes at `body`. False when there is no room now: try again after progress.
    ///
    /// # Errors
    /// When the system refuses: a full disk, a directory that is gone.
    #[inline]
    pub fn send(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: usize) -> Result<bool> {
        match self {
            Self::Alone => unreachable!("a process sends to itself without a transport"),
            Self::SharedMemory(transport) => Ok(transport.send(peer, header, body, bytes)),
            Self::Hosts(transport) => Ok(transport.send(peer, header, body, bytes)),
            Self::File(transport) => {
                let sent = transport.send(peer, header, body, bytes)?;
                transport.count(peer, |balance| balance.sent(usize::from(sent)));
                Ok(sent)
            }
            Self::Simulated(transport) => Ok(transport.send(peer, header, body, bytes)),
            Self::Bridged(transport) => transport.send(peer, header, body, bytes),
        }
    }

    /// The messages that [`Transport::multicast`] is for.
    #[inline]
    #[must_use]
    pub fn multicast_lengths(&self) -> Multicast {
        match self {
            Self::File(transport) => transport.multicast_lengths(),
            Self::SharedMemory(_) | Self::Hosts(_) => shared_memory::SharedMemory::multicast_lengths(),
            Self::Alone | Self::Simulated(_) | Self::Bridged(_) => Multicast::NONE,
        }
    }

    /// Whether `peer` can be among the receivers of a [`Transport::multicast`].
    #[must_use]
    pub fn is_in_multicast(&self, peer: u32) -> bool {
        match self {
            Self::File(transport) => transport.links_to(peer),
            Self::Hosts(transport) => transport.is_near(peer),
            Self::SharedMemory(_) => true,
            Self::Alone | Self::Simulated(_) | Self::Bridged(_) => false,
        }
    }

    /// Sends a message to several processes for which [`Transport::is_in_multicast`] holds, and returns how many of them, from
    /// the first on, have got it: the others want one of their own.
    ///
    /// # Errors
    /// As [`Transport::send`].
    pub fn multicast(
        &mut self,
        peers: &[u32],
        header: &Header,
        body: UserMemory,
        bytes: usize,
    ) -> Result<usize> {
        match self {
            Self::File(transport) => {
                let sent = transport.multicast(peers, header, body, bytes)?;
                for &peer in &peers[..sent] {
                    transport.count(peer, |balance| balance.sent(1));
                }
                Ok(sent)
            }
            Self::SharedMemory(transport) => Ok(transport.multicast(peers, header, body, bytes)),
            Self::Hosts(transport) => Ok(transport.multicast(peers, header, body, bytes)),
            Self::Alone | Self::Simulated(_) | Self::Bridged(_) => Ok(0),
        }
    }

    /// The next packet, if one has arrived.
    ///
    /// # Errors
    /// When the system refuses to hand it over.
    #[inline]
    pub fn receive(&mut self) -> Result<Option<Incoming>> {
        match self {
            Self::Alone => Ok(None),
            Self::SharedMemory(transport) => Ok(transport.receive()),
            Self::Hosts(transport) => transport.receive(),
            Self::File(transport) => {
                let found = transport.receive()?;
                if let Some(incoming) = &found {
                    transport.count(incoming.peer, Balance::took_one);
                }
                Ok(found)
            }
            Self::Simulated(transport) => Ok(transport.receive()),
            Self::Bridged(transport) => transport.receive(),
        }
    }

    /// Gives back the place of the packet that [`Transport::receive`] returned last.
    #[inline]
    pub fn release(&mut self) {
        match self {
            Self::SharedMemory(transport) => {
                transport.release();
            }
            Self::Hosts(transport) => transport.release(),
            Self::Bridged(transport) => transport.release(),
            Self::Alone | Self::File(_) | Self::Simulated(_) => {}
        }
    }

    /// The short way of a short message: sends it if `peer` has a ring, and there is room in it.
    #[inline]
    pub(crate) fn send_short(&mut self, peer: u32, header: &Header, body: UserMemory, bytes: u64) -> bool {
        match self {
            Self::SharedMemory(transport) => {
                bytes <= transport.eager_bytes_max() && transport.send(peer, header, body, bytes as usize)
            }
            Self::Hosts(transport) => {
                bytes <= transport.limits(peer).eager_bytes_max
                    && transport.send(peer, header, body, bytes as usize)
            }
            Self::Bridged(transport) => transport.send_short(peer, header, body, bytes),
            Self::Alone | Self::File(_) | Self::Simulated(_) => false,
        }
    }

    /// Whether what is sent to `peer` is with it at once, so that its answer is worth waiting for awake.
    #[must_use]
    pub fn is_near(&self, peer: u32) -> bool {
        match self {
            Self::Hosts(transport) => transport.is_near(peer),
            Self::Bridged(transport) => transport.is_near(peer),
            _ => true,
        }
    }

    /// Whether a long message is on its way from another host or to it.
    #[must_use]
    pub fn streams(&self) -> bool {
        match self {
            Self::Hosts(transport) => transport.streams(),
            Self::Bridged(transport) => transport.inner.streams(),
            _ => false,
        }
    }

    /// This process is about to sleep, and only waits: others must bring what comes, and wake it, unless there is something to watch. It is
    /// `alone` when no other thread of it sleeps.
    pub fn rest(&mut self, alone: bool) -> Option<Watch> {
        match self {
            Self::Hosts(transport) => transport.rest(alone),
            Self::Bridged(transport) => transport.inner.rest(alone),
            _ => None,
        }
    }

    /// How long that sleep may last, when there may be room for what has waited although nobody says so.
    #[must_use]
    pub fn pause(&self) -> Option<Duration> {
        match self {
            Self::Hosts(transport) => transport.pause(),
            Self::Bridged(transport) => transport.inner.pause(),
            _ => None,
        }
    }

    /// This process no longer only waits. True when what has waited for room can be sent now, in a way that does not need this process.
    pub fn rise(&mut self) -> bool {
        match self {
            Self::Hosts(transport) => transport.rise(),
            Self::Bridged(transport) => transport.inner.rise(),
            _ => false,
        }
    }

    /// The rings of this host, and the place of `peer` there, if it is of this job and has one.
    fn rings_to(&self, peer: u32) -> Option<(&shared_memory::SharedMemory, u32)> {
        match self {
            Self::SharedMemory(transport) => Some((transport, peer)),
            Self::Hosts(transport) => transport.rings_to(peer),
            Self::Bridged(transport) => transport.to_inner(peer)?.rings_to(peer),
            Self::Alone | Self::File(_) | Self::Simulated(_) => None,
        }
    }

    /// Where in the ring to `peer` the next packet will begin, if it has one.
    pub(crate) fn position_of_next(&self, peer: u32) -> Option<u64> {
        self.rings_to(peer).map(|(rings, place)| rings.position_of_next(place))
    }

    /// Invites `peer` to write the message that comes next from it, at a position of its ring; returns the card.
    pub(crate) fn invite(&self, peer: u32, invitation: impl FnOnce(u64) -> Invitation) -> Option<usize> {
        self.rings_to(peer).and_then(|(rings, place)| rings.invite(place, invitation))
    }

    /// A card of this process, whose rank is `own`.
    pub(crate) fn card(&self, own: u32, index: usize) -> Option<Card<'_>> {
        self.rings_to(own).map(|(rings, place)| rings.cards(place)[index])
    }

    /// Nobody is to write anything to this process any more.
    pub(crate) fn uninvite(&self, own: u32) {
        let cards = self.rings_to(own).map(|(rings, place)| rings.cards(place));
        cards.iter().flatten().for_each(|card| {
            let _ = card.take_back();
        });
    }

    /// Accepts an invitation of `peer` that is meant for a message.
    pub(crate) fn accept(&self, peer: u32, is_meant: impl Fn(&Invitation) -> bool) -> Option<Invitation> {
        let (rings, place) = self.rings_to(peer)?;
        rings.cards(place).iter().find_map(|card| card.accept(&is_meant))
    }

    /// How many calls of MPI `peer` has made, if it can be seen that it is in none now.
    pub(crate) fn calls_of_computing(&self, peer: u32) -> Option<u64> {
        let (job, rank) = self.seat(peer)?;
        let slot = job.slot(rank);
        (!slot.is_in_mpi()).then(|| slot.calls())
    }

    /// The segment in which `peer` says what it does, and its rank there; none where that cannot be seen.
    fn seat(&self, peer: u32) -> Option<(&Job, u32)> {
        match self {
            Self::SharedMemory(transport) => Some((transport.job(), peer)),
            Self::Hosts(transport) => transport.is_near(peer).then(|| (transport.rings.job(), peer)),
            Self::Bridged(transport) => transport.seat(peer),
            Self::Alone | Self::File(_) | Self::Simulated(_) => None,
        }
    }

    /// Whether `peer` is in a call of MPI that waits, as far as can be seen. Where nobody has a helper nobody has left an operation behind.
    #[must_use]
    pub fn waits(&self, peer: u32) -> bool {
        self.seat(peer).is_none_or(|(job, rank)| !job.has_helpers() || job.slot(rank).waits())
    }

    /// Whether `peer` is in a call of MPI, as far as can be seen.
    #[must_use]
    pub fn is_in_mpi(&self, peer: u32) -> bool {
        self.seat(peer).is_none_or(|(job, rank)| job.slot(rank).is_in_mpi())
    }

    /// Copies `bytes` bytes at `address` of process `peer` to `into`; false when the system does not allow it.
    pub fn fetch(&mut self, peer: u32, address: u64, into: UserMemory, bytes: usize) -> bool {
        self.copy_across(peer, |pid| process::read_from(pid, address, into, bytes))
    }

    /// Copies `bytes` bytes at `from` to `address` of process `peer`; false when the system does not allow it: then some of them
    /// may have been copied.
    pub fn store(&mut self, peer: u32, address: u64, from: UserMemory, bytes: usize) -> bool {
        self.copy_across(peer, |pid| process::write_to(pid, address, from, bytes))
    }

    /// Does a copy between address spaces, given the number of the other process; false when the system does not allow it.
    fn copy_across(&mut self, peer: u32, copy: impl FnOnce(u32) -> io::Result<()>) -> bool {
        match self {
            Self::SharedMemory(transport) => transport.copy_across(peer, copy),
            Self::Hosts(transport) => transport.copy_across(peer, copy),
            // All processes of a simulation share one address space.
            Self::Simulated(transport) => {
                transport.limits().single_copy != SingleCopy::Never && copy(std::process::id()).is_ok()
            }
            Self::Bridged(transport) => transport.copy_across(peer, copy),
            Self::Alone | Self::File(_) => false,
        }
    }
}

/// Whether a copy between address spaces has failed for a reason that all others will have. An address that is not there, or cannot be read
/// so because it is a device's, is a matter of one message.
fn is_forbidden(copied: &io::Result<()>) -> bool {
    let for_all =
        |error: &io::Error| matches!(error.kind(), ErrorKind::PermissionDenied | ErrorKind::Unsupported);
    copied.as_ref().is_err_and(for_all)
}
