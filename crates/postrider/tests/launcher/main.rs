//! `postrider run` and `postrider cc` as their users meet them: the built executable, real processes, real signals.
//!
//! Programs without MPI are shell scripts. Where a rank of an MPI program is needed, this test executable plays it, see
//! `rank`: it says on the job's board what an MPI library would say there. No test sleeps for a fixed time: all of them wait
//! for what they expect to see, and a watchdog ends a wait that has become hopeless.
#![deny(unsafe_code)]

mod arguments;
mod cleaning;
mod compiling;
mod engines;
mod failures;
mod hosts;
mod input_output;
mod links;
mod rank;
mod signals;
mod support;
mod toolbox;
