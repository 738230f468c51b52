//! Runs git on the store.
//!
//! Nothing of the user or of the project configures it: no settings files, no hooks, no signing, no file monitor, no
//! filters, no external diff programs. The project's own `.git` is never opened, because the directory of the
//! repository is given. The program is searched for outside of the project only.

use crate::CheckpointError;
use crate::layout::Layout;
use hermes_exec::{Direct, Ended, run_direct};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes of output that are kept; a list of 50,000 paths of 200 characters has 10 MB.
const MOST_OUTPUT: usize = 64 * 1024 * 1024;
/// Characters of an error of git that are shown.
const MOST_ERROR: usize = 500;

/// Settings with precedence over every file.
const SETTINGS: [&str; 19] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.untrackedCache=false",
    "core.splitIndex=false",
    "core.sparseCheckout=false",
    "core.symlinks=true",
    "core.fileMode=true",
    "core.protectNTFS=false",
    "core.quotePath=false",
    "core.checkStat=default",
    "commit.gpgSign=false",
    "gc.auto=0",
    "diff.external=",
    "submodule.recurse=false",
    "log.showRoot=false",
];

/// Git on the store, with the files of one project.
#[derive(Debug, Clone)]
pub(crate) struct Git {
    pub(crate) layout: Layout,
    pub(crate) work_tree: PathBuf,
    pub(crate) index: Option<PathBuf>,
    pub(crate) timeout: Duration,
    pub(crate) path: String,
}

impl Git {
    /// Runs git and returns its standard output. Any exit code but 0 is an error.
    pub(crate) async fn run(&self, arguments: &[&str]) -> Result<String, CheckpointError> {
        self.feed(arguments, Vec::new()).await
    }

    /// Runs git with this standard input.
    pub(crate) async fn feed(&self, arguments: &[&str], input: Vec<u8>) -> Result<String, CheckpointError> {
        self.feed_within(arguments, input, self.timeout).await
    }

    pub(crate) async fn feed_within(
        &self,
        arguments: &[&str],
        input: Vec<u8>,
        timeout: Duration,
    ) -> Result<String, CheckpointError> {
        self.feed_in(self.env(), arguments, input, timeout).await
    }

    async fn feed_in(
        &self,
        env: Vec<(String, String)>,
        arguments: &[&str],
        input: Vec<u8>,
        timeout: Duration,
    ) -> Result<String, CheckpointError> {
        let command = arguments.first().copied().unwrap_or_default().to_owned();
        let program = Direct {
            argv: argv(arguments),
            cwd: self.work_tree.clone(),
            env,
            input,
            timeout,
            most_output: MOST_OUTPUT,
            sandbox: None,
        };
        let output = run_direct(program).await.map_err(|source| CheckpointError::NoGit { source })?;
        if output.ended == Ended::TimedOut {
            return Err(CheckpointError::GitTimeout { command, after: timeout });
        }
        if output.exit_code != 0 {
            let output = output.stderr.trim().chars().take(MOST_ERROR).collect();
            return Err(CheckpointError::Git { command, output });
        }
        Ok(output.stdout)
    }

    /// Runs git on the store alone, which a bare repository is created with.
    pub(crate) async fn run_bare(&self, arguments: &[&str]) -> Result<(), CheckpointError> {
        let mut env = self.env();
        env.retain(|(name, _)| name != "GIT_WORK_TREE" && name != "GIT_INDEX_FILE");
        self.feed_in(env, arguments, Vec::new(), self.timeout).await.map(drop)
    }

    /// Git with another index.
    pub(crate) fn with_index(&self, index: PathBuf) -> Self {
        Self { index: Some(index), ..self.clone() }
    }

    fn env(&self) -> Vec<(String, String)> {
        let store = self.layout.store().display().to_string();
        let mut env: Vec<(String, String)> = [
            ("PATH", safe_path(&self.path, &self.work_tree)),
            ("HOME", store.clone()),
            ("LC_ALL", "C".to_owned()),
            ("GIT_DIR", store),
            ("GIT_WORK_TREE", self.work_tree.display().to_string()),
            ("GIT_CONFIG_GLOBAL", "/dev/null".to_owned()),
            ("GIT_CONFIG_SYSTEM", "/dev/null".to_owned()),
            ("GIT_CONFIG_NOSYSTEM", "1".to_owned()),
            ("GIT_ATTR_NOSYSTEM", "1".to_owned()),
            ("GIT_TERMINAL_PROMPT", "0".to_owned()),
            ("GIT_LITERAL_PATHSPECS", "1".to_owned()),
            ("GIT_NO_REPLACE_OBJECTS", "1".to_owned()),
            ("GIT_PAGER", "cat".to_owned()),
            ("GIT_AUTHOR_NAME", "Hermes Checkpoint".to_owned()),
            ("GIT_AUTHOR_EMAIL", "hermes@local".to_owned()),
            ("GIT_COMMITTER_NAME", "Hermes Checkpoint".to_owned()),
            ("GIT_COMMITTER_EMAIL", "hermes@local".to_owned()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into();
        if let Some(index) = &self.index {
            env.push(("GIT_INDEX_FILE".to_owned(), index.display().to_string()));
        }
        env
    }
}

fn argv(arguments: &[&str]) -> Vec<String> {
    let settings = SETTINGS.iter().flat_map(|setting| ["-c", setting]);
    ["git"].into_iter().chain(settings).chain(arguments.iter().copied()).map(str::to_owned).collect()
}

/// The directories of `PATH` that the project cannot put programs into.
fn safe_path(path: &str, project: &Path) -> String {
    let is_safe = |dir: &&str| Path::new(dir).is_absolute() && !Path::new(dir).starts_with(project);
    let dirs: Vec<&str> = path.split(':').filter(is_safe).collect();
    if dirs.is_empty() { "/usr/local/bin:/usr/bin:/bin".to_owned() } else { dirs.join(":") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_of_the_project_are_not_found() {
        for (path, want) in [
            (".:/usr/bin:/p/bin:/bin", "/usr/bin:/bin"),
            ("bin", "/usr/local/bin:/usr/bin:/bin"),
            ("", "/usr/local/bin:/usr/bin:/bin"),
            ("/p/node_modules/.bin:/px/bin", "/px/bin"),
        ] {
            assert_eq!(safe_path(path, Path::new("/p")), want, "{path}");
        }
    }
}
