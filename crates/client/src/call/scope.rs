//! Which of the libraries in this process is MPI, and whether it has the ABI that this code is compiled for.
//!
//! Functions are looked up in that library alone, and not in the whole process: layers that are loaded before it have functions of
//! the same names. It is the one that contains this code, or else the first in the scope of the process, or else one that was loaded without
//! putting its names there, as language bindings do.

use core::ffi::{CStr, c_int, c_void};
use std::ffi::CString;
use std::mem::MaybeUninit;

use postrider_abi::MPI_ABI_VERSION;

use crate::{Error, Result};

/// A name that every MPI library has, and a layer before it has not.
const INIT: &str = "PMPI_Init";

/// The names under which MPI libraries of any ABI are loaded.
const LIBRARIES: [&CStr; 4] = [c"libmpi_abi.so.1", c"libmpi.so.12", c"libmpich.so.12", c"libmpi.so.40"];

/// The MPI library, as the loader knows it.
pub struct Scope {
    handle: *mut c_void,
    /// Whether this code is part of it.
    pub contains_this: bool,
}

/// A file that the loader has mapped.
struct Object {
    start: *mut c_void,
    path: CString,
}

impl Object {
    /// The one that an address lies in.
    fn around(address: *const c_void) -> Option<Self> {
        let mut found = MaybeUninit::<libc::Dl_info>::zeroed();
        // SAFETY: any address, and a place for the result, which is valid as zeros too; the path that is found is that of an object
        // which is loaded.
        unsafe {
            if libc::dladdr(address, found.as_mut_ptr()) == 0 {
                return None;
            }
            let found = found.assume_init();
            let path = CStr::from_ptr(found.dli_fname).to_owned();
            Some(Self { start: found.dli_fbase, path })
        }
    }
}

/// A handle of a library, if it is loaded; null otherwise.
fn loaded(name: &CStr) -> *mut c_void {
    // SAFETY: NOLOAD loads nothing.
    unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_LAZY | libc::RTLD_NOLOAD) }
}

fn look(scope: *mut c_void, name: &str) -> Option<*mut c_void> {
    let text = CString::new(name).ok()?;
    // SAFETY: a handle of the loader's, or one of its constants, and a NUL-terminated name.
    let found = unsafe { libc::dlsym(scope, text.as_ptr()) };
    (!found.is_null()).then_some(found)
}

/// Loads a library for as long as this process lives, and says whether that could be done.
pub fn load(path: &CStr) -> bool {
    // SAFETY: a NUL-terminated path; what the library does when it is loaded is its own.
    !unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_GLOBAL) }.is_null()
}

/// What comes after this library under this name, in the order in which the loader searches; null if nothing does.
pub fn loaded_after(name: &CStr) -> *mut c_void {
    // SAFETY: a NUL-terminated name.
    unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) }
}

impl Scope {
    /// The MPI library in this process.
    pub fn find() -> Result<Self> {
        let here: fn() -> Result<Self> = Self::find;
        let this = Object::around(here as *const c_void);
        let own = this.as_ref().map(|this| loaded(&this.path)).filter(|own| !own.is_null());
        let by_name = LIBRARIES.iter().map(|name| loaded(name)).filter(|library| !library.is_null());
        let places = own.into_iter().chain([libc::RTLD_DEFAULT]).chain(by_name);
        let init = places.into_iter().find_map(|place| look(place, INIT)).ok_or(Error::NoLibrary(INIT))?;
        let Some(found) = Object::around(init) else { return Err(Error::NoLibrary(INIT)) };
        // A program that contains its MPI library has no handle of its own.
        let scope = Self {
            handle: loaded(&found.path),
            contains_this: this.is_some_and(|this| this.start == found.start),
        };
        if scope.contains_this || scope.has_this_abi() {
            return Ok(scope);
        }
        Err(Error::OtherAbi(found.path.to_string_lossy().into_owned()))
    }

    /// The address of a function.
    pub fn address(&self, name: &'static str) -> Result<*mut c_void> {
        look(self.handle, name).ok_or(Error::NoLibrary(name))
    }

    /// Whether the library has the ABI of these types (section 20.3.1). One that cannot be asked has an older one: MPICH's, unless it is Open MPI,
    /// whose predefined handles have names of their own.
    fn has_this_abi(&self) -> bool {
        let (mut version, mut minor) = (-1, -1);
        if let Some(ask) = look(self.handle, "PMPI_Abi_get_version") {
            type Ask = unsafe extern "C" fn(*mut c_int, *mut c_int) -> c_int;
            // SAFETY: the function of this name has this type, and may be called at any time; places for the results.
            unsafe { core::mem::transmute::<*mut c_void, Ask>(ask)(&raw mut version, &raw mut minor) };
        }
        version == MPI_ABI_VERSION && (version > 0 || look(self.handle, "ompi_mpi_comm_world").is_none())
    }
}
