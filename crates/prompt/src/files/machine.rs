//! The machine that commands run on.

use crate::Surroundings;
use std::collections::BTreeMap;

/// The operating system, as `uname -s` would say it.
pub fn os() -> &'static str {
    match std::env::consts::OS {
        "linux" => "Linux",
        "macos" => "macOS",
        other => other,
    }
}

/// Returns the special surroundings of this machine, if any.
pub fn surroundings(shell: &BTreeMap<String, String>) -> Vec<Surroundings> {
    // Only Linux has the file.
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    of(&kernel, shell)
}

fn of(kernel: &str, shell: &BTreeMap<String, String>) -> Vec<Surroundings> {
    let is_wsl = kernel.to_ascii_lowercase().contains("microsoft");
    let is_termux = shell.contains_key("TERMUX_VERSION")
        || shell.get("PREFIX").is_some_and(|prefix| prefix.contains("com.termux"));
    [(is_wsl, Surroundings::Wsl), (is_termux, Surroundings::Termux)]
        .into_iter()
        .filter_map(|(is_here, which)| is_here.then_some(which))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wsl_and_termux_are_recognised() {
        for (kernel, name, value, want) in [
            ("6.8.0-generic", "PREFIX", "/usr", vec![]),
            ("5.15.153.1-Microsoft-standard-WSL2", "PREFIX", "/usr", vec![Surroundings::Wsl]),
            ("5.10.1", "PREFIX", "/data/data/com.termux/files/usr", vec![Surroundings::Termux]),
            ("5.10.1", "TERMUX_VERSION", "0.118", vec![Surroundings::Termux]),
        ] {
            let shell = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            assert_eq!(of(kernel, &shell), want, "{kernel} {name}");
        }
    }
}
