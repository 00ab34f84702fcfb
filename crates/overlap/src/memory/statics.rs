//! Static data of the program: the writable part of its executable, behind what the loader has closed to writing. Arrays stand beside other
//! variables there, so that a page at the end of one may have some. Whoever touches these completes what is pending, as whoever touches the array does.
//! Variables of other libraries that the loader has put there (copy relocations) may be touched by threads of those, which would have to wait: their
//! pages are left alone, but for the standard streams, which nobody uses behind the program's back.

use std::ffi::{CStr, c_char, c_void};
use std::sync::OnceLock;

use super::Range;

/// A page of the system's large ones.
const HUGE: usize = 2 << 20;
/// Static data beyond this gets no large pages, since a program may leave much of it untouched.
const HUGE_MAX: usize = 1 << 30;

#[derive(Debug, Default)]
struct Statics {
    /// All of it.
    data: Option<Range>,
    /// Variables of libraries.
    foreign: Vec<Range>,
}

static STATICS: OnceLock<Statics> = OnceLock::new();

/// The pages in which static data lies, if the layer may close them.
pub fn around(range: Range) -> Option<Range> {
    let statics = STATICS.get_or_init(find);
    let pages = range.pages();
    let may = statics.data?.contains(pages) && !statics.foreign.iter().any(|other| other.meets(pages));
    may.then_some(pages)
}

/// Looks where static data is, before the program touches it.
pub fn start() {
    let Some(data) = STATICS.get_or_init(find).data else { return };
    let first = data.start.next_multiple_of(HUGE);
    if let Some(bytes) = (data.end() / HUGE * HUGE).checked_sub(first)
        && (HUGE..HUGE_MAX).contains(&bytes)
    {
        // SAFETY: advice changes nothing that the program sees.
        unsafe { libc::madvise(first as *mut c_void, bytes, libc::MADV_HUGEPAGE) };
    }
}

/// The static data of the executable; nothing where it has an allocator of its own, which libraries use in threads of theirs.
fn find() -> Statics {
    let mut found = Statics::default();
    let mut base = 0_usize;
    // SAFETY: the function below, and the places that it gets, which nobody else uses meanwhile. The first object is the executable.
    unsafe {
        let mut places = (&raw mut found, &raw mut base);
        libc::dl_iterate_phdr(Some(first_object), (&raw mut places).cast());
        let mut owner: libc::Dl_info = std::mem::zeroed();
        let malloc = libc::dlsym(libc::RTLD_DEFAULT, c"malloc".as_ptr());
        if libc::dladdr(malloc, &raw mut owner) == 0 || owner.dli_fbase as usize == base {
            return Statics::default();
        }
    }
    found
}

/// Takes what it needs of the description of the first object.
unsafe extern "C" fn first_object(object: *mut libc::dl_phdr_info, _: usize, places: *mut c_void) -> i32 {
    // SAFETY: the loader's description of an object that is loaded, and the places that `find` gives.
    unsafe {
        let (found, base) = *places.cast::<(*mut Statics, *mut usize)>();
        let object = &*object;
        let start = object.dlpi_addr as usize;
        let parts = std::slice::from_raw_parts(object.dlpi_phdr, object.dlpi_phnum.into());
        let range = |part: &libc::Elf64_Phdr| Range {
            start: start + part.p_vaddr as usize,
            bytes: part.p_memsz as usize,
        };
        let writable =
            |part: &&libc::Elf64_Phdr| part.p_type == libc::PT_LOAD && part.p_flags & libc::PF_W != 0;
        let first = parts.iter().find(|part| part.p_type == libc::PT_LOAD);
        *base = first.map_or(0, |part| range(part).start);
        let closed = parts.iter().find(|part| part.p_type == libc::PT_GNU_RELRO).map(range);
        (*found).data = parts.iter().rfind(writable).map(range).map(|data| {
            let first = closed.map_or(data.start, |closed| closed.end().max(data.start));
            let first = first.next_multiple_of(4096);
            Range { start: first, bytes: data.pages().end().saturating_sub(first) }
        });
        if let Some(dynamic) = parts.iter().find(|part| part.p_type == libc::PT_DYNAMIC) {
            (*found).foreign = copied(range(dynamic), start);
        }
    }
    1
}

/// The variables that copy relocations have put into an object.
///
/// # Safety
/// The dynamic section of an object that is loaded at `start`.
unsafe fn copied(dynamic: Range, start: usize) -> Vec<Range> {
    const DT_STRTAB: u64 = 5;
    const DT_SYMTAB: u64 = 6;
    const DT_RELA: u64 = 7;
    const DT_RELASZ: u64 = 8;
    const COPY: u32 = if cfg!(target_arch = "aarch64") { 1024 } else { 5 };
    let count = dynamic.bytes / size_of::<[u64; 2]>();
    // SAFETY: as the object says; the loader has turned these addresses into such in memory.
    unsafe {
        let entries = std::slice::from_raw_parts(dynamic.start as *const [u64; 2], count);
        let value = |tag: u64| entries.iter().find(|entry| entry[0] == tag).map(|entry| entry[1] as usize);
        let (Some(names), Some(symbols), Some(relocations), Some(bytes)) =
            (value(DT_STRTAB), value(DT_SYMTAB), value(DT_RELA), value(DT_RELASZ))
        else {
            return Vec::new();
        };
        let relocations = std::slice::from_raw_parts(
            relocations as *const libc::Elf64_Rela,
            bytes / size_of::<libc::Elf64_Rela>(),
        );
        let copies = relocations.iter().filter(|relocation| relocation.r_info as u32 == COPY);
        let foreign = copies.filter_map(|relocation| {
            let symbol = &*(symbols as *const libc::Elf64_Sym).add((relocation.r_info >> 32) as usize);
            let name = CStr::from_ptr((names as *const c_char).add(symbol.st_name as usize));
            let range = Range { start: start + relocation.r_offset as usize, bytes: symbol.st_size as usize };
            (![c"stdin", c"stdout", c"stderr"].contains(&name)).then_some(range)
        });
        foreign.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU8;
    use std::sync::atomic::Ordering::Relaxed;

    static DATA: [AtomicU8; 1 << 16] = [const { AtomicU8::new(0) }; 1 << 16];

    #[test]
    fn static_data_is_known_and_nothing_else() {
        DATA[5].store(1, Relaxed);
        let data = Range { start: DATA.as_ptr() as usize, bytes: DATA.len() };
        assert_eq!(around(data), Some(data.pages()));
        assert_eq!(around(Range { bytes: 1 << 40, ..data }), None);
        let (local, boxed) = ([0_u8; 64], vec![0_u8; 64]);
        for other in [&raw const local as usize, boxed.as_ptr() as usize, around as *const () as usize] {
            assert_eq!(around(Range { start: other, bytes: 64 }), None);
        }
        start();
        assert_eq!(DATA[5].load(Relaxed), 1);
    }
}
