//! Environmental management (MPI 5.0, chapters 9 and 11).

use core::ffi::{c_char, c_double, c_int};

use postrider_abi::*;

use crate::errors::{self, Object};
use crate::instance;
use crate::library::{self, Phase};
use crate::parse::{Out, TextOut};

/// The functions that may be called before `MPI_Init` and after `MPI_Finalize` do not go through `mpi!`.
macro_rules! anytime {
    ($($(#[doc = $doc:literal])* $name:ident ($($argument:ident : $type:ty),* $(,)?) -> $result:ty $body:block)*) => {
        $(
            $(#[doc = $doc])*
            // SAFETY: the name is MPI's, and names that begin with MPI_ belong to this library.
            #[allow(unsafe_code, non_snake_case)]
            #[unsafe(no_mangle)]
            extern "C" fn $name($($argument: $type),*) -> $result $body
        )*
    };
}

/// What the standard calls the name and version of the library.
const LIBRARY_VERSION: &str = concat!("Postrider ", env!("CARGO_PKG_VERSION"), ", MPI 5.0 standard ABI");

/// The return code of a call that may come before initialization: errors cannot be handled, so they are fatal.
fn or_fatal(name: &str, result: postrider_engine::error::Result<()>) -> c_int {
    match result {
        Ok(()) => MPI_SUCCESS,
        Err(error) if library::phase() == Phase::Active => errors::raise(name, Object::default(), &error),
        Err(error) => library::abort_with(1, &format!("{name}: {}", error.detail)),
    }
}

anytime! {
    /// Section 11.2.1.
    MPI_Init (_argc: Out<c_int>, _argv: Out<Out<*mut c_char>>) -> c_int {
        or_fatal("MPI_Init", library::initialize(MPI_THREAD_SINGLE).map(drop))
    }

    /// Section 11.2.1.
    MPI_Init_thread (
        _argc: Out<c_int>, _argv: Out<Out<*mut c_char>>, required: c_int, provided: Out<c_int>
    ) -> c_int {
        or_fatal("MPI_Init_thread", library::initialize(required).and_then(|level| provided.set(level)))
    }

    /// Section 11.2.1.
    MPI_Initialized (flag: Out<c_int>) -> c_int {
        or_fatal("MPI_Initialized", flag.set(c_int::from(library::phase() != Phase::Before)))
    }

    /// Section 11.2.3.
    MPI_Finalized (flag: Out<c_int>) -> c_int {
        or_fatal("MPI_Finalized", flag.set(c_int::from(library::phase() == Phase::After)))
    }

    /// Section 9.1.1.
    MPI_Get_version (version: Out<c_int>, subversion: Out<c_int>) -> c_int {
        or_fatal("MPI_Get_version", version.set(MPI_VERSION).and_then(|()| subversion.set(MPI_SUBVERSION)))
    }

    /// Section 9.1.1.
    MPI_Get_library_version (version: TextOut, resultlen: Out<c_int>) -> c_int {
        let written = version.set(LIBRARY_VERSION, MPI_MAX_LIBRARY_VERSION_STRING);
        or_fatal("MPI_Get_library_version", written.and_then(|length| resultlen.set(length)))
    }

    /// Section 9.6: seconds since some time in the past, the same for all processes of a host.
    MPI_Wtime () -> c_double {
        postrider_os::clock::seconds()
    }

    /// Section 9.6.
    MPI_Wtick () -> c_double {
        postrider_os::clock::RESOLUTION_SECONDS
    }

    /// Section 4.1.6.
    MPI_Aint_add (base: MPI_Aint, disp: MPI_Aint) -> MPI_Aint {
        base.wrapping_add(disp)
    }

    /// Section 4.1.6.
    MPI_Aint_diff (addr1: MPI_Aint, addr2: MPI_Aint) -> MPI_Aint {
        addr1.wrapping_sub(addr2)
    }
}

mpi! {
    /// Section 11.2.2.
    MPI_Finalize () {
        library::finalize()
    }

    /// Section 11.4: the whole job is ended, whatever the communicator.
    MPI_Abort (comm: MPI_Comm, errorcode: c_int) {
        let _ = comm;
        library::abort_with(errorcode, &format!("MPI_Abort was called with code {errorcode}"))
    }

    /// Section 11.2.1.
    MPI_Query_thread (provided: Out<c_int>) {
        provided.set(library::active().map_or(MPI_THREAD_SINGLE, |library| library.thread_level))
    }

    /// Section 11.2.1.
    MPI_Is_thread_main (flag: Out<c_int>) {
        let main = library::active().is_some_and(|library| library.main_thread == std::thread::current().id());
        flag.set(c_int::from(main))
    }

    /// Section 9.1.2.
    MPI_Get_processor_name (name: TextOut, resultlen: Out<c_int>) {
        resultlen.set(name.set(&instance().facts().host, MPI_MAX_PROCESSOR_NAME)?)
    }
}
