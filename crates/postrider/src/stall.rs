//! Notices when all ranks of a job wait for each other: a receive without its send, or a collective call that not all ranks make. Such
//! a job never ends, and nobody else would say so.
//!
//! Ranks that sleep in MPI are counted out of those that are awake, by whoever falls asleep or wakes another, so that a message on its way keeps the
//! count above 0. Only a rank that is in a call for meeting other jobs, or that has met some, may be woken by somebody whom the job
//! does not know.

use std::time::{Duration, Instant};

use postrider_os::job::{Job, Transport};

use crate::report::{Place, stalled};

/// How often at most the job is looked at.
const LOOK: Duration = Duration::from_millis(100);
/// How soon again if somebody is awake: ranks that sleep make sure twice a second that their launcher is still there.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// After so many looks in a row somebody is awake for another reason.
const LOOKS_AGAIN: u32 = 5;

/// What is known of a job that may have come to a halt.
pub struct Stall<'a> {
    job: &'a Job,
    /// After how long it is spoken of; none once that has been done, and where it cannot be known.
    patience: Option<Duration>,
    /// Since when all have been waiting.
    since: Option<Instant>,
    /// Looks in a row at which somebody was awake.
    awake: u32,
    next: Instant,
}

impl<'a> Stall<'a> {
    /// Speaks after `patience`, and never if that is zero.
    pub fn new(job: &'a Job, patience: Duration) -> Self {
        let counts = job.shape().transport == Transport::SharedMemory && !patience.is_zero();
        Self { job, patience: counts.then_some(patience), since: None, awake: 0, next: Instant::now() }
    }

    /// When to look again.
    pub fn due(&self) -> Option<Instant> {
        self.patience.map(|_| self.next)
    }

    /// Whether it is time to look at the ranks, since all of them sleep in MPI.
    pub fn is_suspected(&mut self) -> bool {
        let now = Instant::now();
        let Some(patience) = self.patience.filter(|_| now >= self.next) else { return false };
        let sleep = self.job.awake() == 0 && !self.job.is_connected();
        self.awake = if sleep { 0 } else { self.awake + 1 };
        if self.awake >= LOOKS_AGAIN {
            (self.awake, self.since) = (0, None);
        }
        self.next = now + if self.awake == 0 { (patience / 10).max(LOOK) } else { LOOK_AGAIN };
        sleep
    }

    /// What there is to say of ranks that all sleep in MPI, at these places.
    pub fn judge(&mut self, places: &[(u32, Place)]) -> Option<String> {
        let (now, patience) = (Instant::now(), self.patience?);
        self.since = all_wait(places).then(|| self.since.unwrap_or(now));
        let is_over = self.since.is_some_and(|since| now - since >= patience);
        is_over.then(|| {
            self.patience = None;
            stalled(patience, places)
        })
    }
}

/// Whether there are ranks in calls of MPI, which end by messages of other ranks, and all others have ended.
fn all_wait(places: &[(u32, Place)]) -> bool {
    let waits = |place: &Place| matches!(place, Place::In(call) if !meets_others(call));
    let is_over = |place: &Place| matches!(place, Place::Gone | Place::AfterFinalize);
    places.iter().any(|(_, place)| waits(place))
        && places.iter().all(|(_, place)| waits(place) || is_over(place))
}

fn meets_others(call: &str) -> bool {
    ["MPI_Comm_accept", "MPI_Comm_connect", "MPI_Comm_join", "MPI_Comm_spawn", "MPI_Lookup_name", "MPI_Init"]
        .iter()
        .any(|name| call.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_os::hosts::Placement;
    use postrider_os::job::Shape;

    fn places(places: &[Place]) -> Vec<(u32, Place)> {
        (0..).zip(places.iter().cloned()).collect()
    }

    #[test]
    fn all_wait_only_if_nobody_computes_or_meets_others() {
        let receives = || Place::In("MPI_Recv".to_owned());
        let accepts = || Place::In("MPI_Comm_accept".to_owned());
        assert!(all_wait(&places(&[receives(), receives()])));
        assert!(all_wait(&places(&[receives(), Place::Gone, Place::AfterFinalize])));
        assert!(!all_wait(&places(&[receives(), Place::Outside])));
        assert!(!all_wait(&places(&[receives(), Place::BeforeInit])));
        assert!(!all_wait(&places(&[receives(), accepts()])));
        assert!(!all_wait(&places(&[Place::Gone])));
    }

    #[test]
    fn a_stall_is_spoken_of_once_and_only_if_it_lasts() {
        let shape = Shape { cores: 1, transport: Transport::SharedMemory, ring_bytes: 4096 };
        let job = Job::create(shape, &Placement::one_host(2), 0).unwrap();
        let all = places(&[Place::In("MPI_Recv".to_owned()), Place::In("MPI_Barrier".to_owned())]);
        let mut stall = Stall::new(&job, Duration::from_nanos(1));
        let look = |stall: &mut Stall| {
            stall.next = Instant::now();
            if stall.is_suspected() { stall.judge(&all) } else { None }
        };
        job.count_in();
        assert_eq!(look(&mut stall), None);
        job.count_out();
        assert_eq!(look(&mut stall), None);
        assert!(look(&mut stall).is_some_and(|text| text.contains("rank 1 in MPI_Barrier")));
        assert_eq!((look(&mut stall), stall.due()), (None, None));
        let mut of_connected = Stall::new(&job, Duration::from_nanos(1));
        job.connect();
        assert_eq!((look(&mut of_connected), look(&mut of_connected)), (None, None));
        assert_eq!(Stall::new(&job, Duration::ZERO).due(), None);
    }
}
