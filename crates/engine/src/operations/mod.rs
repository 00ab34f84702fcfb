//! Reduction operations (MPI 5.0, sections 6.9.2 to 6.9.5).
//!
//! An [`Operation`] is what an `MPI_Op` handle stands for: one of the standard's operators or a function of the program.
//! Either combines two arrays, `inout = in op inout`, so that with a lower rank's data as `in` the operands are in the order
//! of ranks. The predefined ones work on arrays of one predefined type, `count` elements at its extent: dense for all types
//! but the pairs, which lie as C structures do. They are loops over unaligned memory that compile to vector
//! instructions; integers wrap, as they do in every MPI library that is compiled with a usual C compiler.

mod arithmetic;
mod half;
mod location;

use crate::datatypes::{Datatype, Kind, copy};
use crate::error::{Error, Result};
use postrider_abi::predefined::{BasicKind, DATATYPES, FloatFormat, IntegerFamily, OPERATIONS};
use postrider_abi::{
    MPI_BAND, MPI_BOR, MPI_BXOR, MPI_Datatype, MPI_ERR_OP, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_MAX, MPI_MAXLOC,
    MPI_MIN, MPI_MINLOC, MPI_NO_OP, MPI_Op, MPI_PROD, MPI_REPLACE, MPI_SUM,
};
use postrider_os::memory::UserMemory;
use std::fmt;
use std::sync::Arc;

/// A predefined reduction operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "these are the standard's names")]
pub enum Operator {
    Sum,
    Min,
    Max,
    Prod,
    Band,
    Bor,
    Bxor,
    Land,
    Lor,
    Lxor,
    Minloc,
    Maxloc,
    Replace,
    NoOp,
}

/// Combines the bits of two elements of 4 or 8 bytes, in the low ones of a word: `inout = of_bits(input, inout)`.
pub(crate) type OfBits = fn(u64, u64) -> u64;

/// Something of each operator on each kind of element.
type Table<T> = [[T; Operator::ALL.len()]; DATATYPES.len()];

/// A table that is made when this is compiled: the value of an expression for each operator and row.
macro_rules! table {
    ($start:expr, |$operator:ident, $row:ident| $value:expr) => {{
        let (mut table, mut number) = ([[$start; Operator::ALL.len()]; DATATYPES.len()], 0);
        while number < DATATYPES.len() {
            let ($row, mut i) = (&DATATYPES[number], 0);
            while i < Operator::ALL.len() {
                let $operator = Operator::ALL[i];
                table[number][i] = $value;
                i += 1;
            }
            number += 1;
        }
        table
    }};
}

/// Which operators are allowed.
static ALLOWED: Table<bool> = table!(false, |operator, row| operator.suits(row.kind));

/// How they combine arrays, where that is arithmetic.
static LOOPS: Table<Option<arithmetic::Loop>> = table!(None, |operator, row| {
    if operator.suits(row.kind) { arithmetic::loop_of(operator, row.kind) } else { None }
});

/// What they make of the bits of single elements.
static OF_BITS: Table<Option<OfBits>> = table!(None, |operator, row| {
    if matches!(row.size, 4 | 8) { operator.on_bits_of(row.kind) } else { None }
});

/// A function of the program: `(in, inout, count, datatype handle)`, as `MPI_User_function` has them.
pub type UserFunction = Arc<dyn Fn(UserMemory, UserMemory, i64, MPI_Datatype) + Send + Sync>;

/// What an `MPI_Op` handle stands for.
#[derive(Clone)]
pub enum Operation {
    /// An operator of the standard.
    Predefined(Operator),
    /// A function of the program; it gets any datatype.
    User {
        /// The function.
        function: UserFunction,
        /// Whether the program says that operands may be exchanged.
        commutative: bool,
    },
}

impl Operator {
    /// All of them, in their order.
    const ALL: [Self; 14] = [
        Self::Sum,
        Self::Min,
        Self::Max,
        Self::Prod,
        Self::Band,
        Self::Bor,
        Self::Bxor,
        Self::Land,
        Self::Lor,
        Self::Lxor,
        Self::Minloc,
        Self::Maxloc,
        Self::Replace,
        Self::NoOp,
    ];

    /// The operator of a predefined handle.
    #[inline]
    #[must_use]
    pub fn from_handle(handle: MPI_Op) -> Option<Self> {
        Some(match handle {
            MPI_SUM => Self::Sum,
            MPI_MIN => Self::Min,
            MPI_MAX => Self::Max,
            MPI_PROD => Self::Prod,
            MPI_BAND => Self::Band,
            MPI_BOR => Self::Bor,
            MPI_BXOR => Self::Bxor,
            MPI_LAND => Self::Land,
            MPI_LOR => Self::Lor,
            MPI_LXOR => Self::Lxor,
            MPI_MINLOC => Self::Minloc,
            MPI_MAXLOC => Self::Maxloc,
            MPI_REPLACE => Self::Replace,
            MPI_NO_OP => Self::NoOp,
            _ => return None,
        })
    }

    /// Whether operands may be exchanged: all but the two that are for one-sided communication only.
    #[must_use]
    pub fn is_commutative(self) -> bool {
        !matches!(self, Self::Replace | Self::NoOp)
    }

    /// Whether collective operations take it: all but the two that are for one-sided communication only.
    #[must_use]
    pub fn is_collective(self) -> bool {
        !matches!(self, Self::Replace | Self::NoOp)
    }

    /// Whether the standard allows it on elements of `kind`.
    #[inline]
    #[must_use]
    pub fn is_allowed(self, kind: Kind) -> bool {
        ALLOWED[kind.index()][self as usize]
    }

    /// The tables of section 6.9.2; 12.3.4 for the last two.
    const fn suits(self, class: BasicKind) -> bool {
        use BasicKind::{Byte, Complex, Float, Integer, Logical, Pair};
        match self {
            Self::Max | Self::Min => matches!(class, Integer { .. } | Float(_)),
            Self::Sum | Self::Prod => matches!(class, Integer { .. } | Float(_) | Complex(_)),
            Self::Land | Self::Lor | Self::Lxor => {
                matches!(class, Integer { family: IntegerFamily::C, .. } | Logical { .. })
            }
            Self::Band | Self::Bor | Self::Bxor => matches!(class, Integer { .. } | Byte),
            Self::Minloc | Self::Maxloc => matches!(class, Pair { .. }),
            Self::Replace | Self::NoOp => true,
        }
    }

    /// Combines two arrays of `count` elements of `kind` at its extent: `inout = input op inout`.
    ///
    /// # Errors
    /// `MPI_ERR_OP` if the operator is not defined for the kind.
    pub fn apply(self, kind: Kind, input: UserMemory, inout: UserMemory, count: i64) -> Result<()> {
        self.check(kind)?;
        self.apply_allowed(kind, input, inout, count)
    }

    /// The same for a kind that is allowed.
    #[inline]
    pub(crate) fn apply_allowed(
        self,
        kind: Kind,
        input: UserMemory,
        inout: UserMemory,
        count: i64,
    ) -> Result<()> {
        let length = usize::try_from(count).unwrap_or(0);
        match LOOPS[kind.index()][self as usize] {
            Some(combine) => combine(input, inout, length),
            None => self.apply_other(kind, input, inout, length)?,
        }
        Ok(())
    }

    /// What is no arithmetic.
    fn apply_other(self, kind: Kind, input: UserMemory, inout: UserMemory, length: usize) -> Result<()> {
        match (self, kind.class()) {
            (Self::NoOp, _) => {}
            (Self::Replace, _) => {
                let (datatype, count) = (Datatype::of_kind(kind), length as i64);
                copy((datatype, count, input), (datatype, count, inout))?;
            }
            (_, BasicKind::Pair { value, index, index_offset }) => {
                let places = location::Places { index_offset, extent: kind.row().extent };
                location::apply(self, (value, index), places, input, inout, length);
            }
            (_, class) => unreachable!("{self} on {class:?} is not allowed"),
        }
        Ok(())
    }

    /// What becomes of the bits of one element, for what counters and flags are combined with. Everything else is left to
    /// [`Operator::apply`].
    #[inline]
    pub(crate) fn of_bits(self, kind: Kind) -> Option<OfBits> {
        OF_BITS[kind.index()][self as usize]
    }

    const fn on_bits_of(self, class: BasicKind) -> Option<OfBits> {
        Some(match (self, class) {
            (Self::NoOp, _) => |_, before| before,
            (Self::Replace, _) => |new, _| new,
            (Self::Sum, BasicKind::Integer { .. }) => u64::wrapping_add,
            (Self::Sum, BasicKind::Float(FloatFormat::Double)) => {
                |a, b| (f64::from_bits(a) + f64::from_bits(b)).to_bits()
            }
            (Self::Band, BasicKind::Integer { .. }) => |a, b| a & b,
            (Self::Bor, BasicKind::Integer { .. }) => |a, b| a | b,
            (Self::Bxor, BasicKind::Integer { .. }) => |a, b| a ^ b,
            _ => return None,
        })
    }

    fn check(self, kind: Kind) -> Result<()> {
        if self.is_allowed(kind) {
            return Ok(());
        }
        Err(Error::new(
            MPI_ERR_OP,
            format!("{self} is not defined for {kind:?}; use MPI_Op_create for your own"),
        ))
    }
}

impl fmt::Display for Operator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = OPERATIONS.iter().find(|row| Self::from_handle(row.handle) == Some(*self));
        f.write_str(row.map_or("an operator", |row| row.name))
    }
}

impl Operation {
    /// Whether operands may be exchanged.
    #[must_use]
    pub fn is_commutative(&self) -> bool {
        match self {
            Self::Predefined(operator) => operator.is_commutative(),
            Self::User { commutative, .. } => *commutative,
        }
    }

    /// Whether this may be used on elements of `datatype`: predefined operators take predefined types only.
    ///
    /// # Errors
    /// `MPI_ERR_OP` if it may not.
    pub fn check(&self, datatype: &Datatype) -> Result<()> {
        match self {
            Self::User { .. } => Ok(()),
            Self::Predefined(operator) => operator.check(kind_of(*operator, datatype)?),
        }
    }

    /// The same for collective operations, which do not take `MPI_REPLACE` and `MPI_NO_OP`.
    ///
    /// # Errors
    /// `MPI_ERR_OP` if it may not.
    pub fn check_collective(&self, datatype: &Datatype) -> Result<()> {
        match self {
            Self::Predefined(operator) if !operator.is_collective() => {
                Err(Error::new(MPI_ERR_OP, format!("{operator} is for one-sided communication only")))
            }
            _ => self.check(datatype),
        }
    }

    /// Combines two arrays: `inout = input op inout`. The handle is passed on to a function of the program.
    ///
    /// # Errors
    /// `MPI_ERR_OP` if the operation is not defined for the datatype.
    pub fn apply(
        &self,
        datatype: &Datatype,
        handle: MPI_Datatype,
        input: UserMemory,
        inout: UserMemory,
        count: i64,
    ) -> Result<()> {
        match self {
            Self::Predefined(operator) => operator.apply(kind_of(*operator, datatype)?, input, inout, count),
            Self::User { function, .. } => {
                function(input, inout, count, handle);
                Ok(())
            }
        }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Predefined(operator) => write!(f, "{operator}"),
            Self::User { commutative, .. } => write!(f, "user function (commutative: {commutative})"),
        }
    }
}

fn kind_of(operator: Operator, datatype: &Datatype) -> Result<Kind> {
    datatype.predefined_kind().ok_or_else(|| {
        let detail =
            format!("{operator} takes predefined datatypes only; use MPI_Op_create for derived ones");
        Error::new(MPI_ERR_OP, detail)
    })
}

#[cfg(test)]
mod tests;
