//! A lock between processes that outlives its holder.
//!
//! The system frees it when the thread that holds it ends, however it ends, and tells the next one, who repairs what it guards. So a lock that a thread
//! holds as long as it lives also says whether it does.
#![allow(unsafe_code)]

use std::cell::UnsafeCell;
use std::sync::atomic::AtomicU32;
use std::sync::atomic::Ordering::Acquire;

/// What the system adds to the word of a lock when the holder has died.
const OWNER_DIED: u32 = 0x4000_0000;

/// See the module's head.
#[repr(C)]
pub struct Lock(UnsafeCell<libc::pthread_mutex_t>);

// SAFETY: a lock is for many threads.
unsafe impl Sync for Lock {}

/// What somebody who takes a lock finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// All is well.
    Well,
    /// The last holder has died.
    Orphaned,
}

impl Lock {
    /// Makes it, where there were zeros. Nobody else uses it yet.
    pub fn make(&self) {
        // SAFETY: attributes on the stack, and a lock that nobody uses yet.
        unsafe {
            let mut how: libc::pthread_mutexattr_t = std::mem::zeroed();
            libc::pthread_mutexattr_init(&raw mut how);
            libc::pthread_mutexattr_setpshared(&raw mut how, libc::PTHREAD_PROCESS_SHARED);
            libc::pthread_mutexattr_setrobust(&raw mut how, libc::PTHREAD_MUTEX_ROBUST);
            libc::pthread_mutex_init(self.0.get(), &raw const how);
            libc::pthread_mutexattr_destroy(&raw mut how);
        }
    }

    /// Takes it.
    #[inline]
    pub fn take(&self) -> Found {
        // SAFETY: a lock that was made.
        self.found(unsafe { libc::pthread_mutex_lock(self.0.get()) }).expect("a lock that can be taken")
    }

    /// Takes it if nobody has it.
    pub fn try_take(&self) -> Option<Found> {
        // SAFETY: as above.
        self.found(unsafe { libc::pthread_mutex_trylock(self.0.get()) })
    }

    fn found(&self, result: i32) -> Option<Found> {
        match result {
            0 => Some(Found::Well),
            libc::EOWNERDEAD => {
                // SAFETY: a lock that this thread has.
                unsafe { libc::pthread_mutex_consistent(self.0.get()) };
                Some(Found::Orphaned)
            }
            _ => None,
        }
    }

    /// Gives it back.
    #[inline]
    pub fn give(&self) {
        // SAFETY: a lock that this thread has.
        unsafe { libc::pthread_mutex_unlock(self.0.get()) };
    }

    /// Whether somebody who lives holds it.
    pub fn is_held(&self) -> bool {
        let word = self.word().load(Acquire);
        word & OWNER_DIED == 0 && word & (OWNER_DIED - 1) != 0
    }

    fn word(&self) -> &AtomicU32 {
        // SAFETY: the lock's first word, which the system changes like an atomic number.
        unsafe { AtomicU32::from_ptr(self.0.get().cast()) }
    }

    /// Whether its holder has died and nobody has taken it since.
    #[inline]
    pub fn is_orphaned(&self) -> bool {
        self.word().load(Acquire) & OWNER_DIED != 0
    }
}
