//! Calls of a process whose memory is elsewhere, whatever they ask for, and whatever of that memory is there: they are made or refused, and nothing else is touched.

use std::cell::Cell;
use std::sync::Arc;

use postrider_ipc::calls::copied::{Memory, NUMBERS, copied, give};
use postrider_ipc::semantics::limits::Limits;
use postrider_ipc::semantics::permission::Caller;
use postrider_ipc::space::{Actor, Call, Host, Space, acting};
use proptest::prelude::*;

/// Calls of each case.
const CALLS_MAX: usize = 24;

/// Memory that begins at an address, and says the same bytes again and again.
struct Memories {
    from: usize,
    bytes: Vec<u8>,
    written: Cell<usize>,
}

impl Memory for Memories {
    fn read(&self, address: usize, into: &mut [u8]) -> bool {
        for (byte, next) in into.iter_mut().zip(self.bytes.iter().cycle()) {
            *byte = *next;
        }
        address >= self.from || into.is_empty()
    }

    fn write(&self, address: usize, from: &[u8]) -> bool {
        self.written.set(self.written.get().max(from.len()));
        address >= self.from
    }
}

/// Numbers that mean something, and any.
fn argument() -> impl Strategy<Value = usize> {
    prop_oneof![0..32_usize, Just(0o1600), Just(0o5600), Just(usize::MAX), Just(1 << 40), any::<usize>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn whatever_is_called_is_done_or_refused(
        calls in prop::collection::vec(
            (prop::sample::select(NUMBERS.to_vec()), prop::array::uniform6(argument()), prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 1..40)),
            1..CALLS_MAX,
        )
    ) {
        let directory = std::env::temp_dir().join(format!("postrider-ipc-copied-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a new directory");
        let limits = Limits { message_bytes: 400, queue_bytes: 300, ..Limits::default() };
        let space = Space::create(&directory, limits, Host::ALONE).expect("a name space");
        let place = space.place_for(std::process::id()).expect("a place");
        let actor = Actor { place, pid: std::process::id(), caller: Caller { uid: 0, groups: vec![0] } };
        let at_once = Arc::new(Call::default());
        space.cancel_call(&at_once);
        for (number, arguments, bytes) in calls {
            let memory = Memories { from: 16, bytes, written: Cell::new(0) };
            let made = acting::act(&actor, Some(&at_once), || {
                give(copied(&space, number, arguments, &memory)?.make(&space), &memory)
            });
            prop_assert!(made.is_err() || made.is_ok_and(|result| result >= 0));
            prop_assert!(memory.written.get() <= 1 << 16);
        }
        space.has_ended_for(std::process::id());
        std::fs::remove_dir_all(&directory).expect("the directory is there");
    }
}
