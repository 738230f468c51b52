//! A context engine plugin: a directory with an `engine.yaml` that holds its command.

use hermes_config::home::Home;
use serde::Deserialize;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

const MANIFEST: &str = "engine.yaml";
/// Maximum bytes of a manifest.
const MOST_MANIFEST: u64 = 64 * 1024;
const DEFAULT_TIMEOUT: u64 = 30;
const LONGEST_TIMEOUT: u64 = 600;

/// An engine that can be started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plugin {
    pub name: String,
    pub folder: PathBuf,
    /// The program and its arguments.
    pub argv: Vec<String>,
    /// Maximum time for one reply.
    pub timeout: Duration,
    /// The engine offers tools to the model.
    pub has_tools: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    command: Vec<String>,
    #[serde(default = "default_timeout")]
    timeout_seconds: u64,
    #[serde(default)]
    tools: bool,
}

fn default_timeout() -> u64 {
    DEFAULT_TIMEOUT
}

/// The engine of this name, if it has a directory. An error describes an invalid directory.
pub(super) fn find(home: &Home, name: &str) -> Result<Option<Plugin>, String> {
    if !is_name(name) {
        return Ok(None);
    }
    let folder = home.context_engines_dir().join(name);
    if !folder.is_dir() {
        return Ok(None);
    }
    let path = folder.join(MANIFEST);
    let shown = path.display();
    let text = match read(&path) {
        Ok(text) => text,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(format!(
                "{shown} is missing; engines that are Python modules do not load here, see docs/context-engines.md"
            ));
        }
        Err(error) => return Err(format!("{shown} cannot be read: {error}")),
    };
    let manifest: Manifest = serde_saphyr::from_str(&text)
        .map_err(|error| format!("{shown} is not a valid engine manifest: {error}"))?;
    plugin(name, folder, manifest).map(Some).map_err(|why| format!("{shown}: {why}"))
}

/// Returns true for a valid directory name; it cannot point outside the directory of engines.
pub(super) fn is_name(name: &str) -> bool {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '_' | '-' | '.');
    !name.is_empty() && name.len() <= 64 && !name.starts_with('.') && name.chars().all(is_plain)
}

fn read(path: &Path) -> std::io::Result<String> {
    if std::fs::metadata(path)?.len() > MOST_MANIFEST {
        return Err(ErrorKind::FileTooLarge.into());
    }
    std::fs::read_to_string(path)
}

fn plugin(name: &str, folder: PathBuf, manifest: Manifest) -> Result<Plugin, &'static str> {
    let Manifest { command: mut argv, timeout_seconds, tools } = manifest;
    let program = argv.first_mut().filter(|program| !program.is_empty());
    let program = program.ok_or("`command` does not name a program")?;
    if !(1..=LONGEST_TIMEOUT).contains(&timeout_seconds) {
        return Err("`timeout_seconds` must be from 1 to 600");
    }
    // A bare name is looked for in the PATH; anything else is relative to the directory.
    if program.contains('/') {
        *program = folder.join(&*program).display().to_string();
    }
    let (name, timeout) = (name.to_owned(), Duration::from_secs(timeout_seconds));
    Ok(Plugin { name, folder, argv, timeout, has_tools: tools })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_testkit::TempHome;

    #[test]
    fn names_cannot_leave_the_plugin_directory() {
        for (name, want) in [
            ("mine", true),
            ("My-engine_2.0", true),
            ("", false),
            ("..", false),
            (".hidden", false),
            ("a/b", false),
            ("../x", false),
            ("a\\b", false),
            ("a\0", false),
            ("ü", false),
            (&"x".repeat(65), false),
        ] {
            assert_eq!(is_name(name), want, "{name:?}");
        }
    }

    #[test]
    fn manifest_is_read_and_checked() {
        let home = TempHome::new();
        let here = Home::at(home.path());
        let folder = here.context_engines_dir().join("mine");
        assert_eq!(find(&here, "mine"), Ok(None));
        let write = |text: &str| {
            home.write("plugins/context_engine/mine/engine.yaml", text);
            find(&here, "mine")
        };
        let plain = Plugin {
            name: "mine".into(),
            folder: folder.clone(),
            argv: vec!["python3".into(), "engine.py".into()],
            timeout: Duration::from_secs(30),
            has_tools: false,
        };
        assert_eq!(write("command: [python3, engine.py]\n"), Ok(Some(plain.clone())));
        let own = Plugin {
            argv: vec![folder.join("./run").display().to_string()],
            timeout: Duration::from_secs(5),
            has_tools: true,
            ..plain
        };
        assert_eq!(write("command: [./run]\ntimeout_seconds: 5\ntools: true\n"), Ok(Some(own)));
        for (text, want) in [
            ("command: []\n", "`command` does not name a program"),
            ("command: ['']\n", "`command` does not name a program"),
            ("command: [x]\ntimeout_seconds: 0\n", "`timeout_seconds` must be from 1 to 600"),
            ("command: [x]\ntimeout: 5\n", "is not a valid engine manifest"),
            ("tools: true\n", "is not a valid engine manifest"),
            ("{", "is not a valid engine manifest"),
        ] {
            let why = write(text).unwrap_err();
            assert!(why.contains(want), "{text}: {why}");
        }
        std::fs::remove_file(folder.join(MANIFEST)).unwrap();
        assert!(find(&here, "mine").unwrap_err().contains("is missing"));
    }
}
