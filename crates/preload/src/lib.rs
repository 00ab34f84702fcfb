//! `libpostrider_io.so`: MPI-IO for programs that run on another MPI library.
//!
//! `LD_PRELOAD=libpostrider_io.so mpiexec …` has the program's calls of the I/O chapter served by the crate `io`, over
//! whatever library the program runs on. This file exports them; `handlers` has the error handlers of files, which the
//! other library cannot apply to files that it does not know. It is built for each ABI, and with both loaded each program is served by its
//! own (`other_abi`).
#![deny(unsafe_code)]

#[allow(unsafe_code)]
mod handlers;
#[allow(unsafe_code)]
mod other_abi;

use core::ffi::c_int;

use postrider_abi::*;
use postrider_io::arguments::{AnyDatatype, ExtraState, Memory, NameOut, Out, StatusOut, Text};
use postrider_io::error::{Error, Result};
use postrider_io::transfer::Direction::{Read, Write};
use postrider_io::transfer::Manner::{Alone, Together};
use postrider_io::transfer::Position::{At, Individual, Shared};

use handlers::{Object, closed, let_threads_meet, opened, started, threads_may_meet};

/// The types that differ between a function and its large-count twin: here, those of the function.
mod small {
    pub type Int = core::ffi::c_int;
    pub type Address = postrider_abi::MPI_Aint;
}

/// The types that differ between a function and its large-count twin: here, those of the twin.
mod large {
    pub type Int = postrider_abi::MPI_Count;
    pub type Address = postrider_abi::MPI_Count;
}

/// What is checked of an argument here, since the other library would apply the error handler of another object.
trait Argument {
    fn check(&self) -> Result<()> {
        Ok(())
    }
}

/// Null handles are refused.
macro_rules! not_null {
    ($($handle:ident $null:ident $class:ident)*) => {
        $(
            impl Argument for $handle {
                fn check(&self) -> Result<()> {
                    if *self != $null && self.0 != 0 {
                        return Ok(());
                    }
                    Err(Error::new($class, concat!("an argument is ", stringify!($null))))
                }
            }
        )*
    };
}

not_null! {
    MPI_Comm MPI_COMM_NULL MPI_ERR_COMM
    MPI_Datatype MPI_DATATYPE_NULL MPI_ERR_TYPE
}

impl Argument for AnyDatatype {
    fn check(&self) -> Result<()> {
        self.0.check()
    }
}

impl Argument for MPI_Info {}
postrider_io::plain_arguments! { Argument }

/// Runs the body of a function, and applies the error handler.
fn call(name: &str, object: Object, body: impl FnOnce() -> Result<()>) -> c_int {
    match body() {
        Ok(()) => MPI_SUCCESS,
        Err(error) => handlers::raise(name, object, error),
    }
}

/// Exports a function, and its twin.
macro_rules! one {
    ($name:ident / $twin:ident ($($argument:ident : $type:ty),*) on $object:ident $body:block) => {
        one! { @small $name ($($argument: $type),*) on $object $body }
        one! { @large $twin ($($argument: $type),*) on $object $body }
    };
    ($name:ident ($($argument:ident : $type:ty),*) on $object:ident $body:block) => {
        one! { @small $name ($($argument: $type),*) on $object $body }
    };
    (@$width:ident $name:ident ($($argument:ident : $type:ty),*) on $object:ident $body:block) => {
        const _: () = {
            #[allow(unused_imports)]
            use $crate::$width::{Address, Int};

            // SAFETY: the name is MPI's, and to take its place is what this library is for.
            #[allow(unsafe_code, non_snake_case, clippy::too_many_arguments, clippy::useless_conversion)]
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) -> c_int {
                type Function = extern "C" fn($($type),*) -> c_int;
                if let Some(other) = other_abi::function::<Function>(stringify!($name)) {
                    return other($($argument),*);
                }
                call(stringify!($name), Object::from($object), || {
                    $(Argument::check(&$argument)?;)*
                    $body
                })
            }
        };
    };
}

/// Exports the functions.
macro_rules! export {
    ($(
        $(#[doc = $doc:literal])*
        $name:ident $(/ $twin:ident)? ($($argument:ident : $type:ty),* $(,)?) on $object:ident $body:block
    )*) => {
        $(one! { $name $(/ $twin)? ($($argument: $type),*) on $object $body })*
    };
}

postrider_io::file_functions! { export }

// SAFETY: the names are MPI's, as above. Handles of files are small numbers, the same in both ABIs.
#[allow(unsafe_code, non_snake_case)]
#[unsafe(no_mangle)]
extern "C" fn MPI_File_toint(file: MPI_File) -> c_int {
    file.0.to_int()
}

// SAFETY: as above.
#[allow(unsafe_code, non_snake_case)]
#[unsafe(no_mangle)]
extern "C" fn MPI_File_fromint(file: c_int) -> MPI_File {
    MPI_File(Bits::from_int(file))
}
