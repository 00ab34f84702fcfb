//! Memory that belongs to the user's program.
//!
//! MPI reads and writes buffers that it does not own and whose extent only the datatype of the call knows
//! (MPI 5.0, section 3.2.2). [`UserMemory`] is such a place: an address and nothing else. Making one is unsafe,
//! and is done where a C pointer enters the library; whoever makes it passes on the caller's promise that every
//! byte which the call's count and datatype name is there until the operation has completed. All copying into
//! and out of user memory happens here, by address, never through a slice that would claim exclusive access.

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
        if bytes == 0 || self == to {
            return;
        }
        // SAFETY: both promises cover the bytes that the datatypes name.
        unsafe { std::ptr::copy(self.0 as *const u8, to.0 as *mut u8, bytes) }
    }

    /// The memory of a buffer of our own, for as long as `buffer` lives and is not resized.
    #[must_use]
    pub fn of(buffer: &mut OwnedMemory) -> Self {
        Self(buffer.0.as_mut_ptr() as usize)
    }
}

/// Scratch memory of our own that is touched the way user memory is: by address. Aligned to 64 bytes, zeroed.
#[derive(Debug)]
pub struct OwnedMemory(Box<[Line]>, usize);

#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
#[expect(dead_code, reason = "only its size and alignment matter")]
struct Line([u8; 64]);

impl OwnedMemory {
    /// `bytes` zeroed bytes.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self(vec![Line([0; 64]); bytes.div_ceil(64)].into_boxed_slice(), bytes)
    }

    /// How many bytes were asked for.
    #[must_use]
    pub fn len(&self) -> usize {
        self.1
    }

    /// Whether no byte was asked for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.1 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
