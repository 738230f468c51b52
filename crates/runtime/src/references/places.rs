//! Where attachments come from: files and folders of the project, and git.

use crate::Runtime;
use hermes_exec::child_env;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// Folders of a user's home that hold keys.
const KEY_FOLDERS: [&str; 7] = [".ssh", ".aws", ".gnupg", ".kube", ".docker", ".azure", ".config/gh"];
/// Files of a user's home that hold keys or are run by shells.
const KEY_FILES: [&str; 14] = [
    ".netrc",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".bashrc",
    ".bash_profile",
    ".bash_history",
    ".profile",
    ".zshrc",
    ".zprofile",
    ".zshenv",
    ".zsh_history",
    ".git-credentials",
    ".config/fish/config.fish",
];
/// How long git may take.
const PATIENCE: Duration = Duration::from_secs(20);
const MOST_BYTES: u64 = 4 << 20;

/// A path that may be attached: inside the folder of the session, and nothing that holds keys.
pub(super) fn readable(runtime: &Runtime, cwd: &Path, written: &str) -> Result<PathBuf, String> {
    let user_home = runtime.launch.shell.get("HOME").map(PathBuf::from);
    let path = match (written.strip_prefix("~/"), &user_home) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => cwd.join(written),
    };
    let real = path.canonicalize().map_err(|error| error.to_string())?;
    let root = cwd.canonicalize().map_err(|error| error.to_string())?;
    if !real.starts_with(&root) {
        return Err("it is outside of the session's folder".to_owned());
    }
    if holds_keys(&real, user_home.as_deref(), runtime.launch.home.path()) {
        return Err("it may hold keys".to_owned());
    }
    let size = real.metadata().map_err(|error| error.to_string())?.len();
    if real.is_file() && size > MOST_BYTES {
        return Err(format!("it has {} MiB, more than {}", size >> 20, MOST_BYTES >> 20));
    }
    Ok(real)
}

fn holds_keys(path: &Path, user_home: Option<&Path>, hermes: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let of_user = user_home.map(real).and_then(|home| path.strip_prefix(home).ok().map(Path::to_owned));
    let is_users = of_user.is_some_and(|inside| {
        KEY_FOLDERS.iter().any(|folder| inside.starts_with(folder))
            || KEY_FILES.iter().any(|file| inside == Path::new(file))
    });
    let hermes = real(hermes);
    is_users || [".env", "auth.json", "skills/.hub"].iter().any(|name| path.starts_with(hermes.join(name)))
}

/// The files of a folder, deepest last, without what git keeps for itself.
pub(super) fn listing(folder: &Path, most: usize) -> Result<String, String> {
    if !folder.is_dir() {
        return Err("this is not a folder".to_owned());
    }
    let (mut lines, mut waiting) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(next) = waiting.pop() {
        let entries = std::fs::read_dir(&next).map_err(|error| error.to_string())?;
        let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
        paths.sort_unstable();
        for path in paths.iter().filter(|path| !path.ends_with(".git")) {
            let is_folder = path.is_dir() && !path.is_symlink();
            let inside = path.strip_prefix(folder).unwrap_or(path).display().to_string();
            lines.push(if is_folder { format!("{inside}/") } else { inside });
            if lines.len() >= most {
                lines.push(format!("[only the first {most} are listed]"));
                return Ok(lines.join("\n"));
            }
        }
        waiting.extend(
            paths
                .into_iter()
                .rev()
                .filter(|path| path.is_dir() && !path.is_symlink() && !path.ends_with(".git")),
        );
    }
    Ok(lines.join("\n"))
}

/// What git says in a folder, without a pager and without asking anybody.
pub(super) async fn git(runtime: &Runtime, cwd: &Path, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("git");
    let shell = runtime.launch.shell.iter().map(|(name, value)| (name.clone(), value.clone()));
    command.env_clear().envs(child_env(shell, &[]));
    command.args(["--no-pager", "-c", "core.hooksPath=/dev/null"]).args(args).current_dir(cwd);
    command.env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await;
    let output = output.map_err(|_| "git took too long".to_owned())?;
    let output = output.map_err(|error| format!("git could not be started: {error}"))?;
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end().to_owned();
    match (output.status.success(), said(&output.stdout)) {
        (true, text) if text.is_empty() => Ok("(nothing)".to_owned()),
        (true, text) => Ok(text),
        (false, _) => Err(said(&output.stderr).lines().next().unwrap_or("git failed").to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_keys_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().canonicalize().unwrap();
        for (path, want) in [
            (".ssh/id", true),
            (".config/gh/hosts.yml", true),
            (".bashrc", true),
            (".hermes/.env", true),
            (".hermes/skills/.hub/lock.json", true),
            (".hermes/SOUL.md", false),
            ("project/.env.example", false),
            ("sshfs/x", false),
        ] {
            let found = holds_keys(&home.join(path), Some(&home), &home.join(".hermes"));
            assert_eq!(found, want, "{path}");
        }
    }

    #[test]
    fn folders_are_listed_in_order_and_not_without_end() {
        let folder = tempfile::tempdir().unwrap();
        for file in ["b/x", "b/c/y", "a", ".git/HEAD"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(listing(folder.path(), 50).unwrap(), "a\nb/\nb/c/\nb/x\nb/c/y");
        assert_eq!(listing(folder.path(), 2).unwrap(), "a\nb/\n[only the first 2 are listed]");
        assert!(listing(&folder.path().join("a"), 2).is_err());
    }
}
