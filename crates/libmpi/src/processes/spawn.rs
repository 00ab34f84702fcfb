//! New processes (MPI 5.0, section 11.8): a job of its own, started by the root's launcher as this process's child.
//!
//! The root opens a port and starts `postrider spawned` with its name; what is to run goes to that one's standard input. The new
//! processes go to the port in `MPI_Init`, all together, as if they called `MPI_Comm_connect`, while those here accept. The
//! launcher comes to the port as well, and says that it has started them all, or why it cannot; its end before that is the
//! end of the wait.

use core::ffi::c_int;
use std::io::Write as _;
use std::process::{Child, Command, Stdio};

use postrider_abi::*;
use postrider_engine::error::{Error, Result};
use postrider_os::port::{Connection, LAUNCHER_SPEAKS, Port};

use super::meeting::{LISTEN, hear};
use super::{join_groups, keys, refused};
use crate::parse::{self, In, Out, Text, Words};
use crate::tables::tables;
use crate::{info, instance, joining};

/// A program, and how many processes of it there are to be.
struct Wanted {
    /// As many as were asked for; fewer may be started.
    most: u32,
    processes: u32,
    command: Vec<u8>,
    arguments: Vec<Vec<u8>>,
    wdir: Vec<u8>,
}

impl Wanted {
    fn new(command: Text, arguments: Words, most: c_int, hints: MPI_Info) -> Result<Self> {
        let Some(most) = u32::try_from(most).ok().filter(|&most| most > 0) else {
            let detail = format!("the number of processes to spawn is {most}; it must be positive");
            return Err(Error::new(MPI_ERR_ARG, detail));
        };
        let hints = keys::with_file(info::hints(hints)?)?;
        keys::check_place(&hints)?;
        Ok(Self {
            most,
            processes: keys::processes(most, &hints)?,
            command: keys::program(command.get()?, &hints),
            arguments: arguments.get(),
            wdir: hints.value("wdir").unwrap_or_default().to_owned(),
        })
    }

    /// As `postrider spawned` reads it.
    fn describe(&self, to: &mut Vec<u8>) {
        let (processes, words) = (self.processes.to_string(), (self.arguments.len() + 1).to_string());
        let head: [&[u8]; 4] =
            [processes.as_bytes(), self.wdir.as_slice(), words.as_bytes(), self.command.as_slice()];
        for text in head.into_iter().chain(self.arguments.iter().map(Vec::as_slice)) {
            to.extend_from_slice(text);
            to.push(0);
        }
    }
}

/// Starts the launcher of a new job.
fn start(wanted: &[Wanted], port: &Port) -> Result<Child> {
    let failed = |why: String| Error::new(MPI_ERR_SPAWN, why);
    let transport = if instance().uses_files()? { "file" } else { "shared-memory" };
    let program = joining::program().map_err(failed)?;
    let mut command = Command::new(&program);
    command.args(["spawned", port.name(), "--transport", transport]).stdin(Stdio::piped());
    let cannot = |error: std::io::Error| failed(format!("cannot start {}: {error}", program.display()));
    let mut child = command.spawn().map_err(cannot)?;
    let mut description = Vec::new();
    wanted.iter().for_each(|wanted| wanted.describe(&mut description));
    match child.stdin.take() {
        // A launcher that has died already is noticed below.
        Some(mut input) => drop(input.write_all(&description)),
        None => unreachable!("its input was asked for"),
    }
    Ok(child)
}

/// Starts a new job, and waits until its processes are there.
fn spawn(wanted: &[Wanted]) -> Result<Connection> {
    let port = Port::open(None).map_err(refused(MPI_ERR_SPAWN))?;
    let mut child = start(wanted, &port)?;
    let connection = meet(&port, &mut child);
    tables().spawned.push(child);
    connection
}

/// Waits for the first of the new processes, and for the launcher's word that it has started all of them.
fn meet(port: &Port, child: &mut Child) -> Result<Connection> {
    let (mut first, mut started) = (None, false);
    loop {
        // In this order: what the launcher has said before its end is heard.
        let end = child.try_wait().ok().flatten();
        if let Some(mut connection) = port.accept(LISTEN).map_err(refused(MPI_ERR_SPAWN))? {
            let words = hear(&mut connection)?;
            match words.as_deref().map(|words| words.strip_prefix(LAUNCHER_SPEAKS)) {
                Some(None) => first = Some(connection),
                Some(Some([])) => started = true,
                Some(Some(reason)) => {
                    return Err(Error::new(MPI_ERR_SPAWN, String::from_utf8_lossy(reason)));
                }
                None => {}
            }
        } else if let Some(status) = end {
            let detail =
                format!("the spawned processes have ended without having called MPI_Init ({status})");
            return Err(Error::new(MPI_ERR_SPAWN, detail));
        }
        match first.take() {
            Some(connection) if started => return Ok(connection),
            waiting => first = waiting,
        }
        instance().go_on()?;
    }
}

/// Collects the launchers of spawned jobs that have ended.
pub fn collect_spawned() {
    tables().spawned.retain_mut(|child| matches!(child.try_wait(), Ok(None)));
}

/// The common part: `describe` says at the root what is wanted.
fn spawn_all(
    comm: MPI_Comm,
    root: c_int,
    codes: Out<c_int>,
    intercomm: Out<MPI_Comm>,
    describe: impl FnOnce() -> Result<Vec<Wanted>>,
) -> Result<()> {
    collect_spawned();
    let mut asked = Vec::new();
    let made = join_groups(comm, root, MPI_ERR_SPAWN, || {
        asked = describe()?;
        spawn(&asked)
    });
    let code = made.as_ref().map_or_else(|error| error.class, |_| MPI_SUCCESS);
    if codes.0.is_null() {
        return intercomm.set(made?);
    }
    let mut each: Vec<c_int> = Vec::new();
    for Wanted { most, processes, .. } in &asked {
        let place = each.len();
        each.resize(place + *processes as usize, code);
        each.resize(place + *most as usize, MPI_ERR_SPAWN);
    }
    // Elsewhere than at the root nothing is known but how many have come.
    if let (true, Ok(made)) = (asked.is_empty(), &made) {
        let key = parse::communicator(*made)?;
        let size = instance().with(|state| Ok(state.communicators.get(key)?.peers().size()))?;
        each.resize(size as usize, MPI_SUCCESS);
    }
    each.iter().enumerate().try_for_each(|(index, code)| codes.set_at(index, *code))?;
    intercomm.set(made?)
}

mpi! {
    /// Section 11.8.1: everything before `root` counts at the root only.
    MPI_Comm_spawn (
        command: Text, argv: Words, maxprocs: c_int, info: MPI_Info, root: c_int, comm: MPI_Comm,
        intercomm: Out<MPI_Comm>, array_of_errcodes: Out<c_int>
    ) on comm {
        spawn_all(comm, root, array_of_errcodes, intercomm, || {
            Ok(vec![Wanted::new(command, argv, maxprocs, info)?])
        })
    }

    /// Section 11.8.3: everything before `root` counts at the root only.
    MPI_Comm_spawn_multiple (
        count: c_int, array_of_commands: In<Text>, array_of_argv: In<Words>, array_of_maxprocs: In<c_int>,
        array_of_info: In<MPI_Info>, root: c_int, comm: MPI_Comm, intercomm: Out<MPI_Comm>,
        array_of_errcodes: Out<c_int>
    ) on comm {
        spawn_all(comm, root, array_of_errcodes, intercomm, || {
            let count = parse::length(count.into(), "the number of programs")?;
            if count == 0 {
                return Err(Error::new(MPI_ERR_ARG, "there is no program to spawn"));
            }
            let commands = array_of_commands.all(count)?;
            let arguments = match array_of_argv.0.is_null() {
                // MPI_ARGVS_NULL.
                true => vec![Words(std::ptr::null()); count],
                false => array_of_argv.all(count)?,
            };
            let (most, hints) = (array_of_maxprocs.all(count)?, array_of_info.all(count)?);
            let parts = commands.into_iter().zip(arguments).zip(most).zip(hints);
            parts.map(|(((command, argv), most), hints)| Wanted::new(command, argv, most, hints)).collect()
        })
    }
}
