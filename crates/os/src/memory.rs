//! Memory that belongs to the user's program.
//!
//! MPI reads and writes buffers that it does not own and whose extent only the datatype of the call knows
//! (MPI 5.0, section 3.2.2). [`UserMemory`] is such a place: an address and nothing else. Making one is unsafe,
//! and is done where a C pointer enters the library; whoever makes it passes on the caller's promise that every
//! byte which the call's count and datatype name is there until the operation has completed. All copying into
//! and out of user memory happens here, by address, never through a slice that would claim exclusive access.

use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::ptr::NonNull;

/// An address in the user's program, with the right to touch what the datatype of the call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct UserMemory(usize);

impl UserMemory {
    /// Takes over a C pointer.
    ///
    /// # Safety
    /// Every byte that the count and datatype used with this address name must be readable (a send buffer) or
    /// writable (a receive buffer), and unchanged by others, until the operation is complete.
    #[must_use]
    pub const unsafe fn new(address: usize) -> Self {
        Self(address)
    }

    /// The address as a number: for an MPI error text, a rendezvous packet or a comparison.
    #[must_use]
    pub const fn address(self) -> usize {
        self.0
    }

    /// The place `bytes` further on (or back).
    #[must_use]
    pub const fn offset(self, bytes: i64) -> Self {
        Self(self.0.wrapping_add(bytes as usize))
    }

    /// Copies `into.len()` bytes from here.
    #[inline]
    pub fn read(self, into: &mut [u8]) {
        if into.is_empty() {
            return;
        }
        // SAFETY: `new`'s promise covers the bytes that the datatype names; `into` is ours alone.
        unsafe { std::ptr::copy_nonoverlapping(self.0 as *const u8, into.as_mut_ptr(), into.len()) }
    }

    /// Whether these bytes are here.
    #[must_use]
    pub fn holds(self, bytes: &[u8]) -> bool {
        let (words, rest) = bytes.as_chunks();
        let after = self.offset((bytes.len() - rest.len()) as i64);
        words
            .iter()
            .zip(0..)
            .all(|(word, index)| self.offset(8 * index).load::<u64>() == u64::from_ne_bytes(*word))
            && rest.iter().zip(0..).all(|(byte, index)| after.offset(index).load::<u8>() == *byte)
    }

    /// Copies all of `from` to here.
    #[inline]
    pub fn write(self, from: &[u8]) {
        if from.is_empty() {
            return;
        }
        // SAFETY: `new`'s promise covers the bytes that the datatype names; `from` cannot overlap them mutably.
        unsafe { std::ptr::copy(from.as_ptr(), self.0 as *mut u8, from.len()) }
    }

    /// Copies `bytes` bytes from here to `to`; the two may overlap.
    #[inline]
    pub fn copy_to(self, to: Self, bytes: usize) {
        match bytes {
            0 => {}
            // Short messages: two loads and two stores that overlap cost less than finding the right `memmove`.
            1..4 => {
                let middle = bytes / 2;
                let (first, second, last) =
                    (self.at::<u8>(0), self.at::<u8>(middle), self.at::<u8>(bytes - 1));
                to.offset(0).store(first);
                to.offset(middle as i64).store(second);
                to.offset(bytes as i64 - 1).store(last);
            }
            4..8 => self.copy_ends::<u32>(to, bytes),
            8..16 => self.copy_ends::<u64>(to, bytes),
            16..=32 => self.copy_ends::<u128>(to, bytes),
            // SAFETY: both promises cover the bytes that the datatypes name.
            _ => unsafe { std::ptr::copy(self.0 as *const u8, to.0 as *mut u8, bytes) },
        }
    }

    /// Whether [`UserMemory::stream_to`] is anything else than [`UserMemory::copy_to`] here.
    pub const STREAMS: bool = cfg!(target_arch = "x86_64");

    /// Copies `bytes` bytes from here to `to`, past the caches; the two do not overlap. Whoever is told of the bytes by an atomic store
    /// sees all of them.
    pub fn stream_to(self, to: Self, bytes: usize) {
        #[cfg(not(target_arch = "x86_64"))]
        self.copy_to(to, bytes);
        #[cfg(target_arch = "x86_64")]
        {
            let head = (to.0.wrapping_neg() % LINE).min(bytes);
            let lines = (bytes - head) / LINE;
            let tail = head + lines * LINE;
            self.copy_to(to, head);
            // SAFETY: both promises cover the bytes that the datatypes name, of which these are whole lines of `to`.
            unsafe { stream_lines(self.0 + head, to.0 + head, lines) };
            self.offset(tail as i64).copy_to(to.offset(tail as i64), bytes - tail);
        }
    }

    #[inline]
    fn at<T: Plain>(self, offset: usize) -> T {
        self.offset(offset as i64).load()
    }

    /// Copies the first and the last `T` of `bytes` bytes, which together are all of them.
    #[inline]
    fn copy_ends<T: Plain>(self, to: Self, bytes: usize) {
        let last = bytes - size_of::<T>();
        let ends = (self.at::<T>(0), self.at::<T>(last));
        to.store(ends.0);
        to.offset(last as i64).store(ends.1);
    }

    /// Reads one value from here, aligned or not.
    #[inline]
    #[must_use]
    pub fn load<T: Plain>(self) -> T {
        // SAFETY: `new`'s promise covers the bytes that the datatype names; every pattern of bytes is a `T`.
        unsafe { std::ptr::read_unaligned(self.0 as *const T) }
    }

    /// Writes one value to here, aligned or not.
    #[inline]
    pub fn store<T: Plain>(self, value: T) {
        // SAFETY: `new`'s promise covers the bytes that the datatype names.
        unsafe { std::ptr::write_unaligned(self.0 as *mut T, value) }
    }

    /// For each of `count` values in turn: `both = combine(input, both)`. The arrays are dense, aligned or not, and are
    /// the same or do not overlap. Simple functions become vector instructions, of the widest kind that the machine has of two.
    #[inline]
    pub fn zip_apply<T: Plain>(input: Self, both: Self, count: usize, combine: impl Fn(T, T) -> T) {
        #[cfg(target_arch = "x86_64")]
        if count >= WIDE_MIN && std::arch::is_x86_feature_detected!("avx2") {
            // SAFETY: the machine has these instructions.
            return unsafe { zip_wide(input, both, count, combine) };
        }
        zip(input, both, count, combine);
    }

    /// The memory of a buffer of our own, for as long as `buffer` lives and is not resized.
    #[must_use]
    pub fn of(buffer: &mut OwnedMemory) -> Self {
        Self(buffer.start.as_ptr() as usize)
    }
}

/// Bytes of a cache line.
#[cfg(target_arch = "x86_64")]
const LINE: usize = 64;

/// Copies whole cache lines without fetching those that are written.
///
/// # Safety
/// `from` is readable and `to`, at the beginning of a line, writable for so many lines.
#[cfg(target_arch = "x86_64")]
unsafe fn stream_lines(from: usize, to: usize, lines: usize) {
    use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_sfence, _mm_stream_si128};
    let (from, to) = (from as *const __m128i, to as *mut __m128i);
    // SAFETY: the caller's promise; every x86-64 has these instructions.
    unsafe {
        for index in 0..lines * (LINE / size_of::<__m128i>()) {
            _mm_stream_si128(to.add(index), _mm_loadu_si128(from.add(index)));
        }
        // These stores are not ordered with any others until here.
        _mm_sfence();
    }
}

/// From how many values on the wider instructions are worth a look at whether there are any.
#[cfg(target_arch = "x86_64")]
const WIDE_MIN: usize = 16;

#[inline(always)]
fn zip<T: Plain>(input: UserMemory, both: UserMemory, count: usize, combine: impl Fn(T, T) -> T) {
    let (input, both) = (input.0 as *const T, both.0 as *mut T);
    for index in 0..count {
        // SAFETY: both promises cover the `count` values that the datatype names; every pattern of bytes is a `T`.
        unsafe {
            let value = combine(input.add(index).read_unaligned(), both.add(index).read_unaligned());
            both.add(index).write_unaligned(value);
        }
    }
}

/// The same loop, compiled for machines with 32-byte vectors.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn zip_wide<T: Plain>(input: UserMemory, both: UserMemory, count: usize, combine: impl Fn(T, T) -> T) {
    zip(input, both, count, combine);
}

/// Values that any pattern of bytes is one of, and all of whose bytes are data.
///
/// # Safety
/// The type has no padding and no invalid values.
pub unsafe trait Plain: Copy {}

macro_rules! plain {
    ($($name:ty)*) => {
        $(
            // SAFETY: a number of the machine has no padding and no invalid values.
            unsafe impl Plain for $name {}
        )*
    };
}

plain!(i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64);

// SAFETY: an array has no padding between its elements, and theirs are plain.
unsafe impl<T: Plain, const N: usize> Plain for [T; N] {}

/// Scratch memory of our own that is touched the way user memory is: by address. Aligned to 64 bytes, zeroed.
#[derive(Debug)]
pub struct OwnedMemory {
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory is owned, like that of a box of bytes.
unsafe impl Send for OwnedMemory {}
// SAFETY: shared references only read.
unsafe impl Sync for OwnedMemory {}

impl OwnedMemory {
    /// `bytes` zeroed bytes. Long ones come zeroed from the system and cost nothing until they are touched.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        let layout = Self::layout(bytes);
        // SAFETY: the layout's size is not zero.
        let start = unsafe { alloc_zeroed(layout) };
        let Some(start) = NonNull::new(start) else { handle_alloc_error(layout) };
        Self { start, bytes }
    }

    /// The same, when there may be no such memory and that is no reason to end.
    #[must_use]
    pub fn try_new(bytes: usize) -> Option<Self> {
        let layout = Layout::from_size_align(bytes.max(1), 64).ok()?;
        // SAFETY: the layout's size is not zero.
        let start = NonNull::new(unsafe { alloc_zeroed(layout) })?;
        Some(Self { start, bytes })
    }

    fn layout(bytes: usize) -> Layout {
        match Layout::from_size_align(bytes.max(1), 64) {
            Ok(layout) => layout,
            Err(_) => panic!("no memory can have {bytes} bytes"),
        }
    }

    /// The bytes.
    #[must_use]
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: initialized from the beginning, and ours.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.bytes) }
    }

    /// The bytes, to change them.
    #[must_use]
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: initialized from the beginning, and ours alone.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.bytes) }
    }

    /// How many bytes were asked for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether no byte was asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes == 0
    }
}

impl Drop for OwnedMemory {
    fn drop(&mut self) {
        // SAFETY: allocated with this layout.
        unsafe { dealloc(self.start.as_ptr(), Self::layout(self.bytes)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_every_length_are_whole_and_no_longer() {
        for bytes in 0..100 {
            let (mut from, mut to) = (OwnedMemory::new(bytes + 1), OwnedMemory::new(bytes + 1));
            from.as_mut_slice().iter_mut().zip(1..).for_each(|(byte, value)| *byte = value);
            UserMemory::of(&mut from).copy_to(UserMemory::of(&mut to), bytes);
            assert_eq!(to.as_slice()[..bytes], from.as_slice()[..bytes]);
            assert_eq!(to.as_slice()[bytes], 0);
        }
    }

    #[test]
    fn bytes_come_back_as_written() {
        let mut owned = OwnedMemory::new(100);
        let place = UserMemory::of(&mut owned);
        place.offset(10).write(b"postrider");
        place.offset(10).copy_to(place.offset(12), 9);
        let mut back = [0; 11];
        place.offset(10).read(&mut back);
        assert_eq!(&back, b"popostrider");
        assert_eq!(owned.len(), 100);
    }

    #[test]
    fn values_are_combined_in_place_aligned_or_not() {
        let mut owned = OwnedMemory::new(100);
        let (input, both) = (UserMemory::of(&mut owned).offset(1), UserMemory::of(&mut owned).offset(50));
        for index in 0..3 {
            input.offset(4 * index).store(10 * index as i32);
            both.offset(4 * index).store(index as i32);
        }
        UserMemory::zip_apply(input, both, 3, |a: i32, b: i32| a - b);
        assert_eq!(both.load::<[i32; 3]>(), [0, 9, 18]);
    }
}
