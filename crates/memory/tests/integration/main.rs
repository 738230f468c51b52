//! The memory files as their callers see them, on real files in temporary directories.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod book;
mod processes;
mod python;

use hermes_memory::files::{Author, MemoryBook, MemorySettings, Op};
use std::path::Path;
use std::sync::Arc;

/// The memory of a home with a fixed clock.
fn book(home: &Path) -> MemoryBook {
    MemoryBook::open(home, MemorySettings::default(), Arc::new(|| 1_700_000_000.0))
}

/// The memory of a home with large limits.
fn roomy(home: &Path) -> MemoryBook {
    let settings = MemorySettings { memory_char_limit: 1_000_000, ..MemorySettings::default() };
    MemoryBook::open(home, settings, Arc::new(|| 1_700_000_000.0))
}

fn add(content: &str) -> Op {
    Op::Add { content: content.to_owned() }
}

fn replace(old_text: &str, content: &str) -> Op {
    Op::Replace { old_text: old_text.to_owned(), content: content.to_owned() }
}

fn remove(old_text: &str) -> Op {
    Op::Remove { old_text: old_text.to_owned() }
}

fn model() -> Author {
    Author::model("session-1")
}
