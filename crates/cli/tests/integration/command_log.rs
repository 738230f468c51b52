//! Commands and their output as snapshots show them.
//!
//! Wording is asserted by one snapshot per test, so that it is changed in one place:
//! `INSTA_UPDATE=always cargo test -p hermes-cli --test integration` writes the files anew.

use crate::process::{code, stderr, stdout};
use regex::Regex;
use std::fmt::{self, Display, Formatter};
use std::process::Output;
use std::sync::LazyLock;

/// The commands of a test with their output, without the parts that differ from run to run.
#[derive(Default)]
pub(crate) struct CommandLog(String);

impl CommandLog {
    /// Adds a command: its standard output, its standard error behind `! `, and an exit code other than 0.
    pub(crate) fn add(&mut self, args: &[&str], output: &Output) {
        let errors: String =
            stderr(output).lines().map(|line| format!("{}\n", format!("! {line}").trim_end())).collect();
        let mut text = stdout(output);
        if !text.is_empty() && !text.ends_with('\n') {
            text.push_str("[no newline]\n");
        }
        let args: Vec<String> = args.iter().map(|arg| shortened(arg)).collect();
        self.text(&format!("$ hermes {}", args.join(" ")), &(text + &errors));
        if code(output) != 0 {
            self.0.push_str(&format!("[exit code {}]\n", code(output)));
        }
    }

    /// Adds a text below a heading.
    pub(crate) fn text(&mut self, heading: &str, text: &str) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        self.0.push_str(&masked(&format!("{heading}\n{text}")));
        if !self.0.ends_with('\n') {
            self.0.push('\n');
        }
    }
}

impl Display for CommandLog {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

fn shortened(argument: &str) -> String {
    match argument.char_indices().nth(100) {
        Some((end, _)) => format!("{}...", &argument[..end]),
        None => argument.to_owned(),
    }
}

/// Patterns of what differs from run to run, with their stand-ins.
static MASKS: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"/[^\s'\x22`]*?/(?:hermes-home-|\.tmp)[A-Za-z0-9]{6}", "[dir]"),
        (r"(127\.0\.0\.1|localhost|2130706433):\d+", "$1:[port]"),
        (r"\b\d{8}_\d{6}_[0-9a-f]{6}\b", "[session]"),
        (r"\b\d{4}-\d{2}-\d{2}[ T]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?Z?", "[time]"),
        (r"\b\d{4}-\d{2}-\d{2}\b", "[date]"),
        (r"\b\d+(?:\.\d+)? (?:ms|B|KiB)\b", "[number]"),
        (r"\b\d+\.\d+ ?s\b", "[seconds]"),
        (r"\b([Aa]bout) \d+ tokens", "$1 [number] tokens"),
        (r"\$0\.\d{4}\b", "$$[price]"),
        (r#"nonce="[0-9a-f]{16}""#, r#"nonce="[nonce]""#),
        (r"\.bak\.\d+", ".bak.[time]"),
        (r"(?m)^([→ ] \d+  )[0-9a-f]{6}\b", "$1[id]"),
    ]
    .map(|(pattern, instead)| (Regex::new(pattern).unwrap(), instead))
    .into()
});

/// A text with stand-ins for directories, ports, ids, times, sizes and prices.
pub(crate) fn masked(text: &str) -> String {
    MASKS
        .iter()
        .fold(text.to_owned(), |text, (pattern, instead)| pattern.replace_all(&text, *instead).into_owned())
}

#[test]
fn differences_between_runs_are_masked() {
    for (text, want) in [
        ("cannot read /tmp/hermes-home-a1B2c3/config.yaml", "cannot read [dir]/config.yaml"),
        ("http://127.0.0.1:40123/v1", "http://127.0.0.1:[port]/v1"),
        ("resume 20261116_120000_0a1b2c", "resume [session]"),
        ("at 2026-11-16 12:00, on 2026-11-16", "at [time], on [date]"),
        ("took 12 ms, 0.3 s, at most 60 s, 5 files", "took [number], [seconds], at most 60 s, 5 files"),
        ("About 40 tokens for $0.0210, of $2.50", "About [number] tokens for $[price], of $2.50"),
        ("→ 1  0a1b2c  work", "→ 1  [id]  work"),
    ] {
        assert_eq!(masked(text), want);
    }
}
