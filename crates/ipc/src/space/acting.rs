//! A thread of a host's server acts for a process of another host: what the space asks about the caller is answered for that one meanwhile.

use std::cell::{Cell, RefCell};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use crate::semantics::permission::Caller;

thread_local! {
    /// The process's number; 0 if the thread acts for its own.
    static PID: Cell<u32> = const { Cell::new(0) };
    /// Its place.
    static PLACE: Cell<usize> = const { Cell::new(0) };
    static CALLER: RefCell<Caller> = const { RefCell::new(Caller { uid: 0, groups: Vec::new() }) };
    static CALL: RefCell<Option<Arc<Call>>> = const { RefCell::new(None) };
}

/// A call that may have to wait. Other threads can see whether it does, and can end that.
#[derive(Debug, Default)]
pub struct Call {
    cancelled: AtomicBool,
    /// The waiter's place of the thread that makes it, plus one; 0 before and afterwards, when that thread may make other calls.
    waiter: Mutex<u32>,
    settled: Mutex<bool>,
    change: Condvar,
}

impl Call {
    /// It waits, or has ended.
    pub fn settle(&self) {
        *self.settled.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.change.notify_all();
    }

    /// Returns once it waits or has ended.
    pub fn until_settled(&self) {
        let mut settled = self.settled.lock().unwrap_or_else(PoisonError::into_inner);
        while !*settled {
            settled = self.change.wait(settled).unwrap_or_else(PoisonError::into_inner);
        }
    }

    pub(super) fn mark_cancelled(&self) {
        self.cancelled.store(true, SeqCst);
    }

    pub(super) fn waiter(&self) -> MutexGuard<'_, u32> {
        self.waiter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The number of the process that this thread acts for, if it is another's.
#[inline]
pub fn pid() -> Option<u32> {
    Some(PID.get()).filter(|pid| *pid != 0)
}

/// Its place.
#[inline]
pub fn place() -> Option<usize> {
    pid().map(|_| PLACE.get())
}

/// Who it is.
pub fn caller() -> Option<Caller> {
    pid().map(|_| CALLER.with_borrow(Clone::clone))
}

/// The effective user.
#[inline]
pub fn user() -> Option<u32> {
    pid().map(|_| CALLER.with_borrow(|caller| caller.uid))
}

/// This thread is about to wait, and says so to whoever watches its call. Whether it must not.
pub fn waits() -> bool {
    CALL.with_borrow(|call| {
        call.as_ref().is_some_and(|call| {
            call.settle();
            call.cancelled.load(SeqCst)
        })
    })
}

/// Which process this thread acts for.
#[derive(Clone, Debug)]
pub struct Actor {
    /// Its place.
    pub place: usize,
    /// Its number, on its host.
    pub pid: u32,
    /// Who it is.
    pub caller: Caller,
}

/// Acts for a process during `work`.
pub fn act<T>(actor: &Actor, call: Option<&Arc<Call>>, work: impl FnOnce() -> T) -> T {
    PLACE.set(actor.place);
    CALLER.set(actor.caller.clone());
    CALL.set(call.cloned());
    PID.set(actor.pid);
    let result = work();
    if let Some(call) = call {
        *call.waiter() = 0;
    }
    PID.set(0);
    CALL.set(None);
    result
}
