//! What the calls mean, as functions of values.

pub mod limits;
pub mod messages;
pub mod names;
pub mod pages;
pub mod permission;
pub mod semaphores;
