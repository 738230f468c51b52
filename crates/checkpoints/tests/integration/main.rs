//! Tests of checkpoints with a real git.

mod bench;
mod hostile;
mod limits;
mod python;
mod restore;
mod speed;
mod taking;
