//! Counts instructions with valgrind, independent of other programs and of the clock.

use crate::wrapped_command::wrapped;
use anyhow::{Context, Result, ensure};
use std::process::Command;

/// The instructions of a command's own process, without children.
pub(super) fn instructions(command: &Command) -> Result<u64> {
    let mut watched = Command::new("valgrind");
    watched.args(["--tool=callgrind", "--trace-children=no", "--callgrind-out-file=/dev/null"]);
    let output = wrapped(watched, command).output().context("valgrind could not be started")?;
    let report = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "hermes failed under valgrind: {report}");
    collected(&report).context("valgrind reported no instructions")
}

/// The number in `==123== Collected : 456`. Forked children that fail to start a program report, too; the count
/// of the program itself is the largest.
fn collected(report: &str) -> Option<u64> {
    let counts = report.lines().filter_map(|line| line.split_once("Collected :"));
    counts.filter_map(|(_, count)| count.trim().parse().ok()).max()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn largest_count_is_used() {
        let report = "==7== Collected : 12\n==5== \n==5== Collected : 3456\n";
        assert_eq!(collected(report), Some(3456));
        assert_eq!(collected("==5== nothing"), None);
    }
}
