//! Atomics and fences, from the core library or from loom: the lock-free rooms of this crate take theirs from here,
//! so that `cargo test --cfg loom` explores every interleaving of the very same code.

use std::sync::atomic::Ordering;

/// A sequentially consistent fence.
///
/// On x86-64 it is a locked instruction on the stack, which orders as much as `mfence` and costs half.
#[inline(always)]
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
