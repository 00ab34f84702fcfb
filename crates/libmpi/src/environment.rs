//! Environmental management (MPI 5.0, chapters 9 and 11).

use core::ffi::{c_char, c_double, c_int};

use postrider_abi::*;
use postrider_engine::error::{Error, Result};
use postrider_engine::info::Info;
use postrider_os::memory::{OwnedMemory, UserMemory};

use crate::library::{self, Phase};
use crate::parse::{Memory, Out, TextOut};
use crate::tables::tables;
use crate::{info, instance};

/// What the standard calls the name and version of the library.
#[cfg(not(feature = "mpich"))]
const LIBRARY_VERSION: &str = concat!("Postrider ", env!("CARGO_PKG_VERSION"), ", MPI 5.0 standard ABI");
#[cfg(feature = "mpich")]
const LIBRARY_VERSION: &str = concat!("Postrider ", env!("CARGO_PKG_VERSION"), ", MPI 5.0 in MPICH's ABI");

anytime! {
    /// Section 11.2.1.
    MPI_Init (_argc: Out<c_int>, _argv: Out<Out<*mut c_char>>) {
        library::initialize(MPI_THREAD_SINGLE).map(drop)
    }

    /// Section 11.2.1.
    MPI_Init_thread (
        _argc: Out<c_int>, _argv: Out<Out<*mut c_char>>, required: c_int, provided: Out<c_int>
    ) {
        library::initialize(required).and_then(|level| provided.set(level))
    }

    /// Section 11.2.1.
    MPI_Initialized (flag: Out<c_int>) {
        flag.set(c_int::from(library::phase() != Phase::Before))
    }

    /// Section 11.2.3.
    MPI_Finalized (flag: Out<c_int>) {
        flag.set(c_int::from(library::phase() == Phase::After))
    }

    /// Section 9.1.1.
    MPI_Get_version (version: Out<c_int>, subversion: Out<c_int>) {
        version.set(MPI_VERSION).and_then(|()| subversion.set(MPI_SUBVERSION))
    }

    /// Section 9.1.1.
    MPI_Get_library_version (version: TextOut, resultlen: Out<c_int>) {
        let written = version.set(LIBRARY_VERSION, MPI_MAX_LIBRARY_VERSION_STRING);
        resultlen.set(written?)
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
        flag.set(c_int::from(library::is_main_thread()))
    }

    /// Section 9.1.2.
    MPI_Get_processor_name (name: TextOut, resultlen: Out<c_int>) {
        resultlen.set(name.set(&instance().facts().host, MPI_MAX_PROCESSOR_NAME)?)
    }

    /// Section 9.2: aligned as the hint `mpi_minimum_memory_alignment` asks for, or as for anything.
    MPI_Alloc_mem (size: MPI_Aint, info: MPI_Info, baseptr: Out<usize>) {
        let Ok(bytes) = usize::try_from(size) else {
            return Err(Error::new(MPI_ERR_ARG, format!("the size is {size}; it must not be negative")));
        };
        let alignment = alignment(&info::hints(info)?)?;
        let memory = bytes.checked_add(alignment).and_then(OwnedMemory::try_new);
        let Some(mut memory) = memory else {
            return Err(Error::new(MPI_ERR_NO_MEM, format!("there is no memory of {bytes} bytes")));
        };
        let address = UserMemory::of(&mut memory).address().next_multiple_of(alignment);
        tables().allocated.insert(address, memory);
        baseptr.set(address)
    }

    /// Section 9.2.
    MPI_Free_mem (base: Memory) {
        match tables().allocated.remove(&base.0) {
            None if base.0 != 0 => {
                Err(Error::new(MPI_ERR_BASE, "the address is none that MPI_Alloc_mem returned, or was freed"))
            }
            _ => Ok(()),
        }
    }

    /// Section 9.1.3: the types that `MPI_Comm_split_type` can be guided by. A process is on one host only.
    MPI_Get_hw_resource_info (hw_info: Out<MPI_Info>) {
        let mut found = Info::default();
        found.set("mpi_shared_memory", "true")?;
        hw_info.set(info::new_handle(found)?)
    }

    /// Section 15.2.4: nothing is profiled here, so nothing is to be controlled. Further arguments are ignored.
    MPI_Pcontrol (level: c_int) {
        let _ = level;
        Ok(())
    }
}

/// The alignment that the hint asks for: a power of two; that of the widest types without it.
pub fn alignment(hints: &Info) -> Result<usize> {
    const WIDEST: usize = 64;
    const KEY: &str = "mpi_minimum_memory_alignment";
    let Some(value) = hints.value(KEY).map(String::from_utf8_lossy) else { return Ok(WIDEST) };
    let wanted = value.parse().ok().filter(|wanted: &usize| wanted.is_power_of_two() && *wanted <= 1 << 30);
    wanted.map(|wanted| wanted.max(WIDEST)).ok_or_else(|| {
        Error::new(MPI_ERR_INFO_VALUE, format!("{KEY} is \"{value}\"; it must be a power of two"))
    })
}
