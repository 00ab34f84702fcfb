//! Statuses of messages that are still on their way.
//!
//! The program's status gets source and tag, which are known, at once, and in place of the number of bytes a *ticket*. When the
//! program asks MPI about the status, or about a copy of it, the number takes its place. The place is one of the fields that the standard
//! leaves to the library, so nobody else sees the ticket. Pure.

use std::collections::VecDeque;

use postrider_abi::MPI_Status;

/// What distinguishes a ticket from a number of bytes: no message is so long.
const MARK: u64 = 0x3a5c_71e9;
/// For how many of the last statuses it is remembered what they stand for.
const REMEMBERED: usize = 1 << 22;

/// Stands for a number of bytes that is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticket(u32);

/// The numbers of bytes that tickets stand for.
#[derive(Debug, Default)]
pub struct Statuses {
    /// The first ticket that is remembered.
    first: u32,
    bytes: VecDeque<u64>,
}

impl Ticket {
    /// What a status holds, if it is a ticket.
    #[must_use]
    pub fn of(status: &MPI_Status) -> Option<Self> {
        (status.bytes() >> 32 == MARK).then_some(Self(status.bytes() as u32))
    }

    /// The status of a message of this source and tag.
    #[must_use]
    pub fn status(self, before: MPI_Status, source: i32, tag: i32) -> MPI_Status {
        let mut status = MPI_Status { MPI_SOURCE: source, MPI_TAG: tag, ..before };
        status.set_bytes(MARK << 32 | u64::from(self.0));
        status
    }
}

impl Statuses {
    /// A ticket for the next message.
    pub fn issue(&mut self) -> Ticket {
        if self.bytes.len() == REMEMBERED {
            self.bytes.pop_front();
            self.first = self.first.wrapping_add(1);
        }
        self.bytes.push_back(0);
        Ticket(self.first.wrapping_add(self.bytes.len() as u32 - 1))
    }

    /// The message has come.
    pub fn finish(&mut self, ticket: Ticket, bytes: u64) {
        if let Some(place) = self.bytes.get_mut(ticket.0.wrapping_sub(self.first) as usize) {
            *place = bytes;
        }
    }

    /// How long the message was; nothing if that was too long ago.
    #[must_use]
    pub fn bytes(&self, ticket: Ticket) -> Option<u64> {
        self.bytes.get(ticket.0.wrapping_sub(self.first) as usize).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_found_in_its_status_and_in_no_other() {
        let mut statuses = Statuses::default();
        let (first, second) = (statuses.issue(), statuses.issue());
        let before = MPI_Status { MPI_ERROR: 7, ..MPI_Status::default() };
        let mut status = second.status(before, 3, 4);
        assert_eq!((status.MPI_SOURCE, status.MPI_TAG, status.MPI_ERROR), (3, 4, 7));
        assert_eq!(Ticket::of(&status), Some(second));
        statuses.finish(first, 1);
        statuses.finish(second, 1 << 40);
        assert_eq!((statuses.bytes(first), statuses.bytes(second)), (Some(1), Some(1 << 40)));
        for bytes in [0, 1, 1 << 40, u64::from(u32::MAX)] {
            status.set_bytes(bytes);
            assert_eq!(Ticket::of(&status), None);
        }
    }

    #[test]
    fn old_tickets_are_forgotten() {
        let mut statuses = Statuses { first: u32::MAX - 5, ..Statuses::default() };
        let old = statuses.issue();
        for number in 0..REMEMBERED as u64 {
            let ticket = statuses.issue();
            statuses.finish(ticket, number);
            assert_eq!(statuses.bytes(ticket), Some(number));
        }
        assert_eq!(statuses.bytes(old), None);
    }
}
