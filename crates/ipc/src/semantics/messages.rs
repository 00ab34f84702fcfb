//! Which message a receiver gets.

/// What a receiver asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The first.
    Any,
    /// The first of a type.
    Type(i64),
    /// The first of any other type.
    Except(i64),
    /// The first of the lowest type up to this.
    UpTo(i64),
    /// The one with this number in the queue.
    Number(i64),
}

/// The flags of `msgrcv` that Linux alone has.
pub const EXCEPT: i32 = 0o20000;
/// See [`EXCEPT`].
pub const COPY: i32 = 0o40000;

impl Wanted {
    /// What the arguments of `msgrcv` say.
    #[must_use]
    pub fn new(kind: i64, flags: i32) -> Self {
        match kind {
            _ if flags & COPY != 0 => Self::Number(kind),
            0 => Self::Any,
            ..0 => Self::UpTo(kind.checked_neg().unwrap_or(i64::MAX)),
            _ if flags & EXCEPT != 0 => Self::Except(kind),
            _ => Self::Type(kind),
        }
    }

    /// As two numbers for shared memory.
    #[must_use]
    pub fn packed(self) -> (u32, i64) {
        match self {
            Self::Any => (0, 0),
            Self::Type(kind) => (1, kind),
            Self::Except(kind) => (2, kind),
            Self::UpTo(kind) => (3, kind),
            Self::Number(number) => (4, number),
        }
    }

    /// From these numbers.
    #[must_use]
    pub fn unpacked(form: u32, kind: i64) -> Self {
        match form {
            0 => Self::Any,
            1 => Self::Type(kind),
            2 => Self::Except(kind),
            3 => Self::UpTo(kind),
            _ => Self::Number(kind),
        }
    }

    /// Whether a message that comes while the receiver waits is for it.
    #[must_use]
    pub fn accepts(self, kind: i64) -> bool {
        match self {
            Self::Any => true,
            Self::Type(wanted) => kind == wanted,
            Self::Except(other) => kind != other,
            Self::UpTo(limit) => kind <= limit,
            Self::Number(_) => false,
        }
    }

    /// The number in the queue of the message to take, from the types in the order of the queue.
    pub fn choose(self, kinds: impl Iterator<Item = i64>) -> Option<usize> {
        let mut lowest = None;
        for (number, kind) in kinds.enumerate() {
            match self {
                Self::Number(wanted) if wanted == number as i64 => return Some(number),
                Self::UpTo(limit) if kind <= limit => {
                    if lowest.is_none_or(|(least, _)| kind < least) {
                        lowest = Some((kind, number));
                    }
                    if kind == 1 {
                        break;
                    }
                }
                Self::Any | Self::Type(_) | Self::Except(_) if self.accepts(kind) => return Some(number),
                _ => {}
            }
        }
        lowest.map(|(_, number)| number)
    }
}

/// Whether a queue has room for one more message.
#[must_use]
pub fn has_room(bytes: u64, messages: u64, limit: u64, more: u64) -> bool {
    bytes + more <= limit && messages < limit
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The manual's words, one after the other.
    fn naive(kinds: &[i64], kind: i64, flags: i32) -> Option<usize> {
        let first = |is_it: &dyn Fn(i64) -> bool| kinds.iter().position(|kind| is_it(*kind));
        if flags & COPY != 0 {
            return usize::try_from(kind).ok().filter(|number| *number < kinds.len());
        }
        if kind == 0 {
            return first(&|_| true);
        }
        if kind > 0 {
            return first(&|one| (one == kind) != (flags & EXCEPT != 0));
        }
        let least = kinds.iter().filter(|one| i128::from(**one) <= -i128::from(kind)).min()?;
        first(&|one| one == *least)
    }

    proptest! {
        #[test]
        fn the_choice_is_the_manuals(
            kinds in prop::collection::vec(1..6_i64, 0..12),
            kind in prop_oneof![-6..7_i64, Just(i64::MIN), Just(i64::MAX)],
            flags in prop_oneof![Just(0), Just(EXCEPT), Just(COPY)],
        ) {
            let wanted = Wanted::new(kind, flags);
            prop_assert_eq!(wanted.choose(kinds.iter().copied()), naive(&kinds, kind, flags));
            let (form, number) = wanted.packed();
            prop_assert_eq!(Wanted::unpacked(form, number), wanted);
        }
    }
}
