//! Whether the ranks of all hosts wait for each other.
//!
//! Each agent says when nothing has come to the ranks of its host for the whole time, and takes that back when something comes. When all
//! of them have said so at once, they are asked where their ranks are; what has been taken back by then comes before the answer.

use std::time::Duration;

/// What is known of the ranks of each host.
pub struct Standstill {
    /// For how long nothing has come to ranks that rest; zero if nobody wants to know.
    patience: Duration,
    rests: Vec<bool>,
    /// Who has not yet said where its ranks are, while that is wanted.
    asked: Option<Vec<bool>>,
}

impl Standstill {
    /// Ranks on so many hosts, all of which do something.
    pub fn new(hosts: usize) -> Self {
        Self { patience: Duration::ZERO, rests: vec![false; hosts], asked: None }
    }

    /// The word is wanted when nothing has come for so long.
    pub fn wanted_after(&mut self, patience: Duration) {
        self.patience = patience;
    }

    /// The ranks of a host have come to rest, or no longer do.
    pub fn note(&mut self, host: usize, rests: bool) {
        self.rests[host] = rests;
        if !rests {
            self.asked = None;
        }
    }

    /// Whether all hosts are to be asked where their ranks are, since the ranks of each rest, or have ended.
    pub fn is_to_ask(&mut self, has_ended: impl Fn(usize) -> bool) -> bool {
        let all = (0..self.rests.len()).all(|host| self.rests[host] || has_ended(host));
        let asks = all && self.asked.is_none() && !self.patience.is_zero();
        if asks {
            self.asked = Some(vec![true; self.rests.len()]);
        }
        asks
    }

    /// A host has said where its ranks are. When it was the last one, for how long they have waited for each other; that is said once.
    pub fn answered(&mut self, host: usize) -> Option<Duration> {
        let asked = self.asked.as_mut()?;
        asked[host] = false;
        (!asked.contains(&true)).then(|| {
            self.asked = None;
            std::mem::take(&mut self.patience)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: Duration = Duration::from_secs(10);

    #[test]
    fn all_hosts_have_to_rest_at_once() {
        let mut all = Standstill::new(3);
        all.wanted_after(PATIENCE);
        let ended = |host| host == 2;
        all.note(0, true);
        assert!(!all.is_to_ask(ended));
        all.note(1, true);
        assert!(all.is_to_ask(ended) && !all.is_to_ask(ended));
        assert_eq!((all.answered(0), all.answered(2)), (None, None));
        all.note(1, false);
        assert_eq!((all.answered(1), all.is_to_ask(ended)), (None, false));
        all.note(1, true);
        assert!(all.is_to_ask(ended));
        assert_eq!([0, 1, 2].map(|host| all.answered(host)), [None, None, Some(PATIENCE)]);
        assert!(!all.is_to_ask(ended));
    }

    #[test]
    fn nobody_is_asked_if_nobody_wants_to_know() {
        let mut all = Standstill::new(1);
        all.note(0, true);
        assert!(!all.is_to_ask(|_| false));
    }
}
