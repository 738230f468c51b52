//! Files that tools leave alone: keys, system files, and Hermes' own settings.
//!
//! Paths come in resolved, so a link to a protected file is protected too.

use std::path::{Path, PathBuf};

/// The directories that give a path its meaning.
#[derive(Debug, Clone, Default)]
pub(crate) struct Places {
    /// Hermes' own directory.
    pub(crate) home: PathBuf,
    /// The user's home directory.
    pub(crate) user_home: Option<PathBuf>,
}

/// Files below Hermes' directory that hold credentials.
const OWN_SECRETS: [&str; 5] = [".env", "auth.json", "credentials.json", "mcp-tokens", "pairing"];
/// Files there that decide what Hermes may do.
const OWN_POLICY: [&str; 5] = ["config.yaml", "state.db", "SOUL.md", "hooks", "plugins"];
/// Below the user's home: holds keys.
const KEY_PLACES: [&str; 13] = [
    ".ssh",
    ".aws",
    ".gnupg",
    ".kube",
    ".docker",
    ".azure",
    ".config/gh",
    ".config/gcloud",
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".git-credentials",
];
/// What of those may be read: no keys in there.
const KEY_PLACES_READABLE: [&str; 3] = [".ssh/config", ".ssh/known_hosts", ".aws/config"];
const SYSTEM: [&str; 7] = [
    "/etc",
    "/boot",
    "/usr/lib/systemd",
    "/lib/systemd",
    "/var/run/docker.sock",
    "/run/docker.sock",
    "/private/etc",
];
/// Never end, or speak for another process.
const DEVICES: [&str; 9] = [
    "/dev/zero",
    "/dev/full",
    "/dev/random",
    "/dev/urandom",
    "/dev/stdin",
    "/dev/stdout",
    "/dev/stderr",
    "/dev/tty",
    "/dev/fd",
];

/// Why `path` must not be read, if so.
pub(crate) fn unreadable(path: &Path, places: &Places) -> Option<String> {
    let shown = path.display();
    if DEVICES.iter().any(|device| path.starts_with(device)) || is_process_file(path) {
        return Some(format!("{shown} is a device or process file and cannot be read as text"));
    }
    if holds_credentials(path, places) {
        return Some(format!(
            "{shown} holds credentials and is not shown; ask the user if you need something from it"
        ));
    }
    None
}

/// Whether a file is one that search results leave out.
pub(crate) fn holds_credentials(path: &Path, places: &Places) -> bool {
    is_environment_file(path) || is_below(path, &places.home, &OWN_SECRETS) || is_key_file(path, places)
}

/// Why `path` must not be written, if so.
pub(crate) fn unwritable(path: &Path, places: &Places) -> Option<String> {
    let shown = path.display();
    if SYSTEM.iter().any(|system| path.starts_with(system))
        || path.starts_with("/dev")
        || path.starts_with("/proc")
    {
        return Some(format!("{shown} belongs to the system and is not written"));
    }
    if is_below(path, &places.home, &OWN_SECRETS) || is_below(path, &places.home, &OWN_POLICY) {
        return Some(format!("{shown} belongs to Hermes itself; only the user changes it"));
    }
    let key_place = places.user_home.as_deref().is_some_and(|home| is_below(path, home, &KEY_PLACES));
    let units =
        places.user_home.as_deref().is_some_and(|home| path.starts_with(home.join(".config/systemd")));
    if key_place || units {
        return Some(format!("{shown} is a place for keys or services and is not written"));
    }
    None
}

fn is_key_file(path: &Path, places: &Places) -> bool {
    let Some(home) = places.user_home.as_deref() else {
        return false;
    };
    is_below(path, home, &KEY_PLACES)
        && !is_below(path, home, &KEY_PLACES_READABLE)
        && path.extension().is_none_or(|extension| extension != "pub")
}

fn is_below(path: &Path, root: &Path, names: &[&str]) -> bool {
    if root.as_os_str().is_empty() {
        return false;
    }
    path.strip_prefix(root).is_ok_and(|rest| names.iter().any(|name| rest.starts_with(name)))
}

/// `.env` and its variants, but not the examples that are meant to be read.
fn is_environment_file(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let example = [".example", ".sample", ".template", ".dist", ".defaults"];
    name == ".env" || (name.starts_with(".env.") && !example.iter().any(|end| name.ends_with(end)))
}

fn is_process_file(path: &Path) -> bool {
    let Ok(rest) = path.strip_prefix("/proc") else {
        return false;
    };
    let mut parts = rest.iter().skip(1).filter_map(|part| part.to_str());
    matches!(
        parts.find(|part| *part != "task" && part.parse::<u32>().is_err()),
        Some("fd" | "environ" | "mem" | "maps" | "cmdline" | "auxv")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        Places { home: "/home/me/.hermes".into(), user_home: Some("/home/me".into()) }
    }

    #[test]
    fn protected_files_are_known() {
        for (path, readable, writable) in [
            ("/home/me/code/a.rs", true, true),
            ("/home/me/code/.env", false, true),
            ("/home/me/code/.env.local", false, true),
            ("/home/me/code/.env.example", true, true),
            ("/home/me/code/.envrc", true, true),
            ("/home/me/.hermes/.env", false, false),
            ("/home/me/.hermes/auth.json", false, false),
            ("/home/me/.hermes/mcp-tokens/x.json", false, false),
            ("/home/me/.hermes/config.yaml", true, false),
            ("/home/me/.hermes/notes.md", true, true),
            ("/home/me/.ssh/id_ed25519", false, false),
            ("/home/me/.ssh/id_ed25519.pub", true, false),
            ("/home/me/.ssh/config", true, false),
            ("/home/me/.netrc", false, false),
            ("/home/me/.config/gh/hosts.yml", false, false),
            ("/etc/hosts", true, false),
            ("/etcetera", true, true),
            ("/dev/urandom", false, false),
            ("/dev/null", true, false),
            ("/proc/self/environ", false, false),
            ("/proc/12/task/12/fd/0", false, false),
            ("/proc/cpuinfo", true, false),
        ] {
            let path = Path::new(path);
            let found = (unreadable(path, &places()).is_none(), unwritable(path, &places()).is_none());
            assert_eq!(found, (readable, writable), "{}", path.display());
        }
    }
}
