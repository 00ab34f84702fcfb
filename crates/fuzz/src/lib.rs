//! For tests: damaged copies of what comes from outside, and a watch on what a parser does with them.
//!
//! Nothing that stands in a packet, a file, a file's name or a variable is trusted. A test gives valid samples, [`bytes`] or [`text`]
//! damages them (bits, extreme numbers wherever a length may be, cuts, doubled and moved parts, parts of other samples), and
//! [`survives`] runs the parser on thousands of the results: it must not panic or overflow, must not allocate more than it is
//! allowed ([`Watched`] counts), and must come to an end. What it returns is the test's business. proptest shrinks what fails
//! to the few damages that matter. `PROPTEST_CASES` chooses how many cases are tried.

mod allocator;
mod damage;
mod watchdog;

pub use allocator::Watched;
pub use damage::{bytes, text};

use std::fmt::Debug;
use std::panic::Location;

use proptest::strategy::Strategy;
use proptest::test_runner::{Config, TestCaseError, TestRunner};

/// Cases of a test, unless `PROPTEST_CASES` says otherwise: about a second.
const CASES: u32 = 4096;
/// Cases of a test that needs threads or files for each: some seconds.
const SLOW_CASES: u32 = 256;
/// Bytes that a parser may allocate for an input of a few hundred bytes, unless a test says otherwise.
pub const ALLOCATION_BYTES_MAX: usize = 1 << 20;

/// Runs `parse` on many inputs. It may allocate [`ALLOCATION_BYTES_MAX`] bytes at once.
///
/// # Panics
/// When it panics, allocates more, or says what is wrong; with the input.
#[track_caller]
pub fn survives<T: Clone + Debug>(inputs: impl Strategy<Value = T>, parse: impl Fn(T) -> Result<(), String>) {
    survives_within(ALLOCATION_BYTES_MAX, inputs, parse);
}

/// Runs `parse` on many inputs. It may allocate `bytes_max` bytes at once.
///
/// # Panics
/// When it panics, allocates more, or says what is wrong; with the input.
#[track_caller]
pub fn survives_within<T: Clone + Debug>(
    bytes_max: usize,
    inputs: impl Strategy<Value = T>,
    parse: impl Fn(T) -> Result<(), String>,
) {
    run(CASES, bytes_max, inputs, parse);
}

/// The same for a test that needs threads or files for each input, and tries fewer.
///
/// # Panics
/// When it panics, allocates more, or says what is wrong; with the input.
#[track_caller]
pub fn survives_slowly<T: Clone + Debug>(
    bytes_max: usize,
    inputs: impl Strategy<Value = T>,
    parse: impl Fn(T) -> Result<(), String>,
) {
    run(SLOW_CASES, bytes_max, inputs, parse);
}

#[track_caller]
fn run<T: Clone + Debug>(
    cases: u32,
    bytes_max: usize,
    inputs: impl Strategy<Value = T>,
    parse: impl Fn(T) -> Result<(), String>,
) {
    let place = Location::caller();
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    let config = Config { cases: given.unwrap_or(cases), failure_persistence: None, ..Config::default() };
    let result = TestRunner::new(config).run(&inputs, |input| {
        let watchdog = watchdog::begin(place, &input);
        allocator::begin();
        let parsed = parse(input);
        let largest = allocator::end();
        drop(watchdog);
        if largest > bytes_max {
            return Err(TestCaseError::fail(format!("it has allocated {largest} bytes at once")));
        }
        parsed.map_err(TestCaseError::fail)
    });
    if let Err(error) = result {
        panic!("{place}: {error}");
    }
}

#[cfg(test)]
mod tests {
    use std::panic::catch_unwind;

    use super::*;

    #[global_allocator]
    static ALLOCATOR: Watched = Watched;

    /// What is said of a parser.
    fn verdict(parse: impl Fn(Vec<u8>) -> Result<(), String> + std::panic::UnwindSafe) -> Option<String> {
        let samples = [b"PR\x04\0\0\0body".to_vec()];
        let panic = catch_unwind(|| survives(bytes(samples), parse)).err()?;
        Some(panic.downcast_ref::<String>().expect("a text").clone())
    }

    fn length(input: &[u8]) -> Option<usize> {
        Some(u32::from_le_bytes(input.get(2..)?.first_chunk().copied()?) as usize)
    }

    #[test]
    fn a_careful_parser_survives() {
        let parse = |input: Vec<u8>| {
            let _body = length(&input).and_then(|length| input[6..].get(..length));
            Ok(())
        };
        assert_eq!(verdict(parse), None);
    }

    #[test]
    fn every_kind_of_carelessness_is_found() {
        let beyond = verdict(|input| {
            let _body = length(&input).map(|length| input[6..6 + length].to_vec());
            Ok(())
        });
        assert!(beyond.is_some_and(|said| said.contains("out of range")));
        let much = verdict(|input| {
            drop(length(&input).map(|length| Vec::<u8>::with_capacity(length.min(1 << 30))));
            Ok(())
        });
        assert!(much.is_some_and(|said| said.contains("at once")));
        let wrong =
            verdict(|input| if input.starts_with(b"PR") { Ok(()) } else { Err("no magic".to_owned()) });
        assert!(wrong.is_some_and(|said| said.contains("no magic")));
    }
}
