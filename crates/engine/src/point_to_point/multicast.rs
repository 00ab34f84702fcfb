//! One message for several processes: what a collective sends from the same place to several peers.
//!
//! Where the transport has a way to give one packet to several (see [`Transport::multicast`]), the message is handed over
//! once; each receiver sees an ordinary eager message. Who cannot be reached like that, or has messages waiting before
//! this one, gets a message of its own.
//!
//! [`Transport::multicast`]: crate::transports::Transport::multicast

use super::Buffer;
use crate::State;
use crate::communicators::Route;
use crate::error::Result;
use crate::objects::Key;
use crate::transports::wire::{Header, Kind};

impl State {
    /// Whether a message of `bytes` goes to several processes of this host at the cost of one.
    #[inline]
    pub(crate) fn multicasts(&self, bytes: u64) -> bool {
        self.transport.multicast_lengths().takes(bytes)
    }

    /// Starts sends of one message on ways that differ in their peers only. Returns those that are not complete at once.
    pub(crate) fn post_multicast(&mut self, routes: &[Route], tag: i32, buffer: &Buffer) -> Result<Vec<Key>> {
        let is_near = |route: &&Route| {
            route.peer != self.own
                && self.outgoing[route.peer as usize].is_empty()
                && self.transport.is_in_multicast(route.peer)
        };
        let (near, far): (Vec<&Route>, Vec<&Route>) = routes.iter().partition(is_near);
        let peers: Vec<u32> = near.iter().map(|route| route.peer).collect();
        let mut under_way = Vec::new();
        // Those far away first: their way is longer.
        for route in far {
            under_way.extend(self.post_send(*route, tag, buffer, false)?);
        }
        let (memory, _packed) = buffer.in_one_piece();
        let sent = match near.first() {
            Some(route) if near.len() > 1 => {
                let header = Header { kind: Kind::Eager, ..route.header(tag) };
                self.transport.multicast(&peers, &header, memory, buffer.bytes() as usize)?
            }
            _ => 0,
        };
        for route in &near[sent..] {
            under_way.extend(self.post_send(**route, tag, buffer, false)?);
        }
        Ok(under_way)
    }
}
