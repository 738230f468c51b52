//! Applying a patch over several files: first everything is checked, then everything is done.

use super::editable;
use super::one_file::advised;
use super::plan::{Located, Obstacle, Step, steps};
use crate::builtin::blocking::{FILE_PATIENCE, Stop, finish, look};
use crate::builtin::whole_file::{note_gone, note_written, store, turn, warning};
use crate::builtin::{atomic, checkers};
use crate::{Action, ActionKind, CallScope, Refusal, ToolContext, ToolError, ToolOutput, limits};
use hermes_conversation::FileChange;
use hermes_edits::v4a::Operation;
use hermes_gate::{Assessment, assess_delete, assess_write_content};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// The reason why a patch is not even tried.
pub(super) fn refusal(operations: &[Operation], cx: &ToolContext) -> Option<Refusal> {
    let mut seen = BTreeSet::new();
    let cwd = cx.cwd();
    for file in operations.iter().flat_map(Operation::files) {
        if Path::new(file).components().any(|part| part == Component::ParentDir) {
            return Some(Refusal::Invalid(format!("`{file}` has `..`; name files by paths without it")));
        }
        let path = match editable(Path::new(file), &cwd, cx) {
            Ok(path) => path,
            Err(why) => return Some(Refusal::Denied(why)),
        };
        if !seen.insert(path) {
            let why = format!("`{file}` is named twice; put the changes of a file into one operation");
            return Some(Refusal::Invalid(why));
        }
    }
    None
}

/// The action of a patch: all its accesses together.
pub(super) fn action(operations: &[Operation], cx: &ToolContext) -> Action {
    let cwd = cx.cwd();
    let scene = cx.scene(&cwd);
    let resolve = |file: &str| cx.resolve(Path::new(file), &cwd);
    let mut assessment = Assessment::default();
    let mut words = Vec::new();
    for operation in operations {
        let (found, word) = match operation {
            Operation::Update { file, hunks } => {
                let added: Vec<&str> = hunks.iter().flat_map(|hunk| hunk.added()).collect();
                let content = added.join("\n");
                (
                    vec![assess_write_content(&resolve(file), content.as_bytes(), &scene)],
                    format!("change {file}"),
                )
            }
            Operation::Add { file, lines } => {
                let content = lines.join("\n");
                (
                    vec![assess_write_content(&resolve(file), content.as_bytes(), &scene)],
                    format!("add {file}"),
                )
            }
            Operation::Delete { file } => {
                (vec![assess_delete(&resolve(file), &scene)], format!("delete {file}"))
            }
            Operation::Move { from, to } => {
                let both = vec![
                    assess_delete(&resolve(from), &scene),
                    assess_write_content(&resolve(to), b"", &scene),
                ];
                (both, format!("move {from} to {to}"))
            }
        };
        assessment.findings.extend(found.into_iter().flat_map(|assessment| assessment.findings));
        words.push(word);
    }
    Action { kind: ActionKind::Access, text: words.join("; "), cwd, environment: Arc::default(), assessment }
}

pub(super) async fn run(
    operations: &[Operation],
    cx: &ToolContext,
    scope: &CallScope,
) -> Result<ToolOutput, ToolError> {
    let located = located(operations, cx, scope)?;
    // One order for all sessions, so that two patches never wait for each other.
    let paths: BTreeSet<PathBuf> =
        located.iter().flat_map(|one| std::iter::once(&one.path).chain(&one.to)).cloned().collect();
    let mut turns = Vec::new();
    for path in &paths {
        turns.push(turn(path, cx, scope).await?);
    }
    let warnings: Vec<String> =
        paths.iter().filter_map(|path| Some(format!("{}: {}", path.display(), warning(path, cx)?))).collect();
    let stop = Stop::new(scope, FILE_PATIENCE);
    let planned = look("checking the patch".to_owned(), stop, move |stop| Ok(steps(&located, stop))).await?;
    let steps = planned.map_err(|obstacles| refused(obstacles, cx))?;
    paths.iter().for_each(|path| cx.reads().patch_worked(path));
    let mut value = report(&steps, cx, scope).await;
    if !warnings.is_empty() {
        value["_warning"] = warnings.join(" ").into();
    }
    apply(steps, ToolOutput::json(value), cx, scope).await
}

/// The operations with real paths, checked again: a command in between may have moved a link.
fn located(operations: &[Operation], cx: &ToolContext, scope: &CallScope) -> Result<Vec<Located>, ToolError> {
    let real = |file: &str| editable(Path::new(file), &scope.cwd, cx).map_err(ToolError::failed);
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for operation in operations {
        let mut paths = operation.files().into_iter().map(real).collect::<Result<Vec<_>, _>>()?.into_iter();
        let (path, to) = (paths.next().unwrap_or_default(), paths.next());
        for path in std::iter::once(&path).chain(&to) {
            if !seen.insert(path.clone()) {
                return Err(ToolError::failed(format!("{} is named twice", path.display())));
            }
        }
        found.push(Located { operation: operation.clone(), path, to });
    }
    Ok(found)
}

/// The error of a patch of which some operations do not work.
fn refused(mut obstacles: Vec<Obstacle>, cx: &ToolContext) -> ToolError {
    let reasons: Vec<String> = obstacles.iter().map(|obstacle| obstacle.error.text.clone()).collect();
    for obstacle in obstacles.iter().skip(1) {
        cx.reads().patch_failed(&obstacle.path);
    }
    let Obstacle { path, error } = obstacles.swap_remove(0);
    let text = format!("The patch was not applied and no file was changed: {}", reasons.join("; "));
    advised(ToolError { text, details: error.details }, &path, cx)
}

impl Step {
    /// The file that holds the result, or that is gone.
    fn path(&self) -> &Path {
        match self {
            Self::Write { path, .. } | Self::Delete { path, .. } => path,
            Self::Move { to, .. } => to,
        }
    }

    fn diff(&self) -> &str {
        match self {
            Self::Write { diff, .. } | Self::Delete { diff, .. } | Self::Move { diff, .. } => diff,
        }
    }

    /// The step for a report of what was done and what not.
    fn name(&self) -> String {
        match self {
            Self::Write { path, before: Some(_), .. } => format!("update {}", path.display()),
            Self::Write { path, .. } => format!("add {}", path.display()),
            Self::Delete { path, .. } => format!("delete {}", path.display()),
            Self::Move { from, to, .. } => format!("move {} to {}", from.display(), to.display()),
        }
    }
}

/// The result of a patch that was applied.
async fn report(steps: &[Step], cx: &ToolContext, scope: &CallScope) -> Value {
    let paths = |wanted: fn(&Step) -> bool| -> Vec<&Path> {
        steps.iter().filter(|step| wanted(step)).map(Step::path).collect()
    };
    let mut value = json!({
        "success": true,
        "diff": steps.iter().map(Step::diff).collect::<String>(),
        "files_modified": paths(|step| matches!(step, Step::Write { before: Some(_), .. } | Step::Move { .. })),
    });
    let created = paths(|step| matches!(step, Step::Write { before: None, .. }));
    let deleted = paths(|step| matches!(step, Step::Delete { .. }));
    for (field, files) in [("files_created", created), ("files_deleted", deleted)] {
        if !files.is_empty() {
            value[field] = json!(files);
        }
    }
    let mut lint = Map::new();
    for step in steps {
        if let Step::Write { path, old_text, new_text, .. } = step
            && let Some(errors) = checkers::new_errors(path, old_text.as_deref(), new_text, cx, scope).await
        {
            lint.insert(path.display().to_string(), errors);
        }
    }
    if !lint.is_empty() {
        value["lint"] = lint.into();
    }
    value
}

/// Carries the steps out, each noted before.
async fn apply(
    steps: Vec<Step>,
    output: ToolOutput,
    cx: &ToolContext,
    scope: &CallScope,
) -> Result<ToolOutput, ToolError> {
    let names: Vec<String> = steps.iter().map(Step::name).collect();
    let last = steps.len().saturating_sub(1);
    for (index, step) in steps.into_iter().enumerate() {
        let result = match index == last {
            true => limits::fitted(output.clone(), scope.result_limit, cx),
            false => json!({
                "error": "The patch was interrupted by a crash of Hermes.",
                "applied": names[..=index],
                "not_applied": names[index + 1..],
            })
            .to_string(),
        };
        if let Err(error) = carry_out(step, index, result, cx, scope).await {
            return Err(partly(error, &names, index));
        }
    }
    Ok(output)
}

/// The error of a step, with the steps that were done before.
fn partly(error: ToolError, names: &[String], index: usize) -> ToolError {
    let how = if index == 0 { "no file was changed" } else { "it was applied in part" };
    let text = format!("The patch failed and {how}: {}: {}", names[index], error.text);
    ToolError { text, details: error.details }
        .with("applied", names[..index].to_vec())
        .with("failed", names[index].clone())
        .with("not_applied", names[index + 1..].to_vec())
}

async fn carry_out(
    step: Step,
    index: usize,
    result: String,
    cx: &ToolContext,
    scope: &CallScope,
) -> Result<(), ToolError> {
    let (before, after) = match &step {
        Step::Write { before, text, .. } => (before.clone(), FileChange::digest(text.as_bytes())),
        // A file that is gone has no digest, so after a crash it is not known who deleted it.
        Step::Delete { before, .. } => (Some(before.clone()), String::new()),
        Step::Move { digest, .. } => (None, digest.clone()),
    };
    // If this step was not made, earlier ones still were: no state of the file means that nothing happened.
    let before = if index == 0 { before } else { Some(String::new()) };
    let change = FileChange { path: step.path().to_owned(), before, after, result };
    let noted = scope.transcript.note_change(scope.intent, &change).await;
    noted.map_err(|error| ToolError::failed(format!("it could not be recorded: {error}")))?;
    match step {
        Step::Write { path, text, before, .. } => {
            let place = path.clone();
            finish(move || match before {
                Some(_) => store(&place, &text),
                None => store_new(&place, &text),
            })
            .await?;
            note_written(&path, cx);
        }
        Step::Delete { path, .. } => {
            let place = path.clone();
            finish(move || atomic::remove(&place).map_err(|error| ToolError::io("delete", &place, &error)))
                .await?;
            note_gone(&path, cx);
        }
        Step::Move { from, to, .. } => {
            let (old, new) = (from.clone(), to.clone());
            finish(move || atomic::rename(&old, &new).map_err(|error| ToolError::io("move", &old, &error)))
                .await?;
            note_gone(&from, cx);
            note_written(&to, cx);
        }
    }
    Ok(())
}

/// Writes a file that must not exist yet.
fn store_new(path: &Path, text: &str) -> Result<(), ToolError> {
    match path.symlink_metadata() {
        Ok(_) => Err(ToolError::failed("the file exists meanwhile")),
        Err(_) => store(path, text),
    }
}
