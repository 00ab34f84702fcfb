//! What another host says of pages, whatever that is: it gets what is its to have, and nothing else changes.

use postrider_ipc::hosts::packet::{Pages, Person, Range};
use postrider_ipc::hosts::segments::{CONTENT_MAX, Segments};
use postrider_ipc::semantics::limits::Limits;
use postrider_ipc::semantics::pages::Level;
use postrider_ipc::semantics::permission::Caller;
use postrider_ipc::space::pages::UNIT;
use postrider_ipc::space::{Actor, Get, Host, Kind, Space, acting};
use proptest::prelude::*;

const PAGES: u64 = 5;

fn level() -> impl Strategy<Value = Level> {
    prop::sample::select(vec![Level::None, Level::Read, Level::Write])
}

fn range() -> impl Strategy<Value = Range> {
    let number = || prop_oneof![0..7_u32, Just(u32::MAX), any::<u32>()];
    (prop_oneof![9 => Just(0), 1 => any::<i32>()], number(), number())
        .prop_map(|(identifier, first, count)| Range { identifier, first, count })
}

fn said() -> impl Strategy<Value = Pages> {
    prop_oneof![
        4 => (range(), level()).prop_map(|(range, level)| Pages::Want(range, level)),
        4 => range().prop_map(Pages::Given),
        1 => (range(), level()).prop_map(|(range, level)| Pages::Grant(range, level)),
        1 => (range(), level(), any::<bool>()).prop_map(|(range, level, content)| Pages::Take(range, level, content)),
        1 => any::<i32>().prop_map(Pages::Gone),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn whatever_is_said_is_done_or_passed_over(
        all in prop::collection::vec((0..4_u32, said(), prop_oneof![Just(0), Just(UNIT), Just(2 * UNIT), 0..9000_usize]), 1..60),
    ) {
        let directory = std::env::temp_dir().join(format!("postrider-ipc-segments-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a new directory");
        let host = Host { number: 0, all: 3, home: None };
        let space = Space::create(&directory, Limits::default(), host).expect("a name space");
        let space: &'static Space = Box::leak(Box::new(space));
        let size = PAGES * UNIT as u64;
        let segment = space.get_here(Kind::Segment, Get { key: 5, size, flags: 0o1600 }).expect("a segment");
        let place = space.admit(&Person { pid: 7, started: 8 }).expect("a place");
        let actor = Actor { place, pid: 7, caller: Caller { uid: 0, groups: vec![0] } };
        let attached = acting::act(&actor, None, || space.attach_from_elsewhere(segment, 0, 0));
        prop_assert_eq!(attached, Ok(size));
        let segments = Segments::new(space);
        segments.admit(1, segment);
        for (host, said, bytes) in all {
            for (to, answer, content) in segments.hear(host, said, &vec![b'x'; bytes]) {
                prop_assert_eq!(to, 1);
                prop_assert!(content.len() <= CONTENT_MAX);
                // The segment has not been written: nobody was asked for what he wrote.
                prop_assert!(content.iter().all(|byte| *byte == 0));
                prop_assert!(matches!(answer, Pages::Grant(..) | Pages::Take(..)));
            }
        }
        std::fs::remove_dir_all(&directory).expect("the directory is there");
    }
}
