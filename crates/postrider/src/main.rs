//! The command line of Postrider.
fn main() {}
