//! Collective accesses of a file beside the program: a helper does them one after another, in the order in which they were started, which is the
//! same at all processes. Whoever calls something collective on the file waits until there are none left, so that one
//! communicator serves both.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::helpers::{self, Work};

/// Those that have been started and not done.
#[derive(Default)]
pub struct Line {
    state: Mutex<State>,
    done: Condvar,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Work>,
    is_served: bool,
}

impl std::fmt::Debug for Line {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Line").field("waiting", &self.state().waiting.len()).finish_non_exhaustive()
    }
}

impl Line {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds one.
    pub fn add(self: &Arc<Self>, work: Work) {
        let mut state = self.state();
        state.waiting.push_back(work);
        if !state.is_served {
            state.is_served = true;
            drop(state);
            let line = Arc::clone(self);
            helpers::run_together(Box::new(move || line.serve()));
        }
    }

    fn serve(&self) {
        loop {
            let mut state = self.state();
            let Some(work) = state.waiting.pop_front() else {
                state.is_served = false;
                self.done.notify_all();
                return;
            };
            drop(state);
            work();
        }
    }

    /// Waits until all are done.
    pub fn wait(&self) {
        let mut state = self.state();
        while state.is_served {
            state = self.done.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}
