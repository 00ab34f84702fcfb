//! Calls with their C arguments: what the functions of `functions` have in common.

use postrider_abi::{MPI_File, MPI_Request};

use crate::arguments::{self, Data, Out, StatusOut};
use crate::error::Result;
use crate::file;
use crate::transfer::{Direction, Manner, Position};

/// A blocking access.
///
/// # Errors
/// Those of the arguments, of the system, and if it is done together of other processes.
pub fn transfer(
    fh: MPI_File,
    way: (Direction, Position, Manner),
    data: Data,
    status: StatusOut,
) -> Result<()> {
    let (direction, position, manner) = way;
    let bytes = file::find(fh)?.transfer(direction, position, manner, arguments::buffer(data)?)?;
    status.set(bytes)
}

/// A nonblocking access; `started` hears of the request before the program does, and `let_threads_meet` before there are threads beside the
/// program that call MPI.
///
/// # Errors
/// Those of the arguments.
pub fn start(
    fh: MPI_File,
    way: (Direction, Position, Manner),
    data: Data,
    (request, started, let_threads_meet): (
        Out<MPI_Request>,
        impl FnOnce(MPI_File, MPI_Request),
        impl FnOnce(),
    ),
) -> Result<()> {
    request.check()?;
    let made = file::find(fh)?.start(way, arguments::buffer(data)?, let_threads_meet)?;
    started(fh, made);
    request.set(made)
}

/// The beginning of a split collective access.
///
/// # Errors
/// As [`transfer`].
pub fn begin(fh: MPI_File, name: &'static str, way: (Direction, Position), data: Data) -> Result<()> {
    file::find(fh)?.begin(name, way, arguments::buffer(data)?)
}

/// The end of a split collective access.
///
/// # Errors
/// When another one has begun, or none.
pub fn end(fh: MPI_File, name: &str, status: StatusOut) -> Result<()> {
    status.set(file::find(fh)?.end(name)?)
}
