//! Data representations (section 14.5): what values look like in the file.
//!
//! `native` and `internal` are the bytes of memory. `external32` is what `MPI_Pack_external` makes. Others are registered by
//! the program, as functions that convert; those are called without any lock held.

use core::ffi::c_int;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use postrider_abi::predefined::{BasicKind, DATATYPES};
use postrider_abi::*;
use postrider_client::{Buffer, Datatype};

use crate::error::{Error, Result};
use postrider_client::layout::{self, Layout};
use postrider_client::shape::{Block, Shape};

/// A data representation.
#[derive(Clone, Debug)]
pub enum Representation {
    /// The bytes of memory, under one of two names.
    Native(&'static str),
    /// The portable one.
    External32,
    /// One of the program's.
    User(Arc<UserRepresentation>),
}

/// What the program has registered.
#[derive(Clone, Debug)]
pub struct UserRepresentation {
    /// Its name.
    pub name: Vec<u8>,
    /// From the file to memory.
    pub read: Conversion,
    /// From memory to the file.
    pub write: Conversion,
    /// Sizes in the file.
    pub extent: MPI_Datarep_extent_function,
    /// What all functions get; an address.
    pub extra_state: usize,
}

/// A conversion function.
#[derive(Clone, Copy, Debug)]
pub enum Conversion {
    /// The bytes stay as they are.
    None,
    /// It counts with `int`.
    Small(MPI_Datarep_conversion_function),
    /// It counts with `MPI_Count`.
    Large(MPI_Datarep_conversion_function_c),
}

static REGISTERED: Mutex<Vec<Arc<UserRepresentation>>> = Mutex::new(Vec::new());

/// Adds a representation to those that views can have.
///
/// # Errors
/// `MPI_ERR_DUP_DATAREP` if there is one of this name, `MPI_ERR_ARG` for a name that is too long and without sizes.
pub fn register(new: UserRepresentation) -> Result<()> {
    if new.name.is_empty() || new.name.len() >= MPI_MAX_DATAREP_STRING {
        let detail = "the name of a data representation has 1 to MPI_MAX_DATAREP_STRING - 1 characters";
        return Err(Error::argument(detail));
    }
    if new.extent.is_none() {
        return Err(Error::argument("the function for the extent in the file is a null pointer"));
    }
    if Representation::find(&new.name).is_ok() {
        let detail = format!("there is a data representation {:?} already", new.shown());
        return Err(Error::new(MPI_ERR_DUP_DATAREP, detail));
    }
    REGISTERED.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::new(new));
    Ok(())
}

impl Representation {
    /// The one of this name.
    ///
    /// # Errors
    /// `MPI_ERR_UNSUPPORTED_DATAREP`.
    pub fn find(name: &[u8]) -> Result<Self> {
        match name {
            b"native" => return Ok(Self::Native("native")),
            b"internal" => return Ok(Self::Native("internal")),
            b"external32" => return Ok(Self::External32),
            _ => {}
        }
        let registered = REGISTERED.lock().unwrap_or_else(PoisonError::into_inner);
        let found = registered.iter().find(|known| known.name == name);
        found.map(|found| Self::User(Arc::clone(found))).ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            let detail = format!("no data representation {name:?} is known; MPI_Register_datarep adds one");
            Error::new(MPI_ERR_UNSUPPORTED_DATAREP, detail)
        })
    }

    /// Its name.
    pub fn name(&self) -> &[u8] {
        match self {
            Self::Native(name) => name.as_bytes(),
            Self::External32 => b"external32",
            Self::User(user) => &user.name,
        }
    }

    /// Whether values are in the file as in memory.
    pub fn is_native(&self) -> bool {
        matches!(self, Self::Native(_))
    }

    /// How a datatype lies in the file.
    ///
    /// # Errors
    /// What MPI or a callback returns.
    pub fn layout(&self, datatype: Datatype) -> Result<Layout> {
        layout::of(datatype, &|leaf| self.leaf(leaf), self.is_native())
    }

    /// How a predefined datatype lies in the file.
    fn leaf(&self, datatype: Datatype) -> Result<Layout> {
        match self {
            Self::Native(_) => native_leaf(datatype),
            _ => Ok(Layout::dense(self.leaf_bytes(datatype)?)),
        }
    }

    /// Bytes of a predefined datatype in the file.
    fn leaf_bytes(&self, datatype: Datatype) -> Result<i64> {
        let row = DATATYPES.iter().find(|row| row.handle == datatype.handle());
        match self {
            Self::External32 => Ok(row.map_or(datatype.size()?, |row| row.external32 as i64)),
            Self::User(user) => user.extent_of(datatype),
            Self::Native(_) => Ok(datatype.size()?),
        }
    }

    /// Bytes of an element of a datatype in the file, without gaps.
    ///
    /// # Errors
    /// What MPI or a callback returns.
    pub fn bytes(&self, datatype: Datatype) -> Result<i64> {
        if self.is_native() {
            return Ok(datatype.size()?);
        }
        let mut bytes = 0;
        for (leaf, count) in layout::elements(datatype)? {
            bytes += count * self.leaf_bytes(leaf)?;
        }
        Ok(bytes)
    }

    /// The values of a buffer as they are in the file.
    ///
    /// # Errors
    /// What MPI or a callback returns.
    pub fn encode<'b>(&self, buffer: &'b Buffer) -> Result<Cow<'b, [u8]>> {
        let bytes = self.bytes(buffer.datatype())? * buffer.count();
        match self {
            Self::External32 => return Ok(buffer.pack_external(bytes)?.into()),
            Self::User(user) if !matches!(user.write, Conversion::None) => {
                let mut file = vec![0; bytes as usize];
                user.convert(user.write, buffer, &mut file, elements_in(buffer)?)?;
                return Ok(file.into());
            }
            _ => {}
        }
        match buffer.dense()? {
            Some(dense) => Ok(dense.into()),
            None => Ok(buffer.pack()?.into()),
        }
    }

    /// Stores what a file had, and returns how many bytes of memory that is. `file` may end anywhere.
    ///
    /// # Errors
    /// What MPI or a callback returns.
    pub fn decode(&self, buffer: &mut Buffer, file: &mut [u8]) -> Result<i64> {
        let each = self.bytes(buffer.datatype())?;
        let size = buffer.datatype().size()?;
        if each == 0 {
            return Ok(0);
        }
        let (whole, rest) = (file.len() as i64 / each, file.len() as i64 % each);
        let (complete, partial) = file.split_at_mut((whole * each) as usize);
        if whole > 0 {
            self.decode_whole(&mut buffer.part(0, whole)?, complete)?;
        }
        if rest == 0 {
            return Ok(whole * size);
        }
        // The last element keeps in memory what the file does not have.
        let mut last = buffer.part(whole, 1)?;
        let (bytes, stored) = self.elements_within(last.datatype(), rest)?;
        let mut image = self.encode(&last)?.into_owned();
        image[..bytes as usize].copy_from_slice(&partial[..bytes as usize]);
        self.decode_whole(&mut last, &mut image)?;
        Ok(whole * size + stored)
    }

    fn decode_whole(&self, buffer: &mut Buffer, file: &mut [u8]) -> Result<()> {
        match self {
            Self::External32 => buffer.unpack_external(file)?,
            Self::User(user) if !matches!(user.read, Conversion::None) => {
                let elements = elements_in(buffer)?;
                user.convert(user.read, buffer, file, elements)?;
            }
            _ => match buffer.dense_mut()? {
                Some(dense) => dense.copy_from_slice(file),
                None => buffer.unpack(file)?,
            },
        }
        Ok(())
    }

    /// How much of one element of a datatype the first `rest` bytes of it in the file are: bytes of the file, and of
    /// memory. In another representation than memory's a predefined datatype is whole or not there.
    fn elements_within(&self, datatype: Datatype, rest: i64) -> Result<(i64, i64)> {
        if self.is_native() {
            return Ok((rest, rest));
        }
        let (mut bytes, mut stored) = (0, 0);
        for (leaf, count) in layout::elements(datatype)? {
            let each = self.leaf_bytes(leaf)?;
            let there = if each == 0 { count } else { count.min((rest - bytes) / each) };
            bytes += there * each;
            stored += there * leaf.size()?;
            if there < count {
                break;
            }
        }
        Ok((bytes, stored))
    }
}

/// How a predefined datatype lies in memory: pairs may have a gap.
fn native_leaf(datatype: Datatype) -> Result<Layout> {
    let (lb, extent) = datatype.extent()?;
    let row = DATATYPES.iter().find(|row| row.handle == datatype.handle());
    let mut made = Layout::dense(datatype.size()?);
    if let Some(BasicKind::Pair { value, index, index_offset }) = row.map(|row| row.kind) {
        let index = Block { offset: index_offset as i64, bytes: index.bytes() as i64 };
        let value = Block { offset: 0, bytes: value.bytes() as i64 };
        let parts = [value, index].map(|block| (block.offset, Shape::Dense(block.bytes)));
        (made.first, made.shape) = Shape::list(parts);
    }
    Ok(made.resized(lb, extent))
}

/// Number of entries of the type map of a buffer.
fn elements_in(buffer: &Buffer) -> Result<i64> {
    let each: i64 = layout::elements(buffer.datatype())?.iter().map(|(_, count)| count).sum();
    Ok(each * buffer.count())
}

impl UserRepresentation {
    #[allow(unsafe_code)]
    fn extent_of(&self, datatype: Datatype) -> Result<i64> {
        let Some(function) = self.extent else { unreachable!("checked when it was registered") };
        let mut extent = 0;
        // SAFETY: the program gave this function for this, with this extra state.
        let code = unsafe { function(datatype.handle(), &raw mut extent, self.extra_state as *mut _) };
        self.returned(code)?;
        Ok(extent as i64)
    }

    /// Has the program convert `elements` entries of the buffer's type map.
    #[allow(unsafe_code)]
    fn convert(&self, conversion: Conversion, buffer: &Buffer, file: &mut [u8], elements: i64) -> Result<()> {
        let (memory, datatype) = (buffer.address(), buffer.datatype().handle());
        let (file, extra) = (file.as_mut_ptr().cast(), self.extra_state as *mut _);
        let code = match conversion {
            Conversion::Large(Some(function)) => {
                // SAFETY: the program gave this function for such a buffer; the file's bytes are as many as it has said.
                unsafe { function(memory, datatype, elements, file, 0, extra) }
            }
            Conversion::Small(Some(function)) => {
                let Ok(elements) = c_int::try_from(elements) else {
                    let detail = format!(
                        "the conversion functions of {:?} count with int, and {elements} values are too many for them; \
                         register it by MPI_Register_datarep_c",
                        self.shown()
                    );
                    return Err(Error::new(MPI_ERR_CONVERSION, detail));
                };
                // SAFETY: as above.
                unsafe { function(memory, datatype, elements, file, 0, extra) }
            }
            _ => MPI_SUCCESS,
        };
        self.returned(code)
    }

    /// The name, for people.
    fn shown(&self) -> Cow<'_, str> {
        String::from_utf8_lossy(&self.name)
    }

    fn returned(&self, code: c_int) -> Result<()> {
        if code == MPI_SUCCESS {
            return Ok(());
        }
        let detail = format!("a function of data representation {:?} returned code {code}", self.shown());
        Err(Error::new(MPI_ERR_CONVERSION, detail))
    }
}
