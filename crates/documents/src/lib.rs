//! The text of documents, read from bytes.
//!
//! The functions are pure: no files, no clock, no threads. A document may come from a hostile server, so every
//! decompressed byte and every interpreted byte is charged to a [`Budget`](budget::Budget), recursion is bounded, and
//! damaged input is an error or a shorter text, never a panic. A text that reaches its limit of characters ends there.

mod budget;
mod error;
mod pdf;
mod text;

pub use error::DocumentError;
pub use pdf::pdf_text;
