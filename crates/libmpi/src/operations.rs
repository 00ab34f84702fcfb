//! Reduction operations (MPI 5.0, section 6.9): those of the program, and reducing without communication.
//!
//! An operation of the program is kept as a function that `callbacks` has made callable. It may call MPI itself, for
//! instance `MPI_Type_size`, so nobody calls it with the engine's lock held.

use core::ffi::c_int;
use std::sync::Arc;

use postrider_abi::*;
use postrider_engine::error::{Error, Result};
use postrider_engine::operations::{Operation, Operator, UserFunction};

use crate::parse::{self, Memory, Out};
use crate::{callbacks, instance};

fn create(function: Option<UserFunction>, commute: c_int, op: Out<MPI_Op>) -> Result<()> {
    let Some(function) = function else {
        return Err(Error::new(MPI_ERR_ARG, "the function of the operation is a null pointer"));
    };
    let operation = Operation::User { function, commutative: commute != 0 };
    let key = instance().with(|state| state.operations.insert(operation))?;
    op.set(MPI_Op(parse::handle_of(key)))
}

mpi! {
    /// Section 6.9.5.
    MPI_Op_create (user_fn: MPI_User_function, commute: c_int, op: Out<MPI_Op>) {
        create(callbacks::operation(user_fn), commute, op)
    }

    /// Section 6.9.5.
    MPI_Op_create_c (user_fn: MPI_User_function_c, commute: c_int, op: Out<MPI_Op>) {
        create(callbacks::operation_c(user_fn), commute, op)
    }

    /// Section 6.9.5. Reductions that are under way have the function to themselves, so it can go at once.
    MPI_Op_free (op: Out<MPI_Op>) {
        let handle = op.get()?;
        if Operator::from_handle(handle).is_some() {
            return Err(Error::new(MPI_ERR_OP, "the operation is predefined; it cannot be freed"));
        }
        instance().with(|state| {
            parse::operation(state, handle)?;
            parse::key_of(handle.0).map_or(Ok(()), |key| state.operations.remove(key).map(drop))
        })?;
        op.set(MPI_OP_NULL)
    }

    /// Section 6.9.6.
    MPI_Op_commutative (op: MPI_Op, commute: Out<c_int>) {
        let operation = instance().with(|state| parse::operation(state, op))?;
        commute.set(c_int::from(operation.is_commutative()))
    }

    /// Section 6.9.7.
    MPI_Reduce_local / MPI_Reduce_local_c (
        inbuf: Memory, inoutbuf: Memory, count: Int, datatype: MPI_Datatype, op: MPI_Op
    ) {
        let count = i64::from(count);
        let (operation, elements) = instance().with(|state| {
            let operation = parse::operation(state, op)?;
            parse::buffer(state, inbuf, count, datatype)?;
            parse::buffer(state, inoutbuf, count, datatype)?;
            Ok((operation, Arc::clone(parse::committed(state, datatype)?)))
        })?;
        if inbuf == inoutbuf && count > 0 {
            return Err(Error::new(MPI_ERR_BUFFER, "the two operands are the same buffer"));
        }
        if let Operation::Predefined(operator) = operation && !operator.is_collective() {
            return Err(Error::new(MPI_ERR_OP, format!("{operator} is for one-sided communication only")));
        }
        operation.check(&elements)?;
        operation.apply(&elements, datatype, inbuf.user(), inoutbuf.user(), count)
    }
}
