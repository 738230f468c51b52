//! Compares two builds of hermes: every round measures both, one after the other.

use super::rounds::Rounds;
use super::row::{Row, Target};
use super::{Effort, note, rows};
use crate::flags::Flags;
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};

/// The maximum ratio of a row to the other build.
const TOLERANCE: f64 = 1.05;

/// The other build, from `--against PATH`.
pub(super) fn find(flags: &mut Flags) -> Result<Option<PathBuf>> {
    let Some(path) = flags.value::<PathBuf>("--against")? else { return Ok(None) };
    let found = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    Ok(Some(found))
}

/// Measures both builds in alternating rounds and compares them row by row.
pub(super) fn measure(new: &Path, old: &Path, effort: Effort) -> Result<Vec<Row>> {
    let (mut new, mut old) = (Rounds::prepare(new)?, Rounds::prepare(old)?);
    for round in 1..=effort.rounds {
        note(&format!("round {round} of {}, both builds", effort.rounds));
        old.run()?;
        new.run()?;
    }
    note("counting fsyncs and instructions");
    Ok(compare(rows::all(&new, effort)?, &rows::all(&old, effort)?))
}

/// Each row of the new build beside the same row of the old one.
fn compare(new: Vec<Row>, old: &[Row]) -> Vec<Row> {
    let beside = |row: Row| {
        let other = old.iter().find(|other| other.name == row.name);
        match (&row.measured, other.map(|other| &other.measured)) {
            (Ok(measured), Some(Ok(before))) => Row::new(row.name, *measured)
                .beside("old", *before)
                .target(Target::Times(TOLERANCE))
                .note(row.note),
            _ => row,
        }
    };
    new.into_iter().map(beside).collect()
}

#[cfg(test)]
mod tests {
    use super::super::row::Quantity;
    use super::*;

    #[test]
    fn rows_are_compared_by_name() {
        let row = |name: &str, millis| Row::new(name, Quantity::Millis(millis));
        let compared = compare(
            vec![row("a", 10.4), row("b", 10.6), row("new", 1.0), Row::skipped("c", "no tool")],
            &[row("b", 10.0), row("a", 10.0), row("c", 1.0)],
        );
        let verdicts: Vec<_> = compared.iter().map(|row| (row.name.as_str(), row.verdict())).collect();
        assert_eq!(verdicts, [("a", "ok"), ("b", "missed"), ("new", ""), ("c", "skipped")]);
    }
}
