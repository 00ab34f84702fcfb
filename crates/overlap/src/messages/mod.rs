//! Blocking sends and receives, made asynchronous (the paper, chapter II).
//!
//! A receive goes to memory of ours, and the allocation of the program that it is meant for is closed; a send is packed and goes on from
//! there. Everything that is pending is completed together: when the program touches the data, inside the last call of a chain, or
//! before any other call that could see a difference. `predictor` says which calls are worth it.

pub mod predictor;
mod statuses;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use postrider_abi::*;
use postrider_client::layout::{self, Layout};
use postrider_client::shape::Shape;
use postrider_client::{Buffer, Communicator, Datatype, Error, Handling, Mpi, Transfer};

use crate::memory::{self, Pool, Range, statics};
use crate::settings::{self, Memory};
use crate::{ATTENTION, MESSAGES};
use predictor::{Call, METHODS, Method, Predictor, Step};
use statuses::{Statuses, Ticket};

/// Longer sends are not copied, but left as they are.
const COPY_MAX: i64 = 64 << 20;
/// Pairs of buffers with more pieces than this count as overlapping.
const PIECES_MAX: usize = 1 << 16;
/// How often the library is asked to send what it has accepted, when the program is going to compute.
const PUSHES: usize = 4;
/// Calls over which it is looked whether there is anything to gain.
const LOOK: u64 = 256;

/// One direction of a call.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// The buffer.
    pub address: usize,
    /// Number of elements.
    pub count: i64,
    /// Their datatype.
    pub datatype: MPI_Datatype,
    /// Destination or source.
    pub peer: i32,
    /// Tag.
    pub tag: i32,
}

/// A blocking call of the program.
#[derive(Clone, Copy, Debug)]
pub struct Blocking {
    /// Which function.
    pub function: u8,
    /// Its return address.
    pub site: usize,
    /// What it sends.
    pub send: Option<Part>,
    /// What it receives.
    pub receive: Option<Part>,
    /// On which communicator.
    pub communicator: MPI_Comm,
    /// The address of the status, if the program wants one.
    pub status: Option<usize>,
}

/// A receive on its way.
#[derive(Debug)]
struct Pending {
    transfer: Transfer,
    part: Part,
    /// What the program's status holds meanwhile.
    ticket: Option<Ticket>,
}

/// What is known of a communicator.
#[derive(Clone, Copy, Debug)]
struct Facts {
    /// Number of processes; none if it has two groups.
    size: Option<i32>,
    /// What becomes of errors.
    handling: Handling,
}

#[derive(Debug, Default)]
struct Layer {
    mpi: Option<Mpi>,
    predictor: Predictor,
    pending: Vec<Pending>,
    sends: Vec<Transfer>,
    closed: Vec<Range>,
    /// What later calls of the round send, packed before the memory was closed, by their places in the chain.
    packed: BTreeMap<usize, Vec<u8>>,
    layouts: BTreeMap<MPI_Datatype, Option<Layout>>,
    overlaps: BTreeMap<[(usize, i64, MPI_Datatype); 2], bool>,
    facts: BTreeMap<MPI_Comm, Facts>,
    statuses: Statuses,
    /// The code of an error that belongs to a call that has returned.
    late: Option<i32>,
    /// Calls that have returned an error.
    failing: BTreeSet<Call>,
    counts: Counts,
    /// Calls since it was last looked whether there is anything to gain, and the microseconds that they took.
    look: (u64, f64),
    pauses: u32,
}

/// What has happened, for the report.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Calls that were made asynchronous.
    pub asynchronous: u64,
    /// Calls that stayed as they are, by the reason.
    pub plain: BTreeMap<&'static str, u64>,
    /// How often everything was completed, by the reason.
    pub completed: BTreeMap<&'static str, u64>,
}

impl Counts {
    /// Whether no call was seen.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.asynchronous == 0 && self.plain.is_empty()
    }
}

/// A chain, for the report.
#[derive(Clone, Debug)]
pub struct ChainReport {
    /// How many calls it has.
    pub calls: usize,
    /// How it is carried out now.
    pub method: &'static str,
    /// Rounds by each method, and their microseconds.
    pub by: Vec<(&'static str, u64, f64)>,
}

impl ChainReport {
    /// All rounds.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        self.by.iter().map(|(_, rounds, _)| rounds).sum()
    }

    /// The time of all rounds.
    #[must_use]
    pub fn took_us(&self) -> f64 {
        self.by.iter().map(|(_, _, us)| us).sum()
    }

    /// The time that they would have taken with plain calls: the first method, as far as it was measured.
    #[must_use]
    pub fn plain_us(&self) -> f64 {
        match self.by.first() {
            Some((_, rounds, us)) if *rounds > 0 => us / *rounds as f64 * self.rounds() as f64,
            _ => self.took_us(),
        }
    }
}

static LAYER: Mutex<Option<Layer>> = Mutex::new(None);
/// 1 until this part stops: calls that make it stop have to be seen.
pub static WATCHING: AtomicU8 = AtomicU8::new(1);
/// 1 from the first call on that was made asynchronous: statuses that the program asks about may be unknown yet.
pub static STATUSES: AtomicU8 = AtomicU8::new(0);

/// For how many calls there is nothing to do; their first instructions count them.
pub static PAUSE: AtomicU64 = AtomicU64::new(0);

static OFF: AtomicBool = AtomicBool::new(false);

fn layer() -> MutexGuard<'static, Option<Layer>> {
    LAYER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this part works: no call is changed if it does not.
#[must_use]
fn is_off() -> bool {
    OFF.load(Relaxed)
}

/// Stops this part for good; what is pending is completed first, or, if the program is in the layer, when it comes out.
pub fn stop(why: &'static str) {
    if OFF.swap(true, Relaxed) {
        return;
    }
    complete(why);
    WATCHING.store(0, Relaxed);
    PAUSE.store(u64::MAX, Relaxed);
    // Perhaps before the first call: then the layer has only this to tell.
    if memory::is_open_to_us() {
        *layer().get_or_insert_default().counts.plain.entry(why).or_default() += 1;
    }
}

/// Whether this call is one that the layer carries out: not one of another thread, which would wait for this one.
#[must_use]
pub fn is_awake() -> bool {
    !is_off() && PAUSE.load(Relaxed) == 0 && memory::is_open_to_us()
}

/// Completes what is pending, and opens all memory.
pub fn complete(why: &'static str) {
    if ATTENTION.load(Relaxed) & MESSAGES == 0 || !memory::is_open_to_us() {
        return;
    }
    memory::in_the_layer(|| {
        let begin = Instant::now();
        if let Some(layer) = layer().as_mut()
            && layer.complete(why)
        {
            layer.predictor.spend(microseconds(begin));
        }
    });
}

/// What has happened so far.
#[must_use]
pub fn counts() -> Counts {
    layer().as_ref().map(|layer| layer.counts.clone()).unwrap_or_default()
}

/// What became of each chain.
#[must_use]
pub fn chains() -> Vec<ChainReport> {
    let report = |chain: &predictor::Chain| ChainReport {
        calls: chain.calls.len(),
        method: chain.chosen.name(),
        by: METHODS
            .iter()
            .zip(chain.spent)
            .map(|(method, (rounds, us))| (method.name(), rounds, us))
            .collect(),
    };
    layer().as_ref().map(|layer| layer.predictor.chains().map(report).collect()).unwrap_or_default()
}

/// The program asks about a status, or a copy of one, that may not have been complete when it got it: the complete one.
#[must_use]
pub fn complete_status(status: MPI_Status) -> MPI_Status {
    let Some(ticket) = Ticket::of(&status) else { return status };
    let found = layer().as_ref().and_then(|layer| {
        let (bytes, mut complete) = (layer.statuses.bytes(ticket)?, status);
        layer.mpi?.set_status(&mut complete, bytes as i64).ok()?;
        Some(MPI_Status { MPI_SOURCE: status.MPI_SOURCE, MPI_TAG: status.MPI_TAG, ..complete })
    });
    found.unwrap_or_else(|| {
        eprintln!("postrider: more messages have come since than overlap remembers for a status; run without --overlap");
        std::process::abort()
    })
}

/// An error that belongs to a call that has returned, and that no later call could tell.
#[must_use]
pub fn late_error() -> Option<i32> {
    layer().as_ref().and_then(|layer| layer.late)
}

/// Datatypes and communicators may have other handles from now on.
pub fn forget_handles() {
    if memory::is_open_to_us()
        && let Some(layer) = layer().as_mut()
    {
        (layer.layouts, layer.overlaps, layer.facts) = Default::default();
    }
}

fn microseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1e6
}

/// Carries out a blocking call of the program. Returns its code.
pub fn call(blocking: &Blocking, plain: impl FnOnce() -> i32) -> i32 {
    memory::in_the_layer(|| {
        let (begin, call) = (Instant::now(), key(blocking));
        let started = layer().get_or_insert_with(Layer::new).begin(blocking, call);
        // Not while the layer is taken: whoever asks it meanwhile would wait as long as the call does.
        let code = if started { MPI_SUCCESS } else { plain() };
        layer().as_mut().map_or(code, |layer| layer.end(call, code, microseconds(begin)))
    })
}

fn key(blocking: &Blocking) -> Call {
    let place = |part: &Part| Some((part.address, part.count, part.datatype));
    let (send, receive) = (blocking.send.as_ref(), blocking.receive.as_ref());
    let peers = [
        send.map_or(MPI_PROC_NULL, |part| part.peer),
        receive.map_or(MPI_PROC_NULL, |part| part.peer),
        send.map_or(0, |part| part.tag),
        receive.map_or(0, |part| part.tag),
    ];
    Call {
        function: blocking.function,
        site: blocking.site,
        sent: send.and_then(place),
        received: receive.and_then(place),
        peers,
        communicator: blocking.communicator,
    }
}

/// A buffer of a chain, without its peer.
fn place_only((address, count, datatype): (usize, i64, MPI_Datatype)) -> Part {
    Part { address, count, datatype, peer: 0, tag: 0 }
}

/// Why a call stays as it is.
type Plain = &'static str;

/// What MPI returns here belongs to the call that the program has made.
const MPI_SAYS: Plain = "MPI refuses something";

impl Layer {
    fn new() -> Self {
        let mut layer = Self { mpi: Mpi::find().ok(), ..Self::default() };
        layer.predictor.forced = settings::forced();
        if let Err(error) = memory::install(complete) {
            eprintln!("postrider: messages stay as they are, since system calls cannot be caught: {error}");
            OFF.store(true, Relaxed);
        }
        layer
    }

    /// Begins a call. Whether it is asynchronous.
    fn begin(&mut self, blocking: &Blocking, call: Call) -> bool {
        let step = self.predictor.step(call);
        if step.position == 0 || !step.is_expected {
            self.complete("another call");
        }
        if let Err(why) = self.start(blocking, step) {
            self.complete("a call that stays as it is");
            *self.counts.plain.entry(why).or_default() += 1;
            return false;
        }
        self.counts.asynchronous += 1;
        if step.is_last && step.method == Method::AtLastCall {
            self.complete("the last call of a chain");
        } else if step.is_last {
            self.push();
        }
        true
    }

    /// A call is over, after so many microseconds. Returns the code for the program.
    fn end(&mut self, call: Call, code: i32, spent: f64) -> i32 {
        if code != MPI_SUCCESS {
            self.failing.insert(call);
        }
        self.predictor.spend(spent);
        if !is_off() {
            PAUSE.store(self.pause(spent), Relaxed);
        }
        if code == MPI_SUCCESS { self.late.take().unwrap_or(code) } else { code }
    }

    /// For how many calls nothing will be done, since calls are so short that there is nothing to gain.
    fn pause(&mut self, spent: f64) -> u64 {
        if self.predictor.forced.is_some() {
            return 0;
        }
        let idle = self.predictor.idle_calls();
        if idle > 0 {
            return idle;
        }
        self.look = (self.look.0 + 1, self.look.1 + spent);
        if self.look.0 < LOOK {
            return 0;
        }
        let (calls, all) = std::mem::take(&mut self.look);
        if all / calls as f64 > predictor::CHEAP {
            self.pauses = 0;
            return 0;
        }
        self.complete("a pause");
        self.predictor.begin_anew();
        self.pauses = (self.pauses + 1).min(20);
        LOOK << self.pauses
    }

    /// Starts a call.
    fn start(&mut self, blocking: &Blocking, step: Step) -> Result<(), Plain> {
        if step.method == Method::Plain {
            return Err("nothing to gain, or not known yet");
        }
        let mpi = self.mpi.ok_or(MPI_SAYS)?;
        let communicator = mpi.communicator(blocking.communicator);
        let there = |part: &Part| part.peer != MPI_PROC_NULL;
        let (send, receive) = (blocking.send.filter(there), blocking.receive.filter(there));
        self.check(communicator, send, receive)?;
        self.check_errors(communicator, &key(blocking), step)?;
        if blocking.status.is_some() && receive.is_none_or(|part| part.peer < 0 || part.tag < 0) {
            return Err("a status whose source or tag is not known");
        }
        if let Some(part) = send {
            self.check_send(part, step)?;
        }
        let target = receive.map(|part| self.target(part)).transpose()?;
        let meets = |layer: &mut Self, part: Part| {
            let pending: Vec<Part> = layer.pending.iter().map(|pending| pending.part).collect();
            pending.into_iter().any(|other| layer.overlap(part, other))
        };
        let needs = send.is_some_and(|part| !self.packed.contains_key(&step.position) && meets(self, part));
        let has_status_there = blocking.status.is_some_and(memory::has_closed_status);
        if needs || has_status_there || receive.is_some_and(|part| meets(self, part)) {
            self.complete("a call needs data that is on its way");
        }
        let bytes = match send {
            None => None,
            Some(part) => Some(match self.packed.remove(&step.position) {
                Some(bytes) => bytes,
                None => self.pack(part)?,
            }),
        };
        ATTENTION.fetch_or(MESSAGES, Relaxed);
        STATUSES.store(1, Relaxed);
        if let Some(part) = receive {
            let room = self.size(part).ok_or(MPI_SAYS)? as usize;
            let transfer = Transfer::receive(communicator, vec![0; room], part.peer, part.tag);
            let transfer = transfer.map_err(|_| MPI_SAYS)?;
            let ticket = blocking.status.map(|address| {
                let ticket = self.statuses.issue();
                memory::change_status(address, |before| ticket.status(before, part.peer, part.tag));
                ticket
            });
            self.pending.push(Pending { transfer, part, ticket });
        }
        if let (Some(part), Some(bytes)) = (send, bytes) {
            let transfer = Transfer::send(communicator, bytes, part.peer, part.tag);
            match transfer {
                Ok(transfer) => self.sends.push(transfer),
                Err(error) => self.fail(&error),
            }
        }
        if let Some(range) = target
            && !self.closed.contains(&range)
        {
            if settings::memory() == Memory::Huge {
                self.pack_ahead(step, range);
            }
            match memory::close(range) {
                Ok(()) => self.closed.push(range),
                Err(_) => {
                    self.complete("memory does not close");
                }
            }
        }
        Ok(())
    }

    /// Refuses arguments that MPI would refuse, which are for the call that the program has made.
    fn check(
        &mut self,
        communicator: Communicator,
        send: Option<Part>,
        receive: Option<Part>,
    ) -> Result<(), Plain> {
        let facts = self.facts.entry(communicator.handle()).or_insert_with(|| Facts {
            size: communicator.is_inter().ok().filter(|inter| !inter).and_then(|_| communicator.size().ok()),
            handling: communicator.error_handling().unwrap_or(Handling::Calls),
        });
        let size = facts.size.ok_or("communicator between two groups")?;
        let is_peer = |peer: i32| (0..size).contains(&peer);
        let sends = send.is_none_or(|part| is_peer(part.peer) && part.tag >= 0);
        let any = |part: Part| is_peer(part.peer) || part.peer == MPI_ANY_SOURCE;
        let receives = receive.is_none_or(|part| any(part) && (part.tag >= 0 || part.tag == MPI_ANY_TAG));
        if sends && receives { Ok(()) } else { Err("arguments that MPI refuses") }
    }

    /// Where errors are returned to the program, a later call returns that of a call that was asynchronous. So only calls are that have not failed
    /// in their first rounds.
    fn check_errors(&self, communicator: Communicator, call: &Call, step: Step) -> Result<(), Plain> {
        match self.facts.get(&communicator.handle()).map(|facts| facts.handling) {
            Some(Handling::Ends) => Ok(()),
            Some(Handling::Returns) if !step.is_expected => {
                Err("errors are returned, and the call is a new one")
            }
            Some(Handling::Returns) if self.failing.contains(call) => Err("a call that has failed before"),
            Some(Handling::Returns) => Ok(()),
            _ => Err("the communicator has an error handler"),
        }
    }

    fn check_send(&mut self, part: Part, step: Step) -> Result<(), Plain> {
        let size = self.size(part).ok_or("a datatype that is not known")?;
        if size > COPY_MAX {
            return Err("a long send");
        }
        // A send that nobody answers may need this process to make progress, which then computes.
        let answered = |call: &Call| call.received.is_some();
        let is_answered = self.predictor.forced.is_some() || self.predictor.following(0).iter().any(answered);
        if is_answered || step.position > 0 { Ok(()) } else { Err("a send without a receive") }
    }

    /// The memory to be closed for a receive.
    fn target(&mut self, part: Part) -> Result<Range, Plain> {
        let span = self.span(part).ok_or("a datatype that is not known")?;
        if !memory::signals_reach_us() {
            return Err("the program blocks signals");
        }
        let Some(allocation) = Pool::around(span) else {
            let closes = matches!(settings::memory(), Memory::Huge | Memory::OneView);
            let pages = statics::around(span).filter(|_| closes);
            return pages.ok_or("memory that is neither a large allocation nor static data");
        };
        Ok(match settings::memory() {
            Memory::Huge => allocation,
            Memory::OneView | Memory::TwoViews => span.pages(),
            Memory::PreEmptive => {
                let chain = self.predictor.following(0).to_vec();
                let parts = chain.iter().filter(|call| call.peers[1] != MPI_PROC_NULL);
                let parts: Vec<Part> = parts.filter_map(|call| call.received).map(place_only).collect();
                // A datatype that was used in an earlier round may be freed by now.
                let known = parts.into_iter().filter(|part| self.layouts.contains_key(&part.datatype));
                let spans: Vec<Range> =
                    known.collect::<Vec<_>>().into_iter().filter_map(|part| self.span(part)).collect();
                let within = spans.into_iter().filter(|other| allocation.contains(*other));
                within.fold(span, Range::around).pages()
            }
        })
    }

    /// Packs what later calls of this round will send, before the memory is closed.
    fn pack_ahead(&mut self, step: Step, range: Range) {
        let calls: Vec<Call> = self.predictor.following(0).to_vec();
        for (position, call) in calls.iter().enumerate().skip(step.position + 1) {
            let Some(sent) = call.sent.filter(|_| call.peers[0] != MPI_PROC_NULL).map(place_only) else {
                continue;
            };
            let is_there = self.packed.contains_key(&position);
            // A datatype that was used in an earlier round may be freed by now; those of this one are known.
            let is_known = |layer: &Self, part: &Part| layer.layouts.contains_key(&part.datatype);
            if is_there || !is_known(self, &sent) || !self.span(sent).is_some_and(|span| range.contains(span))
            {
                continue;
            }
            let before = calls[..position].iter().filter(|call| call.peers[1] != MPI_PROC_NULL);
            let before: Vec<Part> = before.filter_map(|call| call.received).map(place_only).collect();
            if !before.iter().all(|received| is_known(self, received))
                || before.into_iter().any(|received| self.overlap(sent, received))
            {
                continue;
            }
            if let Ok(bytes) = self.pack(sent) {
                self.packed.insert(position, bytes);
            }
        }
    }

    /// Lets the library send what it has accepted and not sent yet: it may not be asked again for long.
    fn push(&mut self) {
        for _ in 0..PUSHES {
            let mut sent = self.sends.iter_mut().map(|send| send.is_sent().unwrap_or(true));
            if sent.by_ref().all(|sent| sent) {
                return;
            }
        }
    }

    /// The values of a buffer one after another; memory that is closed is opened meanwhile.
    fn pack(&mut self, part: Part) -> Result<Vec<u8>, Plain> {
        let span = self.span(part).ok_or(MPI_SAYS)?;
        let is_in_the_way = |range: &Range| range.meets(span) && !memory::has_two_views();
        let within: Vec<Range> = self.closed.iter().copied().filter(is_in_the_way).collect();
        within.iter().for_each(|range| memory::open(*range));
        let bytes = self.buffer(part).ok_or(MPI_SAYS).and_then(|buffer| match buffer.dense() {
            Ok(Some(bytes)) => Ok(bytes.to_vec()),
            _ => buffer.pack().map_err(|_| MPI_SAYS),
        });
        for range in within {
            if memory::close(range).is_err() {
                self.complete("memory does not close");
            }
        }
        bytes
    }

    /// Waits for everything, and opens all memory. Whether there was anything.
    fn complete(&mut self, why: &'static str) -> bool {
        self.packed.clear();
        ATTENTION.fetch_and(!MESSAGES, Relaxed);
        if self.pending.is_empty() && self.sends.is_empty() && self.closed.is_empty() {
            return false;
        }
        *self.counts.completed.entry(why).or_default() += 1;
        let wait = |pending: Pending| (pending.part, pending.ticket, pending.transfer.wait());
        let received: Vec<_> = self.pending.drain(..).map(wait).collect();
        self.closed.drain(..).for_each(memory::open);
        for (part, ticket, received) in received {
            let bytes = match &received {
                Ok(received) => &received.room[..received.bytes],
                Err(error) => {
                    self.fail(error);
                    &[]
                }
            };
            if self.unpack(part, bytes).is_none() {
                std::process::abort();
            }
            if let Some(ticket) = ticket {
                self.statuses.finish(ticket, bytes.len() as u64);
            }
        }
        for send in std::mem::take(&mut self.sends) {
            if let Err(error) = send.wait() {
                self.fail(&error);
            }
        }
        true
    }

    /// MPI has returned an error to us, since it is to be returned to the program: a later call does that.
    fn fail(&mut self, error: &Error) {
        let code = if let Error::Code(_, code) = error { *code } else { MPI_ERR_OTHER };
        self.late.get_or_insert(code);
    }

    /// Stores what has been received: all elements, or the first of them.
    fn unpack(&mut self, part: Part, bytes: &[u8]) -> Option<()> {
        let each = self.layout(part.datatype)?.size();
        if each == 0 {
            return Some(());
        }
        let count = bytes.len() as i64 / each;
        let whole = Part { count, ..part };
        let (first, rest) = bytes.split_at((count * each) as usize);
        if !first.is_empty() {
            let mut buffer = self.buffer(whole)?;
            match buffer.dense_mut().ok()? {
                Some(place) => place.copy_from_slice(first),
                None => buffer.unpack(first).ok()?,
            }
        }
        if !rest.is_empty() {
            let layout = self.layout(part.datatype)?;
            let origin = part.address as i64 + count * layout.extent() + layout.first;
            let ranges = layout.shape.ranges(origin, 0, rest.len() as i64);
            memory::store(rest, ranges.map(|block| (block.offset as usize, block.bytes as usize)));
        }
        Some(())
    }

    fn buffer(&self, part: Part) -> Option<Buffer> {
        Some(memory::buffer(self.mpi?, part.address, part.count, part.datatype))
    }

    fn layout(&mut self, datatype: MPI_Datatype) -> Option<Layout> {
        let mpi = self.mpi?;
        let found = self.layouts.entry(datatype).or_insert_with(|| {
            let leaf = |datatype: Datatype| -> Result<Layout, Error> {
                let (lb, extent) = datatype.extent()?;
                let size = datatype.size()?;
                // Pairs of a value and an index may have a gap, which counts as theirs.
                let bytes = if size == extent { size } else { return Err(Error::Constructor(0)) };
                Ok(Layout::dense(bytes).shifted(lb))
            };
            layout::of(mpi.datatype(datatype), &leaf, true).ok()
        });
        found.clone()
    }

    /// Number of bytes that a buffer's values have.
    fn size(&mut self, part: Part) -> Option<i64> {
        if part.count < 0 { None } else { self.layout(part.datatype)?.size().checked_mul(part.count) }
    }

    /// All elements of a buffer, from its address on.
    fn elements(&mut self, part: Part) -> Option<(i64, Shape)> {
        let layout = self.layout(part.datatype)?;
        let extent = layout.extent();
        Some((part.address as i64 + layout.first, layout.shape.repeated(part.count, extent)))
    }

    /// The addresses from the first to the last byte of a buffer.
    fn span(&mut self, part: Part) -> Option<Range> {
        let layout = self.layout(part.datatype)?;
        if part.count <= 0 || part.address == 0 || layout.size() == 0 {
            return None;
        }
        let far = (part.count - 1).checked_mul(layout.extent())?;
        let (lowest, highest) = layout.shape.bounds();
        let (first, last) = (layout.first + lowest + far.min(0), layout.first + highest + far.max(0));
        let start = part.address.checked_add_signed(first as isize)?;
        Some(Range { start, bytes: (last - first) as usize })
    }

    /// Whether two buffers have a byte in common.
    fn overlap(&mut self, one: Part, other: Part) -> bool {
        let (Some(a), Some(b)) = (self.span(one), self.span(other)) else { return true };
        if !a.meets(b) {
            return false;
        }
        let place = |part: Part| (part.address, part.count, part.datatype);
        let pair = [place(one), place(other)];
        if let Some(known) = self.overlaps.get(&pair) {
            return *known;
        }
        let (Some(x), Some(y)) = (self.elements(one), self.elements(other)) else { return true };
        let answer = have_common_bytes(&x, &y);
        self.overlaps.insert(pair, answer);
        answer
    }
}

/// Whether two shapes at their places have a byte in common; those with very many pieces count as if they had.
fn have_common_bytes(a: &(i64, Shape), b: &(i64, Shape)) -> bool {
    let pieces = |(origin, shape): &(i64, Shape)| {
        let mut all: Vec<(i64, i64)> = shape
            .ranges(*origin, 0, i64::MAX)
            .take(PIECES_MAX)
            .map(|block| (block.offset, block.end()))
            .collect();
        all.sort_unstable();
        all
    };
    let (a, b) = (pieces(a), pieces(b));
    if a.len() >= PIECES_MAX || b.len() >= PIECES_MAX {
        return true;
    }
    let (mut a, mut b) = (a.into_iter().peekable(), b.into_iter().peekable());
    while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
        if x.0 < y.1 && y.0 < x.1 {
            return true;
        }
        if x.1 <= y.1 {
            a.next();
        } else {
            b.next();
        }
    }
    false
}
