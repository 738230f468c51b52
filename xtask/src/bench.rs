//! Benchmarks of hermes, compared with a hello-world program and a bare client.
//!
//! All programs are measured in the same rounds, one after the other, so that load of the machine affects all
//! of them; the output shows medians. Nothing is asserted: targets are printed beside the numbers.
//! `bench/README.md` explains the rows.

mod callgrind;
mod compactions;
mod compare_builds;
mod context;
mod decode;
mod first_request;
mod hello;
mod in_process;
mod long_sessions;
mod prompt;
mod rounds;
mod row;
mod rows;
mod scan;
mod session_map;
mod sessions;
mod skills;
mod store;
mod strace;
mod supervisor;
mod table;

pub(crate) use compactions::child as compactions;
pub(crate) use long_sessions::earlier_text;
pub(crate) use session_map::child as session_map;
pub(crate) use sessions::child as sessions;

use crate::flags::Flags;
use anyhow::Result;
use rounds::Rounds;
use row::Row;
use std::io::Write;
use std::path::Path;

/// The number of measurements.
#[derive(Debug, Clone, Copy)]
struct Effort {
    rounds: usize,
    /// Runs under valgrind take seconds and hardly vary.
    callgrind_rounds: usize,
}

const FULL: Effort = Effort { rounds: 15, callgrind_rounds: 3 };
const QUICK: Effort = Effort { rounds: 3, callgrind_rounds: 1 };

pub(crate) fn run(mut flags: Flags) -> Result<()> {
    if flags.has("store") {
        return store::run(flags);
    }
    if flags.has("session-map") {
        return session_map::run(flags);
    }
    if flags.has("sessions") {
        return sessions::run(flags);
    }
    if flags.has("decode") {
        return decode::run(flags);
    }
    if flags.has("scan") {
        return scan::run(flags);
    }
    if flags.has("skills") {
        return skills::run(flags);
    }
    if flags.has("prompt") {
        return prompt::run(flags);
    }
    if flags.has("context") {
        return context::run(flags);
    }
    let effort = if flags.has("--quick") { QUICK } else { FULL };
    let as_json = flags.has("--json");
    let hermes = crate::hermes::find(&mut flags)?;
    let against = compare_builds::find(&mut flags)?;
    flags.finish()?;
    if cfg!(debug_assertions) {
        note("this is a debug build of xtask: the bare client in it is slow; use `cargo xtask`");
    }
    let rows = match against {
        Some(old) => compare_builds::measure(&hermes, &old, effort)?,
        None => measure(&hermes, effort)?,
    };
    let text = if as_json { table::json(&rows) } else { table::text(&rows) };
    crate::say(&text)
}

/// Measures one program in rounds.
fn measure(hermes: &Path, effort: Effort) -> Result<Vec<Row>> {
    let mut rounds = Rounds::prepare(hermes)?;
    for round in 1..=effort.rounds {
        note(&format!("round {round} of {}", effort.rounds));
        rounds.run()?;
    }
    note("counting fsyncs and instructions");
    rows::all(&rounds, effort)
}

/// Prints progress to standard error; standard output is for the table.
fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
