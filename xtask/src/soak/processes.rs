//! The remaining processes of a run.

use std::fs;

/// The command lines of living processes with the marker, each with its id.
pub(super) fn marked(marker: &str) -> Vec<(u32, String)> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let ids = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    ids.filter_map(|id: u32| {
        // Zombies have an empty command line.
        let words = fs::read(format!("/proc/{id}/cmdline")).ok()?;
        let line = String::from_utf8_lossy(&words).replace('\0', " ");
        line.contains(marker).then_some((id, line))
    })
    .collect()
}
