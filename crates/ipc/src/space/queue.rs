//! Message queues.
//!
//! A message is a *head* and, if it is longer than what a head has room for, a chain of *blocks*. Heads form the queue by `next`, and one store makes
//! a message part of it, or takes it out. All else (the last one, counts, what is free) follows from that and is found again if a process dies in between
//! ([`Space::repair_queue`]). A receiver that waits is given the message by the sender and copies it itself.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI64, AtomicU32, AtomicU64};

use super::memory::shared;
use super::waiting::{Ended, List, list_number};
use super::{Bytes, Held, Kind, Object, PAGE, Result, Space, registry, system};
use crate::semantics::limits::Limits;
use crate::semantics::messages::{Wanted, has_room};
use crate::semantics::permission::{ALTER, READ};

/// Bytes of a block.
const BLOCK: usize = 512;
/// Bytes that a head has room for.
const INLINE: usize = 40;
/// Messages that receivers have been given and have not taken yet.
const GIVEN: usize = 1024;

shared! {
    /// A queue; see [`Object`] for how it begins.
    pub struct Queue {
        /// What all objects have.
        pub object: Object,
        /// When something was sent.
        pub sent: AtomicI64,
        /// When something was received.
        pub received: AtomicI64,
        /// Who has sent last.
        pub sender: AtomicU32,
        /// Who has received last.
        pub receiver: AtomicU32,
        /// Bytes in it.
        pub bytes: AtomicU64,
        /// Bytes that may be in it.
        pub limit: AtomicU64,
        /// Messages in it.
        pub count: AtomicU32,
        /// The first message, plus one.
        pub first: AtomicU32,
        /// The last.
        pub last: AtomicU32,
        /// The first head of those that are free, plus one.
        pub free_heads: AtomicU32,
        /// The first block.
        pub free_blocks: AtomicU32,
        /// How many heads were ever used.
        pub used_heads: AtomicU32,
        /// How many blocks.
        pub used_blocks: AtomicU32,
        /// Who waits for a message.
        pub receivers: List,
        /// Who waits for room.
        pub senders: List,
    }

    /// A message.
    pub struct Head {
        /// The next in the queue, or of those that are free, plus one.
        pub next: AtomicU32,
        /// The first block, plus one.
        pub block: AtomicU32,
        /// Its type.
        pub kind: AtomicI64,
        /// Its length.
        pub bytes: AtomicU64,
        /// Its bytes, if there are few.
        pub inline: [AtomicU64; 5],
    }
}

/// How much a queue needs.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    heads: usize,
    blocks: usize,
    links_at: usize,
    blocks_at: usize,
    /// Of all of it.
    pub bytes: usize,
}

impl Room {
    /// For these limits: messages that are given to receivers are beside the queue.
    pub fn new(limits: &Limits) -> Self {
        let bytes = limits.queue_bytes.max(limits.message_bytes) as usize;
        let heads = limits.queue_bytes as usize + GIVEN;
        let blocks = bytes / (INLINE + 1) + 2 * bytes.div_ceil(BLOCK) + GIVEN;
        let links_at = (heads * size_of::<Head>()).next_multiple_of(PAGE);
        let blocks_at = (links_at + blocks * 4).next_multiple_of(PAGE);
        let all = (blocks_at + blocks * BLOCK).next_multiple_of(PAGE);
        Self { heads, blocks, links_at, blocks_at, bytes: all }
    }
}

/// What has been received.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    /// Its type.
    pub kind: i64,
    /// How much of it was copied.
    pub bytes: usize,
}

/// How a call is to be made.
#[derive(Clone, Copy, Debug)]
pub struct How {
    /// It must not wait.
    pub at_once: bool,
    /// A message that is too long is cut.
    pub cuts: bool,
    /// The message stays.
    pub copies: bool,
}

impl Space {
    pub(crate) fn queue(&self, place: u32) -> &'static Queue {
        self.place(Kind::Queue, place)
    }

    pub(crate) fn queue_list(&self, place: u32, which: u32) -> &'static List {
        let queue = self.queue(place);
        if which == 0 { &queue.receivers } else { &queue.senders }
    }

    pub(crate) fn hold_queue(&self, place: u32) -> Held {
        Held::take(&self.queue(place).object.lock, || self.repair_queue(place))
    }

    fn body(&self, place: u32) -> usize {
        self.layout.queues + place as usize * self.layout.queue.bytes
    }

    fn head_at(&self, place: u32, head: u32) -> usize {
        assert!((head as usize) < self.layout.queue.heads);
        self.body(place) + head as usize * size_of::<Head>()
    }

    fn head(&self, place: u32, head: u32) -> &'static Head {
        self.memory.at(self.head_at(place, head))
    }

    fn link(&self, place: u32, block: u32) -> &'static AtomicU32 {
        assert!((block as usize) < self.layout.queue.blocks);
        self.memory.at(self.body(place) + self.layout.queue.links_at + block as usize * 4)
    }

    /// Makes an empty queue of a place. The registry and the lock are held.
    pub(crate) fn begin_queue(&self, place: u32) {
        let queue = self.queue(place);
        queue.limit.store(self.limits.queue_bytes, Relaxed);
        for word in [&queue.sent, &queue.received] {
            word.store(0, Relaxed);
        }
        for word in [&queue.sender, &queue.receiver, &queue.used_heads, &queue.used_blocks] {
            word.store(0, Relaxed);
        }
        for word in [&queue.first, &queue.last, &queue.count, &queue.free_heads, &queue.free_blocks] {
            word.store(0, Relaxed);
        }
        queue.bytes.store(0, Relaxed);
    }

    /// Ends a queue. The registry and the lock are held.
    pub(crate) fn end_queue(&self, place: u32) {
        let queue = self.queue(place);
        self.finish_all(&queue.receivers, libc::EIDRM);
        self.finish_all(&queue.senders, libc::EIDRM);
        if !self.is_awaited(place) {
            self.forget(self.body(place), self.layout.queue.bytes);
        }
    }

    /// `msgsnd`, once what was wrong with the arguments alone has been said.
    ///
    /// # Errors
    /// Those of the function.
    pub fn send(&self, identifier: i32, kind: i64, body: Bytes, at_once: bool) -> Result<()> {
        let mut unknown = libc::EINVAL;
        loop {
            let (place, held) = self.find_queue(identifier, unknown)?;
            let queue = self.queue(place);
            unknown = libc::EIDRM;
            registry::permit(&queue.object, ALTER)?;
            let (bytes, count) = (queue.bytes.load(Relaxed), u64::from(queue.count.load(Relaxed)));
            let room = has_room(bytes, count, queue.limit.load(Relaxed), body.bytes as u64);
            if room && let Some(head) = self.store(place, kind, body) {
                queue.sender.store(registry::own_pid(), Relaxed);
                queue.sent.store(system::now(), Relaxed);
                if !self.give(place, head) {
                    self.link_last(place, head);
                }
                return Ok(());
            }
            if at_once {
                return Err(libc::EAGAIN);
            }
            drop(held);
            self.wait_for_room(identifier, place, body.bytes as u64)?;
        }
    }

    /// Waits until somebody says that there may be room.
    fn wait_for_room(&self, identifier: i32, place: u32, bytes: u64) -> Result<()> {
        let own = self.own_waiter().ok_or(libc::ENOMEM)?;
        let queue = self.queue(place);
        {
            let (_, _held) = self.find_queue(identifier, libc::EIDRM)?;
            let (there, count) = (queue.bytes.load(Relaxed), u64::from(queue.count.load(Relaxed)));
            if has_room(there, count, queue.limit.load(Relaxed), bytes)
                && self.has_free(place, bytes as usize)
            {
                return Ok(());
            }
            self.waiter(own).bytes.store(bytes, Relaxed);
            self.append(&queue.senders, list_number(Kind::Queue, place, 1), own);
        }
        let ended = self.wait(own, None);
        if ended != Ended::Done {
            let _held = self.hold_queue(place);
            if !self.was_done(&queue.senders, own) {
                return Err(libc::EINTR);
            }
        }
        match self.waiter(own).result.load(Relaxed) {
            0 => Ok(()),
            error => Err(error),
        }
    }

    /// Has all who wait look again.
    pub(crate) fn have_all_look_again(&self, place: u32) {
        let queue = self.queue(place);
        self.finish_all(&queue.receivers, libc::EAGAIN);
        self.finish_all(&queue.senders, 0);
    }

    /// Has senders look again whose messages fit.
    fn wake_senders(&self, place: u32) {
        let queue = self.queue(place);
        if queue.senders.first.load(Acquire) == 0 {
            return;
        }
        let (mut bytes, mut count) = (queue.bytes.load(Relaxed), u64::from(queue.count.load(Relaxed)));
        for (own, waiter) in self.waiting(&queue.senders) {
            let more = waiter.bytes.load(Relaxed);
            if has_room(bytes, count, queue.limit.load(Relaxed), more) {
                (bytes, count) = (bytes + more, count + 1);
                self.finish(&queue.senders, own, 0);
            }
        }
    }

    /// Gives a message to the first receiver that waits for it. One whose room is too small hears so.
    fn give(&self, place: u32, head: u32) -> bool {
        let queue = self.queue(place);
        let message = self.head(place, head);
        let (kind, bytes) = (message.kind.load(Relaxed), message.bytes.load(Relaxed));
        for (own, waiter) in self.waiting(&queue.receivers) {
            if !Wanted::unpacked(waiter.form.load(Relaxed), waiter.kind.load(Relaxed)).accepts(kind) {
                continue;
            }
            if waiter.bytes.load(Relaxed) < bytes && waiter.detail.load(Relaxed) == 0 {
                self.finish(&queue.receivers, own, libc::E2BIG);
                continue;
            }
            waiter.message.store(head + 1, Release);
            queue.receiver.store(waiter.pid.load(Relaxed), Relaxed);
            queue.received.store(system::now(), Relaxed);
            self.finish(&queue.receivers, own, 0);
            return true;
        }
        false
    }

    /// Makes a message the last of the queue.
    fn link_last(&self, place: u32, head: u32) {
        let queue = self.queue(place);
        let message = self.head(place, head);
        let link = match queue.last.load(Relaxed) {
            0 => &queue.first,
            last => &self.head(place, last - 1).next,
        };
        link.store(head + 1, Release);
        queue.last.store(head + 1, Relaxed);
        queue.bytes.fetch_add(message.bytes.load(Relaxed), Relaxed);
        queue.count.fetch_add(1, Relaxed);
    }

    /// `msgrcv`, once what was wrong with the arguments alone has been said.
    ///
    /// # Errors
    /// Those of the function.
    pub fn receive(&self, identifier: i32, wanted: Wanted, into: Bytes, how: How) -> Result<Message> {
        let mut own = None;
        let (place, held) = self.find_queue(identifier, libc::EINVAL)?;
        let queue = self.queue(place);
        let mut held = Some(held);
        loop {
            registry::permit(&queue.object, READ)?;
            if let Some(found) = self.search(place, wanted) {
                return self.take(place, found, into, how);
            }
            if how.at_once {
                return Err(libc::ENOMSG);
            }
            if own.is_some() {
                break;
            }
            // A place may have to be taken from a dead thread, under the lock of another object.
            drop(held.take());
            own = Some(self.own_waiter().ok_or(libc::ENOMEM)?);
            held = Some(self.find_queue(identifier, libc::EIDRM)?.1);
        }
        let own = own.unwrap_or_default();
        let waiter = self.waiter(own);
        let (form, kind) = wanted.packed();
        waiter.form.store(form, Relaxed);
        waiter.kind.store(kind, Relaxed);
        waiter.bytes.store(into.bytes as u64, Relaxed);
        waiter.detail.store(u32::from(how.cuts), Relaxed);
        self.append(&queue.receivers, list_number(Kind::Queue, place, 0), own);
        drop(held);
        if self.wait(own, None) != Ended::Done {
            let _held = self.hold_queue(place);
            if !self.was_done(&queue.receivers, own) {
                return Err(libc::EINTR);
            }
        }
        match waiter.result.load(Relaxed) {
            0 => self.take_given(place, own, into),
            // The limit has been raised, or the like: a receiver looks again.
            libc::EAGAIN => self.receive(identifier, wanted, into, how),
            error => Err(error),
        }
    }

    /// Takes the message that this thread has been given.
    fn take_given(&self, place: u32, own: u32, into: Bytes) -> Result<Message> {
        let head = self.waiter(own).message.load(Acquire) - 1;
        let message = self.copy_out(place, head, into);
        let _held = self.hold_queue(place);
        self.waiter(own).message.store(0, Release);
        self.release(place, head);
        self.wake_senders(place);
        Ok(message)
    }

    /// The message before the one that is wanted, and that one; both plus one, and 0 for none.
    fn search(&self, place: u32, wanted: Wanted) -> Option<(u32, u32)> {
        let queue = self.queue(place);
        let first = queue.first.load(Acquire);
        if first == 0 {
            return None;
        }
        let next = |head: &u32| Some(self.head(place, head - 1).next.load(Acquire)).filter(|next| *next != 0);
        let heads = || std::iter::successors(Some(first), next);
        let chosen = wanted.choose(heads().map(|head| self.head(place, head - 1).kind.load(Relaxed)))?;
        let before = if chosen == 0 { 0 } else { heads().nth(chosen - 1)? };
        Some((before, heads().nth(chosen)?))
    }

    fn take(&self, place: u32, (before, head): (u32, u32), into: Bytes, how: How) -> Result<Message> {
        let queue = self.queue(place);
        let message = self.head(place, head - 1);
        let bytes = message.bytes.load(Relaxed);
        if bytes > into.bytes as u64 {
            if !how.cuts {
                return Err(libc::E2BIG);
            }
            if how.copies {
                return Err(libc::EINVAL);
            }
        }
        let copied = self.copy_out(place, head - 1, into);
        if how.copies {
            return Ok(copied);
        }
        let next = message.next.load(Relaxed);
        let link = if before == 0 { &queue.first } else { &self.head(place, before - 1).next };
        link.store(next, Release);
        if next == 0 {
            queue.last.store(before, Relaxed);
        }
        queue.bytes.fetch_sub(bytes, Relaxed);
        queue.count.fetch_sub(1, Relaxed);
        queue.receiver.store(registry::own_pid(), Relaxed);
        queue.received.store(system::now(), Relaxed);
        self.release(place, head - 1);
        self.wake_senders(place);
        Ok(copied)
    }

    fn has_free(&self, place: u32, bytes: usize) -> bool {
        let queue = self.queue(place);
        let heads = queue.free_heads.load(Relaxed) != 0
            || (queue.used_heads.load(Relaxed) as usize) < self.layout.queue.heads;
        let blocks = self.layout.queue.blocks - queue.used_blocks.load(Relaxed) as usize;
        heads
            && (bytes <= INLINE
                || blocks >= bytes.div_ceil(BLOCK)
                || self.free_blocks(place) >= bytes.div_ceil(BLOCK))
    }

    fn free_blocks(&self, place: u32) -> usize {
        let queue = self.queue(place);
        let fresh = self.layout.queue.blocks - queue.used_blocks.load(Relaxed) as usize;
        let mut next = queue.free_blocks.load(Relaxed);
        let free = std::iter::from_fn(|| {
            let block = next.checked_sub(1)?;
            next = self.link(place, block).load(Relaxed);
            Some(())
        });
        fresh + free.count()
    }

    /// A head that is free.
    fn new_head(&self, place: u32) -> Option<u32> {
        let queue = self.queue(place);
        match queue.free_heads.load(Relaxed) {
            0 => {
                let used = queue.used_heads.load(Relaxed);
                ((used as usize) < self.layout.queue.heads)
                    .then(|| queue.used_heads.store(used + 1, Relaxed))?;
                Some(used)
            }
            head => {
                queue.free_heads.store(self.head(place, head - 1).next.load(Relaxed), Relaxed);
                Some(head - 1)
            }
        }
    }

    fn new_block(&self, place: u32) -> Option<u32> {
        let queue = self.queue(place);
        match queue.free_blocks.load(Relaxed) {
            0 => {
                let used = queue.used_blocks.load(Relaxed);
                ((used as usize) < self.layout.queue.blocks)
                    .then(|| queue.used_blocks.store(used + 1, Relaxed))?;
                Some(used)
            }
            block => {
                queue.free_blocks.store(self.link(place, block - 1).load(Relaxed), Relaxed);
                Some(block - 1)
            }
        }
    }

    /// Copies a message to a head that is free. If there is none, what dead receivers had been given becomes free.
    fn store(&self, place: u32, kind: i64, body: Bytes) -> Option<u32> {
        self.try_store(place, kind, body).or_else(|| {
            self.repair_queue(place);
            self.try_store(place, kind, body)
        })
    }

    fn try_store(&self, place: u32, kind: i64, body: Bytes) -> Option<u32> {
        let number = self.new_head(place)?;
        let head = self.head(place, number);
        head.next.store(0, Relaxed);
        head.block.store(0, Relaxed);
        head.kind.store(kind, Relaxed);
        head.bytes.store(body.bytes as u64, Relaxed);
        if body.bytes <= INLINE {
            self.memory.write(self.head_at(place, number) + 24, body, 0, body.bytes);
            return Some(number);
        }
        let mut link = &head.block;
        for from in (0..body.bytes).step_by(BLOCK) {
            let Some(block) = self.new_block(place) else {
                self.release(place, number);
                return None;
            };
            self.link(place, block).store(0, Relaxed);
            link.store(block + 1, Relaxed);
            link = self.link(place, block);
            self.memory.write(self.block_at(place, block), body, from, BLOCK.min(body.bytes - from));
        }
        Some(number)
    }

    fn block_at(&self, place: u32, block: u32) -> usize {
        self.body(place) + self.layout.queue.blocks_at + block as usize * BLOCK
    }

    fn copy_out(&self, place: u32, number: u32, into: Bytes) -> Message {
        let head = self.head(place, number);
        let length = head.bytes.load(Relaxed) as usize;
        let bytes = length.min(into.bytes);
        if length <= INLINE {
            self.memory.read(self.head_at(place, number) + 24, into, 0, bytes);
        } else {
            let mut block = head.block.load(Relaxed);
            for from in (0..bytes).step_by(BLOCK) {
                self.memory.read(self.block_at(place, block - 1), into, from, BLOCK.min(bytes - from));
                block = self.link(place, block - 1).load(Relaxed);
            }
        }
        Message { kind: head.kind.load(Relaxed), bytes }
    }

    /// Makes a message free.
    fn release(&self, place: u32, number: u32) {
        let queue = self.queue(place);
        let head = self.head(place, number);
        let mut block = head.block.swap(0, Relaxed);
        while block != 0 {
            let next = self.link(place, block - 1).swap(queue.free_blocks.load(Relaxed), Relaxed);
            queue.free_blocks.store(block, Relaxed);
            block = next;
        }
        head.next.store(queue.free_heads.load(Relaxed), Relaxed);
        queue.free_heads.store(number + 1, Relaxed);
    }

    /// Finds again what follows from the list of messages: the last one, counts, and what is free. What a receiver that lives has been given is in use.
    pub(crate) fn repair_queue(&self, place: u32) {
        let queue = self.queue(place);
        let used_heads = queue.used_heads.load(Relaxed);
        let mut is_used = vec![false; used_heads as usize];
        let mut blocks_used = vec![false; queue.used_blocks.load(Relaxed) as usize];
        let mut use_it = |head: u32| {
            is_used[head as usize] = true;
            let mut block = self.head(place, head).block.load(Relaxed);
            while block != 0 {
                blocks_used[block as usize - 1] = true;
                block = self.link(place, block - 1).load(Relaxed);
            }
        };
        let (mut last, mut count, mut bytes) = (0, 0, 0);
        let mut next = queue.first.load(Acquire);
        while next != 0 {
            use_it(next - 1);
            let head = self.head(place, next - 1);
            (last, count, bytes) = (next, count + 1, bytes + head.bytes.load(Relaxed));
            next = head.next.load(Acquire);
        }
        for given in self.given(place) {
            use_it(given);
        }
        queue.last.store(last, Relaxed);
        queue.count.store(count, Relaxed);
        queue.bytes.store(bytes, Relaxed);
        queue.free_heads.store(0, Relaxed);
        queue.free_blocks.store(0, Relaxed);
        for head in (0..used_heads).filter(|head| !is_used[*head as usize]) {
            self.head(place, head).next.store(queue.free_heads.load(Relaxed), Relaxed);
            self.head(place, head).block.store(0, Relaxed);
            queue.free_heads.store(head + 1, Relaxed);
        }
        for block in (0..blocks_used.len() as u32).filter(|block| !blocks_used[*block as usize]) {
            self.link(place, block).store(queue.free_blocks.load(Relaxed), Relaxed);
            queue.free_blocks.store(block + 1, Relaxed);
        }
    }

    /// Whether a receiver that lives has not yet taken what it was given; until then the place is not another queue's.
    pub(crate) fn is_awaited(&self, place: u32) -> bool {
        self.given(place).next().is_some()
    }

    /// What receivers of this queue that live have been given.
    fn given(&self, place: u32) -> impl Iterator<Item = u32> {
        let used = self.header().waiters_used.load(Acquire);
        let number = list_number(Kind::Queue, place, 0);
        (0..used).map(|own| self.waiter(own)).filter_map(move |waiter| {
            let is_its = waiter.queue.load(Acquire) == number && !waiter.life.is_orphaned();
            if is_its { waiter.message.load(Acquire).checked_sub(1) } else { None }
        })
    }
}
