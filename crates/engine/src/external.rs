//! Generalized requests (MPI 5.0, section 13.2): operations that the program itself carries out.
//!
//! The engine knows when such an operation is complete and hands the addresses of the program's callbacks on. It calls none of
//! them: they may call MPI, so whoever takes the end of a request calls them when the lock is given up.

use postrider_abi::MPI_ERR_REQUEST;

use crate::State;
use crate::error::{Error, Result};
use crate::objects::Key;
use crate::point_to_point::Work;

/// What the program gave to `MPI_Grequest_start`: addresses, which mean nothing here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Generalized {
    /// Tells the status of the complete operation.
    pub query: usize,
    /// Frees what the program keeps for the request.
    pub free: usize,
    /// Is told that the operation is to be cancelled.
    pub cancel: usize,
    /// What the callbacks get.
    pub extra_state: usize,
    /// Whether they are subroutines of Fortran.
    pub fortran: bool,
    /// The handle of the file that it accesses, if it does: that file's error handler gets its errors.
    pub file: Option<usize>,
}

impl State {
    /// Makes a generalized request, which is under way (`MPI_Grequest_start`).
    ///
    /// # Errors
    /// When there are too many requests.
    pub fn start_generalized(&mut self, callbacks: Generalized) -> Result<Key> {
        self.insert_request(Self::SELF, Work::Generalized { callbacks: Box::new(callbacks), complete: false })
    }

    /// Says that the operation is complete (`MPI_Grequest_complete`). The callbacks are returned when the user has freed the
    /// request meanwhile: then it is gone, and the free callback is to be called.
    ///
    /// # Errors
    /// When there is no such request, when it is of another kind, or complete already.
    pub fn complete_generalized(&mut self, key: Key) -> Result<Option<Generalized>> {
        let request = self.requests.get_mut(key)?;
        let orphan = request.orphan;
        let callbacks = match &mut request.work {
            Work::Generalized { callbacks, complete } if !*complete => {
                *complete = true;
                **callbacks
            }
            Work::Generalized { .. } => {
                return Err(Error::new(MPI_ERR_REQUEST, "the generalized request is complete already"));
            }
            _ => return Err(Error::new(MPI_ERR_REQUEST, "the request is not a generalized one")),
        };
        self.completions = self.completions.wrapping_add(1);
        if orphan {
            self.requests.remove(key)?;
        }
        Ok(orphan.then_some(callbacks))
    }

    /// Says that the callbacks of a generalized request are subroutines of Fortran.
    ///
    /// # Errors
    /// When there is no such request.
    pub fn set_fortran(&mut self, key: Key) -> Result<()> {
        if let Work::Generalized { callbacks, .. } = &mut self.requests.get_mut(key)?.work {
            callbacks.fortran = true;
        }
        Ok(())
    }

    /// Says that a generalized request accesses a file.
    ///
    /// # Errors
    /// When there is no such request.
    pub fn note_file(&mut self, key: Key, file: usize) -> Result<()> {
        if let Work::Generalized { callbacks, .. } = &mut self.requests.get_mut(key)?.work {
            callbacks.file = Some(file);
        }
        Ok(())
    }

    /// The callbacks of a generalized request, and whether it is complete; none for any other request.
    ///
    /// # Errors
    /// When there is no such request.
    pub fn generalized(&self, key: Key) -> Result<Option<(Generalized, bool)>> {
        Ok(match &self.requests.get(key)?.work {
            Work::Generalized { callbacks, complete } => Some((**callbacks, *complete)),
            _ => None,
        })
    }
}
