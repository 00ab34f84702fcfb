//! Guests: processes of other jobs that this post serves like the ranks of its host.
//!
//! A guest comes to the post's hall and stays connected with it ([`postrider_os::hall`]). Where messages go through memory it
//! brings a bridge between itself and the post, and is one more [desk](Desk); where they are files it names its
//! inbox ([`Doors`]). When its connection ends the post takes what it has left, and then forgets it; its number is never
//! given to anybody else. One that has not said goodbye has died, which is noted in the segments of all hosts.

use std::os::fd::BorrowedFd;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use postrider_os::bridge::{Bridge, Side};
use postrider_os::hall::{Bye, Call, Guest, Welcome};
use postrider_os::job::{Job, Transport};
use postrider_os::port::{Connection, Port};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::calls::Calls;
use super::desk::Desk;
use super::doors::Doors;

/// The guests of one post, for whoever watches over the ranks of its host.
#[derive(Clone, Debug, Default)]
pub struct Company(Arc<Mutex<Present>>);

/// What is known of guests.
#[derive(Debug, Default)]
pub struct Present {
    /// The segments of their jobs here, and their ranks there.
    pub guests: Vec<(Arc<Job>, u32)>,
    /// Packets that guests that have left had sent through posts, less those that they had taken from there.
    pub left_balance: i64,
    /// How often somebody has come or left.
    pub changes: u64,
}

impl Company {
    /// Who is there now.
    pub fn now(&self) -> MutexGuard<'_, Present> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Present {
    /// Their jobs, each once.
    pub fn jobs(&self) -> impl Iterator<Item = &Arc<Job>> {
        let is_first = |&index: &usize| {
            let key = self.guests[index].0.key();
            self.guests[..index].iter().all(|(job, _)| job.key() != key)
        };
        (0..self.guests.len()).filter(is_first).map(|index| &self.guests[index].0)
    }

    /// Whether this rank of this job is among them.
    pub fn has(&self, job: &Job, rank: u32) -> bool {
        self.guests.iter().any(|(other, number)| other.key() == job.key() && *number == rank)
    }
}

/// The guests of one post.
#[derive(Debug)]
pub struct Guests {
    job: Arc<Job>,
    /// None where another post of the same job has it: one that shares this host.
    hall: Option<Port>,
    arrived: u32,
    strangers: Vec<Connection>,
    present: Vec<Served>,
    company: Company,
}

#[derive(Debug)]
struct Served {
    number: u32,
    job: Arc<Job>,
    rank: u32,
    /// None once it has gone.
    connection: Option<Connection>,
    bye: Option<Bye>,
}

impl Guests {
    /// Opens the hall of the host that `job` is the segment of.
    pub fn new(job: Arc<Job>, company: Company) -> Self {
        let hall = Port::hall(job.key()).ok();
        Self { job, hall, arrived: 0, strangers: Vec::new(), present: Vec::new(), company }
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
            let Some(mut served) = guest.and_then(|guest| self.seat(&guest, desks, doors)) else { continue };
            let mut company = self.company.now();
            // Before it can be met.
            company.guests.push((Arc::clone(&served.job), served.rank));
            company.changes += 1;
            if stranger.send(&self.welcome(served.number, doors).encode()).is_ok() {
                self.arrived += 1;
                served.connection = Some(stranger);
                self.present.push(served);
            } else {
                company.guests.pop();
            }
        }
        for guest in &mut self.present {
            while let Some(connection) =
                guest.connection.as_mut().filter(|connection| is_readable(connection))
            {
                match connection.receive(Duration::ZERO) {
                    Ok(words) => guest.bye = guest.bye.or(words.and_then(|words| Bye::decode(&words))),
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
                dead.extend(guest.bye.is_none().then_some(guest.number));
                let mut company = self.company.now();
                let is_it =
                    |(job, rank): &(Arc<Job>, u32)| Arc::ptr_eq(job, &guest.job) && *rank == guest.rank;
                company.guests.retain(|other| !is_it(other));
                company.changes += 1;
                company.left_balance += guest.bye.map_or(0, |bye| bye.balance);
            }
            !has_left
        });
        dead
    }

    /// Makes what the guest needs.
    fn seat(&self, guest: &Guest, desks: &mut Vec<Desk>, doors: &mut Doors) -> Option<Served> {
        let number = self.job.placement().guest(self.job.host(), self.arrived);
        let number = number.filter(|&number| number < postrider_os::packet::RANKS_MAX)?;
        let job = Job::open(&guest.job).ok().filter(|job| guest.rank < job.placement().ranks())?;
        let job = Arc::new(job);
        match (self.job.shape().transport, &guest.directory) {
            (Transport::SharedMemory, _) => {
                let bridge = Bridge::open(&guest.bridge).ok()?;
                let (to, from) = bridge.ends(Side::Right, 0, 0);
                desks.push(Desk::new(number, (Arc::clone(&job), guest.rank), from, to, Some(bridge)));
            }
            (Transport::File | Transport::Central, Some(directory)) => {
                doors.open_to_guest(number, directory.join(guest.rank.to_string()));
            }
            (Transport::File | Transport::Central, None) => return None,
        }
        Some(Served { number, job, rank: guest.rank, connection: None, bye: None })
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
