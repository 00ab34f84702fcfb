//! Who may do what: the low nine bits of an object's mode, as for files.

/// To read: bits of owner, group and others.
pub const READ: u32 = 0o444;
/// To alter.
pub const ALTER: u32 = 0o222;

/// Whose an object is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Permission {
    /// Owner.
    pub uid: u32,
    /// The owner's group.
    pub gid: u32,
    /// Creator.
    pub cuid: u32,
    /// The creator's group.
    pub cgid: u32,
    /// Bits.
    pub mode: u32,
}

/// Who asks.
#[derive(Clone, Debug, Default)]
pub struct Caller {
    /// Effective user.
    pub uid: u32,
    /// Effective group, and the others.
    pub groups: Vec<u32>,
}

impl Permission {
    /// Whether the caller has the bits `wanted`, which may be in any of the three places.
    #[must_use]
    pub fn allows(&self, caller: &Caller, wanted: u32) -> bool {
        let wanted = wanted >> 6 | wanted >> 3 | wanted;
        let granted = if self.is_owned_by(caller) {
            self.mode >> 6
        } else if caller.groups.contains(&self.cgid) || caller.groups.contains(&self.gid) {
            self.mode >> 3
        } else {
            self.mode
        };
        caller.uid == 0 || wanted & !granted & 7 == 0
    }

    /// Whether the caller may change or remove it.
    #[must_use]
    pub fn may_be_changed_by(&self, caller: &Caller) -> bool {
        caller.uid == 0 || self.is_owned_by(caller)
    }

    fn is_owned_by(&self, caller: &Caller) -> bool {
        caller.uid == self.cuid || caller.uid == self.uid
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_class_that_fits_decides() {
        let object = Permission { uid: 5, gid: 50, cuid: 6, cgid: 60, mode: 0o046 };
        let caller = |uid, group| Caller { uid, groups: vec![group] };
        assert!(!object.allows(&caller(5, 1), READ));
        assert!(!object.allows(&caller(6, 1), READ));
        assert!(object.allows(&caller(7, 60), READ) && !object.allows(&caller(7, 60), ALTER));
        assert!(object.allows(&caller(7, 1), 0o600));
        assert!(object.allows(&caller(0, 1), ALTER));
        assert!(object.may_be_changed_by(&caller(6, 1)) && !object.may_be_changed_by(&caller(7, 60)));
    }
}
