//! Calls that come from another host, whatever they ask for: they are made or refused, and touch nothing else.

use postrider_ipc::hosts::carrying::{Patience, carry_out};
use postrider_ipc::hosts::packet::{Function, Person, Request};
use postrider_ipc::semantics::limits::Limits;
use postrider_ipc::space::{Actor, Host, Space, acting};
use proptest::prelude::*;

/// Calls of each case.
const CALLS_MAX: usize = 24;

fn function() -> impl Strategy<Value = Function> {
    prop::sample::select(vec![
        Function::GetQueue,
        Function::GetSet,
        Function::Send,
        Function::Receive,
        Function::Operate,
        Function::ControlQueue,
        Function::ControlSet,
        Function::Count,
        Function::Rows,
    ])
}

/// Numbers that mean something, and any.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![0..32_i64, Just(0o1600), Just(0o5600), Just(-1), Just(1 << 40), any::<i64>()]
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn whatever_is_asked_for_is_done_or_refused(
        calls in prop::collection::vec(
            (function(), prop_oneof![0..3_i32, any::<i32>()], [number(), number(), number()],
             prop::collection::vec(prop_oneof![0..4_u8, any::<u8>()], 0..100)),
            1..CALLS_MAX,
        )
    ) {
        let directory = std::env::temp_dir().join(format!("postrider-ipc-carrying-{}", std::process::id()));
        std::fs::create_dir(&directory).expect("a new directory");
        let limits = Limits { message_bytes: 400, queue_bytes: 300, ..Limits::default() };
        let space = Space::create(&directory, limits, Host::ALONE).expect("a name space");
        let person = Person { pid: 7, started: 8 };
        let place = space.admit(&person).expect("a place");
        for (function, identifier, numbers, bytes) in calls {
            let (user, groups) = (0, vec![0]);
            let request = Request { function, identifier, numbers, person: person.clone(), user, groups };
            let actor = Actor { place, pid: person.pid, caller: request.caller() };
            let carried = acting::act(&actor, None, || carry_out(&space, &request, &bytes, Patience::AtOnce));
            if let Some(Ok((result, bytes))) = carried {
                prop_assert!(result >= 0);
                prop_assert!(bytes.len() <= 1 << 16);
            }
        }
        space.dismiss(place);
        std::fs::remove_dir_all(&directory).expect("the directory is there");
    }
}
