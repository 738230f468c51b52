//! Runs the tests of request bytes: golden files and snapshots.
//!
//! Snapshot tests have no common name, so every package with snapshots is tested as a
//! whole; in the others only tests with `golden` in their name run.

use crate::flags::Flags;
use crate::hermes::cargo;
use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

/// Every snapshot file and its content.
type Snapshots = BTreeMap<PathBuf, Vec<u8>>;

pub(crate) fn run(mut flags: Flags) -> Result<ExitCode> {
    let mode = if flags.has("--accept") { "always" } else { "no" };
    flags.finish()?;
    let packages = packages()?;
    let before = snapshots(&packages)?;
    let golden = test(mode, &["--workspace", "golden"])?;
    let taking: Vec<&str> = packages
        .iter()
        .filter(|package| takes_snapshots(&package.folder))
        .flat_map(|package| ["--package", &package.name])
        .collect();
    let snapshot = taking.is_empty() || test(mode, &taking)?;
    let changes = changes(&before, &snapshots(&packages)?);
    crate::say(&summary(&changes, golden && snapshot, mode))?;
    Ok(if golden && snapshot { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn test(mode: &str, arguments: &[&str]) -> Result<bool> {
    let mut command: Command = cargo();
    command.args(["test", "--no-fail-fast"]).args(arguments).env("INSTA_UPDATE", mode);
    Ok(command.status().context("cargo could not be started")?.success())
}

/// One package of this workspace.
struct Package {
    name: String,
    folder: PathBuf,
}

fn packages() -> Result<Vec<Package>> {
    let output = cargo().args(["metadata", "--no-deps", "--format-version=1"]).output()?;
    ensure!(output.status.success(), "cargo metadata failed: {}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    Ok(packages.iter().filter_map(package).collect())
}

fn package(metadata: &Value) -> Option<Package> {
    let manifest = Path::new(metadata["manifest_path"].as_str()?);
    Some(Package { name: metadata["name"].as_str()?.to_owned(), folder: manifest.parent()?.to_owned() })
}

/// Our own sources contain the macro names, but have no snapshots.
fn takes_snapshots(folder: &Path) -> bool {
    let asserts = |path: &PathBuf| fs::read_to_string(path).is_ok_and(|text| text.contains("insta::assert_"));
    folder != Path::new(env!("CARGO_MANIFEST_DIR"))
        && files(folder).iter().filter(|path| has_ending(path, "rs")).any(asserts)
}

fn snapshots(packages: &[Package]) -> Result<Snapshots> {
    let files = packages.iter().flat_map(|package| files(&package.folder));
    // An accepted inline snapshot is in a `pending-snap` file beside its source.
    let wanted = files.filter(|path| has_ending(path, "snap") || has_ending(path, "pending-snap"));
    wanted.map(|path| Ok((path.clone(), fs::read(path)?))).collect()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let paths = entries.map(|entry| entry.path()).filter(|path| !path.ends_with("target"));
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|found| found == ending)
}

/// One line per new, removed or changed snapshot.
fn changes(before: &Snapshots, after: &Snapshots) -> Vec<String> {
    let paths = before.keys().chain(after.keys().filter(|path| !before.contains_key(*path)));
    let line = |path: &PathBuf| {
        let what = match (before.get(path), after.get(path)) {
            (old, new) if old == new => return None,
            (None, _) => "new",
            (_, None) => "gone",
            (Some(_), Some(_)) => "changed",
        };
        Some(format!("{what}: {}", path.display()))
    };
    paths.filter_map(line).collect()
}

fn summary(changes: &[String], passed: bool, mode: &str) -> String {
    let mut text = changes.iter().map(|line| format!("{line}\n")).collect::<String>();
    text.push_str(match (passed, changes.is_empty(), mode) {
        (true, true, _) => "nothing changed\n",
        (true, false, _) => "the snapshots above were accepted; review them before you commit\n",
        (false, _, "no") => {
            "bytes changed: see the failed tests above; `cargo xtask golden --accept` accepts them\n"
        }
        (false, ..) => {
            "tests failed although snapshots were accepted; edit inline snapshots in their source files\n"
        }
    });
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_listed() {
        let files = |names: &[(&str, &str)]| -> Snapshots {
            names.iter().map(|(name, text)| (PathBuf::from(name), text.as_bytes().to_vec())).collect()
        };
        let before = files(&[("a", "1"), ("b", "1"), ("c", "1")]);
        let after = files(&[("a", "1"), ("b", "2"), ("d", "1")]);
        assert_eq!(changes(&before, &after), ["changed: b", "gone: c", "new: d"]);
    }
}
