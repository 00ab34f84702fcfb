//! Error handlers of files (section 9.3.3).
//!
//! The other library makes the handles, for it frees them, and this one remembers which function each of them stands for.

use core::ffi::c_int;
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use postrider_abi::*;
use postrider_io::arguments::Out;
use postrider_io::error::{Error, Result};
use postrider_io::file;
use postrider_io::mpi;

use crate::other_abi;

/// What is done with an error.
#[derive(Clone, Copy, Debug)]
enum Handler {
    /// One of the predefined ones.
    Predefined(MPI_Errhandler),
    /// A function of the program.
    User(MPI_File_errhandler_function),
}

/// What is remembered.
struct Memory {
    /// Functions of handles.
    functions: BTreeMap<MPI_Errhandler, MPI_File_errhandler_function>,
    /// Error handlers of open files, and of `MPI_FILE_NULL`.
    files: BTreeMap<MPI_File, Handler>,
}

static MEMORY: Mutex<Memory> = Mutex::new(Memory { functions: BTreeMap::new(), files: BTreeMap::new() });

fn memory() -> MutexGuard<'static, Memory> {
    MEMORY.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The file whose error handler gets an error.
#[derive(Clone, Copy, Debug)]
pub struct Object(MPI_File);

impl From<MPI_File> for Object {
    fn from(file: MPI_File) -> Self {
        Self(file)
    }
}

impl From<Out<MPI_File>> for Object {
    fn from(place: Out<MPI_File>) -> Self {
        Self(place.get().unwrap_or(MPI_FILE_NULL))
    }
}

impl Memory {
    /// The error handler of a file; that of `MPI_FILE_NULL` for handles that are none.
    fn of(&self, file: MPI_File) -> Handler {
        let found = self.files.get(&file).or_else(|| self.files.get(&MPI_FILE_NULL));
        found.copied().unwrap_or(Handler::Predefined(MPI_ERRORS_RETURN))
    }
}

/// Gives a new file the error handler of `MPI_FILE_NULL`.
pub fn opened(file: MPI_File) {
    let mut memory = memory();
    let default = memory.of(MPI_FILE_NULL);
    memory.files.insert(file, default);
}

/// Forgets the error handler of a file that has been closed.
pub fn closed(file: MPI_File) {
    memory().files.remove(&file);
}

/// Whether threads beside the program may call the library.
pub fn threads_may_meet() -> Result<bool> {
    Ok(mpi()?.threads_may_meet()?)
}

/// The other library knows since it was initialized.
pub fn let_threads_meet() {}

/// The other library completes requests, and applies the error handler that it has for them.
pub fn started(_file: MPI_File, _request: MPI_Request) {}

/// Applies the error handler of a file, and returns the error code.
pub fn raise(name: &str, object: Object, error: Error) -> c_int {
    let mut error = file::named(error, object.0);
    error.detail = format!("{name}: {}", error.detail);
    let code = error.code();
    apply(object, code, &error.detail);
    code
}

/// Applies the error handler of a file to an error code; `text` is what it says.
fn apply(Object(file): Object, code: c_int, text: &str) {
    let handler = memory().of(file);
    match handler {
        Handler::Predefined(MPI_ERRORS_RETURN) | Handler::User(None) => {}
        Handler::Predefined(_) => end(text),
        Handler::User(Some(function)) => {
            let (mut file, mut code) = (file, code);
            // SAFETY: the program gave this function as an error handler of files.
            unsafe { function(&raw mut file, &raw mut code) };
        }
    }
}

/// How long a process waits between its last words and the end of the job: MPICH's launcher ends at once then, and what it has not read is lost (in a fifth of all
/// jobs, on a machine that does nothing else).
const UNTIL_READ: Duration = Duration::from_millis(200);

/// Ends the job with a message.
fn end(text: &str) {
    let rank =
        mpi().and_then(|mpi| Ok(mpi.world().rank()?)).map_or(String::new(), |rank| format!("rank {rank}: "));
    let line = format!("postrider: {rank}{text}\n");
    let _nobody_reads_it = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
    std::thread::sleep(UNTIL_READ);
    mpi().map_or_else(|_| std::process::abort(), |mpi| mpi.abort(1));
}

fn set(file: MPI_File, handle: MPI_Errhandler) -> Result<()> {
    let mut memory = memory();
    let handler = match handle {
        MPI_ERRORS_RETURN | MPI_ERRORS_ABORT | MPI_ERRORS_ARE_FATAL => Handler::Predefined(handle),
        _ => match memory.functions.get(&handle) {
            Some(function) => Handler::User(*function),
            None => return Err(Error::new(MPI_ERR_ERRHANDLER, "the handle is no error handler of files")),
        },
    };
    memory.files.insert(file, handler);
    Ok(())
}

fn get(file: MPI_File) -> Result<MPI_Errhandler> {
    let handler = memory().of(file);
    match handler {
        Handler::Predefined(handle) => Ok(handle),
        Handler::User(function) => create(function),
    }
}

fn create(function: MPI_File_errhandler_function) -> Result<MPI_Errhandler> {
    let handle = mpi()?.new_file_error_handler(function)?;
    memory().functions.insert(handle, function);
    Ok(handle)
}

/// Whether a handle names a file, or none.
fn check(file: MPI_File) -> Result<()> {
    if file == MPI_FILE_NULL { Ok(()) } else { file::find(file).map(drop) }
}

/// Exports functions.
macro_rules! export {
    ($($name:ident ($($argument:ident : $type:ty),*) on $object:expr, $body:block)*) => {
        $(
            // SAFETY: the name is MPI's, and to take its place is what this library is for.
            #[unsafe(no_mangle)]
            #[allow(non_snake_case)]
            extern "C" fn $name($($argument: $type),*) -> c_int {
                type Function = extern "C" fn($($type),*) -> c_int;
                if let Some(other) = other_abi::function::<Function>(stringify!($name)) {
                    return other($($argument),*);
                }
                crate::call(stringify!($name), Object($object), || $body)
            }
        )*
    };
}

export! {
    MPI_File_create_errhandler (function: MPI_File_errhandler_function, errhandler: Out<MPI_Errhandler>) on MPI_FILE_NULL, {
        errhandler.set(create(function)?)
    }

    MPI_Errhandler_free (errhandler: Out<MPI_Errhandler>) on MPI_FILE_NULL, {
        let handle = errhandler.get()?;
        // Another kind of error handler may get this handle next. Files have the function itself.
        memory().functions.remove(&handle);
        errhandler.set(mpi()?.free_error_handler(handle)?)
    }

    MPI_File_set_errhandler (file: MPI_File, errhandler: MPI_Errhandler) on file, {
        check(file)?;
        set(file, errhandler)
    }

    MPI_File_get_errhandler (file: MPI_File, errhandler: Out<MPI_Errhandler>) on file, {
        check(file)?;
        errhandler.set(get(file)?)
    }

    MPI_File_call_errhandler (file: MPI_File, code: c_int) on file, {
        check(file)?;
        let text = mpi()?.error_string(code)?;
        apply(Object(file), code, &format!("MPI_File_call_errhandler: {text}"));
        Ok(())
    }
}
