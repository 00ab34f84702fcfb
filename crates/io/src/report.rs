//! That files are served by this crate, and not by the library that the program runs on, for whoever asks (`POSTRIDER_IO_REPORT=1`): one line
//! of process 0 when it opens its first file.

use std::path::Path;
use std::sync::Once;

use postrider_client::Mpi;

use crate::error::Result;

const VARIABLE: &str = "POSTRIDER_IO_REPORT";

/// A process has opened a file, with so many others.
///
/// # Errors
/// What MPI returns.
pub fn opened(mpi: Mpi, path: &Path, processes: i32) -> Result<()> {
    static FIRST: Once = Once::new();
    if std::env::var_os(VARIABLE).is_none_or(|value| value.is_empty() || value == "0")
        || mpi.world().rank()? != 0
    {
        return Ok(());
    }
    let (ours, library) = (env!("CARGO_PKG_VERSION"), mpi.version()?);
    FIRST.call_once(|| {
        let path = path.display();
        eprintln!("postrider: files are served by Postrider {ours}, over {library}; the first is {path}, with {processes} processes");
    });
    Ok(())
}
