//! Several hosts in one process: a job segment, or directories, for each, and a thread that carries between them what the posts of
//! real hosts would.

use std::collections::VecDeque;
use std::io::{PipeReader, PipeWriter, Read};
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use postrider_engine::World;
use postrider_engine::transports::file::Directories;
use postrider_os::bell::BellTower;
use postrider_os::file::Outbox;
use postrider_os::gate::Threads;
use postrider_os::hosts::Placement;
use postrider_os::job::{Job, Shape, Transport};
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::packet::{HEAD_BYTES, Head, label, of_label};
use postrider_os::parcel::{LOCK, POST, Parcel};
use postrider_os::process;
use postrider_os::ring::{Consumer, Producer};

/// What runs beside the processes of a test until it is dropped.
pub struct Carrier {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _bells: Vec<BellTower>,
}

impl Carrier {
    fn start(bells: Vec<BellTower>, mut carry: impl FnMut() -> bool + Send + 'static) -> Self {
        let over = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                if !carry() {
                    std::thread::sleep(Duration::from_micros(50));
                }
            }
        });
        Self { over, thread: Some(thread), _bells: bells }
    }
}

impl Drop for Carrier {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        self.thread.take().expect("it is joined once").join().expect("it has not panicked");
    }
}

/// One process on each place of `placement`, with short rings, and long ones of the post four times as long.
pub fn rings(placement: &Placement) -> (Carrier, Vec<World>) {
    let jobs: Vec<Arc<Job>> = jobs(placement, Transport::SharedMemory);
    let bells: Vec<BellTower> = jobs.iter().map(|_| BellTower::new().unwrap()).collect();
    for (job, bell) in jobs.iter().zip(&bells) {
        job.set_post_pipe(bell.descriptor());
    }
    let worlds = worlds(placement, &jobs, |_| None);
    let (mut desks, mut links) = (Vec::new(), Vec::new());
    if placement.hosts() > 1 {
        desks.extend(
            (0..placement.ranks()).map(|rank| Desk::of(&jobs[placement.host_of(rank) as usize], rank)),
        );
        for job in &jobs {
            links.extend((0..placement.hosts()).map(|host| Link::of(job, host)));
        }
    }
    let (hosts, placement) = (placement.hosts(), placement.clone());
    let carry = move || {
        let mut moved =
            links.iter_mut().map(|link| link.carry(&mut desks)).filter(|&moved| moved).count() > 0;
        for sender in 0..desks.len() {
            while let Some((label, receiver, bytes)) = desks[sender].peek() {
                let [from, to] = [sender as u32, receiver].map(|rank| placement.host_of(rank));
                let link = &mut links[(from * hosts + to) as usize];
                if !link.job.link_token(to).take() {
                    break;
                }
                link.carry(&mut desks);
                desks[sender].take();
                desks[receiver as usize].waiting.push_back((label, bytes));
                moved = true;
            }
        }
        links.iter().for_each(|link| link.job.link_token(link.host).give_back());
        desks.iter_mut().for_each(|desk| moved |= desk.hand_over());
        moved
    };
    (Carrier::start(bells, carry), worlds)
}

/// A pipe by which the ranks of a host write to another.
struct Link {
    job: Arc<Job>,
    host: u32,
    reader: PipeReader,
    _writer: PipeWriter,
    bytes: Vec<u8>,
}

impl Link {
    fn of(job: &Arc<Job>, host: u32) -> Self {
        let (reader, writer) = std::io::pipe().unwrap();
        let reader_flags = rustix::fs::fcntl_getfl(&reader).unwrap();
        rustix::fs::fcntl_setfl(&reader, reader_flags | rustix::fs::OFlags::NONBLOCK).unwrap();
        job.link_token(host).open(writer.as_raw_fd() as u32);
        job.link_token(host).give_back();
        Self { job: Arc::clone(job), host, reader, _writer: writer, bytes: Vec::new() }
    }

    /// Moves the packets that have come to the desks of their receivers.
    fn carry(&mut self, desks: &mut [Desk]) -> bool {
        let _nothing_more_yet = self.reader.read_to_end(&mut self.bytes);
        let mut rest = &self.bytes[..];
        while let Some(head) = rest.first_chunk() {
            let head = Head::decode(*head).expect("a head");
            let Some((body, after)) = rest[HEAD_BYTES..].split_at_checked(head.bytes as usize) else { break };
            let mut bytes = OwnedMemory::new(body.len());
            UserMemory::of(&mut bytes).write(body);
            desks[head.receiver as usize].waiting.push_back((label(head.kind, head.sender), bytes));
            rest = after;
        }
        let taken = self.bytes.len() - rest.len();
        self.bytes.drain(..taken);
        taken > 0
    }
}

/// The post's ends for one rank, and what it has not yet had room for.
struct Desk {
    job: Arc<Job>,
    rank: u32,
    from: Consumer,
    to: Producer,
    waiting: VecDeque<(u32, OwnedMemory)>,
}

impl Desk {
    fn of(job: &Arc<Job>, rank: u32) -> Self {
        let (from, to) = job.rank_ends(rank);
        Self { job: Arc::clone(job), rank, from, to, waiting: VecDeque::new() }
    }

    /// The next packet: its label there, its receiver, and its bytes.
    fn peek(&mut self) -> Option<(u32, u32, OwnedMemory)> {
        let packet = self.from.peek()?;
        let mut bytes = OwnedMemory::new(packet.body_bytes);
        packet.body.copy_to(UserMemory::of(&mut bytes), packet.body_bytes);
        let (kind, receiver) = of_label(packet.meta);
        Some((label(kind, self.rank), receiver, bytes))
    }

    fn take(&mut self) {
        let Some(packet) = self.from.peek() else { return };
        let rooms = [self.from.release(packet), self.from.settle()];
        if rooms.contains(&true) {
            self.job.doorbell(self.rank).ring();
        }
    }

    fn hand_over(&mut self) -> bool {
        let mut moved = false;
        while let Some((label, bytes)) = self.waiting.front_mut() {
            let (from, length) = (UserMemory::of(bytes), bytes.len());
            if !self.to.push(*label, length, |cells| from.copy_to(cells, length)) {
                break;
            }
            self.waiting.pop_front();
            self.job.doorbell(self.rank).ring();
            moved = true;
        }
        moved
    }
}

/// Processes that write files, in a directory for each host below `base`.
pub fn files(placement: &Placement, base: &Path) -> (Carrier, Vec<World>) {
    let jobs = jobs(placement, Transport::File);
    let local: Vec<PathBuf> =
        (0..placement.hosts()).map(|host| private(&base.join(format!("host{host}")))).collect();
    let directories = |host: u32| Some(Directories { local: local[host as usize].clone(), central: None });
    let worlds = worlds(placement, &jobs, directories);
    let placement = placement.clone();
    let carry = move || {
        let mut moved = false;
        for directory in &local {
            for (parcel, path) in parcels(&directory.join(POST), "") {
                let there = &local[placement.host_of(parcel.receiver) as usize];
                let inbox = private(&there.join(parcel.receiver.to_string()));
                std::fs::rename(path, inbox.join(parcel.name.text().to_str().unwrap())).unwrap();
                moved = true;
            }
        }
        moved
    };
    (Carrier::start(Vec::new(), carry), worlds)
}

/// Processes that write all messages to a directory below `base` that all hosts see.
pub fn central(placement: &Placement, base: &Path) -> (Carrier, Vec<World>) {
    let jobs = jobs(placement, Transport::Central);
    let local: Vec<PathBuf> =
        (0..placement.hosts()).map(|host| private(&base.join(format!("host{host}")))).collect();
    let central = private(&base.join("central"));
    let shared = Some(central.clone());
    let directories =
        |host: u32| Some(Directories { local: local[host as usize].clone(), central: shared.clone() });
    let worlds = worlds(placement, &jobs, directories);
    let mut announced = std::collections::BTreeSet::new();
    let carry = move || {
        let mut moved = false;
        for (host, directory) in local.iter().enumerate() {
            for (parcel, _) in parcels(&central.join(host.to_string()), LOCK) {
                if announced.insert(parcel) {
                    let inbox = Outbox::open(&directory.join(parcel.receiver.to_string())).unwrap();
                    let nothing = UserMemory::of(&mut OwnedMemory::new(1));
                    inbox.send(&parcel.name.text(), &[], nothing, 0).unwrap();
                    moved = true;
                }
            }
        }
        moved
    };
    (Carrier::start(Vec::new(), carry), worlds)
}

/// The parcels in `directory` whose names end in `ending`.
fn parcels(directory: &Path, ending: &str) -> Vec<(Parcel, PathBuf)> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let parcel = |entry: std::fs::DirEntry| {
        let name = entry.file_name();
        Some((Parcel::parse(name.to_str()?.strip_suffix(ending)?)?, entry.path()))
    };
    entries.filter_map(parcel).collect()
}

fn jobs(placement: &Placement, transport: Transport) -> Vec<Arc<Job>> {
    let shape = Shape { cores: 1, transport, ring_bytes: 4096 };
    let key = process::random().unwrap();
    let job = |host| Arc::new(Job::create(shape, placement, host).unwrap().with_key(key));
    (0..placement.hosts()).map(job).collect()
}

fn worlds(
    placement: &Placement,
    jobs: &[Arc<Job>],
    directories: impl Fn(u32) -> Option<Directories>,
) -> Vec<World> {
    let world = |rank| {
        let host = placement.host_of(rank);
        let job = &jobs[host as usize];
        assert!(job.slot(rank).claim());
        World::in_job(job, rank, directories(host), Threads::MEET).unwrap()
    };
    (0..placement.ranks()).map(world).collect()
}

fn private(path: &Path) -> PathBuf {
    drop(Outbox::open(path).unwrap());
    path.to_owned()
}
