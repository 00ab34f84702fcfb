//! The functions in whose place ours work: those of the next library that has their names.

use core::ffi::{CStr, c_char, c_void};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// The address of the next function of a name; remembered in `known`.
pub fn address(name: &CStr, known: &AtomicUsize) -> usize {
    let found = known.load(Relaxed);
    if found != 0 {
        return found;
    }
    // SAFETY: a NUL-terminated name.
    let found = unsafe { libc::dlsym(libc::RTLD_NEXT, name.as_ptr()) } as usize;
    if found == 0 {
        let name = name.to_string_lossy();
        let line =
            format!("postrider: {name} is called, but no library behind libpostrider_overlap.so has it\n");
        let _nobody_reads_it = std::io::Write::write_all(&mut std::io::stderr(), line.as_bytes());
        std::process::abort();
    }
    known.store(found, Relaxed);
    found
}

/// Whether an address belongs to a file whose name begins in one of these ways.
pub fn is_in(address: usize, names: &[&str]) -> bool {
    let mut found = core::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    // SAFETY: any address, and a place for the result, which is valid as zeros too; the path is that of an object that is loaded.
    unsafe {
        if libc::dladdr(address as *const c_void, found.as_mut_ptr()) == 0 {
            return false;
        }
        let path: *const c_char = found.assume_init().dli_fname;
        let path = CStr::from_ptr(path).to_string_lossy();
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        names.iter().any(|start| name.starts_with(start))
    }
}

/// The next function of a name, with its type.
macro_rules! next {
    ($name:literal as $type:ty) => {{
        static KNOWN: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);
        let address = $crate::next::address($name, &KNOWN);
        // SAFETY: the function of this name has this type.
        unsafe { core::mem::transmute::<usize, $type>(address) }
    }};
}
pub(crate) use next;
