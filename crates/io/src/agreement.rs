//! Agreement between the processes of a file: a collective call fails at all of them or at none.

use postrider_abi::{MPI_ERR_NOT_SAME, MPI_SUCCESS};
use postrider_client::Communicator;

use crate::error::{Error, Result};

/// The result of this process, if no process has failed.
///
/// # Errors
/// That of this process, or the class of the first one that has failed.
pub fn agree<T>(communicator: Communicator, result: Result<T>) -> Result<T> {
    agree_on(communicator, 0, "", result)
}

/// The same, where `value` has to be the same at all processes.
///
/// # Errors
/// As [`agree`], and `MPI_ERR_NOT_SAME`.
pub fn agree_on<T>(communicator: Communicator, value: i64, what: &str, result: Result<T>) -> Result<T> {
    let class = result.as_ref().map_or_else(|error| error.class, |_| MPI_SUCCESS);
    let all = communicator.all_gather([i64::from(class), value])?;
    let mine = result?;
    if let Some((rank, [class, _])) = all.iter().enumerate().find(|(_, [class, _])| *class != 0) {
        return Err(Error::at_another(rank, *class as i32));
    }
    if all.iter().any(|[_, other]| *other != value) {
        let detail = format!("{what} must be the same at all processes, and is {value} here");
        return Err(Error::new(MPI_ERR_NOT_SAME, detail));
    }
    Ok(mine)
}
