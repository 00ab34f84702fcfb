//! Datatypes and what a program stores with them.

use core::ffi::{CStr, c_int, c_void};
use std::ops::Deref;

use postrider_abi::*;

use super::{Library, check};
use crate::{Mpi, Result};

const EXTERNAL32: &CStr = c"external32";

/// A datatype.
#[derive(Clone, Copy, Debug)]
pub struct Datatype {
    library: &'static Library,
    handle: MPI_Datatype,
}

/// A datatype that is freed with this value, if it is not predefined.
#[derive(Debug)]
pub struct OwnedDatatype {
    datatype: Datatype,
    predefined: bool,
}

/// What a derived datatype was made from (section 5.1.13).
#[derive(Debug)]
pub struct Contents {
    /// The constructor.
    pub combiner: c_int,
    /// Its arguments that are integers.
    pub integers: Vec<i64>,
    /// Those that are addresses.
    pub addresses: Vec<i64>,
    /// Those that are large counts; the other integers then are among `integers`.
    pub large_counts: Vec<i64>,
    /// Those that are datatypes.
    pub datatypes: Vec<OwnedDatatype>,
}

impl Deref for OwnedDatatype {
    type Target = Datatype;

    fn deref(&self) -> &Datatype {
        &self.datatype
    }
}

impl Drop for OwnedDatatype {
    fn drop(&mut self) {
        let mut handle = self.datatype.handle;
        if !self.predefined {
            // SAFETY: a handle that was made for this value, and a place for the null handle.
            let _ = unsafe { (self.datatype.library.type_free)(&raw mut handle) };
        }
    }
}

impl OwnedDatatype {
    /// The handle, which somebody else frees from now on.
    #[must_use]
    pub fn release(mut self) -> MPI_Datatype {
        self.predefined = true;
        self.datatype.handle
    }
}

impl Datatype {
    pub(crate) fn new(library: &'static Library, handle: MPI_Datatype) -> Self {
        Self { library, handle }
    }

    /// The handle.
    #[must_use]
    pub fn handle(self) -> MPI_Datatype {
        self.handle
    }

    /// Its size in bytes (section 5.1.5).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn size(self) -> Result<i64> {
        let mut size = 0;
        // SAFETY: a place for the result.
        check("MPI_Type_size_c", unsafe { (self.library.type_size)(self.handle, &raw mut size) })?;
        Ok(size)
    }

    /// Its lower bound and extent in bytes (section 5.1.7).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn extent(self) -> Result<(i64, i64)> {
        let (mut lb, mut extent) = (0, 0);
        let ask = self.library.type_get_extent;
        // SAFETY: places for the results.
        check("MPI_Type_get_extent_c", unsafe { ask(self.handle, &raw mut lb, &raw mut extent) })?;
        Ok((lb, extent))
    }

    /// The constructor that it was made by (section 5.1.13).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn combiner(self) -> Result<c_int> {
        Ok(self.envelope()?.1)
    }

    /// Numbers of integers, addresses, large counts and datatypes, and the constructor.
    fn envelope(self) -> Result<([MPI_Count; 4], c_int)> {
        let ([mut integers, mut addresses, mut counts, mut datatypes], mut combiner) = ([0; 4], 0);
        // SAFETY: places for the results.
        let code = unsafe {
            let (integers, addresses) = (&raw mut integers, &raw mut addresses);
            let (counts, datatypes) = (&raw mut counts, &raw mut datatypes);
            let ask = self.library.type_get_envelope;
            ask(self.handle, integers, addresses, counts, datatypes, &raw mut combiner)
        };
        check("MPI_Type_get_envelope_c", code)?;
        Ok(([integers, addresses, counts, datatypes], combiner))
    }

    /// What it was made from; none for a predefined datatype.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn contents(self) -> Result<Option<Contents>> {
        let ([i, a, c, d], combiner) = self.envelope()?;
        if is_predefined(combiner) {
            return Ok(None);
        }
        let (mut integers, mut addresses) = (vec![0_i32; i as usize], vec![0 as MPI_Aint; a as usize]);
        let (mut large_counts, mut handles) = (vec![0; c as usize], vec![MPI_DATATYPE_NULL; d as usize]);
        // SAFETY: room for as many of each as the envelope has told.
        let code = unsafe {
            let (integers, addresses) = (integers.as_mut_ptr(), addresses.as_mut_ptr());
            let (counts, handles) = (large_counts.as_mut_ptr(), handles.as_mut_ptr());
            (self.library.type_get_contents)(self.handle, i, a, c, d, integers, addresses, counts, handles)
        };
        check("MPI_Type_get_contents_c", code)?;
        let own = |&handle: &MPI_Datatype| Self::new(self.library, handle).owned();
        Ok(Some(Contents {
            combiner,
            integers: integers.into_iter().map(i64::from).collect(),
            addresses: addresses.into_iter().map(|address| address as i64).collect(),
            large_counts,
            datatypes: handles.iter().map(own).collect::<Result<_>>()?,
        }))
    }

    /// Whether it is predefined.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn is_predefined(self) -> Result<bool> {
        Ok(is_predefined(self.combiner()?))
    }

    fn owned(self) -> Result<OwnedDatatype> {
        Ok(OwnedDatatype { datatype: self, predefined: self.is_predefined()? })
    }

    /// The same datatype with a lifetime of its own (section 5.1.10); a predefined one as it is.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn duplicate(self) -> Result<OwnedDatatype> {
        if self.is_predefined()? {
            return self.owned();
        }
        let mut made = MPI_DATATYPE_NULL;
        // SAFETY: a place for the result.
        check("MPI_Type_dup", unsafe { (self.library.type_dup)(self.handle, &raw mut made) })?;
        Self::new(self.library, made).owned()
    }
}

fn is_predefined(combiner: c_int) -> bool {
    matches!(
        combiner,
        MPI_COMBINER_NAMED
            | MPI_COMBINER_F90_REAL
            | MPI_COMBINER_F90_COMPLEX
            | MPI_COMBINER_F90_INTEGER
            | MPI_COMBINER_VALUE_INDEX
    )
}

/// A buffer of the user's: count elements of a datatype.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    address: usize,
    count: i64,
    datatype: Datatype,
}

impl Buffer {
    /// A buffer of the user's.
    ///
    /// # Safety
    /// The memory that the three name can be read, and written where something is stored there, until the last use
    /// of this value, and nobody else changes it meanwhile.
    #[must_use]
    pub unsafe fn new(mpi: Mpi, address: usize, count: i64, datatype: MPI_Datatype) -> Self {
        Self { address, count, datatype: Datatype::new(mpi.0, datatype) }
    }

    /// Number of elements.
    #[must_use]
    pub fn count(&self) -> i64 {
        self.count
    }

    /// Their datatype.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// Its address, for callbacks of the user's.
    #[must_use]
    pub fn address(&self) -> *mut c_void {
        self.address as *mut c_void
    }

    /// The bytes themselves, if they lie in one piece: those of a predefined datatype without gaps.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn dense(&self) -> Result<Option<&[u8]>> {
        let length = self.dense_bytes()?;
        // SAFETY: as the one who made this value has promised.
        Ok(length.map(|length| unsafe { std::slice::from_raw_parts(self.address as *const u8, length) }))
    }

    /// The same, to be written.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn dense_mut(&mut self) -> Result<Option<&mut [u8]>> {
        let length = self.dense_bytes()?;
        // SAFETY: as the one who made this value has promised.
        Ok(length.map(|length| unsafe { std::slice::from_raw_parts_mut(self.address as *mut u8, length) }))
    }

    fn dense_bytes(&self) -> Result<Option<usize>> {
        let named = self.datatype.combiner()? == MPI_COMBINER_NAMED;
        let size = self.datatype.size()?;
        let dense = named && self.address != MPI_BOTTOM && self.datatype.extent()? == (0, size);
        Ok(dense.then_some((size * self.count) as usize))
    }

    /// Its values one after another (section 5.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn pack(&self) -> Result<Vec<u8>> {
        let bytes = self.datatype.size()? * self.count;
        let (mut out, mut position) = (vec![0; bytes as usize], 0);
        let (from, to) = (self.address as *const c_void, out.as_mut_ptr().cast());
        // SAFETY: the user's memory as promised, and room for all values.
        let code = unsafe {
            let (pack, handle) = (self.datatype.library.pack, self.datatype.handle);
            pack(from, self.count, handle, to, bytes, &raw mut position, MPI_COMM_SELF)
        };
        check("MPI_Pack_c", code)?;
        Ok(out)
    }

    /// Stores values that lie one after another: all of them (section 5.2).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn unpack(&mut self, bytes: &[u8]) -> Result<()> {
        let (from, length, mut position) = (bytes.as_ptr().cast(), bytes.len() as MPI_Count, 0);
        let to = self.address as *mut c_void;
        // SAFETY: the user's memory as promised, and as many bytes as the length says.
        let code = unsafe {
            let (unpack, handle) = (self.datatype.library.unpack, self.datatype.handle);
            unpack(from, length, &raw mut position, to, self.count, handle, MPI_COMM_SELF)
        };
        check("MPI_Unpack_c", code)
    }

    /// Its values in external32, which are `bytes` bytes (section 5.3).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn pack_external(&self, bytes: i64) -> Result<Vec<u8>> {
        let (mut out, mut position) = (vec![0; bytes as usize], 0);
        let (from, to) = (self.address as *const c_void, out.as_mut_ptr().cast());
        // SAFETY: the user's memory as promised, and room for as many bytes as the call is told.
        let code = unsafe {
            let (pack, handle) = (self.datatype.library.pack_external, self.datatype.handle);
            pack(EXTERNAL32.as_ptr(), from, self.count, handle, to, bytes, &raw mut position)
        };
        check("MPI_Pack_external_c", code)?;
        Ok(out)
    }

    /// Stores values that are in external32: all of them (section 5.3).
    ///
    /// # Errors
    /// What MPI returns.
    pub fn unpack_external(&mut self, bytes: &[u8]) -> Result<()> {
        let (from, length, mut position) = (bytes.as_ptr().cast(), bytes.len() as MPI_Count, 0);
        let to = self.address as *mut c_void;
        // SAFETY: the user's memory as promised, and as many bytes as the length says.
        let code = unsafe {
            let (unpack, handle) = (self.datatype.library.unpack_external, self.datatype.handle);
            unpack(EXTERNAL32.as_ptr(), from, length, &raw mut position, to, self.count, handle)
        };
        check("MPI_Unpack_external_c", code)
    }

    /// The same buffer with another handle of its datatype.
    #[must_use]
    pub fn with_datatype(self, datatype: Datatype) -> Self {
        Self { datatype, ..self }
    }

    /// The buffer from element `first` on, with `count` elements.
    ///
    /// # Errors
    /// What MPI returns.
    pub fn part(&self, first: i64, count: i64) -> Result<Self> {
        let (_, extent) = self.datatype.extent()?;
        let address = self.address.wrapping_add_signed((first * extent) as isize);
        Ok(Self { address, count, datatype: self.datatype })
    }
}
