//! The steps of a patch over several files, found out before anything is changed.

use super::one_file::with_near_lines;
use crate::ToolError;
use crate::builtin::blocking::Stop;
use crate::builtin::files::Loaded;
use crate::builtin::syntax::syntax_error;
use crate::builtin::whole_file::Existing;
use hermes_edits::fuzzy;
use hermes_edits::v4a::hunks::{self, HunkError};
use hermes_edits::v4a::{Hunk, Operation};
use similar::TextDiff;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Thousands of changes all over a large file take a diff minutes to see through.
const DIFF_PATIENCE: Duration = Duration::from_secs(1);

/// An operation with the real paths of its files.
#[derive(Debug, Clone)]
pub(super) struct Located {
    pub(super) operation: Operation,
    pub(super) path: PathBuf,
    /// The target of a move.
    pub(super) to: Option<PathBuf>,
}

/// A change of one file that will work, as far as can be known.
#[derive(Debug)]
pub(super) enum Step {
    Write {
        path: PathBuf,
        text: String,
        /// The digest of the file that is replaced; `None` for a new one.
        before: Option<String>,
        /// The texts for a syntax check, plain.
        old_text: Option<String>,
        new_text: String,
        diff: String,
    },
    Delete {
        path: PathBuf,
        before: String,
        diff: String,
    },
    Move {
        from: PathBuf,
        to: PathBuf,
        digest: String,
        diff: String,
    },
}

/// The reason why an operation does not work, and the file that it is about.
pub(super) struct Obstacle {
    pub(super) path: PathBuf,
    pub(super) error: ToolError,
}

/// The steps of all operations, or the reasons why some do not work.
pub(super) fn steps(
    operations: &[Located],
    loaded: &Loaded,
    stop: &Stop,
) -> Result<Vec<Step>, Vec<Obstacle>> {
    let (mut steps, mut obstacles) = (Vec::new(), Vec::new());
    for located in operations {
        match step(located, loaded, stop) {
            Ok(step) => steps.push(step),
            Err(error) => obstacles.push(Obstacle { path: located.path.clone(), error }),
        }
    }
    if obstacles.is_empty() { Ok(steps) } else { Err(obstacles) }
}

fn step(located: &Located, loaded: &Loaded, stop: &Stop) -> Result<Step, ToolError> {
    let path = &located.path;
    match (&located.operation, &located.to) {
        (Operation::Update { hunks, .. }, _) => update(existing(path, loaded)?, path, hunks, stop),
        (Operation::Add { lines, .. }, _) => add(path, lines, loaded),
        (Operation::Move { .. }, Some(to)) => {
            let existing = existing(path, loaded)?;
            loaded.check_free(to)?;
            let diff = format!("rename from {}\nrename to {}\n", path.display(), to.display());
            Ok(Step::Move { from: path.clone(), to: to.clone(), digest: existing.digest, diff })
        }
        (Operation::Delete { .. } | Operation::Move { .. }, _) => {
            let existing = existing(path, loaded)?;
            let diff = match &existing.text {
                Some(text) => unified(path, &existing.spelling.plain(text), ""),
                None => format!("{} was deleted (not a text)\n", path.display()),
            };
            Ok(Step::Delete { path: path.clone(), before: existing.digest, diff })
        }
    }
}

fn update(existing: Existing, path: &Path, hunks: &[Hunk], stop: &Stop) -> Result<Step, ToolError> {
    let Existing { text, spelling, digest } = existing;
    let Some(text) = text else { return Err(failed(path, "is not a text file")) };
    let before = spelling.plain(&text);
    let hunks: Vec<Hunk> = hunks.iter().map(|hunk| plain(hunk, |text| spelling.plain(text))).collect();
    let stopped = || stop.is_asked();
    let after = hunks::apply(&before, &hunks, &stopped).map_err(|error| match &error {
        HunkError::Stopped => stop.error(&format!("finding the place in {}", path.display())),
        HunkError::NotFound { old, .. } => {
            let failed = failed(path, &format!("was not changed: {error}"));
            with_near_lines(failed, fuzzy::nearest(&before, old, &stopped))
        }
        error => failed(path, &format!("was not changed: {error}")),
    })?;
    if after == before {
        return Err(failed(path, "would not change"));
    }
    if syntax_error(path, &before).is_none()
        && let Some(error) = syntax_error(path, &after)
    {
        return Err(failed(path, &format!("was not changed: the result is {error}")));
    }
    Ok(Step::Write {
        path: path.to_owned(),
        text: spelling.dressed(&after),
        before: Some(digest),
        diff: unified(path, &before, &after),
        old_text: Some(before),
        new_text: after,
    })
}

/// A hunk whose lines have the line ends of the file.
fn plain(hunk: &Hunk, change: impl Fn(&str) -> String) -> Hunk {
    use hermes_edits::v4a::HunkLine::{Added, Context, Removed};
    let lines = hunk.lines.iter().map(|line| match line {
        Context(text) => Context(change(text)),
        Removed(text) => Removed(change(text)),
        Added(text) => Added(change(text)),
    });
    Hunk { hint: hunk.hint.clone(), lines: lines.collect() }
}

fn add(path: &Path, lines: &[String], loaded: &Loaded) -> Result<Step, ToolError> {
    loaded.check_free(path)?;
    let mut text = lines.join("\n");
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if let Some(error) = syntax_error(path, &text) {
        return Err(failed(path, &format!("was not written: the content is {error}")));
    }
    Ok(Step::Write {
        path: path.to_owned(),
        text: text.clone(),
        before: None,
        diff: unified(path, "", &text),
        old_text: None,
        new_text: text,
    })
}

fn existing(path: &Path, loaded: &Loaded) -> Result<Existing, ToolError> {
    loaded.existing(path)?.ok_or_else(|| failed(path, "does not exist"))
}

fn failed(path: &Path, what: &str) -> ToolError {
    ToolError::failed(format!("{} {what}", path.display()))
}

pub(super) fn unified(path: &Path, before: &str, after: &str) -> String {
    let name = path.display().to_string();
    // Late, the diff is coarser than it could be, but still right.
    TextDiff::configure()
        .timeout(DIFF_PATIENCE)
        .diff_lines(before, after)
        .unified_diff()
        .context_radius(3)
        .header(&format!("a{name}"), &format!("b{name}"))
        .to_string()
}
