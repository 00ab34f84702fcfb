//! This process's MPI: its one instance, and the job it belongs to.
//!
//! MPI is used from `MPI_Init` to `MPI_Finalize`, which can be once, and from `MPI_Session_init` to `MPI_Session_finalize`, which can
//! be any number of times, before, within and after. The instance is made when the first of them begins and stays until the process
//! ends, so that what begins again finds the same job; whether it can be used is noted here.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::{self, JoinHandle, ThreadId};

use postrider_abi::{MPI_COMM_SELF, MPI_ERR_OTHER, MPI_Request, MPI_THREAD_MULTIPLE, MPI_THREAD_SINGLE};
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_engine::settings::Settings;
use postrider_engine::transports::file::Directories;
use postrider_engine::{Instance, World};
use postrider_os::job::{self, CallName, Job, Nameplate, State};
use postrider_os::process;

use crate::caching::{self, Owner};
use crate::joining::{self, Seat};
use crate::parse::Out;
use crate::tools::control;
use crate::{parse, processes};

/// Where the process is between `MPI_Init` and `MPI_Finalize`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// `MPI_Init` has not been called.
    Before,
    /// MPI can be used.
    Active,
    /// `MPI_Finalize` has been called.
    After,
}

static LIBRARY: OnceLock<Library> = OnceLock::new();
static PHASE: AtomicU8 = AtomicU8::new(Phase::Before as u8);
/// How many sessions there are, and one more between `MPI_Init` and `MPI_Finalize`.
static USERS: AtomicU32 = AtomicU32::new(0);
/// Whether this process was forked by one that had made the instance.
static FORKED: AtomicBool = AtomicBool::new(false);
/// Held by whoever begins or ends.
static CHANGE: Mutex<()> = Mutex::new(());
/// The thread that called `MPI_Init`.
static MAIN_THREAD: OnceLock<ThreadId> = OnceLock::new();

/// What lasts from the first use on.
#[derive(Debug)]
pub struct Library {
    instance: Instance,
    /// The job, when a launcher started this process.
    job: Option<(Arc<Job>, u32)>,
    /// Where the launcher looks for the call that this process is in.
    nameplate: Option<Nameplate>,
    /// The place in the job, when that launcher is not ours.
    seat: Option<Seat>,
    /// The level of thread support that is provided.
    pub thread_level: i32,
}

/// The state of affairs.
pub fn phase() -> Phase {
    match PHASE.load(Ordering::Acquire) {
        0 => Phase::Before,
        1 => Phase::Active,
        _ => Phase::After,
    }
}

/// The library, while MPI can be used.
#[inline]
pub fn active() -> Option<&'static Library> {
    if USERS.load(Ordering::Acquire) > 0 { LIBRARY.get() } else { None }
}

/// The instance, once there is one, whether MPI can be used or not.
pub fn made() -> Option<&'static Instance> {
    LIBRARY.get().map(|library| &library.instance)
}

/// The instance; only inside an MPI call.
#[inline]
pub fn instance() -> &'static Instance {
    match LIBRARY.get() {
        Some(library) => &library.instance,
        None => unreachable!("the instance is only asked for inside an MPI call"),
    }
}

impl Library {
    /// Notes on the board which call this process is in.
    #[inline]
    pub fn enter(&self, name: CallName) {
        if let Some(nameplate) = &self.nameplate {
            nameplate.enter(name);
        }
    }

    /// Notes on the board that this process is in the user's code again.
    #[inline]
    pub fn leave(&self) {
        if let Some(nameplate) = &self.nameplate {
            nameplate.leave();
        }
    }
}

/// What a process says that was forked by a rank and calls MPI all the same.
pub fn forked() -> Error {
    let detail = format!(
        "process {} was forked by process {} after that had initialized MPI, and cannot use it: a rank is one process. Execute a \
         program instead (exec, or the start method \"spawn\" of Python's multiprocessing); it may call MPI_Init",
        std::process::id(),
        std::os::unix::process::parent_id()
    );
    Error::new(MPI_ERR_OTHER, detail)
}

/// Whether this process was forked by one that had initialized MPI: then nothing of the instance may be touched, since it is the parent's.
pub fn is_forked() -> bool {
    FORKED.load(Ordering::Relaxed)
}

/// What happens first in a forked process. It counts as one that has finalized, so that whoever asks before he ends does nothing.
extern "C" fn part_from_parent() {
    FORKED.store(true, Ordering::Relaxed);
    USERS.store(0, Ordering::Relaxed);
    PHASE.store(Phase::After as u8, Ordering::Relaxed);
}

/// Whether this is the thread that called `MPI_Init`.
pub fn is_main_thread() -> bool {
    MAIN_THREAD.get() == Some(&thread::current().id())
}

/// `MPI_Init` and `MPI_Init_thread`.
///
/// # Errors
/// When it was called before, or the job cannot be joined.
pub fn initialize(required: i32) -> Result<i32> {
    if is_forked() {
        return Err(forked());
    }
    let _change = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    if phase() != Phase::Before {
        return Err(Error::new(MPI_ERR_OTHER, "MPI was initialized before; it can be once in a process"));
    }
    let thread_level = begin(required.clamp(MPI_THREAD_SINGLE, MPI_THREAD_MULTIPLE))?;
    let _ = MAIN_THREAD.set(thread::current().id());
    PHASE.store(Phase::Active as u8, Ordering::Release);
    // A process that a spawned rank has started was not spawned.
    if LIBRARY.get().is_some_and(|library| library.job.is_some()) {
        processes::meet_parent()?;
    }
    Ok(thread_level)
}

/// Begins a session, and returns the level of thread support. The first one decides for all that follow, and nobody knows which
/// threads they will have: so it provides the highest.
///
/// # Errors
/// When the job cannot be joined.
pub fn begin_session() -> Result<i32> {
    if is_forked() {
        return Err(forked());
    }
    let _change = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    begin(MPI_THREAD_MULTIPLE)
}

/// Ends a session.
///
/// # Errors
/// When something cannot be sent.
pub fn end_session() -> Result<()> {
    let _change = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    instance().drain()?;
    end_use();
    Ok(())
}

/// One user more. The first one of the process makes the instance.
fn begin(thread_level: i32) -> Result<i32> {
    if LIBRARY.get().is_none() {
        // Nobody else is between these two lines: the caller holds the right to change.
        let _ = LIBRARY.set(Library::new(thread_level)?);
        process::in_forked_children(part_from_parent);
    }
    let Some(library) = LIBRARY.get() else { unreachable!("just made") };
    if let Some((job, rank)) = &library.job {
        job.slot(*rank).set_state(State::Initialized);
    }
    if USERS.fetch_add(1, Ordering::AcqRel) == 0 {
        library.instance.begin();
    }
    Ok(library.thread_level)
}

/// One user less. After the last one the launcher need not wait for this process any more.
fn end_use() {
    if USERS.fetch_sub(1, Ordering::AcqRel) > 1 {
        return;
    }
    let Some(library) = LIBRARY.get() else { return };
    end_helper();
    instance().report().iter().for_each(|report| eprint!("{report}"));
    library.leave();
    if let Some((job, rank)) = &library.job {
        job.slot(*rank).set_state(State::Finalized);
    }
    instance().leave();
    // What another launcher has started can be left only once.
    static LEFT: OnceLock<()> = OnceLock::new();
    if let Some(seat) = &library.seat {
        LEFT.get_or_init(|| seat.leave());
    }
}

impl Library {
    fn new(thread_level: i32) -> Result<Self> {
        let threads = parse::threads(thread_level);
        let Joined { job, directories, seat } = join()?;
        let world = match &job {
            None => World::alone(threads),
            Some((job, rank)) => World::in_job(job, *rank, directories, threads)?,
        };
        let world = world.with(Settings::read(control::setting)?);
        control::keep_settings();
        let nameplate = job.as_ref().map(|(job, rank)| job.nameplate(*rank));
        Ok(Self { instance: Instance::new(world), job, nameplate, seat, thread_level })
    }
}

/// The helper calls nothing deep, and nothing of the program's.
const HELPER_STACK_BYTES: usize = 256 << 10;
/// The thread that makes progress while the program computes.
static HELPER: Mutex<Option<JoinHandle<()>>> = Mutex::new(None);

/// Whether the helper has been started.
static HELPS: AtomicBool = AtomicBool::new(false);

/// Gives the program the request of an operation that goes on while it computes, and sees to it that somebody looks after that.
///
/// # Errors
/// When the program has no place for the request.
#[inline]
pub fn leave_behind(request: Out<MPI_Request>, key: Key) -> Result<()> {
    if HELPS.load(Ordering::Relaxed) {
        instance().leave_work();
    } else {
        // Where the system has no thread left, the operation goes on when the program calls MPI.
        let _ = start_helper(instance().may_be_awaited());
    }
    request.set(parse::request_handle(key))
}

/// A window has been made, which others may access while the program computes.
///
/// # Errors
/// When the system has no thread left.
pub fn open_window() -> Result<()> {
    start_helper(instance().has_passive_targets())?;
    instance().leave_window();
    Ok(())
}

/// Starts the helper, if one is wanted and there is none.
#[cold]
fn start_helper(wanted: bool) -> Result<()> {
    let mut helper = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    if !wanted || helper.is_some() {
        return Ok(());
    }
    instance().announce_helper(true);
    let builder = thread::Builder::new().name("postrider".to_owned()).stack_size(HELPER_STACK_BYTES);
    let started = process::start_thread(builder, || {
        process::be_brief();
        instance().help();
    });
    *helper = Some(started.map_err(|error| {
        instance().announce_helper(false);
        let detail =
            format!("cannot start the thread that makes progress while the program computes: {error}");
        Error::new(MPI_ERR_OTHER, detail)
    })?);
    HELPS.store(true, Ordering::Relaxed);
    Ok(())
}

/// Ends the helper: MPI is not used any more.
fn end_helper() {
    let mut helper = HELPER.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(ended) = helper.take() {
        HELPS.store(false, Ordering::Relaxed);
        instance().announce_helper(false);
        // It calls nothing of the program's, so that it always comes to its end.
        let _ = ended.join();
    }
}

/// What this process belongs to; to nothing if it was started alone.
#[derive(Default)]
struct Joined {
    job: Option<(Arc<Job>, u32)>,
    directories: Option<Directories>,
    seat: Option<Seat>,
}

/// Finds the job that the launcher's environment names, or another launcher's, and takes this process's rank in it.
fn join() -> Result<Joined> {
    let failed = |why: String| Error::new(MPI_ERR_OTHER, why);
    if let Some(engine) = std::env::var_os(job::ENV_ENGINE) {
        let advice = "compile it with an option -Wl,--enable-new-dtags, so that LD_LIBRARY_PATH goes before its run path";
        return Err(failed(format!(
            "this process is to run on the library in {}, and has loaded Postrider's: {advice}",
            engine.display()
        )));
    }
    if let Ok(place) = std::env::var(job::ENV_JOB) {
        let rank = std::env::var(job::ENV_RANK).ok().and_then(|text| text.parse().ok());
        let central = std::env::var_os(job::ENV_CENTRAL).map(Into::into);
        let local = std::env::var_os(job::ENV_DIRECTORY).map(Into::into);
        let directories = local.map(|local| Directories { local, central });
        return Ok(match claim(&place, rank)? {
            Some(job) => Joined { job: Some(job), directories, seat: None },
            None => Joined::default(),
        });
    }
    let Some(seat) = joining::join().map_err(failed)? else { return Ok(Joined::default()) };
    let job = claim(&seat.place, Some(seat.rank))?;
    let central = seat.central.clone();
    let directories = seat.local.clone().map(|local| Directories { local, central });
    Ok(Joined { job, directories, seat: Some(seat) })
}

/// Takes rank `rank` of the job whose segment is at `place`. A wrapper leaves that to the program that it starts. None for a process that
/// was started by the one that is the rank: it belongs to no job. One that is neither would be a second for the same rank.
fn claim(place: &str, rank: Option<u32>) -> Result<Option<(Arc<Job>, u32)>> {
    let job = Job::open(place).map_err(|e| Error::new(MPI_ERR_OTHER, e.to_string()))?;
    let Some(rank) = rank.filter(|&rank: &u32| rank < job.placement().ranks()) else {
        return Err(Error::new(MPI_ERR_OTHER, format!("{} is not a rank of this job", job::ENV_RANK)));
    };
    let slot = job.slot(rank);
    if slot.claim() {
        process::allow_neighbours();
        return Ok(Some((Arc::new(job), rank)));
    }
    let (first, own, host) = (slot.pid(), std::process::id(), process::host_name());
    if !process::descends_from(first) {
        let detail = format!(
            "process {first} has been rank {rank} of this job, and process {own} was not started by it: a rank is one MPI program; \
             start further ones by a `postrider run` of their own, or unset {} for them",
            job::ENV_JOB
        );
        return Err(Error::new(MPI_ERR_OTHER, detail));
    }
    if slot.is_first_offspring() {
        eprintln!(
            "postrider: rank {rank} on {host}: process {first} is this rank, and has started process {own}, which calls MPI_Init too and is \
             rank 0 of 1 in a job of its own; so are others that this rank starts"
        );
    }
    Ok(None)
}

/// The number of processes that were started together, also before `MPI_Init`.
pub fn ranks() -> u32 {
    if let Some(made) = made() {
        return made.facts().size;
    }
    let place = std::env::var(job::ENV_JOB).ok();
    let ours = place.and_then(|place| Job::open(&place).ok()).map(|job| job.placement().ranks());
    ours.or_else(joining::ranks).unwrap_or(1)
}

/// `MPI_Finalize`: what was sent leaves this process. It waits for the other processes only if another launcher has started
/// them, which may end everything on this host as soon as its processes have ended.
///
/// # Errors
/// When something cannot be sent, or a delete callback fails.
pub fn finalize() -> Result<()> {
    if phase() != Phase::Active {
        return Err(Error::new(MPI_ERR_OTHER, "MPI_Finalize comes once, after MPI_Init"));
    }
    // The first thing, while everything can still be used (section 11.2.3).
    let deleted = caching::delete_all(Owner::Communicator(MPI_COMM_SELF));
    let _change = CHANGE.lock().unwrap_or_else(PoisonError::into_inner);
    instance().drain()?;
    processes::collect_spawned();
    PHASE.store(Phase::After as u8, Ordering::Release);
    end_use();
    deleted
}

/// Ends this process and has the launcher end the others, with a line on standard error that says why.
pub fn abort_with(code: i32, why: &str) -> ! {
    let (rank, host) = match LIBRARY.get() {
        Some(library) => (Some(library.instance.facts().rank), library.instance.facts().host.clone()),
        None => (std::env::var(job::ENV_RANK).ok().and_then(|text| text.parse().ok()), process::host_name()),
    };
    match rank {
        Some(rank) => process::say_error(&format!("postrider: rank {rank} on {host}: {why}")),
        None => process::say_error(&format!("postrider: {host}: {why}")),
    }
    end(code)
}

/// Ends this process and has the launcher end the others; a forked one ends alone.
pub fn end(code: i32) -> ! {
    if let Some(Library { job: Some((job, rank)), .. }) = LIBRARY.get()
        && !is_forked()
    {
        job.slot(*rank).abort(code);
    }
    process::exit_now(code)
}
