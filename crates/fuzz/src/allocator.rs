//! An allocator that remembers the largest piece of memory that a thread has asked for.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static LARGEST: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, watched. A test program that says so (`#[global_allocator]`) finds parsers that believe a length.
#[derive(Debug)]
pub struct Watched;

/// Forgets what this thread has asked for.
pub fn begin() {
    LARGEST.set(0);
}

/// The largest piece since then.
pub fn end() -> usize {
    LARGEST.get()
}

fn note(bytes: usize) {
    // A thread that ends has no such variable any more, and is no test.
    let _gone = LARGEST.try_with(|largest| largest.set(largest.get().max(bytes)));
}

// SAFETY: all that is asked for is asked of the system's allocator; the note allocates nothing.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: by the caller's promise.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: by the caller's promise.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        note(bytes);
        // SAFETY: by the caller's promise.
        unsafe { System.realloc(place, layout, bytes) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: by the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }
}
