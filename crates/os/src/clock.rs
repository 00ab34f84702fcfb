//! Time, for `MPI_Wtime`.

/// What one tick of [`seconds`] is.
pub const RESOLUTION_SECONDS: f64 = 1e-9;

/// Seconds since the host was started: the same clock for all processes of the host, and it never goes back.
#[must_use]
pub fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the clock exists on every Linux, and the place is ours.
    unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * RESOLUTION_SECONDS
}
