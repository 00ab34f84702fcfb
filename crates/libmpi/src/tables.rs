//! What belongs to the process and not to the instance: info objects, error codes, error handlers, allocated memory, ports,
//! and jobs that were spawned.
//!
//! The functions on the first three may be called before `MPI_Init` and after `MPI_Finalize` (MPI 5.0, section 11.4.1), when
//! there is no instance. This lock is taken last: whoever holds it takes no other, and calls nothing of the user's.

use std::collections::BTreeMap;
use std::process::Child;
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};

use postrider_abi::{MPI_ERR_ERRHANDLER, MPI_ERR_INFO, MPI_ERR_LASTCODE};
use postrider_engine::environment::{ErrorCodes, ErrorHandler, Handler};
use postrider_engine::error::Result;
use postrider_engine::info::Info;
use postrider_engine::objects::Table;
use postrider_os::memory::OwnedMemory;
use postrider_os::port::{Port, Published};

/// The tables.
#[derive(Debug)]
pub struct Tables {
    /// Info objects, by key.
    pub infos: Table<Info>,
    /// Error handlers of users, by key.
    pub error_handlers: Table<ErrorHandler>,
    /// Whether the program has given `MPI_COMM_SELF` an error handler.
    pub self_has_handler: bool,
    /// Error classes and codes of users.
    pub error_codes: ErrorCodes,
    /// What the program has said of its Fortran compiler (`MPI_Abi_set_fortran_info`).
    pub fortran: Option<Info>,
    /// How that compiler represents `.TRUE.` and `.FALSE.` (`MPI_Abi_set_fortran_booleans`).
    pub fortran_booleans: Option<[Vec<u8>; 2]>,
    /// What `MPI_Alloc_mem` gave out, by address.
    pub allocated: BTreeMap<usize, OwnedMemory>,
    /// Open ports.
    pub ports: Vec<Arc<Port>>,
    /// Names that this process has published.
    pub published: Vec<Published>,
    /// Launchers of jobs that this process has spawned.
    pub spawned: Vec<Child>,
}

static TABLES: LazyLock<Mutex<Tables>> = LazyLock::new(|| {
    Mutex::new(Tables {
        infos: Table::new(MPI_ERR_INFO, "info object"),
        error_handlers: Table::new(MPI_ERR_ERRHANDLER, "error handler"),
        self_has_handler: false,
        error_codes: ErrorCodes::default(),
        fortran: None,
        fortran_booleans: None,
        allocated: BTreeMap::new(),
        ports: Vec::new(),
        published: Vec::new(),
        spawned: Vec::new(),
    })
});

/// The attribute `MPI_LASTUSEDCODE`: programs keep its address.
pub static LAST_USED_CODE: AtomicI32 = AtomicI32::new(MPI_ERR_LASTCODE);

/// The tables, locked.
pub fn tables() -> MutexGuard<'static, Tables> {
    TABLES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tables {
    /// Changes the error codes, and lets `MPI_LASTUSEDCODE` follow.
    ///
    /// # Errors
    /// Those of `change`.
    pub fn change_codes<T>(&mut self, change: impl FnOnce(&mut ErrorCodes) -> Result<T>) -> Result<T> {
        let result = change(&mut self.error_codes);
        LAST_USED_CODE.store(self.error_codes.last_used(), Ordering::Relaxed);
        result
    }

    /// One more object, or the user, has the error handler.
    ///
    /// # Errors
    /// When there is no such error handler.
    pub fn retain(&mut self, handler: Handler) -> Result<()> {
        if let Handler::User(key) = handler {
            self.error_handlers.get_mut(key)?.uses += 1;
        }
        Ok(())
    }

    /// One object less, or no more the user, has the error handler.
    ///
    /// # Errors
    /// When there is no such error handler.
    pub fn release(&mut self, handler: Handler) -> Result<()> {
        if let Handler::User(key) = handler {
            let found = self.error_handlers.get_mut(key)?;
            found.uses -= 1;
            if found.uses == 0 {
                self.error_handlers.remove(key)?;
            }
        }
        Ok(())
    }
}
