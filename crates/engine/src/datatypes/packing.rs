//! Moving data: between a typed buffer and a packed stream, and between typed buffers (MPI 5.0, sections 4.1 and 5.2).
//!
//! The packed stream of a message is the data of its elements in the order of the type map, without gaps. All functions
//! here work on any part of it, so that transports can move a message in pieces of their own size. Dense data is one
//! copy. Everything else is a walk over the layout, where runs of the usual small sizes are moved by loops that the
//! compiler sees the size of, because a call of `memcpy` for every 8 bytes costs more than the bytes.

use super::Datatype;
use super::layout::Visitor;
use crate::error::{Error, Result};
use postrider_abi::MPI_ERR_TRUNCATE;
use postrider_os::memory::UserMemory;

/// Data passes through a buffer of this length where both sides have gaps; it fits the first-level cache.
const BOUNCE_BYTES: usize = 16 * 1024;

/// Short messages pass through a buffer of this length, since clearing the long one takes longer than they do.
const SHORT_BOUNCE_BYTES: usize = 512;

/// From this average run length on, data goes from one side straight to the other, run by run.
const DIRECT_RUN_BYTES: u64 = 512;

/// The bytes of the packed stream of `count` elements.
#[inline]
#[must_use]
pub fn pack_size(datatype: &Datatype, count: i64) -> u64 {
    (datatype.size() as u64).saturating_mul(count.max(0) as u64)
}

/// Copies the part of the packed stream that begins at `packed_offset` and is as long as `out` from the buffer of
/// `count` elements at `base`.
///
/// # Panics
/// If the part is not within the stream of `count` elements.
pub fn pack_range(datatype: &Datatype, count: i64, base: UserMemory, packed_offset: u64, out: &mut [u8]) {
    let to = datatype.end_of(count, packed_offset, out.len());
    match datatype.dense_part(count, base, packed_offset) {
        Some(from) => from.read(out),
        None => datatype.visit(packed_offset, to, &mut Pack { base, out }),
    }
}

/// Copies `data` to the buffer of `count` elements at `base`, as the part of the packed stream that begins at
/// `packed_offset`.
///
/// # Panics
/// If the part is not within the stream of `count` elements.
pub fn unpack_range(datatype: &Datatype, count: i64, base: UserMemory, packed_offset: u64, data: &[u8]) {
    let to = datatype.end_of(count, packed_offset, data.len());
    match datatype.dense_part(count, base, packed_offset) {
        Some(to) => to.write(data),
        None => datatype.visit(packed_offset, to, &mut Unpack { base, data }),
    }
}

/// Like [`pack_range`], to `bytes` bytes of memory.
///
/// # Panics
/// If the part is not within the stream of `count` elements.
pub fn pack_to(
    datatype: &Datatype,
    count: i64,
    base: UserMemory,
    packed_offset: u64,
    to: UserMemory,
    bytes: usize,
) {
    if let Some(from) = datatype.dense_part(count, base, packed_offset) {
        datatype.end_of(count, packed_offset, bytes);
        return from.copy_to(to, bytes);
    }
    if datatype.has_long_runs() {
        let mut to = to;
        return segments(datatype, count, packed_offset, bytes, &mut |offset, length| {
            base.offset(offset).copy_to(to, length);
            to = to.offset(length as i64);
        });
    }
    in_pieces(bytes, |done, piece| {
        pack_range(datatype, count, base, packed_offset + done as u64, piece);
        to.offset(done as i64).write(piece);
    });
}

/// Like [`unpack_range`], from `bytes` bytes of memory.
///
/// # Panics
/// If the part is not within the stream of `count` elements.
pub fn unpack_from(
    datatype: &Datatype,
    count: i64,
    base: UserMemory,
    packed_offset: u64,
    from: UserMemory,
    bytes: usize,
) {
    if let Some(to) = datatype.dense_part(count, base, packed_offset) {
        datatype.end_of(count, packed_offset, bytes);
        return from.copy_to(to, bytes);
    }
    if datatype.has_long_runs() {
        let mut from = from;
        return segments(datatype, count, packed_offset, bytes, &mut |offset, length| {
            from.copy_to(base.offset(offset), length);
            from = from.offset(length as i64);
        });
    }
    in_pieces(bytes, |done, piece| {
        from.offset(done as i64).read(piece);
        unpack_range(datatype, count, base, packed_offset + done as u64, piece);
    });
}

/// Calls `found(offset, bytes)` for each dense run of memory that holds a piece of the given part of the packed
/// stream, in the order of the stream. Neighbouring runs are reported as one.
///
/// # Panics
/// If the part is not within the stream of `count` elements.
pub fn segments(
    datatype: &Datatype,
    count: i64,
    packed_offset: u64,
    packed_bytes: usize,
    found: &mut dyn FnMut(i64, usize),
) {
    let to = datatype.end_of(count, packed_offset, packed_bytes);
    let mut visitor = Segments { found, pending: None };
    datatype.visit(packed_offset, to, &mut visitor);
    if let Some((offset, bytes)) = visitor.pending {
        (visitor.found)(offset, bytes);
    }
}

/// Copies the data of one typed buffer to another, as a message to oneself does. The buffers may overlap only where
/// both types are dense. Returns the bytes copied.
///
/// # Errors
/// `MPI_ERR_TRUNCATE` if the source is longer than the destination has room for; as much as fits has been copied.
pub fn copy(
    (source, source_count, from): (&Datatype, i64, UserMemory),
    (destination, destination_count, to): (&Datatype, i64, UserMemory),
) -> Result<u64> {
    let (available, room) = (pack_size(source, source_count), pack_size(destination, destination_count));
    let bytes = available.min(room) as usize;
    let dense = |datatype: &Datatype, count, base| datatype.dense_part(count, base, 0);
    match (dense(source, source_count, from), dense(destination, destination_count, to)) {
        (Some(from), _) => unpack_from(destination, destination_count, to, 0, from, bytes),
        (None, Some(to)) => pack_to(source, source_count, from, 0, to, bytes),
        (None, None) => in_pieces(bytes, |done, piece| {
            pack_range(source, source_count, from, done as u64, piece);
            unpack_range(destination, destination_count, to, done as u64, piece);
        }),
    }
    if available > room {
        let detail = format!("a message of {available} bytes for a buffer of {room}; make the buffer larger");
        return Err(Error::new(MPI_ERR_TRUNCATE, detail));
    }
    Ok(bytes as u64)
}

impl Datatype {
    /// Where a part of the packed stream begins, if all of it is one dense run.
    fn dense_part(&self, count: i64, base: UserMemory, packed_offset: u64) -> Option<UserMemory> {
        let dense = self.is_dense_for(count);
        dense.then(|| base.offset(self.true_lb().wrapping_add(packed_offset as i64)))
    }

    fn has_long_runs(&self) -> bool {
        let layout = &self.placed().layout;
        layout.bytes() / layout.runs().max(1) >= DIRECT_RUN_BYTES
    }

    fn end_of(&self, count: i64, packed_offset: u64, bytes: usize) -> u64 {
        let (to, size) = (packed_offset + bytes as u64, pack_size(self, count));
        assert!(to <= size, "bytes {packed_offset} to {to} of a packed stream of {size} bytes");
        to
    }

    fn visit<V: Visitor>(&self, from: u64, to: u64, visitor: &mut V) {
        let placed = self.placed();
        placed.layout.walk_repeated(placed.offset, self.extent(), from, to, visitor);
    }
}

/// Calls `step(bytes done before, piece)` for pieces of a small buffer until `bytes` are done.
fn in_pieces(bytes: usize, step: impl FnMut(usize, &mut [u8])) {
    if bytes <= SHORT_BOUNCE_BYTES {
        in_pieces_of::<SHORT_BOUNCE_BYTES>(bytes, step);
    } else {
        in_pieces_of::<BOUNCE_BYTES>(bytes, step);
    }
}

fn in_pieces_of<const N: usize>(bytes: usize, mut step: impl FnMut(usize, &mut [u8])) {
    let mut bounce = [0; N];
    for done in (0..bytes).step_by(N) {
        step(done, &mut bounce[..(bytes - done).min(N)]);
    }
}

struct Pack<'a> {
    base: UserMemory,
    out: &'a mut [u8],
}

impl<'a> Pack<'a> {
    fn take(&mut self, bytes: usize) -> &'a mut [u8] {
        let (head, tail) = std::mem::take(&mut self.out).split_at_mut(bytes);
        self.out = tail;
        head
    }

    #[inline]
    fn small<const N: usize>(&mut self, offset: i64, count: u64, stride: i64) {
        let mut from = self.base.offset(offset);
        for piece in self.take(N * count as usize).chunks_exact_mut(N) {
            piece.copy_from_slice(&from.load::<[u8; N]>());
            from = from.offset(stride);
        }
    }
}

impl Visitor for Pack<'_> {
    #[inline]
    fn run(&mut self, offset: i64, bytes: usize) {
        match bytes {
            4 => self.small::<4>(offset, 1, 0),
            8 => self.small::<8>(offset, 1, 0),
            _ => self.base.offset(offset).read(self.take(bytes)),
        }
    }

    fn runs(&mut self, offset: i64, bytes: usize, count: u64, stride: i64) {
        match bytes {
            1 => self.small::<1>(offset, count, stride),
            2 => self.small::<2>(offset, count, stride),
            4 => self.small::<4>(offset, count, stride),
            8 => self.small::<8>(offset, count, stride),
            12 => self.small::<12>(offset, count, stride),
            16 => self.small::<16>(offset, count, stride),
            24 => self.small::<24>(offset, count, stride),
            32 => self.small::<32>(offset, count, stride),
            64 => self.small::<64>(offset, count, stride),
            _ => {
                let mut from = self.base.offset(offset);
                for piece in self.take(bytes * count as usize).chunks_exact_mut(bytes) {
                    from.read(piece);
                    from = from.offset(stride);
                }
            }
        }
    }
}

struct Unpack<'a> {
    base: UserMemory,
    data: &'a [u8],
}

impl<'a> Unpack<'a> {
    fn take(&mut self, bytes: usize) -> &'a [u8] {
        let (head, tail) = self.data.split_at(bytes);
        self.data = tail;
        head
    }

    #[inline]
    fn small<const N: usize>(&mut self, offset: i64, count: u64, stride: i64) {
        let mut to = self.base.offset(offset);
        for piece in self.take(N * count as usize).chunks_exact(N) {
            to.store::<[u8; N]>(piece.try_into().expect("a chunk has N bytes"));
            to = to.offset(stride);
        }
    }
}

impl Visitor for Unpack<'_> {
    #[inline]
    fn run(&mut self, offset: i64, bytes: usize) {
        match bytes {
            4 => self.small::<4>(offset, 1, 0),
            8 => self.small::<8>(offset, 1, 0),
            _ => self.base.offset(offset).write(self.take(bytes)),
        }
    }

    fn runs(&mut self, offset: i64, bytes: usize, count: u64, stride: i64) {
        match bytes {
            1 => self.small::<1>(offset, count, stride),
            2 => self.small::<2>(offset, count, stride),
            4 => self.small::<4>(offset, count, stride),
            8 => self.small::<8>(offset, count, stride),
            12 => self.small::<12>(offset, count, stride),
            16 => self.small::<16>(offset, count, stride),
            24 => self.small::<24>(offset, count, stride),
            32 => self.small::<32>(offset, count, stride),
            64 => self.small::<64>(offset, count, stride),
            _ => {
                let mut to = self.base.offset(offset);
                for piece in self.take(bytes * count as usize).chunks_exact(bytes) {
                    to.write(piece);
                    to = to.offset(stride);
                }
            }
        }
    }
}

struct Segments<'a> {
    found: &'a mut dyn FnMut(i64, usize),
    pending: Option<(i64, usize)>,
}

impl Visitor for Segments<'_> {
    fn run(&mut self, offset: i64, bytes: usize) {
        match &mut self.pending {
            Some((start, length)) if start.wrapping_add(*length as i64) == offset => *length += bytes,
            pending => {
                if let Some((start, length)) = pending.replace((offset, bytes)) {
                    (self.found)(start, length);
                }
            }
        }
    }
}
