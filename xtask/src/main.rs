//! Long runs, benchmarks and checks, as `cargo xtask bench|soak|golden|words|docs`.
//!
//! Commands that begin with `__` are internal: parts that run in a process of their own so that their cost is
//! measured separately.

mod bare_client;
mod bench;
mod docs;
mod flags;
mod golden;
mod hermes;
mod home;
mod measure;
mod queries;
mod random;
mod resource_usage;
mod serve;
mod soak;
mod words;
mod wrapped_command;

use anyhow::{Result, bail};
use flags::Flags;
use std::io::Write;
use std::process::ExitCode;

const HELP: &str = "\
Long runs, benchmarks and checks of this workspace.

  cargo xtask bench [--quick] [--json] [--hermes PATH] [--against PATH]
      Measure CPU, memory, wall time, fsyncs and bytes, compared with a hello-world program
      and a bare client. Prints a table; asserts nothing. See bench/README.md.
      --against compares with another build of hermes instead, round by round.

  cargo xtask bench store [--quick] [--append-only] [--json]
      Compare the session store with plain SQLite: append, search, load, open. The full run
      creates a database of 1,000,000 messages (about 5 GB in the temporary directory) and takes
      some minutes.

  cargo xtask bench decode [--quick] [--json]
      Measure the CPU time of decoding replies, compared with a bare parser, and of encoding
      the requests of a long session, in every API mode. Takes seconds.

  cargo xtask bench scan [--quick] [--json]
      Measure the threat scan over 1 MB and 100 KB of prose, code and adversarial text, and the
      first scan of a process. Takes seconds.

  cargo xtask bench skills [--quick] [--json]
      Measure reading 10,000 skills and writing their index, compared with a home directory
      without skills. Takes seconds.

  cargo xtask bench prompt [--quick] [--json]
      Measure a system prompt with 200 skills and a project file of 500 KB, compared with an
      empty one.

  cargo xtask bench context [--compactions N] [--quick] [--json]
      Measure decisions about a history of 5,000 messages: the plan of a compaction, the check
      before each call, one more message; and the memory of a session after N compactions
      (default 100).

  cargo xtask bench sessions [--sessions N] [--calls N]
      Run sessions concurrently in one process (default 100 sessions of 20 tool calls) and
      measure throughput, event latency, and memory per session.

  cargo xtask bench session-map [--sessions N] [--at-once N]
      Open many sessions in one map (default 10,000, one turn each) and measure the memory of an
      evicted one, the start of a turn in any of them, and turns at once (default 200).

  cargo xtask soak sim [--seeds N] [--seed N]
      Run whole turns in a simulation, with faults at every step (default 100,000 seeds).
      --seed repeats one. Exit 1 on the first violation, which is printed.

  cargo xtask soak kill [--runs N] [--seed N] [--hermes PATH]
      Kill hermes at random points of a turn (default 200 kills), resume it, and check that
      nothing was lost, done twice or left running. Exit 1 on any violation.

  cargo xtask soak interrupt [--runs N] [--seed N] [--hermes PATH]
      Stop hermes with Ctrl-C at random points of a turn (default 1000 times), measure the time,
      and check that the turn is closed, nothing is left running and the session answers.
      Exit 1 on any violation, and if a stop took longer than a second.

  cargo xtask soak queries [--count N] [--seed N]
      Search for N random strings (default 1,000,000). Exit 1 if one is an error.

  cargo xtask soak store contend [--writers N] [--searchers N] [--seconds N] [--seed N]
      Let processes write and search in one database at full speed (default 8 and 2, for 60 s),
      and measure their latency and fairness. Exit 1 if anything failed or was lost.

  cargo xtask soak store kill [--kills N] [--writers N] [--seed N]
      Kill writers of one database at random times and restart them (default 2000 kills, 4
      writers), and check that every acknowledged row is stored once. Exit 1 on any violation.

  cargo xtask golden [--accept]
      Run the golden and snapshot tests and list changes. --accept accepts the new bytes.

  cargo xtask words [--crates A,B]
      Reject vague wording in docs, help, messages, doc comments and names of tests and files.
      --crates checks only these crates, even if they are listed as pending. Exit 1 on any finding.

  cargo xtask docs [--check]
      Rewrite the generated tables of the documentation. --check lists those that are out of date
      and exits with 1 if there is one.

  --hermes PATH  the program to test; by default built with `cargo build --release`
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            // There is no other output if this fails.
            let _ = writeln!(std::io::stderr(), "error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    let command = arguments.next().unwrap_or_default();
    let mut flags = Flags::new(arguments.collect());
    match command.as_str() {
        "bench" => bench::run(flags).map(|()| ExitCode::SUCCESS),
        "soak" if flags.has("queries") => queries::run(flags),
        "soak" => soak::run(flags),
        "golden" => golden::run(flags),
        "words" => words::run(flags),
        "docs" => docs::run(flags),
        "" | "help" | "-h" | "--help" => say(HELP).map(|()| ExitCode::SUCCESS),
        "__compactions" => bench::compactions(flags).map(|()| ExitCode::SUCCESS),
        "__session-map" => bench::session_map(flags).map(|()| ExitCode::SUCCESS),
        "__sessions" => bench::sessions(flags).map(|()| ExitCode::SUCCESS),
        "__supervise" => Ok(hermes_runtime::supervise().map(|()| ExitCode::SUCCESS)?),
        "__bare" => bare_client::run(flags).map(|()| ExitCode::SUCCESS),
        "__measure" => measure::child(flags),
        "__store-searcher" => soak::store::searcher(flags).map(|()| ExitCode::SUCCESS),
        "__store-writer" => soak::store::writer(flags).map(|()| ExitCode::SUCCESS),
        "__serve" => serve::child(flags).map(|()| ExitCode::SUCCESS),
        other => bail!("unknown command `{other}`; see `cargo xtask --help`"),
    }
}

/// Prints to standard output.
fn say(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
