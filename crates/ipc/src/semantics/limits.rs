//! The limits of a name space, with the names that `/proc/sys/kernel` has for them.

/// Operations of one call.
pub const OPERATIONS_MAX: usize = 500;
/// Value of a semaphore.
pub const VALUE_MAX: i32 = 32767;
/// Semaphores of a set.
pub const SEMAPHORES_MAX: u32 = 32000;
/// Bytes of a segment.
pub const SEGMENT_BYTES_MAX: u64 = u64::MAX - (1 << 24);
/// What is supported of a queue's bytes.
pub const QUEUE_BYTES_MAX: u64 = 1 << 20;
/// Queues, sets and segments that there can be of each.
pub const OBJECTS_MAX: u32 = 32000;

/// What may be chosen when a name space is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of a message.
    pub message_bytes: u64,
    /// Bytes, and messages, of a queue.
    pub queue_bytes: u64,
    /// Queues.
    pub queues: u32,
    /// Sets.
    pub sets: u32,
    /// Segments.
    pub segments: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            message_bytes: 8192,
            queue_bytes: 16384,
            queues: OBJECTS_MAX,
            sets: OBJECTS_MAX,
            segments: 4096,
        }
    }
}

impl Limits {
    /// Sets the limit that has this name.
    ///
    /// # Errors
    /// What may be written.
    pub fn set(&mut self, name: &str, value: u64) -> Result<(), String> {
        let number = |max: u32| {
            let fits = u32::try_from(value).ok().filter(|value| *value <= max);
            fits.ok_or_else(|| format!("{name} is at most {max}"))
        };
        match name {
            "msgmax" | "msgmnb" if value > QUEUE_BYTES_MAX => {
                return Err(format!("{name} is at most {QUEUE_BYTES_MAX}"));
            }
            "msgmax" => self.message_bytes = value,
            "msgmnb" => self.queue_bytes = value,
            "msgmni" => self.queues = number(OBJECTS_MAX)?,
            "semmni" => self.sets = number(OBJECTS_MAX)?,
            "shmmni" => self.segments = number(OBJECTS_MAX)?,
            _ => return Err(format!("{name} is none of msgmax, msgmnb, msgmni, semmni, shmmni")),
        }
        Ok(())
    }
}
