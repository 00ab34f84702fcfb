//! The predefined datatypes as the engine looks at them: rows of `postrider_abi`'s table (MPI 5.0, section 3.2.2).
//!
//! A [`Kind`] is the number of a row, so it is one byte in a signature and a direct index when a handle comes in. What
//! its bytes mean is the row's [`BasicKind`]; reduction operators, external32 and the layouts of the pair types all follow
//! from that.

use postrider_abi::predefined::{BasicKind, DATATYPES, PredefinedDatatype};
use postrider_abi::{MPI_Datatype, datatype_slot};
use std::fmt;

/// A named predefined datatype.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Kind(u8);

/// Row numbers by the slots of handles; `u8::MAX` where there is none.
static ROW_OF_SLOT: [u8; 256] = {
    let mut rows = [u8::MAX; 256];
    let mut row = 0;
    while row < DATATYPES.len() {
        let Some(slot) = datatype_slot(DATATYPES[row].handle) else {
            panic!("a predefined datatype has a slot");
        };
        assert!(rows[slot as usize] == u8::MAX, "two predefined datatypes have one slot");
        rows[slot as usize] = row as u8;
        row += 1;
    }
    rows
};

impl Kind {
    /// The kind of a handle, if it is a named predefined datatype's.
    #[inline]
    #[must_use]
    pub fn from_handle(handle: MPI_Datatype) -> Option<Self> {
        let row = ROW_OF_SLOT[usize::from(datatype_slot(handle)?)];
        (row != u8::MAX && DATATYPES[usize::from(row)].handle == handle).then_some(Self(row))
    }

    /// The kind of a handle that is known to be a named predefined datatype's.
    pub(super) const fn of(handle: MPI_Datatype) -> Self {
        let row = match datatype_slot(handle) {
            Some(slot) => ROW_OF_SLOT[slot as usize],
            None => u8::MAX,
        };
        assert!(row != u8::MAX, "the ABI names no datatype with this handle");
        Self(row)
    }

    /// All kinds, in the order of their handles.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..DATATYPES.len()).map(|row| Self(row as u8))
    }

    /// The number of this kind among all.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// What the ABI says of it.
    #[must_use]
    pub const fn row(self) -> &'static PredefinedDatatype {
        &DATATYPES[self.0 as usize]
    }

    /// What its bytes mean.
    #[must_use]
    pub const fn class(self) -> BasicKind {
        self.row().kind
    }

    /// Bytes of data in one element: `MPI_Type_size`.
    #[must_use]
    pub const fn size(self) -> usize {
        self.row().size
    }

    /// How many basic elements one element is: two for a pair.
    #[must_use]
    pub const fn basic_elements(self) -> u64 {
        if matches!(self.class(), BasicKind::Pair { .. }) { 2 } else { 1 }
    }

    /// The number of basic elements in `bytes` bytes of packed elements, `None` if they end inside one.
    #[must_use]
    pub fn basic_elements_in(self, bytes: u64) -> Option<u64> {
        let size = self.size() as u64;
        let whole = bytes / size * self.basic_elements();
        match bytes % size {
            0 => Some(whole),
            rest if rest == self.first_size() => Some(whole + 1),
            _ => None,
        }
    }

    /// The bytes of `elements` basic elements, packed.
    #[must_use]
    pub fn bytes_of_basic_elements(self, elements: u64) -> u64 {
        let each = self.basic_elements();
        elements / each * self.size() as u64 + elements % each * self.first_size()
    }

    /// The size of the first basic element.
    fn first_size(self) -> u64 {
        match self.class() {
            BasicKind::Pair { value, .. } => value.bytes() as u64,
            _ => self.size() as u64,
        }
    }
}

impl fmt::Debug for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.row().name)
    }
}
