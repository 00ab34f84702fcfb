//! The functions in whose place ours work: those of the next library that has their names.

pub use postrider_os::next::Next;

/// The next function of this name, which has not been looked up.
macro_rules! next_of {
    ($name:ident) => {
        $crate::next::Next::new(
            match core::ffi::CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                Ok(name) => name,
                Err(_) => panic!("a name without an end"),
            },
        )
    };
}
pub(crate) use next_of;

/// The next function of a name, as a function with this type, which whoever asks says it has.
macro_rules! next {
    ($name:ident: fn($($type:ty),* $(,)?) -> $result:ty) => {{
        static NEXT: $crate::next::Next = $crate::next::next_of!($name);
        NEXT.get::<unsafe extern "C" fn($($type),*) -> $result>()
    }};
}
pub(crate) use next;
