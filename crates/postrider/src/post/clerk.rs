//! The thread of the post: looks at desks, files and links, moves what can be moved, and sleeps when nothing can.

use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use postrider_os::bell::BellTower;
use postrider_os::intake::{Filled, Found};
use postrider_os::job::Job;
use postrider_os::memory::UserMemory;
use postrider_os::packet::{Class, Head, of_label};
use postrider_os::ring::Packet;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::calls::{Calls, Note};
use super::central::Central;
use super::desk::Desk;
use super::doors::Doors;
use super::files::Files;
use super::guests::Guests;
use super::link::{Incoming, Outgoing, Room};
use super::scp::Scp;
use super::{Notice, Order, Telling};
use crate::pulse::{Beat, Pulse};

/// Packets taken from one desk before the next has its turn.
const PACKETS_PER_TURN: u32 = 32;
/// What posts have to say to a host waits for its link; one that asks and asks, and takes no answer, is lost.
const NOTES_MAX: usize = 1 << 16;
/// How often the post looks whether ranks that have been lent a link still look at it.
const LOAN: Duration = Duration::from_millis(4);

/// The way to one host.
#[derive(Debug, Default)]
struct Way {
    out: Outgoing,
    incoming: Option<Incoming>,
    /// If ranks may read it, when the post last asked whether they look at it.
    lent: Option<Instant>,
    /// How often they had, then.
    looks: u32,
    wanted: bool,
    /// When it was last known to bring something, or not to be asked.
    heard: Option<Instant>,
    /// How often something had come then.
    arrivals: u32,
    /// If a rank read at the last beat, how often ranks had looked.
    reading: Option<u32>,
    /// Its post has said goodbye, or the link was lost: nothing more will come, and nothing more can be sent.
    over: bool,
}

impl Way {
    /// Whether something may come.
    fn is_up(&self) -> bool {
        self.incoming.is_some() && !self.over
    }
}

/// The state of the thread.
#[derive(Debug)]
pub struct Clerk {
    job: Arc<Job>,
    tower: Arc<BellTower>,
    orders: Receiver<Order>,
    telling: Telling,
    carriers: Carriers,
    ways: Vec<Way>,
    /// What posts say to each other, and have yet to say.
    notes: Vec<Note>,
    pulse: Pulse,
    /// The ranks are stopped, perhaps with a link in their hands.
    paused: bool,
    closing: bool,
}

/// What the post has on the side of its ranks.
#[derive(Debug)]
pub struct Carriers {
    /// Those of this host's ranks, and then those of guests.
    pub desks: Vec<Desk>,
    pub guests: Guests,
    pub calls: Calls,
    pub doors: Doors,
    pub files: Option<Files>,
    pub scp: Option<Scp>,
    pub central: Option<Central>,
}

/// What `poll` reported.
#[derive(Clone, Copy, Debug)]
enum Ready {
    Link(usize),
    Files,
    Arrivals,
    Guests,
}

impl Clerk {
    pub fn new(
        job: Arc<Job>,
        tower: Arc<BellTower>,
        orders: Receiver<Order>,
        telling: Telling,
        carriers: Carriers,
        pulse: Pulse,
    ) -> Self {
        let ways = (0..job.placement().hosts()).map(|_| Way::default()).collect();
        let (notes, paused, closing) = (Vec::new(), false, false);
        Self { job, tower, orders, telling, carriers, ways, notes, pulse, paused, closing }
    }

    /// Works until the post closes.
    pub fn work(mut self) {
        let mut ready = vec![Ready::Arrivals];
        loop {
            self.follow_orders();
            if self.closing {
                return self.say_goodbye();
            }
            for ready in ready.drain(..) {
                match ready {
                    Ready::Link(host) => self.read(host),
                    Ready::Files => self.look_for_files(),
                    Ready::Arrivals => self.look_for_arrivals(),
                    Ready::Guests => {
                        let Carriers { guests, desks, doors, calls, .. } = &mut self.carriers;
                        guests.look(desks, doors, calls);
                        calls.look();
                    }
                }
            }
            self.dismiss_guests();
            self.weigh_desks();
            self.send_notes();
            self.look_at_central();
            self.give_signs_of_life();
            let mut moved = self.carry();
            if !moved {
                self.job.post_bell().prepare();
                moved = self.carry();
            }
            let lent = self.look_at_loans();
            let pause = self.carriers.central.as_ref().map(Central::pause).or(lent.then_some(LOAN));
            ready = self.sleep(if moved { Some(Duration::ZERO) } else { pause });
            self.job.post_bell().stay_awake();
        }
    }

    fn follow_orders(&mut self) {
        while let Ok(order) = self.orders.try_recv() {
            match order {
                Order::Close => self.closing = true,
                Order::Pause(stopped) => self.paused = stopped,
                Order::Attach { host, reader, writer } => {
                    let way = &mut self.ways[host as usize];
                    let opened = Incoming::open(reader).and_then(|incoming| {
                        let numbers = (incoming.number(), way.out.open(writer)?);
                        way.incoming = Some(incoming);
                        way.heard = None;
                        Ok(numbers)
                    });
                    match opened {
                        Ok((reader, writer)) => {
                            self.job.intake(host).open(reader);
                            self.job.link_token(host).open(writer);
                            let stopped = self.carriers.desks.iter().filter(|desk| desk.is_stopped());
                            self.notes.extend(stopped.map(|desk| (host, stop_or_go(desk), Vec::new())));
                        }
                        Err(error) => self.lose(host as usize, &error.to_string()),
                    }
                }
            }
        }
    }

    /// Lends ranks the links that they want to read, and takes back what they have forgotten. True when something is lent.
    fn look_at_loans(&mut self) -> bool {
        for host in 0..self.ways.len() {
            let (job, way) = (Arc::clone(&self.job), &mut self.ways[host]);
            if way.incoming.is_none() {
                continue;
            }
            let intake = job.intake(host as u32);
            if way.lent.is_some_and(|asked| asked.elapsed() >= LOAN) {
                way.lent = Some(Instant::now());
                intake.reclaim(&mut way.looks);
            }
            if way.lent.is_some() && !intake.is_lent() {
                way.lent = None;
                // What a rank has left there announces itself no more.
                self.read(host);
            }
            if intake.is_wanted() && self.carriers.desks.iter().all(Desk::may_do_without) {
                intake.lend();
                self.ways[host].lent = Some(Instant::now());
            }
        }
        self.ways.iter().any(|way| way.lent.is_some())
    }

    /// Sleeps until something can be done, and says what.
    fn sleep(&self, limit: Option<Duration>) -> Vec<Ready> {
        let mut ready = Vec::new();
        let mut limit = limit;
        let mut entries = vec![PollFd::new(&*self.tower, PollFlags::IN)];
        for (host, way) in self.ways.iter().enumerate() {
            if let Some(incoming) =
                way.incoming.as_ref().filter(|_| self.job.intake(host as u32).is_with_post())
            {
                entries.push(PollFd::from_borrowed_fd(incoming.descriptor(), PollFlags::IN));
                ready.push(Some(Ready::Link(host)));
            }
            match way.out.waits_for().filter(|_| !way.over) {
                Some(Room::In(writer)) => {
                    entries.push(PollFd::from_borrowed_fd(writer, PollFlags::OUT));
                    ready.push(None);
                }
                Some(Room::Soon(pause)) => limit = Some(limit.map_or(pause, |limit| limit.min(pause))),
                None => {}
            }
        }
        if let Some(files) = &self.carriers.files {
            entries.push(PollFd::new(files.inbox(), PollFlags::IN));
            ready.push(Some(Ready::Files));
        }
        if let Some(scp) = &self.carriers.scp {
            entries.push(PollFd::new(scp.inbox(), PollFlags::IN));
            ready.push(Some(Ready::Arrivals));
        }
        for stream in self.carriers.guests.wait_for().chain(self.carriers.calls.wait_for()) {
            entries.push(PollFd::from_borrowed_fd(stream, PollFlags::IN));
            ready.push(Some(Ready::Guests));
        }
        if self.ways.iter().any(Way::is_up) {
            let beat = self.pulse.due().saturating_duration_since(Instant::now()) + Duration::from_millis(1);
            limit = Some(limit.map_or(beat, |limit| limit.min(beat)));
        }
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let _interrupted = poll(&mut entries, limit.as_ref());
        if !entries[0].revents().is_empty() {
            self.tower.quiet();
        }
        let reported = entries[1..].iter().map(|entry| !entry.revents().is_empty());
        ready
            .into_iter()
            .zip(reported)
            .filter(|(_, reported)| *reported)
            .filter_map(|(ready, _)| ready)
            .collect()
    }

    /// Moves packets and files from ranks to links, and to ranks what had no room before. True when something has moved, or a
    /// link has taken all that had waited for it: then it may have room for more, and nobody would say so.
    fn carry(&mut self) -> bool {
        let mut moved = false;
        for desk in 0..self.carriers.desks.len() {
            moved |= self.carriers.desks[desk].hand_over();
            moved |= self.collect(desk);
        }
        moved |= self.send_files();
        moved | self.flush()
    }

    /// Takes what a rank or guest has sent.
    fn collect(&mut self, desk: usize) -> bool {
        let mut moved = false;
        for _ in 0..PACKETS_PER_TURN {
            let Some(packet) = self.carriers.desks[desk].peek() else { break };
            if !self.forward(self.carriers.desks[desk].number(), &packet) {
                break;
            }
            self.carriers.desks[desk].take(packet);
            moved = true;
        }
        self.carriers.desks[desk].settle();
        moved
    }

    /// Sends a packet on, to a link or to another desk of this host. False when there is no room now.
    fn forward(&mut self, sender: u32, packet: &Packet) -> bool {
        let (kind, receiver) = of_label(packet.meta);
        let host = self.job.placement().host_of_number(receiver);
        if host == self.job.host() {
            // A guest that has left wants nothing any more.
            if let Some(desk) = self.desk_of(receiver) {
                desk.deliver(kind, sender, packet.body, packet.body_bytes);
            }
            return true;
        }
        self.want(host as usize);
        let way = &mut self.ways[host as usize];
        if way.over {
            return true;
        }
        if !way.out.is_open_to(sender as usize) || !self.job.link_token(host).take() {
            return false;
        }
        let head = Head { class: Class::Packet, kind, sender, receiver, bytes: packet.body_bytes as u32 };
        way.out.send(sender as usize, &head, packet.body).unwrap_or_else(|error| {
            self.lose(host as usize, &error.to_string());
            true
        })
    }

    /// The desk of a rank or guest of this host.
    fn desk_of(&mut self, number: u32) -> Option<&mut Desk> {
        let (placement, desks) = (self.job.placement(), &mut self.carriers.desks);
        if number < placement.ranks() {
            return desks.get_mut(placement.place_of(number) as usize);
        }
        let own = placement.ranks_on(self.job.host()).len();
        desks.get_mut(own..)?.iter_mut().find(|desk| desk.number() == number)
    }

    /// Forgets guests that have left, and tells all hosts of those that have died.
    fn dismiss_guests(&mut self) {
        let Carriers { guests, desks, doors, .. } = &mut self.carriers;
        for dead in guests.dismiss(desks, doors) {
            self.job.note_gone(dead);
            let head = Head { class: Class::Gone, kind: 0, sender: dead, receiver: 0, bytes: 0 };
            let others = (0..self.job.placement().hosts()).filter(|&host| host != self.job.host());
            self.notes.extend(others.map(|host| (host, head, Vec::new())));
        }
    }

    /// Tells all hosts for which ranks of this one they are to stop, since too much waits for these, and for which they may go on.
    fn weigh_desks(&mut self) {
        let ranks = self.job.local_ranks().len().min(self.carriers.desks.len());
        for desk in 0..ranks {
            if !self.carriers.desks[desk].weigh(ranks) {
                continue;
            }
            let head = stop_or_go(&self.carriers.desks[desk]);
            let linked = (0..).zip(&self.ways).filter(|(_, way)| way.incoming.is_some());
            self.notes.extend(linked.map(|(host, _)| (host, head, Vec::new())));
            // Guests of this post may write to it as well.
            self.stop_or_go(head.sender, head.class);
        }
    }

    /// The ranks of this host send nothing to rank `receiver`, or may again.
    fn stop_or_go(&self, receiver: u32, class: Class) {
        self.job.slot(receiver).set_stopped(class == Class::Stop);
        if class == Class::Go {
            self.carriers.desks.iter().for_each(Desk::ring);
        }
    }

    /// Tells other posts what they have to know, in order.
    fn send_notes(&mut self) {
        let mut told = self.carriers.calls.notes();
        while !told.is_empty() {
            // What this host tells itself may be answered at once.
            let (own, others): (Vec<Note>, Vec<Note>) =
                told.into_iter().partition(|(host, ..)| *host == self.job.host());
            self.notes.extend(others);
            own.iter().for_each(|(host, head, body)| self.carriers.calls.hear(*host, head, body));
            told = self.carriers.calls.notes();
        }
        for (host, head, body) in std::mem::take(&mut self.notes) {
            self.want(host as usize);
            let way = &mut self.ways[host as usize];
            if way.over {
                self.carriers.calls.lose(host);
                continue;
            }
            let waits = self.notes.iter().any(|(other, ..)| *other == host);
            let has_room = way.out.is_idle() && !way.out.is_full();
            if !waits && has_room && self.job.link_token(host).take() {
                let filled = way.out.send_filled(&head, |room| {
                    room.copy_from_slice(&body);
                    Ok(())
                });
                debug_assert!(filled.is_ok(), "copying does not fail");
            } else {
                self.notes.push((host, head, body));
            }
        }
        self.lose_those_that_take_no_answer();
    }

    fn lose_those_that_take_no_answer(&mut self) {
        for host in 0..self.ways.len() {
            // Counting is not worth while before there are that many in all.
            let waiting = || self.notes.iter().filter(|(other, ..)| *other as usize == host).count();
            if self.notes.len() > NOTES_MAX && waiting() > NOTES_MAX {
                self.lose(host, "it asks for more than it takes answers to");
                self.notes.retain(|(other, ..)| *other as usize != host);
            }
        }
    }

    /// Asks for a link to a host, once.
    fn want(&mut self, host: usize) {
        let way = &mut self.ways[host];
        if way.incoming.is_none() && !way.wanted && !way.over {
            way.wanted = true;
            self.telling.tell(Notice::Wants(host as u32));
        }
    }

    /// Says on links that hold nothing else that this post lives, and loses those through which nothing has come for too long. What is under
    /// way says as much, and counts as soon as a part of it has come.
    fn give_signs_of_life(&mut self) {
        let Some(Beat { is_late }) = self.pulse.beat().filter(|_| self.ways.iter().any(Way::is_up)) else {
            return;
        };
        // The head of the job, which asks as often, may say first that the host is gone.
        let patience = self.pulse.silence() + self.pulse.every();
        let ping = Head { class: Class::Ping, kind: 0, sender: 0, receiver: 0, bytes: 0 };
        for host in 0..self.ways.len() {
            let intake = self.job.intake(host as u32);
            let (now, arrivals, reading) = (Instant::now(), intake.arrivals(), intake.reading());
            let (paused, way) = (self.paused, &mut self.ways[host]);
            if !way.is_up() {
                continue;
            }
            let brings = std::mem::replace(&mut way.arrivals, arrivals) != arrivals;
            // A rank that a debugger has stopped.
            let is_held = reading.is_some() && reading == way.reading;
            way.reading = reading;
            let heard = way.heard.filter(|_| !(is_late || paused || brings || is_held));
            let since = *way.heard.insert(heard.unwrap_or(now));
            if now.duration_since(since) > patience {
                let why = format!("nothing has come through it for {} seconds", patience.as_secs_f64());
                self.lose(host, &why);
                continue;
            }
            if way.out.is_empty() && self.job.link_token(host as u32).take() {
                let filled = way.out.send_filled(&ping, |_| Ok(()));
                debug_assert!(filled.is_ok(), "there is nothing to fill");
            }
        }
    }

    fn look_for_files(&mut self) {
        let Some(files) = &mut self.carriers.files else { return };
        let looked = files.look(self.job.placement(), self.job.host(), &mut self.carriers.doors);
        if let Err(error) = looked {
            self.telling.tell(Notice::Failed(error.to_string()));
        }
    }

    fn look_for_arrivals(&mut self) {
        let Some(scp) = &mut self.carriers.scp else { return };
        let looked = scp.look(self.job.placement(), self.job.host(), &mut self.carriers.doors);
        if let Err(error) = looked {
            self.telling.tell(Notice::Failed(error.to_string()));
        }
    }

    fn look_at_central(&mut self) {
        let Some(central) = &mut self.carriers.central else { return };
        let looked = central.look(self.job.placement(), self.job.host(), &mut self.carriers.doors);
        if let Err(error) = looked {
            self.telling.tell(Notice::Failed(error.to_string()));
            self.carriers.central = None;
        }
    }

    fn send_files(&mut self) -> bool {
        if let (Some(files), Some(scp)) = (&mut self.carriers.files, &mut self.carriers.scp) {
            for (host, parcel) in files.take() {
                scp.send(host, parcel);
            }
            while let Some(why) = scp.failure() {
                self.telling.tell(Notice::Failed(why));
            }
            return false;
        }
        let mut moved = false;
        for host in self.carriers.files.as_ref().map(Files::hosts).unwrap_or_default() {
            self.want(host as usize);
            let (Some(files), way) = (&mut self.carriers.files, &mut self.ways[host as usize]) else {
                continue;
            };
            match files.send(host, &mut way.out) {
                Ok(sent) => moved |= sent,
                Err(error) => {
                    self.telling.tell(Notice::Failed(error.to_string()));
                    self.carriers.files = None;
                }
            }
        }
        moved
    }

    fn flush(&mut self) -> bool {
        let mut moved = false;
        for host in 0..self.ways.len() {
            let way = &mut self.ways[host];
            if way.over {
                continue;
            }
            match way.out.flush() {
                Ok(all) => moved |= all,
                Err(error) => {
                    self.lose(host, &error.to_string());
                    continue;
                }
            }
            if way.out.is_empty() {
                self.job.link_token(host as u32).give_back();
            }
        }
        moved
    }

    /// Reads from a link, and hands over what has come.
    fn read(&mut self, host: usize) {
        let job = Arc::clone(&self.job);
        let intake = job.intake(host as u32);
        let Some(incoming) = self.ways[host].incoming.as_ref().filter(|_| intake.is_with_post()) else {
            return;
        };
        let filled = intake.fill(incoming.descriptor());
        loop {
            match intake.next() {
                Found::Packet(head, body) => {
                    if let Err(why) = self.deliver(host, &head, body) {
                        return self.lose(host, &why);
                    }
                    intake.take(&head);
                }
                Found::Nothing => break,
                Found::Nonsense => return self.lose(host, "it has sent what no post sends"),
            }
        }
        match filled {
            Ok(Filled::More | Filled::Nothing) => {}
            Ok(Filled::End) => self.lose(host, "the connection has ended"),
            Err(error) => self.lose(host, &error.to_string()),
        }
    }

    /// Hands a packet over; why not, if it is not one that this host sends to that one.
    fn deliver(&mut self, from: usize, head: &Head, body: UserMemory) -> Result<(), String> {
        match head.class {
            Class::Bye => {
                self.ways[from].over = true;
                return Ok(());
            }
            Class::Ping => return Ok(()),
            _ => {}
        }
        let placement = self.job.placement();
        match head.class {
            Class::Call => {
                let mut said = vec![0; head.bytes as usize];
                body.read(&mut said);
                self.carriers.calls.hear(from as u32, head, &said);
                return Ok(());
            }
            Class::Gone if placement.host_of_number(head.sender) as usize == from => {
                self.job.note_gone(head.sender);
                return Ok(());
            }
            Class::Stop | Class::Go
                if head.sender < placement.ranks() && placement.host_of(head.sender) as usize == from =>
            {
                self.stop_or_go(head.sender, head.class);
                return Ok(());
            }
            _ => {}
        }
        let is_due = placement.host_of_number(head.sender) as usize == from
            && placement.host_of_number(head.receiver) == self.job.host();
        if !is_due {
            let Head { sender, receiver, .. } = head;
            return Err(format!(
                "it has sent a message of rank {sender} to rank {receiver}, which is not its to send"
            ));
        }
        let is_rank = head.receiver < placement.ranks();
        match (head.class, &mut self.carriers.files) {
            (Class::Packet, None) => match self.desk_of(head.receiver) {
                Some(desk) if desk.fits(head.bytes as usize) => {
                    if !desk.deliver(head.kind, head.sender, body, head.bytes as usize) {
                        return Err("its ranks have sent more than they may before it is taken".to_owned());
                    }
                }
                // A guest that has left.
                None if !is_rank => {}
                _ => return Err("it has sent a packet that fits no ring".to_owned()),
            },
            (Class::File, Some(files)) => {
                if let Err(error) = files.receive(head, body, &mut self.carriers.doors) {
                    self.telling.tell(Notice::Failed(error.to_string()));
                }
            }
            _ => return Err("it sends messages in another way than this host".to_owned()),
        }
        Ok(())
    }

    /// A link has ended. Whatever was meant for that host has nowhere to go.
    fn lose(&mut self, host: usize, why: &str) {
        let way = &mut self.ways[host];
        if !way.over {
            self.telling.tell(Notice::Lost { host: host as u32, why: why.to_owned() });
        }
        self.job.link_token(host as u32).close();
        self.job.intake(host as u32).close();
        *way = Way { over: true, out: std::mem::take(&mut way.out).over(), ..Way::default() };
    }

    fn say_goodbye(mut self) {
        let bye = Head { class: Class::Bye, kind: 0, sender: 0, receiver: 0, bytes: 0 };
        for way in
            self.ways.iter_mut().filter(|way| way.incoming.is_some() && !way.over && way.out.is_empty())
        {
            // A host that does not hear it has gone before us, which is as well.
            let _ = way.out.send_filled(&bye, |_| Ok(())).and_then(|()| way.out.flush());
        }
    }
}

/// What other posts are told when it changes whether a rank's desk keeps too much.
fn stop_or_go(desk: &Desk) -> Head {
    let class = if desk.is_stopped() { Class::Stop } else { Class::Go };
    Head { class, kind: 0, sender: desk.number(), receiver: 0, bytes: 0 }
}
