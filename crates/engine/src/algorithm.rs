//! The enum of a choice of algorithms, with the names by which a setting forces one.

/// Defines `Algorithm`, its list and its names.
macro_rules! algorithms {
    ($(#[$head:meta])* { $($(#[$doc:meta])* $variant:ident = $name:literal,)+ }) => {
        $(#[$head])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Algorithm {
            $($(#[$doc])* $variant,)+
        }

        impl Algorithm {
            /// All of them.
            pub const ALL: &[Algorithm] = &[$(Algorithm::$variant),+];

            /// The name in settings.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Algorithm::$variant => $name,)+
                }
            }

            /// The algorithm of this name.
            pub fn named(name: &str) -> Option<Algorithm> {
                Self::ALL.iter().copied().find(|algorithm| algorithm.name() == name)
            }
        }
    };
}
