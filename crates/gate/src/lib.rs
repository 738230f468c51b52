//! Command gate: what a command or a file access would do, and whether it may.
//!
//! Pure: no file is opened, nothing is started, no clock is read. [`assess`] takes shell text, [`assess_program`] the
//! words of a program that is started without a shell, and [`assess_write`] and [`assess_read`] a path with links
//! resolved. Each returns an [`Assessment`]: the effects that were found, the rule behind each, and the worst verdict.
//! What a verdict leads to (a question, an entry of the allow list, `--yolo`) is decided in `tools::approval`.

mod assessment;
mod scene;

pub use assessment::{Assessment, Effect, EffectKind, Finding, Grant, Verdict};
pub use scene::Scene;
