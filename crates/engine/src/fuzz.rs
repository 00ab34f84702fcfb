//! What no process of ours sends: every packet, message file and external32 stream is refused or taken, and nothing is touched that
//! is not its to touch. Requests, a window and messages under way stand ready to be hit.

use std::path::Path;
use std::sync::Arc;

use postrider_abi::{
    MPI_ANY_SOURCE, MPI_Datatype, MPI_INT, MPI_INT64_T, MPI_LONG_DOUBLE, MPI_MODE_NOCHECK, MPI_SHORT_INT,
};
use postrider_fuzz::{Watched, bytes, survives, survives_slowly, text};
use postrider_os::hosts::Placement;
use postrider_os::memory::{OwnedMemory, UserMemory};
use postrider_os::parcel::Name;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use crate::datatypes::{CountForm, Datatype, pack_external, pack_external_size, unpack_external};
use crate::info::Info;
use crate::objects::Key;
use crate::one_sided::{Flavor, NewWindow, Target};
use crate::point_to_point::{Buffer, Message, Mode};
use crate::settings::{ALL, Settings};
use crate::transports::file::{Directories, FileTransport};
use crate::transports::simulated::Network;
use crate::transports::wire::{Header, Kind};
use crate::transports::{Body, Incoming, Limits, Transport};
use crate::{Instance, State, World};

#[global_allocator]
static ALLOCATOR: Watched = Watched;

/// What stands around memory that packets may touch.
const MARGIN: usize = 4096;
const UNTOUCHED: u8 = 0xa5;
/// Bytes of the window.
const WINDOW_BYTES: usize = 256;
/// What a packet may make an engine allocate: a part of a one-sided operation, and its answer.
const ALLOCATION_BYTES_MAX: usize = 4 << 20;

/// Memory of the program, in which it would be seen if something was written before or behind it.
struct Area(OwnedMemory, usize);

impl Area {
    fn new(bytes: usize) -> Self {
        let mut memory = OwnedMemory::new(bytes + 2 * MARGIN);
        memory.as_mut_slice().fill(UNTOUCHED);
        Self(memory, bytes)
    }

    fn place(&mut self) -> UserMemory {
        UserMemory::of(&mut self.0).offset(MARGIN as i64)
    }

    fn buffer(&mut self) -> Buffer {
        Buffer::dense(self.place(), self.1 as u64)
    }

    fn check(&self) -> Result<(), String> {
        let (before, rest) = self.0.as_slice().split_at(MARGIN);
        let untouched = before.iter().chain(&rest[self.1..]).all(|byte| *byte == UNTOUCHED);
        if untouched { Ok(()) } else { Err("memory beside a buffer was written".to_owned()) }
    }
}

/// A packet as it may come: some of its numbers are ones that this process knows.
#[derive(Clone, Debug)]
struct Packet {
    kind: u8,
    /// Whose context: of messages, of the window, or some other.
    context: u64,
    source: u32,
    tag: i32,
    words: [u64; 3],
    body: Vec<u8>,
}

fn number() -> impl Strategy<Value = u64> {
    let edge = WINDOW_BYTES as u64;
    let known = [
        0,
        8,
        edge - 8,
        edge,
        edge + 1,
        u64::MAX,
        u64::MAX - 7,
        1 << 63,
        i64::MAX as u64,
        1 << 32,
        0xffff_ffff,
        1 << 20,
        4096,
    ];
    prop_oneof![4 => 0_u64..16, 3 => select(known.to_vec()), 1 => any::<u64>()]
}

/// The first word of an access: request, operator, kind of the elements, blocks.
fn access_word() -> impl Strategy<Value = u64> {
    (0_u64..8, 0_u64..18, 0_u64..50, select(vec![0_u64, 0, 1, 2, 3, 0xffff]))
        .prop_map(|(request, operator, kind, blocks)| request | operator << 32 | kind << 40 | blocks << 48)
}

fn body() -> impl Strategy<Value = Vec<u8>> {
    let words =
        vec(number(), 0..10).prop_map(|words| words.iter().flat_map(|word| word.to_le_bytes()).collect());
    prop_oneof![words, vec(any::<u8>(), 0..80)]
}

fn packet() -> impl Strategy<Value = Packet> {
    let first = prop_oneof![number(), access_word()];
    let kind = prop_oneof![1_u8..=10, Just(Kind::OneSided as u8)];
    let source = prop_oneof![6 => Just(1_u32), 1 => select(vec![0, 2, u32::MAX])];
    let tag = prop_oneof![6 => 0_i32..14, 1 => any::<i32>()];
    let context = prop_oneof![4 => 0_u64..2, 1 => 2_u64..9, 1 => any::<u64>()];
    (kind, context, source, tag, (first, number(), number()), body()).prop_map(
        |(kind, context, source, tag, (first, second, third), body)| Packet {
            kind,
            context,
            source,
            tag,
            words: [first, second, third],
            body,
        },
    )
}

/// Two processes, of which the first has something of every kind under way with the second.
struct Ground {
    instances: [Instance; 2],
    window: Key,
    areas: Vec<Area>,
}

fn datatype(handle: MPI_Datatype) -> Arc<Datatype> {
    Arc::clone(Datatype::predefined(handle).expect("it is predefined"))
}

impl Ground {
    fn new() -> Self {
        let limits = Limits {
            eager_bytes_max: 512,
            piece_bytes_max: 300,
            single_copy: crate::transports::SingleCopy::Never,
        };
        let network = Network::new(2, 1, limits, 1000);
        let placement = Placement::one_host(2);
        let instances = [0, 1].map(|rank| Instance::new(World::simulated(&network, rank, &placement)));
        let mut areas = [WINDOW_BYTES, WINDOW_BYTES, 64, 64, 64, 64, 32, 4096, 64].map(Area::new);
        let new = |area: &mut Area| NewWindow {
            communicator: State::WORLD,
            flavor: Flavor::Create,
            base: area.place(),
            size: WINDOW_BYTES as i64,
            unit: 1,
            info: Info::default(),
            alignment: 8,
        };
        let (own, others) = (new(&mut areas[0]), new(&mut areas[1]));
        let window = std::thread::scope(|scope| {
            let other = scope.spawn(|| instances[1].create_window(&others));
            let window = instances[0].create_window(&own).expect("a window");
            other.join().expect("no panic").expect("a window");
            window
        });
        let mut ground = Self { instances, window, areas: areas.into() };
        ground.begin();
        ground
    }

    /// Starts what packets may hit.
    fn begin(&mut self) {
        let (instance, areas) = (&self.instances[0], &mut self.areas);
        let message =
            |buffer: Buffer, peer: i32, tag: i32| Message { buffer, peer, tag, communicator: State::WORLD };
        let every_other =
            Datatype::vector(CountForm::Large, 4, 1, 2, &datatype(MPI_INT64_T)).expect("a vector");
        every_other.commit();
        let with_gaps = Buffer::new(areas[3].place(), 1, &every_other);
        let target = Target { rank: 1, displacement: 0, count: 8, datatype: &datatype(MPI_INT64_T) };
        instance.lock_all(self.window, MPI_MODE_NOCHECK).expect("nobody has locked it");
        let started = instance.with(|state| {
            state.irecv(message(areas[2].buffer(), MPI_ANY_SOURCE, 1))?;
            state.irecv(message(with_gaps, 1, 2))?;
            let partitioned = [
                state.partitioned_receive(message(areas[4].buffer(), 1, 3), 4)?,
                state.partitioned_send(message(areas[5].buffer(), 1, 4), 4)?,
            ];
            state.isend(&message(areas[6].buffer(), 1, 5), Mode::Synchronous)?;
            state.isend(&message(areas[7].buffer(), 1, 6), Mode::Standard)?;
            state.get(self.window, areas[8].buffer(), target.clone(), true)?;
            Ok(partitioned)
        });
        instance.start(started.expect("all can be started")).expect("both are inactive");
    }

    /// Takes a packet; an error has to say something.
    fn take(&mut self, packet: &Packet) -> Result<(), String> {
        let mut memory = Area::new(packet.body.len());
        memory.place().write(&packet.body);
        let window = self.window;
        let taken = self.instances[0].with(|state| {
            let context = match packet.context {
                0 => state.communicators.get(State::WORLD)?.context(),
                1 => state.windows.get(window)?.context,
                other => other,
            };
            let Packet { source, tag, words, .. } = *packet;
            let kind = Kind::from_number(packet.kind).expect("there is such a kind");
            let header = Header { kind, context, source, tag, words };
            let body = Body::Memory(memory.place(), packet.body.len());
            state.handle(Incoming { peer: 1, header, body })
        });
        memory.check()?;
        match taken {
            Err(error) if error.detail.is_empty() => Err("an error says nothing".to_owned()),
            _ => Ok(()),
        }
    }
}

#[test]
fn packets_of_every_kind() {
    survives_slowly(ALLOCATION_BYTES_MAX, vec(packet(), 1..8), |packets| {
        let mut ground = Ground::new();
        packets.iter().try_for_each(|packet| ground.take(packet))?;
        let _answers = ground.instances[0].with(State::progress);
        let checked = ground.areas.iter().try_for_each(Area::check);
        let Ground { instances, areas, .. } = ground;
        drop(instances);
        drop(areas);
        checked
    });
}

#[test]
fn headers_in_rings() {
    let header = |kind| Header { kind, context: 2, source: 1, tag: 7, words: [1, 2, 3] };
    let samples = (1..=10).filter_map(Kind::from_number).map(|kind| (kind, header(kind)));
    let samples =
        samples.map(|(kind, header)| [&[kind as u8][..], &header.encode()[..header.bytes()]].concat());
    survives(bytes(samples), |bytes| {
        let Some((kind, rest)) = bytes.split_first() else { return Ok(()) };
        let Some(kind) = Kind::from_number(*kind) else { return Ok(()) };
        match Header::decode(kind, rest) {
            Some(header) if !rest.starts_with(&header.encode()[..header.bytes()]) => {
                Err("another header".to_owned())
            }
            _ => Ok(()),
        }
    });
}

fn transport(directory: &Path, rank: u32) -> FileTransport {
    let directories = Directories { local: directory.to_owned(), central: None };
    FileTransport::new(directories, rank, 77, Placement::one_host(2)).expect("an inbox")
}

/// The file of a packet of process 1.
fn message_file(directory: &Path, kind: Kind, body_bytes: usize) -> Vec<u8> {
    let header = Header { kind, context: 2, source: 1, tag: 7, words: [1, 2, 3] };
    let mut body = OwnedMemory::new(body_bytes);
    let mut sender = Transport::File(transport(directory, 1));
    sender.send(0, &header, UserMemory::of(&mut body), body_bytes).expect("it is sent");
    let path = directory.join("0").join("1.0");
    let file = std::fs::read(&path).expect("it is there");
    std::fs::remove_file(&path).expect("it can be removed");
    file
}

#[test]
fn message_files_and_their_names() {
    let directory = std::env::temp_dir().join(format!("postrider-fuzz-{}", std::process::id()));
    let inbox = directory.join("0");
    std::fs::create_dir(&directory).expect("it is new");
    drop(transport(&directory, 0));
    let files = [Kind::Eager, Kind::Announce, Kind::Piece].map(|kind| message_file(&directory, kind, 40));
    let names =
        [0, 1, u64::MAX].map(|number| Name { sender: 1, number }.text().into_string().expect("digits"));
    let found = (bytes(files), prop_oneof![3 => Just("1.0".to_owned()), 1 => text(names)]);
    survives_slowly(ALLOCATION_BYTES_MAX, found, |(content, name)| {
        let nameable =
            !name.is_empty() && name.len() < 200 && !name.contains(['/', '\0']) && !name.starts_with('.');
        let name = if nameable { &name[..] } else { "1.0" };
        std::fs::write(inbox.join(name), content).map_err(|error| error.to_string())?;
        let mut receiver = Transport::File(transport(&directory, 0));
        let said = match receiver.receive() {
            // It names the file.
            Err(error) if !error.detail.contains(name) => Err(error.detail),
            _ => Ok(()),
        };
        drop(receiver);
        let _taken_already = std::fs::remove_file(inbox.join(name));
        said
    });
    std::fs::remove_dir_all(&directory).expect("it can be removed");
}

#[test]
fn external32_streams() {
    for handle in [MPI_INT, MPI_LONG_DOUBLE, MPI_SHORT_INT] {
        let datatype = datatype(handle);
        let count = 3;
        let room = count * datatype.extent();
        let mut valid = vec![0; pack_external_size(&datatype, count).expect("a short stream") as usize];
        let mut values = Area::new(room as usize);
        pack_external(&datatype, count, values.place(), &mut valid).expect("they can be packed");
        let cases = (bytes([valid]), prop_oneof![Just(count), 0..=count]);
        survives(cases, |(data, count)| {
            let mut area = Area::new(room as usize);
            let _refused = unpack_external(&datatype, count, area.place(), &data);
            area.check()
        });
    }
}

#[test]
fn values_of_settings_and_infos() {
    let values = ALL.iter().flat_map(|setting| (setting.values)()).map(str::to_owned);
    survives(text(values.collect::<Vec<_>>()), |value| {
        for setting in ALL {
            let read = Settings::read(|name| (name == setting.name).then(|| value.clone()));
            if let Err(error) = read
                && !error.detail.contains(setting.name)
            {
                return Err(error.detail);
            }
        }
        let mut info = Info::default();
        let set = info.set(&value, &value);
        if set.is_ok() == (info.get(&value) == Some(&value)) {
            Ok(())
        } else {
            Err("another value".to_owned())
        }
    });
}
