//! Guests: processes of other jobs that this post serves like the ranks of its host.
//!
//! A guest comes to the post's hall and stays connected with it ([`postrider_os::hall`]). Where messages go through memory it
//! brings a bridge between itself and the post, and is one more [desk](Desk); where they are files it names its
//! inbox ([`Doors`]). When its connection ends the post takes what it has left, and then forgets it; its number is never
//! given to anybody else. One that has not said goodbye has died, which is noted in the segments of all hosts.

use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::Duration;

use postrider_os::bridge::{Bridge, Side};
use postrider_os::hall::{BYE, Call, Guest, Welcome};
use postrider_os::job::{Job, Transport};
use postrider_os::port::{Connection, Port};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::calls::Calls;
use super::desk::Desk;
use super::doors::Doors;

/// The guests of one post.
#[derive(Debug)]
pub struct Guests {
    job: Arc<Job>,
    /// None where another post of the same job has it: one that shares this host.
    hall: Option<Port>,
    arrived: u32,
    strangers: Vec<Connection>,
    present: Vec<Present>,
}

#[derive(Debug)]
struct Present {
    number: u32,
    /// None once it has gone.
    connection: Option<Connection>,
    said_bye: bool,
}

impl Guests {
    /// Opens the hall of the host that `job` is the segment of.
    pub fn new(job: Arc<Job>) -> Self {
        let hall = Port::hall(job.key()).ok();
        Self { job, hall, arrived: 0, strangers: Vec::new(), present: Vec::new() }
    }

    /// What becomes readable when there is something to look at.
    pub fn wait_for(&self) -> impl Iterator<Item = BorrowedFd<'_>> {
        use std::os::fd::AsFd;
        let present = self.present.iter().filter_map(|guest| guest.connection.as_ref());
        let connections = self.strangers.iter().chain(present);
        self.hall.iter().map(AsFd::as_fd).chain(connections.map(AsFd::as_fd))
    }

    /// Meets those who have come, and hears those who are there.
    pub fn look(&mut self, desks: &mut Vec<Desk>, doors: &mut Doors, calls: &mut Calls) {
        while let Some(Ok(Some(stranger))) = self.hall.as_ref().map(|hall| hall.accept(Duration::ZERO)) {
            self.strangers.push(stranger);
        }
        for mut stranger in std::mem::take(&mut self.strangers) {
            if !is_readable(&stranger) {
                self.strangers.push(stranger);
                continue;
            }
            // Who cannot be served is told by the end of the connection.
            let Ok(Some(words)) = stranger.receive(Duration::ZERO) else { continue };
            if let Some(call) = Call::decode(&words).filter(|call| call.host < self.job.placement().hosts()) {
                calls.begin(&call, stranger);
                continue;
            }
            let guest = Guest::decode(&words);
            let Some(number) = guest.and_then(|guest| self.seat(&guest, desks, doors)) else { continue };
            if stranger.send(&self.welcome(number, doors).encode()).is_ok() {
                self.arrived += 1;
                let connection = Some(stranger);
                self.present.push(Present { number, connection, said_bye: false });
            }
        }
        for guest in &mut self.present {
            while let Some(connection) =
                guest.connection.as_mut().filter(|connection| is_readable(connection))
            {
                match connection.receive(Duration::ZERO) {
                    Ok(words) => guest.said_bye |= words.is_some_and(|words| words == BYE),
                    Err(_) => guest.connection = None,
                }
            }
        }
    }

    /// Forgets those who have left and of whom nothing is left. Returns the numbers of those that have died.
    pub fn dismiss(&mut self, desks: &mut Vec<Desk>, doors: &mut Doors) -> Vec<u32> {
        let mut dead = Vec::new();
        self.present.retain(|guest| {
            let desk = desks.iter_mut().position(|desk| desk.number() == guest.number);
            let has_left = guest.connection.is_none() && desk.is_none_or(|desk| desks[desk].peek().is_none());
            if has_left {
                desk.iter().for_each(|&desk| drop(desks.remove(desk)));
                doors.close(guest.number);
                dead.extend((!guest.said_bye).then_some(guest.number));
            }
            !has_left
        });
        dead
    }

    /// Makes what the guest needs, and returns its number.
    fn seat(&self, guest: &Guest, desks: &mut Vec<Desk>, doors: &mut Doors) -> Option<u32> {
        let number = self.job.placement().guest(self.job.host(), self.arrived);
        let number = number.filter(|&number| number < postrider_os::packet::RANKS_MAX)?;
        match (self.job.shape().transport, &guest.directory) {
            (Transport::SharedMemory, _) => {
                let job = Job::open(&guest.job).ok().filter(|job| guest.rank < job.placement().ranks())?;
                let bridge = Bridge::open(&guest.bridge).ok()?;
                let (to, from) = bridge.ends(Side::Right, 0, 0);
                desks.push(Desk::new(number, (Arc::new(job), guest.rank), from, to, Some(bridge)));
            }
            (Transport::File | Transport::Central, Some(directory)) => {
                doors.open_to_guest(number, directory.join(guest.rank.to_string()));
            }
            (Transport::File | Transport::Central, None) => return None,
        }
        Some(number)
    }

    fn welcome(&self, number: u32, doors: &Doors) -> Welcome {
        let (local, central) = doors.places();
        Welcome { number, job: self.job.environment(), local, central }
    }
}

/// Whether something has come, or the other end is gone.
pub fn is_readable(connection: &Connection) -> bool {
    let now = Timespec::default();
    poll(&mut [PollFd::new(connection, PollFlags::IN)], Some(&now)).is_ok_and(|ready| ready > 0)
}
