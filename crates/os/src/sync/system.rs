//! Atomics of the machine, and the futex of the kernel.
#![expect(clippy::disallowed_types, reason = "the one place where the atomics of the core library enter")]

use std::time::Duration;

pub use std::sync::atomic::Ordering;

/// A sequentially consistent fence.
///
/// On x86-64 it is a locked instruction on the stack, which orders as much as `mfence` and costs half.
#[inline(always)]
#[cfg_attr(
    not(target_arch = "x86_64"),
    expect(clippy::disallowed_methods, reason = "the one place where fences enter")
)]
pub fn full_fence() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: adds zero to the word at the top of the stack, which is ours.
    unsafe {
        std::arch::asm!("lock or dword ptr [rsp], 0", options());
    }
    std::sync::atomic::compiler_fence(Ordering::SeqCst);
    #[cfg(not(target_arch = "x86_64"))]
    std::sync::atomic::fence(Ordering::SeqCst);
}

/// Whether every atomic operation that reads and writes is also a full fence.
pub const ATOMICS_ARE_FENCES: bool = cfg!(target_arch = "x86_64");

/// An atomic number of our own name, so that a lint can tell it from one that came in past this façade.
macro_rules! atomic {
    ($name:ident, $number:ty) => {
        #[doc = concat!("A `", stringify!($number), "` shared by threads or processes; see [`std::sync::atomic`].")]
        #[derive(Debug, Default)]
        #[repr(transparent)]
        pub struct $name(std::sync::atomic::$name);

        impl $name {
            /// Starts with `value`.
            #[must_use]
            pub const fn new(value: $number) -> Self {
                Self(std::sync::atomic::$name::new(value))
            }

            /// The value.
            #[inline]
            pub fn load(&self, order: Ordering) -> $number {
                self.0.load(order)
            }

            /// Sets the value.
            #[inline]
            pub fn store(&self, value: $number, order: Ordering) {
                self.0.store(value, order);
            }

            /// Sets the value and returns the one before.
            #[inline]
            pub fn swap(&self, value: $number, order: Ordering) -> $number {
                self.0.swap(value, order)
            }

            /// Adds to the value, wrapping around, and returns the one before.
            #[inline]
            pub fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                self.0.fetch_add(value, order)
            }

            /// Sets those bits, and returns the value before.
            #[inline]
            pub fn fetch_or(&self, bits: $number, order: Ordering) -> $number {
                self.0.fetch_or(bits, order)
            }

            /// Clears all but those bits, and returns the value before.
            #[inline]
            pub fn fetch_and(&self, bits: $number, order: Ordering) -> $number {
                self.0.fetch_and(bits, order)
            }

            /// Sets the value to `new` if it is `current`.
            ///
            /// # Errors
            /// The value, when it is another.
            #[inline]
            pub fn compare_exchange(
                &self,
                current: $number,
                new: $number,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                self.0.compare_exchange(current, new, success, failure)
            }
        }
    };
}

atomic!(AtomicU32, u32);
atomic!(AtomicU64, u64);

/// Sleeps as long as `word` holds `expected`, until somebody calls [`futex_wake_all`] or `limit` has passed, which is what true
/// means. May wake without reason. The word may be shared with other processes.
pub fn futex_wait(word: &AtomicU32, expected: u32, limit: Option<Duration>) -> bool {
    let time = limit.map(|limit| libc::timespec {
        tv_sec: limit.as_secs() as libc::time_t,
        tv_nsec: libc::c_long::from(limit.subsec_nanos() as i32),
    });
    let time = time.as_ref().map_or(std::ptr::null(), std::ptr::from_ref);
    // SAFETY: the word is alive for the call; a wrong value or an interruption only wakes us early.
    let result = unsafe { libc::syscall(libc::SYS_futex, word.0.as_ptr(), libc::FUTEX_WAIT, expected, time) };
    result < 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT)
}

/// Wakes everybody who sleeps on `word`.
pub fn futex_wake_all(word: &AtomicU32) {
    // SAFETY: the word is alive for the call.
    unsafe { libc::syscall(libc::SYS_futex, word.0.as_ptr(), libc::FUTEX_WAKE, i32::MAX) };
}
