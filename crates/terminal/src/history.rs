//! The history of entered lines, in the file and format of the Python release.
//!
//! An entry is a comment line with the time, then the text with a `+` before every line.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The newest entries, oldest first.
const MOST: usize = 1000;

/// Reads the entries of a history file; a missing or unreadable file has none.
pub(crate) fn load(path: &Path) -> Vec<String> {
    let text = fs::read(path).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let mut entries = parse(&text);
    entries.drain(..entries.len().saturating_sub(MOST));
    entries
}

fn parse(text: &str) -> Vec<String> {
    let mut entries = Vec::new();
    let mut open: Vec<&str> = Vec::new();
    for line in text.lines().chain(std::iter::once("")) {
        match line.strip_prefix('+') {
            Some(part) => open.push(part),
            None if !open.is_empty() => entries.push(std::mem::take(&mut open).join("\n")),
            None => {}
        }
    }
    entries
}

/// Adds one entry; a failure is ignored.
pub(crate) fn append(path: &Path, entry: &str) {
    let now = hermes_runtime::clock::zoned().strftime("%Y-%m-%d %H:%M:%S%.6f").to_string();
    let lines: String = entry.lines().map(|line| format!("+{line}\n")).collect();
    let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
    if let Ok(mut file) = file {
        let _ = file.write_all(format!("\n# {now}\n{lines}").as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_with_several_lines_are_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".hermes_history");
        assert_eq!(load(&path), Vec::<String>::new());
        append(&path, "one");
        append(&path, "two\nlines");
        assert_eq!(load(&path), ["one", "two\nlines"]);
    }

    #[test]
    fn python_format_is_read() {
        assert_eq!(parse("\n# 2026-01-01 00:00:00\n+a\n+b\n\n# x\n+c\n"), ["a\nb", "c"]);
    }
}
