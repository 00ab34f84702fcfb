//! Calls: conversations between processes of different hosts that meet at a port, and questions for published names.
//!
//! A process that wants something of another host comes to the hall as well ([`postrider_os::hall`]), and says what. The post there does
//! what the process would do on that host, and from then on the frames of both connections cross the link. A call is known by the host
//! of the caller, a number that this has given it, and the side. A packet says by its kind what it is, by its sender the number, and
//! by its receiver which side is to have it.

use std::collections::BTreeMap;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use postrider_os::hall::{Call, Wish};
use postrider_os::packet::{Class, Head, PAYLOAD_BYTES_MAX};
use postrider_os::port::{Connection, look_up};

use super::guests::is_readable;

/// What a packet of a call is: its beginning, with the wish; a frame; its end.
const BEGIN: u8 = 0;
const FRAME: u8 = 1;
const END: u8 = 2;

/// Which end of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Side {
    Caller = 0,
    Called = 1,
}

/// The caller's host, the number there, and which end this is.
type Name = (u32, u32, Side);

/// What is to be told another host, or this one.
pub type Note = (u32, Head, Vec<u8>);

/// The calls of one post.
#[derive(Debug)]
pub struct Calls {
    host: u32,
    made: u32,
    open: BTreeMap<Name, (u32, Connection)>,
    notes: Vec<Note>,
}

impl Calls {
    /// Those of host `host`.
    pub fn new(host: u32) -> Self {
        Self { host, made: 0, open: BTreeMap::new(), notes: Vec::new() }
    }

    /// What becomes readable when there is something to look at.
    pub fn wait_for(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.open.values().map(|(_, connection)| connection.as_fd())
    }

    /// What is to be told.
    pub fn notes(&mut self) -> Vec<Note> {
        std::mem::take(&mut self.notes)
    }

    /// A process of this host calls.
    pub fn begin(&mut self, call: &Call, connection: Connection) {
        self.made += 1;
        let name = (self.host, self.made, Side::Caller);
        self.tell(call.host, name, BEGIN, call.encode());
        self.open.insert(name, (call.host, connection));
    }

    /// Passes on what processes of this host have said.
    pub fn look(&mut self) {
        let names: Vec<Name> = self.open.keys().copied().collect();
        for name in names {
            while let Some((other, connection)) = self.open.get_mut(&name)
                && is_readable(connection)
            {
                let other = *other;
                match connection.receive(Duration::ZERO) {
                    Ok(Some(frame)) if frame.len() <= PAYLOAD_BYTES_MAX as usize => {
                        self.tell(other, name, FRAME, frame);
                    }
                    Ok(None) => break,
                    Ok(Some(_)) | Err(_) => self.end(other, name),
                }
            }
        }
    }

    /// Does what host `from` has told.
    pub fn hear(&mut self, from: u32, head: &Head, body: &[u8]) {
        let name = match head.receiver {
            0 => (self.host, head.sender, Side::Caller),
            _ => (from, head.sender, Side::Called),
        };
        match (head.kind, self.open.get_mut(&name)) {
            (BEGIN, None) if name.2 == Side::Called => match Call::decode(body) {
                Some(call) => self.answer(from, name, call.wish),
                None => self.end(from, name),
            },
            (FRAME, Some((_, connection))) => match connection.send(body) {
                Ok(()) => {}
                Err(_) => self.end(from, name),
            },
            (END, _) => drop(self.open.remove(&name)),
            _ => {}
        }
    }

    /// No more can be said to a host.
    pub fn lose(&mut self, host: u32) {
        self.open.retain(|_, (other, _)| *other != host);
    }

    fn answer(&mut self, from: u32, name: Name, wish: Wish) {
        match wish {
            Wish::Connect(port) => match Connection::to(&port) {
                Ok(connection) => {
                    self.open.insert(name, (from, connection));
                    self.tell(from, name, FRAME, Vec::new());
                }
                Err(_) => self.end(from, name),
            },
            Wish::LookUp(service) => {
                if let Some(port) = look_up(&service) {
                    self.tell(from, name, FRAME, port);
                }
                self.end(from, name);
            }
        }
    }

    fn end(&mut self, other: u32, name: Name) {
        self.open.remove(&name);
        self.tell(other, name, END, Vec::new());
    }

    fn tell(&mut self, host: u32, (_, number, side): Name, kind: u8, body: Vec<u8>) {
        let receiver = match side {
            Side::Caller => Side::Called as u32,
            Side::Called => Side::Caller as u32,
        };
        let head = Head { class: Class::Call, kind, sender: number, receiver, bytes: body.len() as u32 };
        self.notes.push((host, head, body));
    }
}
