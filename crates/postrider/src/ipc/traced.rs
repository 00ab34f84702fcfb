//! Programs in which `libpostrider_ipc.so` cannot be, static ones: a process of its own, their *tracer*, makes their calls (`os::traced`).
//!
//! The process that is to be the program starts its tracer, and becomes the program ([`become_traced`]): so it is the launcher's child as any other, with its own number,
//! signals and end. The tracer lives as long as one of the processes that come of it. It makes a call in the name of the process (`space::acting`), with copies of
//! what that gives. If the call has to wait, a *carrier*, a thread of the tracer, does, and the process sleeps in a call that does nothing: a signal with a handler ends
//! both. Segments are mapped by the process itself, which is made to call `mmap`.
//!
//! Programs with a C library that can be replaced are only looked after for their raw system calls, and for static programs that they start.

use std::collections::{HashMap, HashSet};
use std::ffi::{CString, OsString};
use std::io::{PipeReader, PipeWriter, Read as _, Write as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread::JoinHandle;

use object::read::elf::ElfFile64;
use object::{Object, ReadCache};
use postrider_ipc::calls::copied::{self, Copied, Done, Memory, NUMBERS};
use postrider_ipc::semantics::permission::Caller;
use postrider_ipc::space::{Actor, Call, Mapping, Result, Space, acting};
use postrider_os::launch::{Inheritance, Signals, become_program};
use postrider_os::traced::{self, Killed, Puppet, Registers, Stop};
use rustix::event::{PollFd, PollFlags, poll};

use super::programs::{LD_PRELOAD, library, not_started, preloaded};
use super::{ENV_DIRECTORY, Failure, failed};
use crate::other_engine::program::find;

/// Whether the file is a program that loads no libraries.
pub fn is_static(file: &Path) -> bool {
    let Ok(opened) = std::fs::File::open(file) else { return false };
    let cache = ReadCache::new(opened);
    let parsed: object::Result<ElfFile64<'_, object::Endianness, _>> = ElfFile64::parse(&cache);
    let interpreted = |program: ElfFile64<'_, object::Endianness, _>| {
        let endian = program.endian();
        program
            .elf_program_headers()
            .iter()
            .any(|part| object::read::elf::ProgramHeader::p_type(part, endian) == object::elf::PT_INTERP)
    };
    parsed.is_ok_and(|program| program.kind() != object::ObjectKind::Relocatable && !interpreted(program))
}

/// Whether a command is such a program.
pub fn is_needed(program: &std::ffi::OsStr) -> bool {
    find(program, Path::new("")).is_some_and(|file| is_static(&file))
}

/// `ipc-traced`: gives this process a tracer, and becomes the program.
pub fn become_traced(command: &[OsString]) -> Failure {
    let inheritance = Inheritance::of_this_process();
    let Some(directory) = std::env::var_os(ENV_DIRECTORY).map(PathBuf::from) else {
        return (2, format!("{ENV_DIRECTORY} does not say which name space"));
    };
    let space: &'static Space = match Space::open(&directory) {
        Ok(space) => Box::leak(Box::new(space)),
        Err(error) => return failed(&directory, &error),
    };
    let library = match library() {
        Ok(library) => library,
        Err(failure) => return failure,
    };
    if let Err(error) = traced::trace_this(&NUMBERS, |process| trace(space, process)) {
        return (1, error.to_string());
    }
    let (program, arguments) = command.split_first().expect("a program, which the command line asks for");
    let mut child = Command::new(program);
    child.args(arguments).env(LD_PRELOAD, preloaded(&library));
    not_started(program, &become_program(&mut child, inheritance))
}

/// Looks after a process and all that come of it.
fn trace(space: &'static Space, process: u32) {
    // Whoever reads what the programs write waits for their end only.
    if let Ok(nothing) = std::fs::File::options().read(true).write(true).open("/dev/null") {
        let _kept = (rustix::stdio::dup2_stdin(&nothing), rustix::stdio::dup2_stdout(&nothing));
    }
    let _here = std::env::set_current_dir("/");
    let (Ok(signals), Ok((heard, says))) = (Signals::receive(&[libc::SIGCHLD]), std::io::pipe()) else {
        return;
    };
    let mut tracer = Tracer {
        space,
        threads: HashMap::from([(process, Thread { process, waits: None })]),
        processes: HashMap::from([(process, Process::default())]),
        early: HashSet::new(),
        says: Arc::new(says),
        carriers: 0,
    };
    tracer.run(&signals, &heard);
}

/// A thread that is traced.
struct Thread {
    process: u32,
    waits: Option<Waits>,
}

/// A call that waits.
struct Waits {
    /// Its carrier's number.
    number: u64,
    registers: Registers,
    call: Arc<Call>,
    carrier: JoinHandle<Done>,
    is_done: bool,
}

/// A process that is traced.
#[derive(Clone, Default)]
struct Process {
    /// Whether no library of ours is in it.
    is_static: bool,
    attached: Vec<Attached>,
}

#[derive(Clone, Copy)]
struct Attached {
    address: usize,
    bytes: usize,
    identifier: i32,
}

struct Tracer {
    space: &'static Space,
    threads: HashMap<u32, Thread>,
    processes: HashMap<u32, Process>,
    /// Threads that stand, and whose parents have not been heard yet.
    early: HashSet<u32>,
    /// Where carriers say that they are done.
    says: Arc<PipeWriter>,
    carriers: u64,
}

/// Memory of the process of a thread.
struct Of(u32);

impl Memory for Of {
    fn read(&self, address: usize, into: &mut [u8]) -> bool {
        traced::read_memory(self.0, address, into)
    }

    fn write(&self, address: usize, from: &[u8]) -> bool {
        traced::write_memory(self.0, address, from)
    }
}

/// What the system says of a thread, in lines with a name.
struct Facts(String);

impl Facts {
    fn of(thread: u32) -> Self {
        Self(std::fs::read_to_string(format!("/proc/{thread}/status")).unwrap_or_default())
    }

    fn words(&self, name: &str) -> impl Iterator<Item = &str> {
        let line = self.0.lines().find_map(|line| line.strip_prefix(name));
        line.unwrap_or_default().split_ascii_whitespace()
    }

    /// Its process.
    fn process(&self) -> Option<u32> {
        self.words("Tgid:").next()?.parse().ok()
    }

    /// Its effective user and groups.
    fn caller(&self) -> Caller {
        let effective = |name: &str| self.words(name).nth(1).and_then(|id| id.parse().ok());
        let others = self.words("Groups:").filter_map(|id| id.parse().ok());
        // Nobody, if it has ended.
        let groups = effective("Gid:").into_iter().chain(others).collect();
        Caller { uid: effective("Uid:").unwrap_or(u32::MAX), groups }
    }

    /// Whether it handles a signal.
    fn handles(&self, signal: i32) -> bool {
        let handled = self.words("SigCgt:").next().and_then(|set| u64::from_str_radix(set, 16).ok());
        handled.unwrap_or(0) >> (signal - 1) & 1 != 0
    }
}

impl Tracer {
    /// Until there is nobody any more.
    fn run(&mut self, signals: &Signals, heard: &PipeReader) {
        loop {
            loop {
                match traced::next() {
                    Ok(Some((thread, stop))) => self.happened(thread, stop),
                    Ok(None) => break,
                    Err(_) => return,
                }
            }
            let mut ready = [PollFd::new(signals, PollFlags::IN), PollFd::new(heard, PollFlags::IN)];
            let _interrupted = poll(&mut ready, None);
            let is_done = ready[1].revents().contains(PollFlags::IN);
            while signals.next().is_some() {}
            if is_done {
                self.hear(heard);
            }
        }
    }

    /// A carrier is done: the thread for which it waits is to stand, and be told.
    fn hear(&mut self, mut heard: &PipeReader) {
        let mut number = [0; 8];
        if heard.read_exact(&mut number).is_err() {
            return;
        }
        let number = u64::from_ne_bytes(number);
        for (thread, one) in &mut self.threads {
            if let Some(waits) = one.waits.as_mut().filter(|waits| waits.number == number) {
                waits.is_done = true;
                traced::interrupt(*thread);
            }
        }
    }

    fn happened(&mut self, thread: u32, stop: Stop) {
        if !self.threads.contains_key(&thread) && stop != Stop::Ended {
            self.early.insert(thread);
            return;
        }
        match stop {
            Stop::Ended => return self.ended(thread),
            Stop::Call => return self.call(thread),
            Stop::Forked(child) => self.born(thread, child, true),
            Stop::Cloned(child) => self.born(thread, child, false),
            Stop::Became(former) => self.became(thread, former),
            Stop::Signal(signal) => {
                if self.threads[&thread].waits.is_some() && Facts::of(thread).handles(signal) {
                    self.end_wait(thread);
                }
                return traced::resume(thread, signal);
            }
            Stop::Stands | Stop::Stopped => {
                if self.threads[&thread].waits.as_ref().is_some_and(|waits| waits.is_done) {
                    self.end_wait(thread);
                }
                if stop == Stop::Stopped {
                    return traced::leave_stopped(thread);
                }
            }
        }
        traced::resume(thread, 0);
    }

    /// A thread waits no more: it is told what came of it, or that it was interrupted.
    fn end_wait(&mut self, thread: u32) {
        let Some(waits) = self.threads.get_mut(&thread).and_then(|one| one.waits.take()) else { return };
        let registers = waits.registers;
        let done = self.end_carrier(waits);
        registers.finish(thread, number_of(copied::give(done, &Of(thread))));
    }

    fn end_carrier(&self, waits: Waits) -> Done {
        self.space.cancel_call(&waits.call);
        waits.carrier.join().unwrap_or(Err(libc::EINTR))
    }

    /// A thread has come: of the same process, or of a new one.
    fn born(&mut self, parent: u32, child: u32, copies: bool) {
        let process = self.threads[&parent].process;
        let own = Facts::of(child).process().unwrap_or(child);
        if own != process {
            let mut new = self.processes[&process].clone();
            if !copies {
                new.attached.clear();
            }
            if new.is_static && !new.attached.is_empty() {
                let place = self.space.place_for(process);
                // A child that has been killed already has nothing attached.
                let _place = place.and_then(|place| self.space.place_for_child(place, child));
            }
            self.processes.insert(own, new);
        }
        self.threads.insert(child, Thread { process: own, waits: None });
        if self.early.remove(&child) {
            traced::resume(child, 0);
        }
    }

    /// A process has become another program, and has one thread.
    fn became(&mut self, thread: u32, former: u32) {
        let process = self.threads[&thread].process;
        for one in [thread, former] {
            if let Some(waits) = self.threads.get_mut(&one).and_then(|one| one.waits.take()) {
                let _nobody = self.end_carrier(waits);
            }
        }
        if former != thread {
            self.threads.remove(&former);
        }
        let new = Process {
            is_static: is_static(Path::new(&format!("/proc/{process}/exe"))),
            attached: Vec::new(),
        };
        let old = self.processes.insert(process, new);
        if old.is_some_and(|old| !old.attached.is_empty())
            && let Some(place) = self.space.place_for(process)
        {
            self.space.has_begun(place);
        }
    }

    fn ended(&mut self, thread: u32) {
        self.early.remove(&thread);
        if let Some(waits) = self.threads.remove(&thread).and_then(|one| one.waits) {
            let _nobody = self.end_carrier(waits);
        }
        if self.processes.remove(&thread).is_some() {
            self.space.has_ended_for(thread);
        }
    }

    /// A thread stands before one of our calls.
    fn call(&mut self, thread: u32) {
        let Some(registers) = Registers::of(thread) else { return };
        if !NUMBERS.contains(&registers.number()) {
            return traced::resume(thread, 0);
        }
        let process = self.threads[&thread].process;
        let Some(place) = self.space.place_for(process) else {
            registers.finish(thread, number_of(Err(libc::ENOMEM)));
            return traced::resume(thread, 0);
        };
        let actor = Actor { place, pid: process, caller: Facts::of(thread).caller() };
        let [first, second, third, ..] = registers.arguments();
        let mapped = match registers.number() {
            libc::SYS_shmat => {
                let asked = || self.space.attach_for(first as i32, second, third as i32);
                let asked = acting::act(&actor, None, asked);
                asked.map(|mapping| self.attach(thread, registers, &actor, &mapping))
            }
            libc::SYS_shmdt => {
                let attached = &self.processes[&process].attached;
                let found = attached.iter().rposition(|one| one.address == first).ok_or(libc::EINVAL);
                found.map(|found| self.detach(thread, registers, &actor, found))
            }
            _ => return self.make(thread, registers, actor),
        };
        match mapped {
            Ok(Ok(())) => {}
            Ok(Err(Killed)) => return self.ended(thread),
            Err(error) => registers.finish(thread, number_of(Err(error))),
        }
        traced::resume(thread, 0);
    }

    /// Makes a call that is about no mapping: at once, or with a carrier.
    fn make(&mut self, thread: u32, registers: Registers, actor: Actor) {
        let (memory, at_once) = (Of(thread), Arc::new(Call::default()));
        let call = copied::copied(self.space, registers.number(), registers.arguments(), &memory);
        self.space.cancel_call(&at_once);
        let done = match call {
            Ok(call) => match acting::act(&actor, Some(&at_once), || call.make(self.space)) {
                Err(libc::EINTR) => {
                    self.carry(thread, registers, actor, call);
                    registers.sleep(thread);
                    return traced::resume(thread, 0);
                }
                done => done,
            },
            Err(error) => Err(error),
        };
        registers.finish(thread, number_of(copied::give(done, &memory)));
        traced::resume(thread, 0);
    }

    /// Has a call wait in a thread of its own, and returns once it does.
    fn carry(&mut self, thread: u32, registers: Registers, actor: Actor, copied: Copied) {
        let call = Arc::new(Call::default());
        self.carriers += 1;
        let (space, number, says, its) =
            (self.space, self.carriers, Arc::clone(&self.says), Arc::clone(&call));
        let carrier = std::thread::spawn(move || {
            let done = acting::act(&actor, Some(&its), || {
                space.make_cancellable(&its);
                copied.make(space)
            });
            its.settle();
            let _heard = (&*says).write_all(&number.to_ne_bytes());
            done
        });
        call.until_settled();
        let waits = Waits { number, registers, call, carrier, is_done: false };
        if let Some(one) = self.threads.get_mut(&thread) {
            one.waits = Some(waits);
        }
    }

    /// Has a thread map a segment that it counts as having attached.
    fn attach(
        &mut self,
        thread: u32,
        registers: Registers,
        actor: &Actor,
        mapping: &Mapping,
    ) -> std::result::Result<(), Killed> {
        let mut puppet = Puppet::new(thread, registers);
        let result = map(&mut puppet, mapping)?;
        let mut gone = Vec::new();
        if let Ok(address) = result {
            let (address, bytes) = (address as usize, mapping.bytes);
            let covered =
                |one: &mut Attached| one.address >= address && one.address + one.bytes <= address + bytes;
            let attached = &mut self.processes.entry(actor.pid).or_default().attached;
            gone.extend(attached.extract_if(.., covered).map(|one| one.identifier));
            attached.push(Attached { address, bytes, identifier: mapping.identifier });
        } else {
            gone.push(mapping.identifier);
        }
        acting::act(actor, None, || gone.into_iter().for_each(|gone| self.space.detach_for(gone)));
        puppet.finish(number_of(result));
        Ok(())
    }

    /// Has a thread take a mapping away.
    fn detach(
        &mut self,
        thread: u32,
        registers: Registers,
        actor: &Actor,
        found: usize,
    ) -> std::result::Result<(), Killed> {
        let mut puppet = Puppet::new(thread, registers);
        let one = self.processes.entry(actor.pid).or_default().attached.remove(found);
        puppet.call(libc::SYS_munmap, [one.address, one.bytes, 0, 0, 0, 0])?;
        acting::act(actor, None, || self.space.detach_for(one.identifier));
        puppet.finish(0);
        Ok(())
    }
}

/// What a call returns to a program.
fn number_of(result: Result<i64>) -> i64 {
    result.unwrap_or_else(|error| -i64::from(error))
}

/// Opens the file of a segment, maps it, and closes it.
fn map(puppet: &mut Puppet, mapping: &Mapping) -> std::result::Result<Result<i64>, Killed> {
    let path = CString::new(mapping.file.as_os_str().as_bytes()).unwrap_or_default();
    let Some(path) = puppet.text(&path) else { return Ok(Err(libc::ENOMEM)) };
    let writes = mapping.access & libc::PROT_WRITE != 0;
    let how = libc::O_CLOEXEC | if writes { libc::O_RDWR } else { libc::O_RDONLY };
    let result = |number: i64| if number < 0 { Err(-number as i32) } else { Ok(number) };
    let file = match result(
        puppet.call(libc::SYS_openat, [libc::AT_FDCWD as usize, path, how as usize, 0, 0, 0])?,
    ) {
        Ok(file) => file as usize,
        Err(error) => return Ok(Err(error)),
    };
    let (access, flags) = (mapping.access as usize, mapping.flags as usize);
    let mapped = puppet.call(libc::SYS_mmap, [mapping.at, mapping.bytes, access, flags, file, 0])?;
    puppet.call(libc::SYS_close, [file, 0, 0, 0, 0, 0])?;
    Ok(result(mapped).map_err(|error| if error == libc::EEXIST { libc::EINVAL } else { error }))
}
