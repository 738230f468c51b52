//! The sources of attachments: files and folders below the working directory, and git.

use hermes_exec::child_env;
use hermes_guard::Secrets;
use hermes_tools::{OpenError, Places, Web, open_inside, project_root};
use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::process::Command;

/// The time limit of git.
const PATIENCE: Duration = Duration::from_secs(20);
const MOST_BYTES: u64 = 4 << 20;
const OUTSIDE: &str = "it is outside of the session's folder";

/// The place of a session: its working directory, its environment and its protected files.
pub struct Sources<'a> {
    pub cwd: &'a Path,
    pub places: &'a Places,
    /// The environment of the process.
    pub shell: &'a BTreeMap<String, String>,
    /// Removed from what is attached.
    pub secrets: &'a Secrets,
    /// The web, by the rules of the web tools.
    pub web: &'a dyn Web,
}

impl Sources<'_> {
    /// The text of a page.
    pub(super) async fn page(&self, address: &str) -> Result<String, String> {
        let mut pages = self.web.extract(&[address.to_owned()]).await;
        let page = pages.pop().ok_or_else(|| "it was not fetched".to_owned())?;
        let text = page.content?;
        let has_title = page.title.is_empty() || text.starts_with('#');
        let title = if has_title { String::new() } else { format!("# {}\n\n", page.title) };
        Ok(title + &text)
    }

    /// The text of a file below the working directory that is not protected.
    pub(super) fn file(&self, written: &str) -> Result<String, String> {
        let path = self.resolve(written);
        let opened = open_inside(self.cwd, &path, self.places).map_err(|error| match error {
            OpenError::Outside(_) => OUTSIDE.to_owned(),
            other => other.to_string(),
        })?;
        let mut bytes = Vec::new();
        let read = opened.file.take(MOST_BYTES + 1).read_to_end(&mut bytes);
        read.map_err(|error| error.to_string())?;
        if bytes.len() as u64 > MOST_BYTES {
            return Err(format!("it has more than {} MiB", MOST_BYTES >> 20));
        }
        String::from_utf8(bytes).map_err(|_| "this is not a text file".to_owned())
    }

    /// The files of a folder below the working directory.
    pub(super) fn folder(&self, written: &str, most: usize) -> Result<String, String> {
        let real = self.resolve(written).canonicalize().map_err(|error| error.to_string())?;
        let root = self.cwd.canonicalize().map_err(|error| error.to_string())?;
        if !real.starts_with(&root) {
            return Err(OUTSIDE.to_owned());
        }
        listing(&real, most)
    }

    fn resolve(&self, written: &str) -> PathBuf {
        let user_home = self.shell.get("HOME").map(Path::new);
        match (written.strip_prefix("~/"), user_home) {
            (Some(rest), Some(home)) => home.join(rest),
            _ => self.cwd.join(written),
        }
    }

    /// Runs git in the working directory, without a pager and without prompts. A repository from an archive
    /// brings settings along: none of its programs is run, and the working tree is the real one.
    pub(super) async fn git(&self, args: &[&str]) -> Result<String, String> {
        let root = project_root(self.cwd, self.places.user_home());
        let filters = self.run_git(&root, &["config", "--name-only", "--get-regexp", "^filter\\."]).await;
        let mut all: Vec<String> = filters_off(&filters.unwrap_or_default());
        all.extend(args.iter().map(|word| (*word).to_owned()));
        all.extend(
            ["--no-ext-diff", "--no-textconv", "--ignore-submodules=all", "--", "."].map(str::to_owned),
        );
        all.extend(HIDDEN.iter().map(|name| format!(":(exclude,glob)**/{name}")));
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        self.run_git(&root, &all).await
    }

    async fn run_git(&self, root: &Path, args: &[&str]) -> Result<String, String> {
        let mut command = Command::new("git");
        let shell = self.shell.iter().map(|(name, value)| (name.clone(), value.clone()));
        command.env_clear().envs(child_env(shell, &[]));
        command.args(SAFE).args(args).current_dir(self.cwd);
        // Set explicitly, so that a `core.worktree` of the repository is ignored.
        if root.join(".git").exists() {
            command.env("GIT_DIR", root.join(".git")).env("GIT_WORK_TREE", root);
        }
        command.env("GIT_TERMINAL_PROMPT", "0").env("GIT_NO_LAZY_FETCH", "1");
        command.stdin(Stdio::null()).kill_on_drop(true);
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
}

/// Lists the files of a folder, deepest last, without `.git`.
fn listing(folder: &Path, most: usize) -> Result<String, String> {
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

/// Options against settings of a repository that run its programs or read outside of it. See [`filters_off`] for
/// filters.
const SAFE: [&str; 12] = [
    "--no-pager",
    "--no-optional-locks",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.fsmonitor=false",
    "-c",
    "log.showSignature=false",
    "-c",
    "protocol.allow=never",
    "-c",
    "safe.bareRepository=explicit",
];
/// Files that are never attached.
const HIDDEN: [&str; 5] = [".env", ".env.*", "id_rsa", "id_ed25519", ".netrc"];

/// Options that switch off the filters in a list of settings.
fn filters_off(listed: &str) -> Vec<String> {
    let programs = listed.lines().filter(|name| !name.ends_with(".required"));
    let off = programs.flat_map(|name| ["-c".to_owned(), format!("{name}=")]);
    let demanded = listed.lines().filter(|name| name.ends_with(".required"));
    off.chain(demanded.flat_map(|name| ["-c".to_owned(), format!("{name}=false")])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_of_a_repository_are_switched_off() {
        let listed = "filter.x.clean\nfilter.x.process\nfilter.x.required";
        let want = "-c filter.x.clean= -c filter.x.process= -c filter.x.required=false";
        assert_eq!(filters_off(listed).join(" "), want);
        assert_eq!(filters_off(""), Vec::<String>::new());
    }

    #[test]
    fn folders_are_listed_in_order_up_to_a_limit() {
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
