//! Data access (section 14.4): where a call begins in the view, who takes part, and when it returns.

use std::sync::Arc;

use postrider_abi::*;
use postrider_client::{Buffer, Outcome, OwnedDatatype, Pending};

use crate::access::Nearness;
use crate::collective::{self, Team};
use crate::error::{Error, Result};
use crate::file::{Atomic, File, Split, Viewed};
use crate::hints::Choice;
use crate::view::Series;
use crate::{access, agreement, helpers};

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From the file.
    Read,
    /// To the file.
    Write,
}

/// Where a call begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Position {
    /// At an offset that it names.
    At(i64),
    /// At the individual file pointer.
    Individual,
    /// At the shared file pointer.
    Shared,
}

/// Who takes part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manner {
    /// One process.
    Alone,
    /// All processes of the file; at the shared file pointer in the order of their ranks.
    Together,
}

/// A call with its place in the view.
#[derive(Clone, Debug)]
struct Place {
    view: Arc<Viewed>,
    /// In bytes of the view's stream.
    at: i64,
    /// In atomic mode.
    atomic: Option<Atomic>,
    /// What is read together.
    reads: Nearness,
}

impl Place {
    /// Accesses `bytes` bytes of the view's stream; in atomic mode when it is this process's turn.
    fn in_turn<T>(
        &self,
        direction: Direction,
        bytes: usize,
        access: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        match &self.atomic {
            None => access(),
            Some(Atomic { locks, has_rivals: false, .. }) => locks.without_rivals(access),
            Some(Atomic { locks, holes: Some(_), .. }) if direction == Direction::Write => {
                locks.with(self.whole(bytes as i64).into_iter(), true, access)
            }
            Some(Atomic { locks, .. }) => {
                let blocks = self.view.view.series(self.at, bytes as i64);
                locks.with(blocks, direction == Direction::Write, access)
            }
        }
    }
}

impl Place {
    /// From the first to the last of `bytes` bytes.
    fn whole(&self, bytes: i64) -> Option<Series> {
        let first = self.view.view.offset(self.at);
        (bytes > 0).then(|| Series::block(first, self.view.view.offset(self.at + bytes - 1) + 1 - first))
    }
}

impl File {
    /// Moves data, and returns how many bytes of the user's buffer.
    ///
    /// # Errors
    /// Those of the arguments, of the system, and if it is done together of other processes.
    pub fn transfer(
        &self,
        direction: Direction,
        position: Position,
        manner: Manner,
        mut buffer: Buffer,
    ) -> Result<i64> {
        let elements = self.check(direction, position, &buffer);
        if manner == Manner::Alone {
            let place = self.place(position, elements?)?;
            return self.alone(direction, &place, &mut buffer);
        }
        self.collective_may_begin()?;
        let place = match position {
            Position::Shared => self.ordered(elements)?,
            position => self.place(position, agreement::agree(*self.communicator, elements)?)?,
        };
        self.together(direction, &place, &mut buffer)
    }

    /// Begins a split collective call, which is done when this returns.
    ///
    /// # Errors
    /// As [`Self::transfer`].
    pub fn begin(
        &self,
        name: &'static str,
        (direction, position): (Direction, Position),
        buffer: Buffer,
    ) -> Result<()> {
        let bytes = self.transfer(direction, position, Manner::Together, buffer)?;
        self.state().split = Some(Split { name, bytes });
        Ok(())
    }

    /// Ends a split collective call, and returns how many bytes it has moved.
    ///
    /// # Errors
    /// When another one has begun, or none.
    pub fn end(&self, name: &str) -> Result<i64> {
        let mut state = self.state();
        match state.split {
            Some(split) if split.name == name => {
                state.split = None;
                Ok(split.bytes)
            }
            other => {
                let begun =
                    other.map_or("no split collective call".into(), |split| format!("{}_begin", split.name));
                let detail = format!("{begun} has begun on this file, so {name}_end cannot end it");
                Err(Error::new(MPI_ERR_OTHER, detail))
            }
        }
    }

    /// Starts moving data, and returns a request. A helper does it where threads beside the program may call MPI; otherwise it is
    /// done at once, by each process for itself, which need not wait for others.
    ///
    /// # Errors
    /// Those of the arguments; those of the system, and if it is done together of other processes, are the request's.
    pub fn start(
        self: &Arc<Self>,
        (direction, position, manner): (Direction, Position, Manner),
        buffer: Buffer,
        let_threads_meet: impl FnOnce(),
    ) -> Result<MPI_Request> {
        if manner == Manner::Together {
            self.not_in_split()?;
        }
        if self.works_beside {
            let_threads_meet();
        }
        let together = manner == Manner::Together && self.works_beside;
        let prepared = self.prepare(direction, position, buffer);
        let (place, mut buffer, datatype, pending) = match prepared {
            Err(error) if together => {
                // The others wait for this one.
                let (file, told) = (Arc::clone(self), error.clone());
                self.line.add(Box::new(move || drop(agreement::agree::<()>(*file.communicator, Err(told)))));
                return Err(error);
            }
            prepared => prepared?,
        };
        let (request, file) = (pending.handle(), Arc::clone(self));
        let work = move || {
            let result = if together {
                let all = agreement::agree(*file.communicator, Ok(()));
                all.and_then(|()| file.together(direction, &place, &mut buffer))
            } else {
                file.alone(direction, &place, &mut buffer)
            };
            // The file may be closed as soon as the request is complete.
            drop((file, place, datatype));
            let outcome = match result {
                Ok(bytes) => Outcome { bytes, code: MPI_SUCCESS },
                Err(error) => Outcome { bytes: 0, code: error.code() },
            };
            // There is nobody to tell if the request is not there any more.
            let _ = pending.complete(outcome);
        };
        match together {
            true => self.line.add(Box::new(work)),
            false if self.works_beside => helpers::run(Box::new(work)),
            false => work(),
        }
        Ok(request)
    }

    /// What a nonblocking call needs of the program's arguments; it may free the datatype before the request is complete.
    fn prepare(
        &self,
        direction: Direction,
        position: Position,
        buffer: Buffer,
    ) -> Result<(Place, Buffer, OwnedDatatype, Pending)> {
        let elements = self.check(direction, position, &buffer)?;
        let place = self.place(position, elements)?;
        let datatype = buffer.datatype().duplicate()?;
        let buffer = buffer.with_datatype(*datatype);
        Ok((place, buffer, datatype, Pending::start(self.mpi)?))
    }

    /// Checks the arguments, and returns how many elementary datatypes are accessed.
    fn check(&self, direction: Direction, position: Position, buffer: &Buffer) -> Result<i64> {
        if position != Position::Shared {
            self.not_sequential()?;
        }
        match direction {
            Direction::Read => self.may_read()?,
            Direction::Write => self.may_write()?,
        }
        if let Position::At(offset @ ..0) = position {
            return Err(Error::argument(format!("the offset is {offset}; it must not be negative")));
        }
        if buffer.count() < 0 {
            let detail = format!("the count is {}; it must not be negative", buffer.count());
            return Err(Error::new(MPI_ERR_COUNT, detail));
        }
        let view = Arc::clone(&self.state().view);
        let (each, unit) = (view.representation.bytes(buffer.datatype())?, view.view.etype_bytes());
        let Some(bytes) = each.checked_mul(buffer.count()) else {
            return Err(Error::new(MPI_ERR_COUNT, "count and datatype name more than 2^63 bytes"));
        };
        if bytes == 0 {
            return Ok(0);
        }
        if unit == 0 || bytes % unit != 0 {
            let detail =
                format!("{bytes} bytes are no multiple of the view's elementary datatype, which has {unit}");
            return Err(Error::argument(detail));
        }
        let start = match position {
            Position::At(offset) => offset,
            Position::Individual => self.state().position,
            Position::Shared => 0,
        };
        view.view.stream_of(start, bytes / unit).ok_or_else(|| Error::too_far(start))?;
        Ok(bytes / unit)
    }

    /// Where a call of one process begins. File pointers move by what is asked for (sections 14.4.3 and 14.4.4).
    fn place(&self, position: Position, elements: i64) -> Result<Place> {
        let shared = if position == Position::Shared { self.pointer.add(elements)? } else { 0 };
        let mut state = self.state();
        let start = match position {
            Position::At(offset) => offset,
            Position::Shared => shared,
            Position::Individual => {
                state.position += elements;
                state.position - elements
            }
        };
        let (view, atomic, reads) = (Arc::clone(&state.view), state.atomic.clone(), state.hints.reads());
        let at = start * view.view.etype_bytes();
        Ok(Place { view, at, atomic, reads })
    }

    /// Where a call at the shared file pointer begins that all processes do in the order of their ranks.
    fn ordered(&self, elements: Result<i64>) -> Result<Place> {
        let way = self.state().hints.ways.ordered;
        let start = self.pointer.add_in_order(*self.communicator, elements, way)?;
        self.place(Position::At(start), 0)
    }

    /// Moves data of one process.
    fn alone(&self, direction: Direction, place: &Place, buffer: &mut Buffer) -> Result<i64> {
        let view = &place.view;
        match direction {
            Direction::Write => {
                let bytes = view.representation.encode(buffer)?;
                place.in_turn(direction, bytes.len(), || self.write(place, &bytes))?;
                written(buffer)
            }
            Direction::Read => receive(view, buffer, |bytes| {
                place.in_turn(direction, bytes.len(), || {
                    access::read(&self.disk, &view.view, place.at, bytes, place.reads)
                })
            }),
        }
    }

    /// Writes as one process, when it is its turn.
    fn write(&self, place: &Place, bytes: &[u8]) -> Result<()> {
        let (disk, view) = (&self.disk, &place.view.view);
        match place.atomic.as_ref().and_then(|atomic| atomic.holes) {
            Some(near) if disk.is_for_both() => access::write_with_holes(disk, view, place.at, bytes, near),
            _ => access::write(disk, view, place.at, bytes),
        }
    }

    /// Moves data of all processes. In atomic mode each is alone with the file in turn.
    fn together(&self, direction: Direction, place: &Place, buffer: &mut Buffer) -> Result<i64> {
        let Some(team) = self.team(direction, place)? else {
            let result = self.alone(direction, place, buffer);
            return agreement::agree(*self.communicator, result);
        };
        let view = &place.view;
        match direction {
            Direction::Write => {
                let bytes = view.representation.encode(buffer);
                let bytes = agreement::agree(*self.communicator, bytes)?;
                collective::write(&team, &self.disk, &view.view, place.at, &bytes)?;
                written(buffer)
            }
            Direction::Read => receive(view, buffer, |bytes| {
                collective::read(&team, &self.disk, &view.view, place.at, bytes)
            }),
        }
    }

    /// Who accesses the file for all, if anybody may.
    fn team(&self, direction: Direction, place: &Place) -> Result<Option<Team>> {
        let hints = self.state().hints.clone();
        let buffering = hints.buffering[direction as usize];
        if place.atomic.is_some() || buffering == Choice::Disable || self.processes == 1 {
            return Ok(None);
        }
        let hosts = match self.hosts.get() {
            Some(hosts) => hosts,
            None => {
                let found = collective::hosts(*self.communicator, &hints.configuration)?;
                self.hosts.get_or_init(|| found)
            }
        };
        let always = buffering == Choice::Enable;
        let is_configured = !hints.configuration.is_empty();
        let is_asked_for = always || is_configured || hints.nodes != 0;
        if hosts.len() == 1 && !is_asked_for && self.disk.is_of_this_host() {
            // Everybody has the file in its memory: to send the bytes to somebody else would be one more copy.
            return Ok(None);
        }
        Ok(Some(Team {
            communicator: *self.communicator,
            aggregators: collective::aggregators(hosts, is_configured, self.processes, hints.nodes),
            window_bytes: hints.buffer_bytes,
            alignment: hints.striping_unit,
            always,
            joins_small: !self.disk.is_of_this_host(),
            reads: place.reads,
        }))
    }
}

/// Bytes of the user's buffer that a write has taken.
fn written(buffer: &Buffer) -> Result<i64> {
    Ok(buffer.datatype().size()? * buffer.count())
}

/// Has `read` fill bytes, and stores them as the view says. Where those are the bytes of memory it fills the user's buffer.
fn receive(view: &Viewed, buffer: &mut Buffer, read: impl FnOnce(&mut [u8]) -> Result<usize>) -> Result<i64> {
    if view.representation.is_native()
        && let Some(dense) = buffer.dense_mut()?
    {
        return Ok(read(dense)? as i64);
    }
    let mut bytes = vec![0; (view.representation.bytes(buffer.datatype())? * buffer.count()) as usize];
    let there = read(&mut bytes)?;
    view.representation.decode(buffer, &mut bytes[..there])
}
