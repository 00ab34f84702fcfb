//! Files of this process: which of its descriptors are watched, which files have something pending, and the file systems.
//!
//! A forked child has a world of its own, an empty one: its parent's threads and locks are not there, and what it inherits is plain. So
//! a lock that another thread held while the process was forked is never waited for.
//!
//! `KINDS` is what every call looks at first, without a lock.

use super::file::OpenFile;
use super::filesystem::FileSystem;
use super::pending::BLOCK_BYTES;
use super::report::FileReport;
use super::system::{self, Identity};
use crate::{ATTENTION, FILES, settings};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::env;
use std::ffi::CStr;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

/// Descriptors from here on are plain.
const DESCRIPTORS: usize = 4096;
/// A process that was forked more often from another is plain.
const GENERATIONS: usize = 64;

/// A piece that begins with so much gets a whole block, and how many of these are kept for the next ones.
const SPARE_BYTES_MIN: usize = 64 << 10;
const SPARE_PIECES_MAX: usize = 32;

/// What a descriptor is to the layer.
const UNKNOWN: u8 = 0;
const WATCHED: u8 = 1;
/// It is watched no more; its report is still to be made.
const PLAIN: u8 = 2;
/// It is a descriptor of the layer's.
const OWN: u8 = 3;

static KINDS: [AtomicU8; DESCRIPTORS] = [const { AtomicU8::new(UNKNOWN) }; DESCRIPTORS];
static WORLDS: [OnceLock<World>; GENERATIONS] = [const { OnceLock::new() }; GENERATIONS];
static GENERATION: AtomicUsize = AtomicUsize::new(0);
/// How many files have a descriptor of the layer's. While there are none, nobody needs to look for them.
static ACTIVE: AtomicUsize = AtomicUsize::new(0);
static PENDING_BYTES: AtomicUsize = AtomicUsize::new(0);
/// Whether the process is at its end.
static IS_OVER: AtomicBool = AtomicBool::new(false);

#[derive(Default)]
struct World {
    files: Mutex<BTreeMap<i32, Arc<OpenFile>>>,
    active: Mutex<Vec<Arc<OpenFile>>>,
    file_systems: Mutex<BTreeMap<u64, Arc<FileSystem>>>,
    closed: Mutex<Vec<FileReport>>,
    /// Memory of pieces that were written, which is not asked of the system again.
    spare: Mutex<Vec<Vec<u8>>>,
    /// Whether data of closed files was lost.
    has_lost: AtomicBool,
}

/// What the environment asks for.
struct Settings {
    works: bool,
    is_forced: bool,
    memory_bytes_max: usize,
}

/// `always` has files deferred on fast file systems, too.
const ENV_FILES: &str = "POSTRIDER_OVERLAP_FILES";
/// How many MiB may be pending.
const ENV_MEMORY: &str = "POSTRIDER_OVERLAP_FILES_MEMORY";

fn settings() -> &'static Settings {
    static SETTINGS: OnceLock<Settings> = OnceLock::new();
    SETTINGS.get_or_init(|| Settings {
        works: settings::has("files"),
        is_forced: env::var(ENV_FILES).is_ok_and(|value| value == "always"),
        memory_bytes_max: env::var(ENV_MEMORY).ok().and_then(|value| value.parse().ok()).unwrap_or(256) << 20,
    })
}

/// Whether files are asked for.
pub fn works() -> bool {
    settings().works
}

/// Whether files are deferred that are not worth it, which is for tests.
pub fn is_forced() -> bool {
    settings().is_forced
}

/// How many bytes may be pending.
pub fn memory_bytes_max() -> usize {
    settings().memory_bytes_max
}

fn world() -> Option<&'static World> {
    WORLDS.get(GENERATION.load(Acquire)).map(|world| world.get_or_init(World::default))
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

thread_local! {
    static IS_INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// While it is there, calls of this thread are plain: those of the layer, and those of a signal handler that has interrupted it.
pub struct Inside(());

impl Inside {
    /// `None` if this thread is inside, or the process at its end.
    pub fn enter() -> Option<Self> {
        let may = !IS_OVER.load(Acquire) && settings().works && !IS_INSIDE.replace(true);
        may.then(|| Self(()))
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        IS_INSIDE.set(false);
    }
}

fn kind(descriptor: i32) -> Option<&'static AtomicU8> {
    usize::try_from(descriptor).ok().and_then(|at| KINDS.get(at))
}

/// Whether the layer has anything to do with a call on this descriptor.
pub fn is_watched(descriptor: i32) -> bool {
    kind(descriptor).is_some_and(|kind| kind.load(Acquire) == WATCHED)
}

/// Whether it is the layer's own, which the program does not know.
pub fn is_own(descriptor: i32) -> bool {
    kind(descriptor).is_some_and(|kind| kind.load(Acquire) == OWN)
}

/// Whether anything may be pending.
pub fn has_active() -> bool {
    ACTIVE.load(Acquire) > 0
}

/// The program has opened a file with these flags.
pub fn opened(descriptor: i32, flags: i32) {
    let Some(kind) = kind(descriptor) else { return };
    let unsuited =
        libc::O_APPEND | libc::O_SYNC | libc::O_DSYNC | libc::O_DIRECT | libc::O_PATH | libc::O_DIRECTORY;
    let is_suited = flags & unsuited == 0;
    kind.store(if is_suited { WATCHED } else { UNKNOWN }, Release);
    if !is_suited && settings::report().is_some() && flags & libc::O_DIRECTORY == 0 {
        let path = std::fs::read_link(format!("/proc/self/fd/{descriptor}")).unwrap_or_default();
        let plain = Some("it is open with O_APPEND, O_SYNC, O_DSYNC or O_DIRECT");
        let report = FileReport { path: path.display().to_string(), plain, ..FileReport::default() };
        if let Some(world) = world() {
            locked(&world.closed).push(report);
        }
    }
}

/// The program has another descriptor of a file: one that is deferred is not alone any more, and one that it has closed is closed now.
pub fn opened_again(descriptor: i32) {
    let Some(identity) = system::identity(descriptor) else { return };
    for file in active_with(identity) {
        let is_open = files().contains(&file.descriptor) && is_current(&file);
        if !is_open {
            file.finish();
        } else if file.is_deferring() && file.descriptor != descriptor {
            file.step_aside("it is open twice");
            if let Some(kind) = kind(descriptor) {
                kind.store(UNKNOWN, Release);
            }
        }
    }
}

/// The program is about to open a path, and to cut the file there.
pub fn truncating(folder: i32, path: &CStr) {
    if let Some(identity) = system::identity_of(folder, path) {
        look(identity);
    }
}

/// Somebody looks at a file: what is pending is written.
pub fn look(identity: Identity) -> bool {
    let found = active_with(identity);
    for file in &found {
        if is_current(file) { file.flush() } else { file.finish() }
    }
    !found.is_empty()
}

fn active_with(identity: Identity) -> Vec<Arc<OpenFile>> {
    active().into_iter().filter(|file| file.identity == identity).collect()
}

fn active() -> Vec<Arc<OpenFile>> {
    world().map(|world| locked(&world.active).clone()).unwrap_or_default()
}

fn files() -> Vec<i32> {
    world().map(|world| locked(&world.files).keys().copied().collect()).unwrap_or_default()
}

/// Whether the program has the file still open.
fn is_current(file: &Arc<OpenFile>) -> bool {
    world().is_some_and(|world| {
        locked(&world.files).get(&file.descriptor).is_some_and(|open| Arc::ptr_eq(open, file))
    })
}

/// The file of a descriptor that is watched.
pub fn watched(descriptor: i32) -> Option<Arc<OpenFile>> {
    if !is_watched(descriptor) {
        return None;
    }
    let world = world()?;
    let mut files = locked(&world.files);
    if let Some(file) = files.get(&descriptor) {
        return Some(Arc::clone(file));
    }
    let Some(identity) = system::identity(descriptor) else {
        kind(descriptor)?.store(UNKNOWN, Release);
        return None;
    };
    let new = || Arc::new(FileSystem::new(system::is_remote(descriptor)));
    let file_system = Arc::clone(locked(&world.file_systems).entry(identity.device).or_insert_with(new));
    let file = Arc::new(OpenFile::new(descriptor, identity, file_system));
    files.insert(descriptor, Arc::clone(&file));
    Some(file)
}

/// The descriptor stands for this file no more; returns the file if the layer knows it.
pub fn forget(descriptor: i32) -> Option<Arc<OpenFile>> {
    let kind = kind(descriptor)?;
    if kind.load(Acquire) == OWN || kind.swap(UNKNOWN, AcqRel) == UNKNOWN {
        return None;
    }
    let world = world()?;
    locked(&world.files).remove(&descriptor)
}

/// The file of a descriptor has become plain.
pub fn is_plain(descriptor: i32) {
    if let Some(kind) = kind(descriptor) {
        // Not if it stands for another file already.
        let _ = kind.compare_exchange(WATCHED, PLAIN, AcqRel, Acquire);
    }
}

/// A file has a descriptor of the layer's from now on.
pub fn is_active(file: &Arc<OpenFile>, own: i32) {
    if let Some(world) = world() {
        locked(&world.active).push(Arc::clone(file));
        ACTIVE.fetch_add(1, AcqRel);
        ATTENTION.fetch_or(FILES, Relaxed);
    }
    if let Some(kind) = kind(own) {
        kind.store(OWN, Release);
    }
}

/// It has none any more.
pub fn is_inactive(file: &Arc<OpenFile>, own: i32) {
    if let Some(kind) = kind(own) {
        let _ = kind.compare_exchange(OWN, UNKNOWN, AcqRel, Acquire);
    }
    if let Some(world) = world() {
        let mut active = locked(&world.active);
        if let Some(at) = active.iter().position(|one| Arc::ptr_eq(one, file)) {
            active.swap_remove(at);
            if ACTIVE.fetch_sub(1, AcqRel) == 1 {
                ATTENTION.fetch_and(!FILES, Relaxed);
            }
        }
    }
}

/// A file that the program has closed is done with.
pub fn is_done(file: &OpenFile) {
    if settings::report().is_some()
        && let Some(world) = world()
    {
        let report = file.report();
        locked(&world.closed).push(report);
    }
}

/// How many bytes are pending.
pub fn pending_bytes() -> usize {
    PENDING_BYTES.load(Relaxed)
}

/// So many more are.
pub fn add_pending(bytes: usize) {
    PENDING_BYTES.fetch_add(bytes, Relaxed);
}

/// So many fewer are.
pub fn remove_pending(bytes: usize) {
    PENDING_BYTES.fetch_sub(bytes, Relaxed);
}

/// Memory for a piece that begins with so many bytes.
pub fn spare(length: usize) -> Vec<u8> {
    let used = world().and_then(|world| locked(&world.spare).pop());
    used.unwrap_or_else(|| vec![0; if length < SPARE_BYTES_MIN { length } else { BLOCK_BYTES }])
}

/// A piece was written, and its memory is free.
pub fn give_back(memory: Vec<u8>) {
    if memory.len() == BLOCK_BYTES
        && let Some(world) = world()
    {
        let mut spare = locked(&world.spare);
        if spare.len() < SPARE_PIECES_MAX {
            spare.push(memory);
        }
    }
}

/// Why a file may not be deferred, if it may not.
pub fn why_not_alone(file: &OpenFile) -> Option<&'static str> {
    let flags = system::flags(file.descriptor);
    if flags < 0 || flags & (libc::O_APPEND | libc::O_SYNC | libc::O_DSYNC | libc::O_DIRECT) != 0 {
        return Some("it is open with O_APPEND, O_SYNC, O_DSYNC or O_DIRECT");
    }
    if !system::has_no_limit() {
        return Some("files of the process have a limit (RLIMIT_FSIZE)");
    }
    let Ok(descriptors) = std::fs::read_dir("/proc/self/fd") else { return Some("/proc is not there") };
    let descriptors = descriptors.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    let is_same = |number: i32| {
        number != file.descriptor && !is_own(number) && system::identity(number) == Some(file.identity)
    };
    if descriptors.into_iter().any(is_same) {
        return Some("it is open twice");
    }
    if active_with(file.identity)
        .iter()
        .any(|other| other.descriptor != file.descriptor || !is_current(other))
    {
        return Some("it is open twice");
    }
    let Ok(maps) = std::fs::read_to_string("/proc/self/maps") else { return Some("/proc is not there") };
    let inode = file.identity.inode.to_string();
    maps.lines().any(|line| line.split_whitespace().nth(4) == Some(&inode)).then_some("it is mapped")
}

/// Everything that is pending is written, and files that the program has closed are closed.
pub fn settle() {
    for file in active() {
        if is_current(&file) { file.drain(false) } else { file.finish() }
    }
}

/// Everything that is pending is written.
pub fn publish() {
    for file in active() {
        file.drain(false);
    }
}

/// Files that are open now are plain from now on, since another process or another door leads to them.
pub fn step_aside(reason: &'static str) {
    settle();
    for descriptor in 0..DESCRIPTORS as i32 {
        if is_watched(descriptor) {
            match watched(descriptor) {
                Some(file) => file.step_aside(reason),
                None => is_plain(descriptor),
            }
        }
    }
}

/// Data of a file is lost that the program has closed.
pub fn lost(path: &str, error: i32) {
    if let Some(world) = world() {
        world.has_lost.store(true, Release);
    }
    let error = std::io::Error::from_raw_os_error(error);
    eprintln!(
        "postrider: {path}: data that was written could not be stored: {error}; the process will end with an error"
    );
}

/// The process was forked, and this is the child.
pub fn forked() {
    GENERATION.fetch_add(1, AcqRel);
    for kind in &KINDS {
        kind.store(UNKNOWN, Relaxed);
    }
    ACTIVE.store(0, Release);
    ATTENTION.fetch_and(!FILES, Relaxed);
    PENDING_BYTES.store(0, Release);
    IS_INSIDE.set(false);
}

/// The process ends: everything is written, and whoever calls later is plain. Whether data was lost without anybody's being told.
pub fn over() -> bool {
    let Some(_inside) = Inside::enter() else { return false };
    settle();
    IS_OVER.store(true, Release);
    // What another thread has added meanwhile.
    settle();
    let Some(world) = world() else { return false };
    let open: Vec<Arc<OpenFile>> = locked(&world.files).values().cloned().collect();
    for file in open {
        if let Some(error) = file.take_error() {
            lost(&file.report().path, error);
        }
    }
    world.has_lost.load(Acquire)
}

/// What became of all files so far.
pub fn all_reports() -> Vec<FileReport> {
    let Some(world) = world() else { return Vec::new() };
    let mut reports = locked(&world.closed).clone();
    let open: Vec<Arc<OpenFile>> = locked(&world.files).values().cloned().collect();
    reports.extend(open.iter().map(|file| file.report()));
    reports
}
