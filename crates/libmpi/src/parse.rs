//! From C arguments to the engine's, and back: the conversions that every MPI function is made of.
//!
//! Pointers are taken as transparent types ([`Memory`], [`In`], [`Out`], [`Text`], …), so that a function's C signature is
//! already its description, and the files of the chapters need no unsafe code. What stands behind a pointer is the
//! caller's promise, as in every C interface; null where the standard wants something is an error of class
//! `MPI_ERR_ARG` (or the one that the standard names). Handles are checked: null, freed and foreign ones are refused.

use core::ffi::{CStr, c_char, c_int};
use std::sync::Arc;

use postrider_abi::predefined::DATATYPES;
use postrider_abi::*;
use postrider_engine::State;
use postrider_engine::communicators::Group;
use postrider_engine::datatypes::Datatype;
use postrider_engine::error::{Error, Result};
use postrider_engine::objects::Key;
use postrider_engine::one_sided::Run;
use postrider_engine::operations::{Operation, Operator};
use postrider_engine::point_to_point::{Buffer, Message, Short, Status};
use postrider_os::gate::Threads;
use postrider_os::memory::UserMemory;

/// The bits of the handle of a dynamic object.
#[inline]
pub fn handle_of<B: Bits>(key: Key) -> B {
    B::of_key(key.0)
}

/// The key that the bits of a dynamic handle stand for.
#[inline]
pub fn key_of(handle: impl Bits) -> Option<Key> {
    handle.key().map(Key)
}

/// What a thread level says of calls: below `MPI_THREAD_MULTIPLE` they never overlap.
pub fn threads(level: c_int) -> Threads {
    if level == MPI_THREAD_MULTIPLE {
        return Threads::MEET;
    }
    // SAFETY: by initializing with this level the program promises it (section 11.6).
    unsafe { Threads::never_meet() }
}

/// A buffer argument: `void *` or `const void *`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory(pub usize);

impl Memory {
    /// The place itself.
    #[inline]
    pub fn user(self) -> UserMemory {
        // SAFETY: the caller of the MPI function promises what the standard demands of a buffer argument.
        unsafe { UserMemory::new(self.0) }
    }

    /// Whether it is `MPI_IN_PLACE`.
    #[inline]
    pub fn is_in_place(self) -> bool {
        self.0 == MPI_IN_PLACE
    }
}

/// An output argument: a pointer to one value.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Out<T>(pub *mut T);

impl<T: Copy> Out<T> {
    /// Writes the value.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    #[inline]
    pub fn set(self, value: T) -> Result<()> {
        self.check()?;
        // SAFETY: not null, and the caller promises that it points to a value of this type.
        unsafe { self.0.write_unaligned(value) };
        Ok(())
    }

    /// Checks that there is a place for the value, before anything is done that only the value tells of.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    #[inline]
    pub fn check(self) -> Result<()> {
        if self.0.is_null() {
            return Err(Error::new(MPI_ERR_ARG, "an output argument is a null pointer"));
        }
        Ok(())
    }

    /// Reads the value: of an argument that goes both ways.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    #[inline]
    pub fn get(self) -> Result<T> {
        if self.0.is_null() {
            return Err(Error::new(MPI_ERR_ARG, "an in-out argument is a null pointer"));
        }
        // SAFETY: as in `set`.
        Ok(unsafe { self.0.read_unaligned() })
    }

    /// Writes element `index` of an array argument.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    #[inline]
    pub fn set_at(self, index: usize, value: T) -> Result<()> {
        if self.0.is_null() {
            return Err(Error::new(MPI_ERR_ARG, "an output array is a null pointer"));
        }
        // SAFETY: not null, and the caller promises an array that is long enough.
        unsafe { self.0.add(index).write_unaligned(value) };
        Ok(())
    }

    /// Reads `count` elements of an array argument that goes both ways.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer with a count.
    pub fn get_all(self, count: usize) -> Result<Vec<T>> {
        In(self.0.cast_const()).all(count)
    }
}

impl<T: Copy + TryFrom<i64>> Out<T> {
    /// Writes a number, or `MPI_UNDEFINED` where there is none or it does not fit.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn set_number(self, number: Option<i64>) -> Result<()> {
        let number = number.and_then(|number| T::try_from(number).ok());
        let Some(number) = number.or_else(|| T::try_from(i64::from(MPI_UNDEFINED)).ok()) else {
            unreachable!("MPI_UNDEFINED fits every type of a number that MPI returns");
        };
        self.set(number)
    }
}

/// An array argument that is only read.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct In<T>(pub *const T);

impl<T: Copy> In<T> {
    /// The `count` elements.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer with a count.
    pub fn all(self, count: usize) -> Result<Vec<T>> {
        if count == 0 {
            return Ok(Vec::new());
        }
        if self.0.is_null() {
            return Err(Error::new(MPI_ERR_ARG, "an input array is a null pointer"));
        }
        // SAFETY: not null, and the caller promises an array that is long enough.
        Ok((0..count).map(|index| unsafe { self.0.add(index).read_unaligned() }).collect())
    }
}

impl<T> In<T> {
    /// Where the array is, for the engine.
    pub fn user(self) -> UserMemory {
        Memory(self.0 as usize).user()
    }
}

impl<T: Copy + TryInto<i64>> In<T> {
    /// The `count` elements, as wide numbers.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer with a count.
    pub fn wide(self, count: usize) -> Result<Vec<i64>> {
        self.all(count)?.into_iter().map(wide).collect()
    }
}

/// A count, address or displacement, as a wide number.
///
/// # Errors
/// `MPI_ERR_ARG` if it does not fit, which cannot be where an address has at most 64 bits.
pub fn wide<T: TryInto<i64>>(number: T) -> Result<i64> {
    number.try_into().map_err(|_| Error::new(MPI_ERR_ARG, "a number does not fit 64 bits"))
}

/// A C string argument.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Text(pub *const c_char);

impl Text {
    /// The bytes: strings of C have no encoding, and go back to the program as they came.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn get(self) -> Result<Vec<u8>> {
        if self.0.is_null() {
            return Err(Error::new(MPI_ERR_ARG, "a string argument is a null pointer"));
        }
        // SAFETY: not null, and the caller promises a string with its final NUL.
        Ok(unsafe { CStr::from_ptr(self.0) }.to_bytes().to_owned())
    }

    /// The text, to be shown to people or compared with names that this library gives, which are ASCII: what is not UTF-8 is replaced.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn shown(self) -> Result<String> {
        self.get().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// An argument of C strings that ends with a null pointer, as that of `main` does; null is an empty one.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct Words(pub *const *const c_char);

impl Words {
    /// The strings.
    pub fn get(self) -> Vec<Vec<u8>> {
        if self.0.is_null() {
            return Vec::new();
        }
        // SAFETY: not null, and the caller promises strings with their final NUL, and a null pointer after the last.
        let word = |index| unsafe {
            let word = self.0.add(index).read_unaligned();
            (!word.is_null()).then(|| CStr::from_ptr(word).to_bytes().to_vec())
        };
        (0..).map_while(word).collect()
    }
}

/// An output string argument.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct TextOut(pub *mut c_char);

impl TextOut {
    /// Writes as much of the text as fits in `room` characters with the final NUL, and returns its length.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn set(self, text: impl AsRef<[u8]>, room: usize) -> Result<c_int> {
        let text = text.as_ref();
        if self.0.is_null() {
            return Err(Error::new(MPI_ERR_ARG, "an output string is a null pointer"));
        }
        let length = text.len().min(room.saturating_sub(1));
        if room > 0 {
            // SAFETY: not null, and the caller promises room for `room` characters.
            unsafe {
                self.0.copy_from(text.as_ptr().cast(), length);
                self.0.add(length).write(0);
            }
        }
        Ok(length as c_int)
    }
}

/// A status argument, or an array of them, or `MPI_STATUS_IGNORE` or `MPI_STATUSES_IGNORE`.
#[repr(transparent)]
#[derive(Clone, Copy, Debug)]
pub struct StatusOut(pub *mut MPI_Status);

impl StatusOut {
    /// Whether nobody wants it. A null pointer is taken for that, too, in an ABI where it is not.
    #[inline]
    fn is_ignored(self) -> bool {
        self.0.is_null() || self.0.addr() == MPI_STATUS_IGNORE
    }

    /// Writes status `index` of the array; the error field only if `error` is given.
    #[inline]
    pub fn set_at(self, index: usize, status: &Status, error: Option<c_int>) {
        if self.is_ignored() {
            return;
        }
        // SAFETY: not `MPI_STATUS_IGNORE`, so the caller promises a status, or an array of enough.
        unsafe {
            let place = self.0.add(index);
            (*place).MPI_SOURCE = status.source;
            (*place).MPI_TAG = status.tag;
            (*place).set_bytes(status.bytes);
            (*place).set_cancelled(status.cancelled);
            if let Some(error) = error {
                (*place).MPI_ERROR = error;
            }
        }
    }

    /// Writes the status.
    #[inline]
    pub fn set(self, status: &Status) {
        self.set_at(0, status, None);
    }

    /// Writes the empty status, which section 3.7.3 defines together with its error field.
    pub fn set_empty(self) {
        self.set_at(0, &Status::EMPTY, Some(MPI_SUCCESS));
    }

    /// Reads and writes the status in place.
    ///
    /// # Errors
    /// `MPI_ERR_ARG` for a null pointer.
    pub fn update(self, change: impl FnOnce(&mut MPI_Status)) -> Result<()> {
        if self.is_ignored() {
            return Err(Error::new(MPI_ERR_ARG, "the status is MPI_STATUS_IGNORE"));
        }
        // SAFETY: not null, and the caller promises a status.
        change(unsafe { &mut *self.0 });
        Ok(())
    }
}

/// What a status that the program has written says.
pub fn status(status: &MPI_Status) -> Status {
    Status {
        source: status.MPI_SOURCE,
        tag: status.MPI_TAG,
        bytes: status.bytes(),
        cancelled: status.is_cancelled(),
    }
}

/// A count: not negative.
///
/// # Errors
/// `MPI_ERR_COUNT`.
#[inline]
pub fn count(count: i64) -> Result<i64> {
    if count < 0 {
        return Err(Error::new(MPI_ERR_COUNT, format!("the count is {count}; it must not be negative")));
    }
    Ok(count)
}

/// The length of an array argument: not negative.
///
/// # Errors
/// `MPI_ERR_ARG`.
pub fn length(length: i64, what: &str) -> Result<usize> {
    usize::try_from(length)
        .map_err(|_| Error::new(MPI_ERR_ARG, format!("{what} is {length}; it must not be negative")))
}

/// A communicator.
///
/// # Errors
/// `MPI_ERR_COMM` for `MPI_COMM_NULL` and handles that are none.
#[inline]
pub fn communicator(handle: MPI_Comm) -> Result<Key> {
    match handle {
        MPI_COMM_WORLD => Ok(State::WORLD),
        MPI_COMM_SELF => Ok(State::SELF),
        MPI_COMM_NULL => Err(Error::new(MPI_ERR_COMM, "the communicator is MPI_COMM_NULL")),
        MPI_Comm(number) => {
            key_of(number).ok_or_else(|| Error::new(MPI_ERR_COMM, "the handle is no communicator"))
        }
    }
}

/// A session.
///
/// # Errors
/// `MPI_ERR_SESSION` for `MPI_SESSION_NULL` and handles that are none.
pub fn session(handle: MPI_Session) -> Result<Key> {
    key_of(handle.0).ok_or_else(|| {
        Error::new(MPI_ERR_SESSION, "the session is MPI_SESSION_NULL, or the handle is no session")
    })
}

/// The handle of a communicator.
pub fn communicator_handle(key: Key) -> MPI_Comm {
    match key {
        State::WORLD => MPI_COMM_WORLD,
        State::SELF => MPI_COMM_SELF,
        key => MPI_Comm(handle_of(key)),
    }
}

/// A window.
///
/// # Errors
/// `MPI_ERR_WIN` for `MPI_WIN_NULL` and handles that are none.
#[inline]
pub fn window(handle: MPI_Win) -> Result<Key> {
    key_of(handle.0).ok_or_else(|| {
        let what =
            if handle == MPI_WIN_NULL { "the window is MPI_WIN_NULL" } else { "the handle is no window" };
        Error::new(MPI_ERR_WIN, what)
    })
}

/// The handle of a window.
pub fn window_handle(key: Key) -> MPI_Win {
    MPI_Win(handle_of(key))
}

/// A datatype, committed or not.
///
/// # Errors
/// `MPI_ERR_TYPE` for `MPI_DATATYPE_NULL` and handles that are none.
#[inline]
pub fn datatype(state: &State, handle: MPI_Datatype) -> Result<&Arc<Datatype>> {
    if let Some(datatype) = Datatype::predefined(handle) {
        return Ok(datatype);
    }
    match key_of(handle.0) {
        Some(key) => Ok(&state.datatypes.get(key)?.datatype),
        None if handle == MPI_DATATYPE_NULL => {
            Err(Error::new(MPI_ERR_TYPE, "the datatype is MPI_DATATYPE_NULL"))
        }
        None => Err(Error::new(MPI_ERR_TYPE, "the handle is no datatype, or one that is not supported here")),
    }
}

/// A datatype to communicate with: committed.
///
/// # Errors
/// As [`datatype`], and when it is not committed.
#[inline]
pub fn committed(state: &State, handle: MPI_Datatype) -> Result<&Arc<Datatype>> {
    let datatype = datatype(state, handle)?;
    if !datatype.is_committed() {
        return Err(Error::new(MPI_ERR_TYPE, "the datatype is not committed (MPI_Type_commit)"));
    }
    Ok(datatype)
}

/// The data that buffer, count and datatype name.
///
/// # Errors
/// Count negative, datatype unusable, or a null buffer with data (`MPI_ERR_BUFFER`).
#[inline(always)]
pub fn buffer(state: &State, memory: Memory, elements: i64, handle: MPI_Datatype) -> Result<Buffer> {
    match plain_bytes(memory, elements, handle) {
        Some(bytes) => Ok(Buffer::dense(memory.user(), bytes)),
        None => any_buffer(state, memory, elements, handle),
    }
}

fn any_buffer(state: &State, memory: Memory, elements: i64, handle: MPI_Datatype) -> Result<Buffer> {
    let elements = count(elements)?;
    let datatype = committed(state, handle)?;
    if datatype.size().checked_mul(elements).is_none() {
        let detail = format!("{elements} elements are more bytes than there are addresses");
        return Err(Error::new(MPI_ERR_COUNT, detail));
    }
    if memory.is_in_place() {
        return Err(Error::new(
            MPI_ERR_BUFFER,
            "MPI_IN_PLACE is no buffer here; only collective calls know it",
        ));
    }
    let made = Buffer::new(memory.user(), elements, datatype);
    // MPI_BOTTOM is a null pointer too: with it the datatype holds the addresses, which are far from zero.
    if memory.0 == MPI_BOTTOM && made.bytes() > 0 && datatype.true_lb() == 0 {
        return Err(Error::new(MPI_ERR_BUFFER, "the buffer is a null pointer"));
    }
    Ok(made)
}

/// Sizes of the predefined datatypes without gaps, by the slots of their handles; 0 for all others.
const BASIC_BYTES: [u8; 256] = basic_bytes();

const fn basic_bytes() -> [u8; 256] {
    let (mut sizes, mut i) = ([0; 256], 0);
    while i < DATATYPES.len() {
        let row = &DATATYPES[i];
        if row.size == row.extent
            && let Some(slot) = datatype_slot(row.handle)
        {
            sizes[slot as usize] = row.size as u8;
        }
        i += 1;
    }
    sizes
}

/// The bytes of `elements` of a predefined datatype without gaps; none where anything else has to be looked at.
#[inline]
fn plain_elements(elements: i64, handle: MPI_Datatype) -> Option<u64> {
    let size = BASIC_BYTES[usize::from(datatype_slot(handle)?)];
    let plain = size != 0 && elements >= 0;
    plain.then(|| (elements as u64).checked_mul(u64::from(size)))?.filter(|&bytes| bytes <= i64::MAX as u64)
}

/// The same, with the memory where they are.
#[inline]
fn plain_bytes(memory: Memory, elements: i64, handle: MPI_Datatype) -> Option<u64> {
    somewhere(memory).and_then(|_| plain_elements(elements, handle))
}

/// The memory, if it begins at an address.
#[inline(always)]
fn somewhere(memory: Memory) -> Option<UserMemory> {
    (memory.0 != MPI_BOTTOM && !memory.is_in_place()).then(|| memory.user())
}

/// Memory of this process, as address, count and datatype.
pub type Data = (Memory, i64, MPI_Datatype);
/// Memory of a target in a window: rank, displacement, count, datatype.
pub type Place = (c_int, MPI_Aint, i64, MPI_Datatype);

/// Plain bytes here and as many at a target, for the engine's short way; none when anything about them is unusual.
#[inline(always)]
pub fn run(
    win: MPI_Win,
    data: &Data,
    &(rank, displacement, count, datatype): &Place,
) -> Option<(Run, UserMemory)> {
    let bytes = plain_elements(count, datatype)?;
    let (window, displacement) = (key_of(win.0)?, displacement as i64);
    let run = Run { window, rank, displacement, bytes };
    // Nearly always the same is said on both sides, and need not be understood twice.
    let here = match *data {
        (memory, elements, handle) if (elements, handle) == (count, datatype) => somewhere(memory)?,
        _ => as_plain(&run, data)?,
    };
    Some((run, here))
}

/// Where plain bytes are, if they are as many as those at a target.
#[inline(always)]
pub fn as_plain(run: &Run, &(memory, elements, handle): &Data) -> Option<UserMemory> {
    (plain_bytes(memory, elements, handle)? == run.bytes).then(|| memory.user())
}

/// A send or a receive of plain bytes, for the engine's short way; none when anything about it is unusual.
#[inline]
pub fn short(
    (memory, elements, handle): (Memory, i64, MPI_Datatype),
    peer: c_int,
    tag: c_int,
    on: MPI_Comm,
) -> Option<Short> {
    let bytes = plain_bytes(memory, elements, handle)?;
    let communicator = match on {
        MPI_COMM_WORLD => State::WORLD,
        MPI_Comm(number) => key_of(number)?,
    };
    Some(Short { memory: memory.user(), bytes, peer, tag, communicator })
}

/// The arguments of a send or receive.
///
/// # Errors
/// As [`buffer`] and [`communicator`].
#[inline]
pub fn message(
    state: &State,
    (memory, elements, handle): (Memory, i64, MPI_Datatype),
    peer: c_int,
    tag: c_int,
    on: MPI_Comm,
) -> Result<Message> {
    let communicator = communicator(on)?;
    state.communicators.get(communicator)?;
    Ok(Message { buffer: buffer(state, memory, elements, handle)?, peer, tag, communicator })
}

/// A request; none for `MPI_REQUEST_NULL`.
///
/// # Errors
/// `MPI_ERR_REQUEST`.
#[inline]
pub fn request(handle: MPI_Request) -> Result<Option<Key>> {
    if handle == MPI_REQUEST_NULL {
        return Ok(None);
    }
    key_of(handle.0).map(Some).ok_or_else(|| Error::new(MPI_ERR_REQUEST, "the handle is no request"))
}

/// The handle of a request.
#[inline]
pub fn request_handle(key: Key) -> MPI_Request {
    MPI_Request(handle_of(key))
}

/// A group.
///
/// # Errors
/// `MPI_ERR_GROUP` for `MPI_GROUP_NULL` and handles that are none.
pub fn group(state: &State, handle: MPI_Group) -> Result<Arc<Group>> {
    if handle == MPI_GROUP_EMPTY {
        return Ok(Arc::new(Group::empty()));
    }
    match key_of(handle.0) {
        Some(key) => state.groups.get(key).cloned(),
        None => Err(Error::new(MPI_ERR_GROUP, "the group is MPI_GROUP_NULL, or the handle is no group")),
    }
}

/// The handle of a new group object.
///
/// # Errors
/// When there are too many.
pub fn group_handle(state: &mut State, group: Group) -> Result<MPI_Group> {
    if group.is_empty() {
        return Ok(MPI_GROUP_EMPTY);
    }
    Ok(MPI_Group(handle_of(state.groups.insert(Arc::new(group))?)))
}

/// An operation.
///
/// # Errors
/// `MPI_ERR_OP` for `MPI_OP_NULL` and handles that are none.
#[inline(always)]
pub fn operation(state: &State, handle: MPI_Op) -> Result<Operation> {
    match Operator::from_handle(handle) {
        Some(operator) => Ok(Operation::Predefined(operator)),
        None => users_operation(state, handle),
    }
}

fn users_operation(state: &State, handle: MPI_Op) -> Result<Operation> {
    match key_of(handle.0) {
        Some(key) => state.operations.get(key).cloned(),
        None => Err(Error::new(MPI_ERR_OP, "the operation is MPI_OP_NULL, or the handle is no operation")),
    }
}

/// The key of an info object; none for `MPI_INFO_NULL`.
///
/// # Errors
/// `MPI_ERR_INFO` for handles that are none.
pub fn info(handle: MPI_Info) -> Result<Option<Key>> {
    if handle == MPI_INFO_NULL {
        return Ok(None);
    }
    key_of(handle.0).map(Some).ok_or_else(|| Error::new(MPI_ERR_INFO, "the handle is no info object"))
}
