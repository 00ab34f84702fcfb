//! The `mpi!` macro: from one short function, the exported C function, and its large-count twin where there is one.
//!
//! ```text
//! mpi! {
//!     /// Section 3.2.1.
//!     MPI_Send / MPI_Send_c (buf: Memory, count: Int, datatype: MPI_Datatype, dest: c_int, tag: c_int, comm: MPI_Comm)
//!         on comm
//!     {
//!         …                                           // of type Result<()>
//!     }
//! }
//! ```
//!
//! `Int` and `Address` are `int` and `MPI_Aint` in the first function and `MPI_Count` in the twin; `Displacement` is `int`
//! and `MPI_Aint`; the body is compiled for
//! both, so it turns them into `i64` by `i64::from` or the functions of `parse`. `on` names the object whose error handler
//! gets an error; without it that is `MPI_COMM_SELF`'s. The `PMPI_` names are made by the linker, at the same addresses.

/// The types that differ between a function and its large-count twin: here, those of the function.
pub mod small {
    /// A count.
    pub type Int = core::ffi::c_int;
    /// An address, or a displacement in bytes.
    pub type Address = isize;
    /// A displacement of a block in a collective call.
    pub type Displacement = core::ffi::c_int;
}

/// The types that differ between a function and its large-count twin: here, those of the twin.
pub mod large {
    /// A count.
    pub type Int = postrider_abi::MPI_Count;
    /// An address, or a displacement in bytes.
    pub type Address = postrider_abi::MPI_Count;
    /// A displacement of a block in a collective call: `MPI_Aint`, which is as wide as `MPI_Count`.
    pub type Displacement = postrider_abi::MPI_Count;
    const _: () = assert!(size_of::<Displacement>() == size_of::<postrider_abi::MPI_Aint>());
}

macro_rules! mpi {
    () => {};
    (
        $(#[doc = $doc:literal])*
        $name:ident / $twin:ident ($($argument:ident : $type:ty),* $(,)?) $(on $object:ident)? $body:block
        $($rest:tt)*
    ) => {
        mpi! { @one small $(#[doc = $doc])* $name ($($argument : $type),*) $(on $object)? $body }
        mpi! { @one large $(#[doc = $doc])* $twin ($($argument : $type),*) $(on $object)? $body }
        mpi! { $($rest)* }
    };
    (
        $(#[doc = $doc:literal])*
        $name:ident ($($argument:ident : $type:ty),* $(,)?) $(on $object:ident)? $body:block
        $($rest:tt)*
    ) => {
        mpi! { @one small $(#[doc = $doc])* $name ($($argument : $type),*) $(on $object)? $body }
        mpi! { $($rest)* }
    };
    (
        @one $width:ident $(#[doc = $doc:literal])*
        $name:ident ($($argument:ident : $type:ty),*) $(on $object:ident)? $body:block
    ) => {
        const _: () = {
            #[allow(unused_imports)]
            use $crate::mpi_macro::$width::{Address, Displacement, Int};

            $(#[doc = $doc])*
            // SAFETY: the name is MPI's, and names that begin with MPI_ belong to this library.
            #[allow(unsafe_code, non_snake_case, clippy::too_many_arguments, clippy::useless_conversion)]
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) -> core::ffi::c_int {
                const CALL: postrider_os::job::CallName = postrider_os::job::CallName::new(stringify!($name));
                let objects: &[$crate::errors::Object] = &[$($crate::errors::Object::from($object))?];
                let object = objects.first().copied().unwrap_or_default();
                $crate::errors::call(CALL, stringify!($name), object, || $body)
            }
        };
    };
}

/// The functions that may be called before `MPI_Init` and after `MPI_Finalize` (section 11.4.1): as `mpi!`, without the twins
/// and without an object; or, with a return type, the C function as it is.
macro_rules! anytime {
    () => {};
    (
        $(#[doc = $doc:literal])*
        $name:ident ($($argument:ident : $type:ty),* $(,)?) -> $result:ty $body:block
        $($rest:tt)*
    ) => {
        $(#[doc = $doc])*
        // SAFETY: the name is MPI's, and names that begin with MPI_ belong to this library.
        #[allow(unsafe_code, non_snake_case)]
        #[unsafe(no_mangle)]
        extern "C" fn $name($($argument: $type),*) -> $result $body
        anytime! { $($rest)* }
    };
    (
        $(#[doc = $doc:literal])*
        $name:ident ($($argument:ident : $type:ty),* $(,)?) $body:block
        $($rest:tt)*
    ) => {
        anytime! {
            $(#[doc = $doc])*
            $name ($($argument: $type),*) -> core::ffi::c_int {
                const CALL: postrider_os::job::CallName = postrider_os::job::CallName::new(stringify!($name));
                $crate::errors::call_anytime(CALL, stringify!($name), || $body)
            }
        }
        anytime! { $($rest)* }
    };
}
