//! Long messages that their senders write where a receiver that computes wants them.
//!
//! A receiver that computes takes no announcements, and waking its helper takes longer than most messages. So a receive of a long message that a
//! call leaves behind is written on a card that all processes of the host see ([`postrider_os::invitation`]). A sender that waits, and sees that the
//! receiver is in no call of MPI, writes its announced message there by itself and says so (`Placed`).
//!
//! That changes nothing of what matches what. A card is of a receive that no earlier one competes with, and for the message that comes next from its sender: it
//! says how far the receiver has read the ring from there, and the sender accepts if that is where its announcement begins. Whatever
//! else comes before finds another place in the ring, and the receiver takes the invitation back before it gives the receive a message in any
//! other way.

use postrider_os::invitation::Invitation;

use super::matching::Pattern;
use super::protocol::Outgoing;
use super::request::{Completion, Status, Work};
use crate::State;
use crate::error::Result;
use crate::objects::Key;
use crate::transports::SingleCopy;
use crate::transports::wire::{Header, Kind};

/// Announced messages that a process keeps in mind.
const UNMATCHED_MAX: usize = 8;
/// Bytes that are written before the sender looks whether the receiver waits by now: then both move the rest, in pieces.
const WRITTEN_AT_ONCE: u64 = 1 << 20;

/// A message that is announced and not matched yet, as far as this process knows.
#[derive(Debug)]
pub(crate) struct Unmatched {
    request: Key,
    /// How many calls of MPI the receiver had made when it was last seen in none. Between two calls that follow one another it is in none either.
    calls: Option<u64>,
}

impl State {
    /// Invites the sender of the message that a receive waits for, if that makes sense.
    pub(super) fn invite(&mut self, receive: Key, communicator: Key, context: u64, pattern: Pattern) {
        let Some(source) = pattern.source else { return };
        let found = self.communicators.get(communicator).and_then(|found| found.peer(source as i32));
        let Ok(peer) = found else { return };
        // Who waits for it at once takes it by itself, and a landing would have to get it first.
        if peer == self.own
            || self.transport.limits(peer).single_copy == SingleCopy::Never
            || self.transport.waits(self.own)
            || self.landings.are_open()
            || !self.matching.is_first(context, pattern, receive)
        {
            return;
        }
        let Ok(receiving) = self.receiving(receive) else { return };
        let Some(memory) = receiving.buffer.run() else { return };
        let bytes = receiving.buffer.bytes();
        let invitation = |position| Invitation {
            sender: peer,
            context,
            tag: pattern.tag.unwrap_or(-1),
            address: memory.address() as u64,
            bytes,
            position,
            receive: receive.0,
        };
        let card = self.transport.invite(peer, invitation);
        if let Ok(receiving) = self.receiving(receive) {
            receiving.card = card;
        }
    }

    /// A receive is matched, or is to be cancelled: nobody is to write its message. False if its sender has begun to.
    pub(super) fn take_back(&mut self, receive: Key) -> Result<bool> {
        let Some(index) = self.receiving(receive)?.card else { return Ok(true) };
        let is_back = self.transport.card(self.own, index).is_some_and(|card| card.take_back());
        if is_back {
            self.receiving(receive)?.card = None;
        }
        Ok(is_back)
    }

    /// A message is announced by the packet that begins at `position` of the ring to its receiver.
    pub(super) fn note_announcement(&mut self, request: Key, position: u64) {
        if let Ok(found) = self.requests.get_mut(request)
            && let Work::Send(sending) = &mut found.work
        {
            sending.announced_at = Some(position);
            if self.unmatched_sends.len() == UNMATCHED_MAX {
                self.unmatched_sends.remove(0);
            }
            self.unmatched_sends.push(Unmatched { request, calls: None });
        }
    }

    /// Writes announced messages to receivers that compute and have invited them.
    #[cold]
    pub(crate) fn write_where_invited(&mut self) -> Result<()> {
        for mut send in std::mem::take(&mut self.unmatched_sends) {
            let work = self.requests.get(send.request).map(|request| &request.work);
            let Ok(Work::Send(sending)) = work else { continue };
            let (peer, tag, context, bytes) = (sending.peer, sending.tag, sending.context, sending.bytes);
            let Some(position) = sending.announced_at.filter(|_| !sending.matched) else { continue };
            let calls = self.transport.calls_of_computing(peer);
            if calls.is_some() && std::mem::replace(&mut send.calls, calls) == calls {
                let own = self.own;
                let is_meant = |invitation: &Invitation| {
                    invitation.sender == own
                        && invitation.context == context
                        && (invitation.tag == tag || invitation.tag < 0)
                        && invitation.bytes >= bytes
                        && invitation.position == position
                };
                if let Some(invitation) = self.transport.accept(peer, is_meant) {
                    self.write_to(peer, send.request, &invitation)?;
                    continue;
                }
            }
            self.unmatched_sends.push(send);
        }
        Ok(())
    }

    /// Writes an announced message where its receiver wants it, all of it or as far as that is better than pieces.
    fn write_to(&mut self, peer: u32, request: Key, invitation: &Invitation) -> Result<()> {
        let sending = self.sending(request, peer)?;
        sending.matched = true;
        let (memory, bytes) = (sending.memory, sending.bytes);
        let prefers_pieces = self.transport.limits(peer).single_copy == SingleCopy::Crossing;
        let mut written = 0;
        while written < bytes && (written == 0 || !prefers_pieces || !self.transport.waits(peer)) {
            let now = (bytes - written).min(WRITTEN_AT_ONCE);
            let from = memory.offset(written as i64);
            if !self.transport.store(peer, invitation.address + written, from, now as usize) {
                break;
            }
            written += now;
        }
        self.counters.bytes_copied_once += written;
        self.patience = 0;
        let receiver = u64::from(invitation.receive);
        if written > 0 {
            self.send_control(peer, Header::control(Kind::Placed, [receiver, written, 0]))?;
        }
        if written == bytes {
            self.finish(request, Completion::good(Status::EMPTY));
            return Ok(());
        }
        self.enqueue(peer, Outgoing::Pieces { request, receiver, offset: written });
        self.flush(peer)
    }
}
