//! Which calls belong together, and whether it pays to make them asynchronous (the paper, section II.C, and its reference 4). Pure.
//!
//! Calls that come again in the same order are a *chain*. It begins with the call that came twice first, and a round of it ends where
//! it begins again. Once it has come three times, whole rounds are tried by each method in turn, and the one whose rounds spent the least time in calls
//! and in waiting for data stays, with a preference for the plain calls. It is looked at again after 64, 128, 256 … rounds.

use std::collections::BTreeMap;

use postrider_abi::{MPI_Comm, MPI_Datatype};

/// What distinguishes a call: where it stands in the program, and what it is asked to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Call {
    /// Which function.
    pub function: u8,
    /// The return address.
    pub site: usize,
    /// Address, count and datatype of what is sent.
    pub sent: Option<(usize, i64, MPI_Datatype)>,
    /// Address, count and datatype of what is received.
    pub received: Option<(usize, i64, MPI_Datatype)>,
    /// Destination, source and both tags.
    pub peers: [i32; 4],
    /// The communicator.
    pub communicator: MPI_Comm,
}

/// How a round of a chain is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// As the program says.
    Plain,
    /// Completed when the program touches the data.
    AtTouch,
    /// Completed inside the last call.
    AtLastCall,
}

impl Method {
    /// Words for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::AtTouch => "completed at the first touch",
            Self::AtLastCall => "completed in the last call",
        }
    }
}

/// All of them, the plain one first.
pub const METHODS: [Method; 3] = [Method::Plain, Method::AtTouch, Method::AtLastCall];

/// Rounds before a chain is tried.
const LEARNED: usize = 3;
/// Rounds by each method in a trial.
const TRIES: usize = 9;
/// Rounds after which a method that is far slower is given up; so many come one after another by one method.
const TRIES_MIN: usize = 3;
/// Rounds after which it is looked whether the choice was right.
const CHECK: usize = 64;
/// What is far slower.
const FAR: f64 = 1.5;
/// What the plain calls may cost more and stay.
const PREFERENCE: f64 = 1.05;
/// Calls that take less than so many microseconds are not tried otherwise: it would cost the library more than they can gain.
pub const CHEAP: f64 = 3.0;
/// How many microseconds of a round another method has to win.
const GAIN: f64 = 1.0;
/// Rounds until the second trial; then twice as many each time.
const AGAIN: usize = 64;
/// Rounds one after another that are plain, and known to be best so, before nothing is looked at for a while.
const QUIET: usize = 8;
/// Calls after which the search for a chain begins anew.
const CHAIN_MAX: usize = 128;

/// What is known of a chain.
#[derive(Debug)]
pub struct Chain {
    /// Its calls.
    pub calls: Vec<Call>,
    rounds: usize,
    trial: Option<Trial>,
    /// How it is carried out when it is not tried.
    pub chosen: Method,
    until_trial: usize,
    next_wait: usize,
    far_slower: [usize; METHODS.len()],
    /// What a plain round cost in the last trial, and rounds since then with their microseconds.
    since_trial: (f64, usize, f64),
    /// Rounds and microseconds by each method.
    pub spent: [(u64, f64); METHODS.len()],
}

/// Microseconds of rounds by each method. The first round by another one than before does not count: it pays for what the last one left
/// behind, such as neighbours that sleep.
#[derive(Debug, Default)]
struct Trial {
    rounds: [Vec<f64>; METHODS.len()],
    last: Option<usize>,
}

fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::INFINITY)
}

impl Chain {
    fn new(calls: Vec<Call>) -> Self {
        Self {
            calls,
            rounds: 0,
            trial: None,
            chosen: Method::Plain,
            until_trial: LEARNED,
            next_wait: AGAIN,
            far_slower: [0; METHODS.len()],
            since_trial: (0.0, 0, 0.0),
            spent: [(0, 0.0); METHODS.len()],
        }
    }

    /// How the next round is carried out.
    fn method(&mut self) -> Method {
        if self.trial.is_none() && self.until_trial == 0 {
            self.trial = Some(Trial::default());
        }
        let Some(trial) = &self.trial else { return self.chosen };
        let open = |index: &usize| self.far_slower[*index] < 2 && !trial.is_settled(*index);
        if let Some(last) = trial.last.filter(open)
            && !trial.rounds[last].len().is_multiple_of(TRIES_MIN)
        {
            return METHODS[last];
        }
        let fewest = (0..METHODS.len()).filter(open).min_by_key(|index| trial.rounds[*index].len());
        fewest.map_or(Method::Plain, |index| METHODS[index])
    }

    /// Whether it has been tried, and is plain until the next trial.
    fn is_settled_plain(&self) -> bool {
        self.next_wait > AGAIN && self.trial.is_none() && self.chosen == Method::Plain && self.until_trial > 0
    }

    /// A round took so many microseconds.
    fn record(&mut self, method: Method, microseconds: f64) {
        let index = method as usize;
        self.rounds += 1;
        self.spent[index].0 += 1;
        self.spent[index].1 += microseconds;
        let Some(trial) = &mut self.trial else {
            self.until_trial = self.until_trial.saturating_sub(1);
            self.check(microseconds);
            return;
        };
        if trial.last.replace(index) != Some(index) {
            return;
        }
        trial.rounds[index].push(microseconds);
        let plain = median(&trial.rounds[0]);
        let is_first_block = index == 0 && trial.rounds[0].len() == TRIES_MIN;
        let is_cheap = is_first_block && plain < CHEAP * self.calls.len() as f64;
        let done = |index: usize| self.far_slower[index] >= 2 || trial.is_settled(index);
        if !is_cheap && !(0..METHODS.len()).all(done) {
            return;
        }
        self.chosen = Method::Plain;
        let mut best = (plain / PREFERENCE).min(plain - GAIN);
        for (index, method) in METHODS.into_iter().enumerate().skip(1) {
            let this = median(&trial.rounds[index]);
            if this < best && !is_cheap {
                (best, self.chosen) = (this, method);
            }
            self.far_slower[index] += usize::from(this.is_finite() && this > FAR * plain);
        }
        self.trial = None;
        self.since_trial = (plain, 0, 0.0);
        self.until_trial = self.next_wait;
        self.next_wait = self.next_wait.saturating_mul(2);
    }
}

impl Chain {
    /// A round by the method that was chosen: if they are slower than the plain ones were in the trial, there is another trial at once.
    fn check(&mut self, microseconds: f64) {
        let (plain, rounds, spent) = &mut self.since_trial;
        *rounds += 1;
        *spent += microseconds;
        if *rounds == CHECK {
            if self.chosen != Method::Plain && *spent > *plain * CHECK as f64 {
                self.until_trial = 0;
            }
            (*rounds, *spent) = (0, 0.0);
        }
    }
}

impl Trial {
    /// Whether enough is known of a method.
    fn is_settled(&self, index: usize) -> bool {
        let rounds = &self.rounds[index];
        let far = rounds.len() >= TRIES_MIN
            && index > 0
            && self.rounds[0].len() >= TRIES_MIN
            && median(rounds) > FAR * median(&self.rounds[0]);
        far || rounds.len() >= TRIES
    }
}

/// What the layer is to do with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// How it is carried out.
    pub method: Method,
    /// Its place in its chain.
    pub position: usize,
    /// Whether no other call of the chain follows.
    pub is_last: bool,
    /// Whether it goes on as the chain did, so that what was started stays valid.
    pub is_expected: bool,
}

/// All chains, and where the program is.
#[derive(Debug, Default)]
pub struct Predictor {
    chains: BTreeMap<Call, Chain>,
    current: Vec<Call>,
    method: Option<Method>,
    spent: f64,
    /// So many rounds have been settled and plain, the last one of the chain that begins so.
    quiet: (usize, Option<Call>),
    /// A method that is always taken, for tests.
    pub forced: Option<Method>,
}

impl Predictor {
    /// The program makes this call.
    pub fn step(&mut self, call: Call) -> Step {
        if let Some(first) = self.current.iter().position(|earlier| *earlier == call) {
            self.end_round(first);
        } else if self.current.len() >= CHAIN_MAX {
            self.begin_anew();
        }
        let position = self.current.len();
        self.current.push(call);
        if position == 0 {
            self.method = self.forced.or_else(|| self.chains.get_mut(&call).map(Chain::method));
        }
        let chain = self.chains.get(&self.current[0]);
        let is_expected = chain.is_some_and(|chain| chain.calls.get(position) == Some(&call));
        let is_last = chain.is_some_and(|chain| chain.calls.len() == position + 1);
        if let Some(forced) = self.forced {
            return Step { method: forced, position, is_last, is_expected };
        }
        if !is_expected {
            self.method = None;
        }
        Step { method: self.method.unwrap_or(Method::Plain), position, is_last, is_expected }
    }

    /// So much time went by in calls, or in waiting for what they began.
    pub fn spend(&mut self, microseconds: f64) {
        self.spent += microseconds;
    }

    /// The calls that are expected in this round from a position on.
    #[must_use]
    pub fn following(&self, position: usize) -> &[Call] {
        let chain = self.current.first().and_then(|head| self.chains.get(head));
        chain.and_then(|chain| chain.calls.get(position..)).unwrap_or_default()
    }

    /// Calls in between were not seen.
    pub fn begin_anew(&mut self) {
        self.current.clear();
        (self.method, self.spent) = (None, 0.0);
    }

    /// For how many calls there is nothing to gain, so that nothing need be looked at: until the next trial of a chain that is plain and has
    /// come alone for some time. The call after them is the next of that trial.
    pub fn idle_calls(&mut self) -> u64 {
        let (rounds, head) = self.quiet;
        let Some(chain) = head.filter(|_| rounds >= QUIET).and_then(|head| self.chains.get_mut(&head)) else {
            return 0;
        };
        let calls = chain.until_trial * chain.calls.len();
        chain.until_trial = 0;
        self.quiet = (0, None);
        self.begin_anew();
        calls as u64
    }

    /// All chains.
    pub fn chains(&self) -> impl Iterator<Item = &Chain> {
        self.chains.values()
    }

    /// The call at `first` of this round came again.
    fn end_round(&mut self, first: usize) {
        let calls = self.current.split_off(first);
        let (method, spent) = (self.method.take(), std::mem::take(&mut self.spent));
        self.current.clear();
        let chain = self.chains.entry(calls[0]).or_insert_with(|| Chain::new(Vec::new()));
        if chain.calls != calls {
            *chain = Chain::new(calls);
            self.quiet = (0, None);
            return;
        }
        // With calls before the first, or with others between, the time is not that of a round.
        if first == 0 {
            chain.record(method.unwrap_or(Method::Plain), spent);
        }
        let quiet = if chain.is_settled_plain() { self.quiet.0 + 1 } else { 0 };
        self.quiet = (quiet, chain.calls.first().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use postrider_abi::MPI_COMM_WORLD;

    fn call(site: usize) -> Call {
        Call { function: 0, site, sent: None, received: None, peers: [0; 4], communicator: MPI_COMM_WORLD }
    }

    /// Runs so many rounds of three calls; a round costs what the method says. Returns the methods.
    fn rounds(predictor: &mut Predictor, count: usize, cost: impl Fn(Method) -> f64) -> Vec<Method> {
        let mut methods = Vec::new();
        for _ in 0..count {
            let steps: Vec<Step> = (0..3).map(|site| predictor.step(call(site))).collect();
            assert!(steps.iter().all(|step| step.method == steps[0].method || step.method == Method::Plain));
            methods.push(steps[0].method);
            predictor.spend(cost(steps[0].method));
        }
        methods
    }

    #[test]
    fn the_fastest_method_stays() {
        let mut predictor = Predictor::default();
        let cost = |method| [10.0, 4.0, 6.0][method as usize];
        let methods = rounds(&mut predictor, 60, cost);
        assert!(methods[..=LEARNED].iter().all(|method| *method == Method::Plain));
        assert_eq!(methods[59], Method::AtTouch);
    }

    #[test]
    fn plain_stays_where_nothing_is_won_and_slow_methods_are_given_up() {
        let mut predictor = Predictor::default();
        let cost = |method| [10.0, 40.0, 9.9][method as usize];
        let methods = rounds(&mut predictor, 2000, cost);
        let tried = |wanted| methods.iter().filter(|method| **method == wanted).count();
        assert_eq!(tried(Method::AtTouch), 2 * (1 + TRIES_MIN));
        assert_eq!(methods[1999], Method::Plain);
        assert!(tried(Method::AtLastCall) < 80);
    }

    #[test]
    fn a_round_that_pays_for_the_one_before_is_not_held_against_its_method() {
        let mut predictor = Predictor::default();
        let mut before = Method::Plain;
        let mut slow = 0;
        for _ in 0..2000 {
            // After a slow round the neighbour sleeps, and has to be woken.
            let last = before;
            let methods = rounds(&mut predictor, 1, |method| match (method, last) {
                (Method::Plain, Method::Plain) => 5.0,
                (Method::Plain, _) => 60.0,
                _ => 50.0,
            });
            before = methods[0];
            slow += usize::from(before != Method::Plain);
        }
        assert!(slow < 40, "{slow} rounds were not plain");
    }

    #[test]
    fn a_choice_that_turns_out_to_be_wrong_is_looked_at_again() {
        let mut predictor = Predictor::default();
        let methods = rounds(&mut predictor, 60, |method| [10.0, 4.0, 6.0][method as usize]);
        assert_eq!(methods[59], Method::AtTouch);
        let methods = rounds(&mut predictor, 2 * CHECK + 60, |method| [10.0, 40.0, 60.0][method as usize]);
        assert_eq!(methods.last(), Some(&Method::Plain));
    }

    #[test]
    fn calls_that_cost_next_to_nothing_are_never_tried() {
        let mut predictor = Predictor::default();
        let methods = rounds(&mut predictor, 3000, |method| [8.0, 1.0, 1.0][method as usize]);
        assert!(methods.iter().all(|method| *method == Method::Plain));
    }

    #[test]
    fn nothing_is_looked_at_between_trials_of_chains_that_are_plain() {
        let mut predictor = Predictor::default();
        let cost = |method| [10.0, 40.0, 11.0][method as usize];
        let (mut looked, mut idle) = (0, 0);
        while looked + idle < 300_000 {
            looked += 3;
            rounds(&mut predictor, 1, cost);
            idle += predictor.idle_calls();
        }
        assert!(looked < 2000, "{looked} calls were looked at");
    }

    #[test]
    fn calls_that_never_come_again_are_plain() {
        let mut predictor = Predictor::default();
        for site in 0..5000 {
            let step = predictor.step(call(site));
            assert!(step.method == Method::Plain && !step.is_expected);
        }
        assert_eq!(predictor.chains().count(), 0);
    }

    #[test]
    fn a_round_that_goes_another_way_is_plain_from_there_on() {
        let mut predictor = Predictor::default();
        rounds(&mut predictor, 60, |method| [10.0, 4.0, 6.0][method as usize]);
        assert_eq!(predictor.step(call(0)).method, Method::AtTouch);
        assert_eq!(
            predictor.step(call(9)),
            Step { method: Method::Plain, position: 1, is_last: false, is_expected: false }
        );
        assert_eq!(predictor.step(call(2)).method, Method::Plain);
    }
}
