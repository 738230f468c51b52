//! Long runs and benchmarks, as `cargo xtask bench|soak|golden`.
//!
//! The commands beginning with `__` are this program talking to itself: parts that must run in
//! a process of their own so that their cost is counted apart.

mod bare;
mod bench;
mod flags;
mod golden;
mod hermes;
mod home;
mod measure;
mod queries;
mod random;
mod serve;
mod soak;
mod system;
mod words;
mod wrapped;

use anyhow::{Result, bail};
use flags::Flags;
use std::io::Write;
use std::process::ExitCode;

const HELP: &str = "\
Long runs and benchmarks of this workspace.

  cargo xtask bench [--quick] [--json] [--hermes PATH] [--against PATH]
      Measures CPU, memory, wall time, fsyncs and bytes, side by side with a hello-world
      program and a bare client. Prints a table; asserts nothing. See bench/README.md.
      --against compares with another build of hermes instead, round by round.

  cargo xtask bench store [--quick] [--append-only] [--json]
      The session store beside plain SQLite: append, search, load, open. The full run makes a
      database of 1,000,000 messages (about 5 GB in the temporary folder) and takes some minutes.

  cargo xtask bench decode [--quick] [--json]
      Reading replies beside a bare reader, and writing the requests of a long session, in CPU
      time and in every API mode. Takes seconds.

  cargo xtask bench scan [--quick] [--json]
      The threat scan over 1 MB beside 100 KB, of prose, of code and of texts made to be slow, and
      the first scan of a process. Takes seconds.

  cargo xtask bench skills [--quick] [--json]
      Looking at 10,000 skills and writing their index, beside a home without any. Takes seconds.

  cargo xtask bench prompt [--quick] [--json]
      A system prompt from 200 skills and a project file of 500 KB, beside one from nothing.

  cargo xtask bench context [--compactions N] [--quick] [--json]
      Deciding about a history of 5,000 messages: the plan for a compaction, the look before each
      call, one more message; and the memory of a session after many compactions (100).

  cargo xtask bench sessions [--sessions N] [--calls N]
      Sessions in one process, all at once (100 of 20 tool calls): throughput, how late events
      arrive, and memory for each session.

  cargo xtask soak sim [--seeds N] [--seed N]
      Whole turns in a simulated world, with faults at every step (100,000 seeds unless told);
      --seed repeats one. Exit 1 on the first that breaks a rule, which is named.

  cargo xtask soak kill [--runs N] [--seed N] [--hermes PATH]
      Kills hermes at random points of a turn, resumes it, and checks that nothing was lost,
      done twice or left running. N kills (200 unless told); exit 1 on any violation.

  cargo xtask soak interrupt [--runs N] [--seed N] [--hermes PATH]
      Stops hermes with Ctrl-C at random points of a turn (1000 times unless told), says how long
      that took, and checks that the turn is closed, nothing is left running and the session
      answers; exit 1 on any violation, and if one took longer than a second.

  cargo xtask soak queries [--count N] [--seed N]
      Searches for N random strings (1,000,000 unless told); exit 1 if one is an error.

  cargo xtask soak store contend [--writers N] [--searchers N] [--seconds N] [--seed N]
      Lets processes write and search in one database as fast as they can (8 and 2, for 60 s),
      and says how long they waited and how evenly; exit 1 if anything failed or was lost.

  cargo xtask soak store kill [--kills N] [--writers N] [--seed N]
      Kills writers of one database at random moments and starts them again (2000 kills, 4
      writers), and checks that every acknowledged row is there, once; exit 1 on any violation.

  cargo xtask golden [--accept]
      Runs the byte-level golden and snapshot tests and says what changed; --accept takes the
      new bytes as right.

  cargo xtask words [--crates A,B]
      Rejects vague wording in docs, help, messages, doc comments and names of tests and files.
      --crates checks only these crates, also if they are listed as pending. Exit 1 on any finding.

  --hermes PATH  the program to test; built with `cargo build --release` unless given
";

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            // Nobody is left to tell when this fails.
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
        "" | "help" | "-h" | "--help" => say(HELP).map(|()| ExitCode::SUCCESS),
        "__compactions" => bench::compactions(flags).map(|()| ExitCode::SUCCESS),
        "__sessions" => bench::sessions(flags).map(|()| ExitCode::SUCCESS),
        "__supervise" => Ok(hermes_runtime::supervise().map(|()| ExitCode::SUCCESS)?),
        "__bare" => bare::run(flags).map(|()| ExitCode::SUCCESS),
        "__measure" => measure::child(flags),
        "__store-searcher" => soak::store::searcher(flags).map(|()| ExitCode::SUCCESS),
        "__store-writer" => soak::store::writer(flags).map(|()| ExitCode::SUCCESS),
        "__serve" => serve::child(flags).map(|()| ExitCode::SUCCESS),
        other => bail!("there is no command `{other}`; `cargo xtask --help` lists them"),
    }
}

/// Prints to standard output.
fn say(text: &str) -> Result<()> {
    let mut out = std::io::stdout().lock();
    out.write_all(text.as_bytes())?;
    Ok(out.flush()?)
}
