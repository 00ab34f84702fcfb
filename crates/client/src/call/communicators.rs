//! Communicators: messages and collective calls on bytes and on 64-bit numbers.

use std::ops::Deref;

use postrider_abi::*;

use super::{Library, check};
use crate::Result;

/// A communicator.
#[derive(Clone, Copy, Debug)]
pub struct Communicator {
    pub(crate) library: &'static Library,
    pub(crate) handle: MPI_Comm,
}

/// What becomes of an error (section 9.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handling {
    /// It ends processes.
    Ends,
    /// It is returned.
    Returns,
    /// A function of the program is called.
    Calls,
}

/// A communicator that is freed with this value, which is a collective call.
#[derive(Debug)]
pub struct OwnedCommunicator(Communicator);

impl Deref for OwnedCommunicator {
    type Target = Communicator;

    fn deref(&self) -> &Communicator {
        &self.0
    }
}

impl Drop for OwnedCommunicator {
    fn drop(&mut self) {
        let mut handle = self.0.handle;
        // SAFETY: a handle that was made for this value, and a place for the null handle.
        let _ = unsafe { (self.0.library.comm_free)(&raw mut handle) };
    }
}

impl Communicator {
    /// This process's rank (section 7.4.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn rank(self) -> Result<i32> {
        let mut rank = 0;
        // SAFETY: a place for the result.
        check("MPI_Comm_rank", unsafe { (self.library.comm_rank)(self.handle, &raw mut rank) })?;
        Ok(rank)
    }

    /// Number of processes (section 7.4.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn size(self) -> Result<i32> {
        let mut size = 0;
        // SAFETY: a place for the result.
        check("MPI_Comm_size", unsafe { (self.library.comm_size)(self.handle, &raw mut size) })?;
        Ok(size)
    }

    /// Whether it has two groups (section 7.6.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn is_inter(self) -> Result<bool> {
        let mut flag = 0;
        // SAFETY: a place for the result.
        check("MPI_Comm_test_inter", unsafe { (self.library.comm_test_inter)(self.handle, &raw mut flag) })?;
        Ok(flag != 0)
    }

    /// What becomes of errors (section 9.3.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn error_handling(self) -> Result<Handling> {
        let mut handler = MPI_ERRHANDLER_NULL;
        let ask = self.library.comm_get_errhandler;
        // SAFETY: a place for the result.
        check("MPI_Comm_get_errhandler", unsafe { ask(self.handle, &raw mut handler) })?;
        match handler {
            MPI_ERRORS_ARE_FATAL | MPI_ERRORS_ABORT => Ok(Handling::Ends),
            MPI_ERRORS_RETURN => Ok(Handling::Returns),
            _ => {
                // SAFETY: a reference that we were given.
                check("MPI_Errhandler_free", unsafe { (self.library.errhandler_free)(&raw mut handler) })?;
                Ok(Handling::Calls)
            }
        }
    }

    /// Its handle.
    #[must_use]
    pub fn handle(self) -> MPI_Comm {
        self.handle
    }

    /// A communicator of the same processes without attributes, on which errors are returned (section 7.4.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn private(self) -> Result<OwnedCommunicator> {
        let (mut made, rank) = (MPI_COMM_NULL, self.rank()?);
        // SAFETY: a place for the result.
        check("MPI_Comm_split", unsafe { (self.library.comm_split)(self.handle, 0, rank, &raw mut made) })?;
        self.own(made)
    }

    /// The processes that share memory with this one, on which errors are returned (section 7.4.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn of_this_host(self) -> Result<OwnedCommunicator> {
        let (mut made, rank) = (MPI_COMM_NULL, self.rank()?);
        let split = self.library.comm_split_type;
        // SAFETY: a place for the result.
        let code = unsafe { split(self.handle, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &raw mut made) };
        check("MPI_Comm_split_type", code)?;
        self.own(made)
    }

    fn own(self, handle: MPI_Comm) -> Result<OwnedCommunicator> {
        let owned = OwnedCommunicator(Self { library: self.library, handle });
        // SAFETY: handles only.
        let code = unsafe { (self.library.comm_set_errhandler)(handle, MPI_ERRORS_RETURN) };
        check("MPI_Comm_set_errhandler", code)?;
        Ok(owned)
    }

    /// A new handle of its group (section 7.3.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn group(self) -> Result<MPI_Group> {
        let mut group = MPI_GROUP_NULL;
        // SAFETY: a place for the result.
        check("MPI_Comm_group", unsafe { (self.library.comm_group)(self.handle, &raw mut group) })?;
        Ok(group)
    }

    /// Sends bytes (section 3.2.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn send(self, bytes: &[u8], destination: i32, tag: i32) -> Result<()> {
        let (start, count) = (bytes.as_ptr().cast(), bytes.len() as MPI_Count);
        // SAFETY: `count` readable bytes, for as long as the blocking call lasts.
        let code = unsafe { (self.library.send)(start, count, MPI_BYTE, destination, tag, self.handle) };
        check("MPI_Send_c", code)
    }

    /// Receives bytes, and returns how many there were (section 3.2.4).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn receive(self, bytes: &mut [u8], source: i32, tag: i32) -> Result<usize> {
        let (start, room) = (bytes.as_mut_ptr().cast(), bytes.len() as MPI_Count);
        let (mut status, mut count) = (MPI_Status::default(), 0);
        let (receive, get_count) = (self.library.receive, self.library.get_count);
        // SAFETY: `room` writable bytes, for as long as the blocking call lasts, and places for the results.
        unsafe {
            let code = receive(start, room, MPI_BYTE, source, tag, self.handle, &raw mut status);
            check("MPI_Recv_c", code)?;
            check("MPI_Get_count_c", get_count(&raw const status, MPI_BYTE, &raw mut count))?;
        }
        Ok(count as usize)
    }

    /// Who has sent something that can be received, if anybody has (section 3.8.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn sender(self, tag: i32) -> Result<Option<i32>> {
        let (mut flag, mut status) = (0, MPI_Status::default());
        let (probe, any) = (self.library.iprobe, MPI_ANY_SOURCE);
        // SAFETY: handles, and places for the results.
        let code = unsafe { probe(any, tag, self.handle, &raw mut flag, &raw mut status) };
        check("MPI_Iprobe", code)?;
        Ok((flag != 0).then_some(status.MPI_SOURCE))
    }

    /// Receives bytes from whoever sends some next, and returns who that is and how many there were (section 3.2.4).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn receive_from_any(self, bytes: &mut [u8], tag: i32) -> Result<(i32, usize)> {
        let (start, room) = (bytes.as_mut_ptr().cast(), bytes.len() as MPI_Count);
        let (mut status, mut count) = (MPI_Status::default(), 0);
        let (receive, get_count, any) = (self.library.receive, self.library.get_count, MPI_ANY_SOURCE);
        // SAFETY: `room` writable bytes, for as long as the blocking call lasts, and places for the results.
        unsafe {
            check("MPI_Recv_c", receive(start, room, MPI_BYTE, any, tag, self.handle, &raw mut status))?;
            check("MPI_Get_count_c", get_count(&raw const status, MPI_BYTE, &raw mut count))?;
        }
        Ok((status.MPI_SOURCE, count as usize))
    }

    /// Waits for all processes (section 6.3).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn barrier(self) -> Result<()> {
        // SAFETY: a handle only.
        check("MPI_Barrier", unsafe { (self.library.barrier)(self.handle) })
    }

    /// Gives all processes the numbers of rank 0 (section 6.4).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn broadcast(self, numbers: &mut [i64]) -> Result<()> {
        let (start, count) = (numbers.as_mut_ptr().cast(), numbers.len() as MPI_Count);
        // SAFETY: `count` numbers that can be read and written, for as long as the call lasts.
        check("MPI_Bcast_c", unsafe { (self.library.bcast)(start, count, MPI_INT64_T, 0, self.handle) })
    }

    /// Gives all processes the bytes of rank `root` (section 6.4).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn broadcast_bytes(self, bytes: &mut [u8], root: i32) -> Result<()> {
        let (start, count) = (bytes.as_mut_ptr().cast(), bytes.len() as MPI_Count);
        // SAFETY: `count` bytes that can be read and written, for as long as the call lasts.
        check("MPI_Bcast_c", unsafe { (self.library.bcast)(start, count, MPI_BYTE, root, self.handle) })
    }

    /// The sum of the numbers of all processes up to this one (section 6.11.1).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn scan(self, number: i64) -> Result<i64> {
        let mut sum = 0_i64;
        let (from, to) = ((&raw const number).cast(), (&raw mut sum).cast());
        // SAFETY: a number, and room for the result, for as long as the call lasts.
        let code = unsafe { (self.library.scan)(from, to, 1, MPI_INT64_T, MPI_SUM, self.handle) };
        check("MPI_Scan_c", code)?;
        Ok(sum)
    }

    /// The numbers of all processes, by rank, where each may have another count of them.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn all_gather_lists(self, numbers: &[i64]) -> Result<Vec<Vec<i64>>> {
        let counts = self.all_gather([numbers.len() as i64])?;
        let longest = counts.iter().map(|[count]| *count as usize).max().unwrap_or(0);
        if longest == 0 {
            return Ok(vec![Vec::new(); counts.len()]);
        }
        let mut own = numbers.to_vec();
        own.resize(longest, 0);
        let mut all = vec![0_i64; longest * counts.len()];
        let (from, to) = (own.as_ptr().cast(), all.as_mut_ptr().cast());
        let (count, type_) = (longest as MPI_Count, MPI_INT64_T);
        // SAFETY: `count` readable numbers, and room for as many from each process, for as long as the call lasts.
        let code = unsafe { (self.library.allgather)(from, count, type_, to, count, type_, self.handle) };
        check("MPI_Allgather_c", code)?;
        Ok(all.chunks(longest).zip(counts).map(|(list, [count])| list[..count as usize].to_vec()).collect())
    }

    /// The numbers of all processes, by rank (section 6.7).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn all_gather<const N: usize>(self, numbers: [i64; N]) -> Result<Vec<[i64; N]>> {
        let mut all = vec![[0; N]; self.size()? as usize];
        let (from, to) = (numbers.as_ptr().cast(), all.as_mut_ptr().cast());
        let (count, type_) = (N as MPI_Count, MPI_INT64_T);
        // SAFETY: `count` readable numbers, and room for as many from each process, for as long as the call lasts.
        let code = unsafe { (self.library.allgather)(from, count, type_, to, count, type_, self.handle) };
        check("MPI_Allgather_c", code)?;
        Ok(all)
    }

    /// Sends each process its own bytes, and receives what each has sent (section 6.8).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn exchange(self, parts: &Parts, received: &mut Parts) -> Result<()> {
        let sent = parts.lengths();
        let mut lengths = vec![0; sent.len()];
        let (from, to) = (sent.as_ptr().cast(), lengths.as_mut_ptr().cast());
        // SAFETY: a readable number for each process, and room for one of each, for as long as the call lasts.
        let code = unsafe { (self.library.alltoall)(from, 1, MPI_INT64_T, to, 1, MPI_INT64_T, self.handle) };
        check("MPI_Alltoall_c", code)?;
        let (out_at, in_at) = (starts(&sent), starts(&lengths));
        received.make_room(&lengths);
        let (from, to) = (parts.bytes.as_ptr().cast(), received.bytes.as_mut_ptr().cast());
        let byte = MPI_BYTE;
        // SAFETY: counts and displacements lie within the two vectors, which last as long as the call.
        let code = unsafe {
            let (out_at, in_at) = (out_at.as_ptr(), in_at.as_ptr());
            let (sent, lengths) = (sent.as_ptr(), lengths.as_ptr());
            (self.library.alltoallv)(from, sent, out_at, byte, to, lengths, in_at, byte, self.handle)
        };
        check("MPI_Alltoallv_c", code)
    }
}

/// Bytes for each process, or of each, in one piece of memory that is used again and again.
#[derive(Debug)]
pub struct Parts {
    /// Never empty, since the address of an empty vector of bytes would be that of `MPI_IN_PLACE`.
    bytes: Vec<u8>,
    ends: Vec<usize>,
}

impl Default for Parts {
    fn default() -> Self {
        Self { bytes: vec![0], ends: Vec::new() }
    }
}

impl Parts {
    /// Removes all parts, and keeps the memory.
    pub fn clear(&mut self) {
        self.ends.clear();
        self.bytes.clear();
        self.bytes.push(0);
    }

    /// Adds the part of the next process, to which `write` appends.
    pub fn add(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.bytes.pop();
        write(&mut self.bytes);
        self.ends.push(self.bytes.len());
        self.bytes.push(0);
    }

    /// The parts, by rank.
    pub fn iter(&self) -> impl Iterator<Item = &[u8]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.bytes[start..end])
    }

    fn lengths(&self) -> Vec<MPI_Count> {
        self.iter().map(|part| part.len() as MPI_Count).collect()
    }

    fn make_room(&mut self, lengths: &[MPI_Count]) {
        self.ends.clear();
        let mut end = 0;
        for &length in lengths {
            end += length as usize;
            self.ends.push(end);
        }
        self.bytes.resize(end + 1, 0);
    }
}

/// Where each part starts if they follow each other.
fn starts(lengths: &[MPI_Count]) -> Vec<MPI_Aint> {
    let mut next = 0;
    let start = |&length: &MPI_Count| {
        let start = next;
        next += length as MPI_Aint;
        start
    };
    lengths.iter().map(start).collect()
}
