//! The data arguments of collective calls: addresses, counts and datatypes, as the program gave them.
//!
//! They are made while the arguments of a call are parsed, checked when its schedule is made, and then give their memory
//! and datatypes to the [`Call`](super::Call). What a schedule has to know of them are the plain numbers of `arguments`.

use std::sync::Arc;

use postrider_abi::{MPI_BOTTOM, MPI_Datatype, MPI_ERR_BUFFER, MPI_ERR_COUNT, MPI_IN_PLACE};
use postrider_os::memory::UserMemory;

use super::arguments::{Block, Blocks, Layout};
use super::script::{Side, Types};
use crate::datatypes::Datatype;
use crate::error::{Error, Result};
use crate::operations::Operation;

/// One block: `count` elements of a datatype.
#[derive(Debug)]
pub struct Data {
    /// The buffer's address.
    pub memory: UserMemory,
    /// Number of elements.
    pub count: i64,
    /// Their datatype.
    pub datatype: Arc<Datatype>,
}

/// The blocks of a buffer, one for each peer.
#[derive(Debug)]
pub struct Many {
    memory: UserMemory,
    types: Types,
    shape: Shape,
}

/// How the blocks lie.
#[derive(Debug)]
enum Shape {
    Equal(Block),
    Varying { counts: Vec<i64>, displacements: Vec<i64>, layout: Layout },
    General { counts: Vec<i64>, displacements: Vec<i64>, layouts: Vec<Layout> },
}

/// The data and the operation of a reduction.
#[derive(Debug)]
pub struct Operands {
    /// The send buffer; none for `MPI_IN_PLACE`.
    pub send: Option<UserMemory>,
    /// The receive buffer.
    pub receive: UserMemory,
    /// Number of elements; of the result's block in `MPI_Reduce_scatter_block`.
    pub count: i64,
    /// Their datatype.
    pub datatype: Arc<Datatype>,
    /// The datatype's handle, which a function of the program gets.
    pub handle: MPI_Datatype,
    /// The operation.
    pub operation: Operation,
}

/// What schedules have to know about `datatype`.
pub(super) fn layout_of(datatype: &Datatype) -> Layout {
    Layout {
        size: datatype.size(),
        extent: datatype.extent(),
        contiguous: datatype.is_dense() && datatype.true_lb() == 0,
    }
}

/// Checks so many blocks of `count` elements: they must lie within what can be addressed.
fn check_blocks(count: i64, layout: &Layout, blocks: u32) -> Result<()> {
    if count < 0 {
        return Err(Error::new(MPI_ERR_COUNT, format!("the count is {count}; it must not be negative")));
    }
    let bytes = layout.size.max(layout.extent.abs()).checked_mul(count);
    if bytes.and_then(|bytes| bytes.checked_mul(i64::from(blocks))).is_none() {
        let detail = format!("{count} elements for each process are more bytes than there are addresses");
        return Err(Error::new(MPI_ERR_COUNT, detail));
    }
    Ok(())
}

/// Refuses `MPI_IN_PLACE` where it has no meaning, and a null pointer where there is data. With `MPI_BOTTOM`, a null
/// pointer too, displacement and datatype hold the address.
fn check_memory(memory: UserMemory, bytes: i64, from: i64) -> Result<()> {
    match memory.address() {
        MPI_IN_PLACE => Err(in_place()),
        0 if bytes > 0 && from == 0 => Err(Error::new(MPI_ERR_BUFFER, "the buffer is a null pointer")),
        _ => Ok(()),
    }
}

/// The error for `MPI_IN_PLACE` where the standard does not have it.
#[cold]
pub(super) fn in_place() -> Error {
    Error::new(MPI_ERR_BUFFER, "MPI_IN_PLACE is not allowed for this buffer here")
}

/// Checks that the data of the send buffer is not that of the receive buffer: for some of the blocks, where they begin, if
/// there is data. Buffers may have one address, or lie in each other, where datatypes keep their data apart.
pub(super) fn check_aliases(pairs: impl IntoIterator<Item = (Option<i64>, Option<i64>)>) -> Result<()> {
    if pairs.into_iter().any(|(send, receive)| send.is_some() && send == receive) {
        return Err(same_buffer());
    }
    Ok(())
}

#[cold]
fn same_buffer() -> Error {
    Error::new(MPI_ERR_BUFFER, "send and receive buffer are the same; use MPI_IN_PLACE")
}

/// The address of the first byte of data, if there is any.
fn beginning(memory: UserMemory, bytes: i64, displacement: i64) -> Option<i64> {
    (bytes > 0).then(|| (memory.address() as i64).wrapping_add(displacement))
}

impl Data {
    /// Where the data begins, with so many such blocks before it; none without data.
    pub(super) fn begins(&self, blocks_before: u32) -> Option<i64> {
        let before = i64::from(blocks_before).wrapping_mul(self.count.wrapping_mul(self.datatype.extent()));
        beginning(
            self.memory,
            self.datatype.size() * self.count,
            before.wrapping_add(self.datatype.true_lb()),
        )
    }

    /// The block as schedules see it.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT` and `MPI_ERR_BUFFER`.
    pub(super) fn block(&self) -> Result<Block> {
        let block = Block { count: self.count, layout: layout_of(&self.datatype) };
        check_blocks(block.count, &block.layout, 1)?;
        check_memory(self.memory, block.bytes(), self.datatype.true_lb())?;
        Ok(block)
    }

    /// What the executor needs of it.
    pub(super) fn side(self) -> Side {
        Side { memory: self.memory, types: Types::One(self.datatype) }
    }
}

impl Many {
    /// Equal blocks of `count` elements in rank order.
    #[must_use]
    pub fn equal(Data { memory, count, datatype }: Data) -> Self {
        let block = Block { count, layout: layout_of(&datatype) };
        Self { memory, types: Types::One(datatype), shape: Shape::Equal(block) }
    }

    /// A count for each peer, and displacements in extents: the v forms.
    #[must_use]
    pub fn varying(
        memory: UserMemory,
        counts: Vec<i64>,
        displacements: Vec<i64>,
        datatype: Arc<Datatype>,
    ) -> Self {
        let layout = layout_of(&datatype);
        Self { memory, types: Types::One(datatype), shape: Shape::Varying { counts, displacements, layout } }
    }

    /// A count and a datatype for each peer, and displacements in bytes: the w form.
    #[must_use]
    pub fn general(
        memory: UserMemory,
        counts: Vec<i64>,
        displacements: Vec<i64>,
        datatypes: Vec<Arc<Datatype>>,
    ) -> Self {
        let layouts = datatypes.iter().map(|datatype| layout_of(datatype)).collect();
        Self {
            memory,
            types: Types::Each(datatypes),
            shape: Shape::General { counts, displacements, layouts },
        }
    }

    /// The blocks as schedules see them.
    pub(super) fn blocks(&self) -> Blocks<'_> {
        match &self.shape {
            Shape::Equal(block) => Blocks::Equal(*block),
            Shape::Varying { counts, displacements, layout } => {
                Blocks::Varying { counts, displacements, layout: *layout }
            }
            Shape::General { counts, displacements, layouts } => {
                Blocks::General { counts, displacements, layouts }
            }
        }
    }

    /// Checks counts and the address.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT` and `MPI_ERR_BUFFER`.
    pub(super) fn check(&self, peers: u32) -> Result<()> {
        match &self.shape {
            Shape::Equal(block) => check_blocks(block.count, &block.layout, peers)?,
            Shape::Varying { counts, layout, .. } => {
                counts.iter().try_for_each(|count| check_blocks(*count, layout, 1))?;
            }
            Shape::General { counts, layouts, .. } => {
                counts.iter().zip(layouts).try_for_each(|(count, layout)| check_blocks(*count, layout, 1))?;
            }
        }
        if ![MPI_BOTTOM, MPI_IN_PLACE].contains(&self.memory.address()) {
            return Ok(());
        }
        let blocks = self.blocks();
        (0..peers).try_for_each(|peer| {
            let displacement =
                if matches!(self.shape, Shape::Equal(_)) { 0 } else { blocks.position(peer).0 };
            check_memory(self.memory, blocks.bytes(peer), displacement + self.true_lb(peer))
        })
    }

    /// Where the data of a peer's block begins; none without data.
    pub(super) fn begins(&self, peer: u32) -> Option<i64> {
        let blocks = self.blocks();
        beginning(self.memory, blocks.bytes(peer), blocks.position(peer).0 + self.true_lb(peer))
    }

    /// The lowest displacement of data in an element of a peer's block.
    fn true_lb(&self, peer: u32) -> i64 {
        match &self.types {
            Types::One(datatype) => datatype.true_lb(),
            Types::Each(datatypes) => datatypes[peer as usize].true_lb(),
            Types::None => 0,
        }
    }

    /// What the executor needs of it.
    pub(super) fn side(self) -> Side {
        Side { memory: self.memory, types: self.types }
    }
}

impl Operands {
    /// Checks the arguments of a reduction of `count` elements.
    ///
    /// # Errors
    /// `MPI_ERR_COUNT`, `MPI_ERR_OP` and `MPI_ERR_BUFFER`.
    pub(super) fn check(&self, count: i64, receives: bool) -> Result<()> {
        check_blocks(count.max(self.count), &layout_of(&self.datatype), 1)?;
        self.operation.check_collective(&self.datatype)?;
        let bytes = self.datatype.size() * count;
        if let Some(send) = self.send {
            check_memory(send, bytes, self.datatype.true_lb())?;
        }
        if receives {
            check_memory(self.receive, bytes, self.datatype.true_lb())?;
            if bytes > 0 && self.send == Some(self.receive) {
                return Err(same_buffer());
            }
        }
        Ok(())
    }
}
