//! A shelf: what a process has for several others of its host to read, in shared memory.
//!
//! Each process of a host has one, of [`TRAYS`] trays. A message for several processes is written into a tray once, and each of
//! them is told by a packet in its ring where it lies. Who writes what, and in which order:
//!
//! - Only the shelf's owner fills a tray, and only while its number of readers is zero ([`Tray::is_free`], an acquire: the last
//!   reader is done). It writes the bytes, then the number of readers ([`Tray::lay_out`]), then the packets, whose words are stored with
//!   release and loaded with acquire.
//! - A reader that has its packet copies the bytes out and takes itself off the number ([`Tray::give_back`], a release). Readers come
//!   in any order; each of these subtractions continues the one before, so that whoever loads zero sees all of them.
//! - The owner takes off those for whom there was no room in their rings: they get the message in another way.
//!
//! Nobody waits for a tray. An owner that finds none sends each receiver a packet of its own, so that no reader, however late,
//! keeps anybody from going on. This is why there is no bell here, and why a few trays are enough.

use crate::sync::AtomicU32;
use crate::sync::Ordering::{Acquire, Relaxed, Release};

/// Trays of a shelf.
pub const TRAYS: usize = 4;
/// Bytes that a tray holds.
pub const TRAY_BYTES: usize = 64 << 10;

/// Where the parts of a shelf are in it.
#[cfg(not(loom))]
pub(crate) mod layout {
    use super::{TRAY_BYTES, TRAYS};

    /// Bytes between the numbers of readers of two trays: these do not share an adjacent pair of lines.
    const NUMBER_BYTES: usize = 128;
    /// Bytes in front of the trays: a page, as trays begin at one.
    const HEADER_BYTES: usize = 4096;
    /// Bytes of a shelf.
    pub const SHELF_BYTES: usize = HEADER_BYTES + TRAYS * TRAY_BYTES;

    /// Where the number of readers of tray `index` is.
    pub const fn readers(index: usize) -> usize {
        index * NUMBER_BYTES
    }

    /// Where the bytes of tray `index` are.
    pub const fn bytes(index: usize) -> usize {
        HEADER_BYTES + index * TRAY_BYTES
    }
}

/// The right to a tray's bytes.
#[derive(Clone, Copy, Debug)]
pub struct Tray<'a> {
    readers: &'a AtomicU32,
}

impl<'a> Tray<'a> {
    /// The tray whose number of readers is this word, which starts as zero.
    #[must_use]
    pub fn new(readers: &'a AtomicU32) -> Self {
        Self { readers }
    }

    /// Whether the owner may fill it.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.readers.load(Acquire) == 0
    }

    /// Hands the filled tray to so many readers, who do not know of it yet (the owner).
    pub fn lay_out(&self, readers: u32) {
        self.readers.store(readers, Relaxed);
    }

    /// So many readers need it no longer.
    pub fn give_back(&self, readers: u32) {
        self.readers.fetch_add(readers.wrapping_neg(), Release);
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::cell::UnsafeCell;
    use loom::sync::Arc;
    use loom::thread;

    use super::*;

    /// A tray of one number, and for each of two readers the place of a packet: what was laid out, or zero.
    #[derive(Debug)]
    struct Shared {
        readers: AtomicU32,
        number: UnsafeCell<u32>,
        packets: [AtomicU32; 2],
    }

    impl Shared {
        fn tray(&self) -> Tray<'_> {
            Tray::new(&self.readers)
        }

        /// Fills the tray for the first `readers` readers.
        fn fill(&self, number: u32, readers: usize) {
            // SAFETY: loom checks that nobody else touches the tray at the same time.
            self.number.with_mut(|place| unsafe { *place = number });
            self.tray().lay_out(2);
            for packet in &self.packets[..readers] {
                packet.store(number, Release);
            }
            if readers < 2 {
                self.tray().give_back(2 - readers as u32);
            }
        }

        /// Reads what lies there after `before`, once it has been told of it.
        fn read(&self, reader: usize, before: u32) -> u32 {
            let mut told = self.packets[reader].load(Acquire);
            while told == before {
                thread::yield_now();
                told = self.packets[reader].load(Acquire);
            }
            // SAFETY: loom checks that nobody writes the tray at the same time.
            let number = self.number.with(|place| unsafe { *place });
            assert_eq!(number, told, "a tray was changed under its reader");
            self.tray().give_back(1);
            number
        }
    }

    fn shared() -> Arc<Shared> {
        let packets = [(); 2].map(|()| AtomicU32::new(0));
        Arc::new(Shared { readers: AtomicU32::new(0), number: UnsafeCell::new(0), packets })
    }

    #[test]
    fn loom_a_tray_is_filled_again_only_when_all_have_read_it() {
        loom::model(|| {
            let shared = shared();
            shared.fill(1, 2);
            let readers = [0, 1].map(|reader| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || assert_eq!(shared.read(reader, 0), 1))
            });
            // As soon as it is free, and no sooner; a message that finds no tray takes another way.
            for _ in 0..2 {
                if shared.tray().is_free() {
                    shared.fill(2, 2);
                    break;
                }
            }
            for reader in readers {
                reader.join().unwrap();
            }
        });
    }

    #[test]
    fn loom_a_reader_that_is_not_told_is_not_waited_for() {
        loom::model(|| {
            let shared = shared();
            let theirs = Arc::clone(&shared);
            let reader = thread::spawn(move || theirs.read(0, 0));
            shared.fill(1, 1);
            while !shared.tray().is_free() {
                thread::yield_now();
            }
            // SAFETY: loom checks that the reader is done.
            shared.number.with_mut(|place| unsafe { *place = 2 });
            assert_eq!(reader.join().unwrap(), 1);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_tray_is_free_when_its_last_reader_is_done() {
        let word = AtomicU32::new(0);
        let tray = Tray::new(&word);
        assert!(tray.is_free());
        tray.lay_out(3);
        tray.give_back(1);
        assert!(!tray.is_free());
        tray.give_back(2);
        assert!(tray.is_free());
    }

    #[test]
    fn the_parts_of_a_shelf_do_not_overlap() {
        assert!(layout::readers(TRAYS) <= layout::bytes(0));
        assert_eq!(layout::bytes(TRAYS), layout::SHELF_BYTES);
        assert!(layout::SHELF_BYTES.is_multiple_of(4096));
    }
}
