//! Colours on the standard output, where a person is looking.

use std::io::IsTerminal;

pub const BOLD: u8 = 1;
pub const RED: u8 = 31;
pub const GREEN: u8 = 32;
pub const YELLOW: u8 = 33;

/// The text in a colour, on a terminal, and unless the user has set `NO_COLOR`.
pub fn painted(colour: u8, text: &str) -> String {
    let wanted = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    match wanted && std::io::stdout().is_terminal() {
        true => format!("\x1b[{colour}m{text}\x1b[0m"),
        false => text.to_owned(),
    }
}
