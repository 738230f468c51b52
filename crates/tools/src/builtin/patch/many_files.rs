//! Applying a patch over several files: first everything is checked, then everything is done.

use super::editable;
use super::one_file::advised;
use super::plan::{Located, Obstacle, Step, steps};
use crate::builtin::blocking::{FILE_PATIENCE, Stop, look};
use crate::builtin::checkers;
use crate::builtin::files::Files;
use crate::builtin::whole_file::{judged, turn};
use crate::far::access::Access;
use crate::{Action, CallScope, Refusal, ToolContext, ToolError, ToolOutput, limits};
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
    let written = |file: &str, content: &str| {
        let (path, scene) = judged(&cx.resolve(Path::new(file), &cwd), &cwd, cx);
        assess_write_content(&path, content.as_bytes(), &scene)
    };
    let deleted = |file: &str| {
        let (path, scene) = judged(&cx.resolve(Path::new(file), &cwd), &cwd, cx);
        assess_delete(&path, &scene)
    };
    let mut assessment = Assessment::default();
    let mut words = Vec::new();
    for operation in operations {
        let (found, word) = match operation {
            Operation::Update { file, hunks } => {
                let added: Vec<&str> = hunks.iter().flat_map(|hunk| hunk.added()).collect();
                (vec![written(file, &added.join("\n"))], format!("change {file}"))
            }
            Operation::Add { file, lines } => (vec![written(file, &lines.join("\n"))], format!("add {file}")),
            Operation::Delete { file } => (vec![deleted(file)], format!("delete {file}")),
            Operation::Move { from, to } => {
                (vec![deleted(from), written(to, "")], format!("move {from} to {to}"))
            }
        };
        assessment.findings.extend(found.into_iter().flat_map(|assessment| assessment.findings));
        words.push(word);
    }
    Action { kind: cx.access_kind(), text: words.join("; "), cwd, environment: Arc::default(), assessment }
}

pub(super) async fn run(
    operations: &[Operation],
    cx: &ToolContext,
    scope: &CallScope,
) -> Result<ToolOutput, ToolError> {
    let mut files = Files::of(cx, scope);
    let located = located(operations, &mut files, scope).await?;
    // One order for all sessions, so that two patches never wait for each other.
    let paths: BTreeSet<PathBuf> =
        located.iter().flat_map(|one| std::iter::once(&one.path).chain(&one.to)).cloned().collect();
    let mut turns = Vec::new();
    for path in &paths {
        turns.push(turn(&files.key(path), cx, scope).await?);
    }
    let loaded = files.load(&paths).await?;
    let about = |path: &PathBuf| Some(format!("{}: {}", path.display(), files.warning(path)?));
    let warnings: Vec<String> = paths.iter().filter_map(about).collect();
    let stop = Stop::new(scope, FILE_PATIENCE);
    let plan = move |stop: &Stop| Ok(steps(&located, &loaded, stop));
    let planned = look("checking the patch".to_owned(), stop, plan).await?;
    let steps = planned.map_err(|obstacles| refused(obstacles, &files))?;
    paths.iter().for_each(|path| cx.reads().patch_worked(&files.key(path)));
    let mut value = report(&steps, cx, scope).await;
    if !warnings.is_empty() {
        value["_warning"] = warnings.join(" ").into();
    }
    apply(steps, ToolOutput::json(value), &files, scope).await
}

/// The operations with real paths, checked again: a command in between may have moved a link.
async fn located(
    operations: &[Operation],
    files: &mut Files<'_>,
    scope: &CallScope,
) -> Result<Vec<Located>, ToolError> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for operation in operations {
        let first = match operation {
            Operation::Delete { .. } | Operation::Move { .. } => Access::Delete,
            Operation::Update { .. } | Operation::Add { .. } => Access::Write,
        };
        let mut paths = Vec::new();
        for (file, access) in operation.files().into_iter().zip([first, Access::Write]) {
            let path = files.target_to_edit(Path::new(file), access, scope).await?;
            if !seen.insert(path.clone()) {
                return Err(ToolError::failed(format!("{} is named twice", path.display())));
            }
            paths.push(path);
        }
        let mut paths = paths.into_iter();
        let (path, to) = (paths.next().unwrap_or_default(), paths.next());
        found.push(Located { operation: operation.clone(), path, to });
    }
    Ok(found)
}

/// The error of a patch of which some operations do not work.
fn refused(mut obstacles: Vec<Obstacle>, files: &Files<'_>) -> ToolError {
    let cx = files.cx();
    let reasons: Vec<String> = obstacles.iter().map(|obstacle| obstacle.error.text.clone()).collect();
    for obstacle in obstacles.iter().skip(1) {
        cx.reads().patch_failed(&files.key(&obstacle.path));
    }
    let Obstacle { path, error } = obstacles.swap_remove(0);
    let text = format!("The patch was not applied and no file was changed: {}", reasons.join("; "));
    advised(ToolError { text, details: error.details }, &files.key(&path), cx)
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
    files: &Files<'_>,
    scope: &CallScope,
) -> Result<ToolOutput, ToolError> {
    let names: Vec<String> = steps.iter().map(Step::name).collect();
    let last = steps.len().saturating_sub(1);
    for (index, step) in steps.into_iter().enumerate() {
        let result = match index == last {
            true => limits::fitted(output.clone(), scope.result_limit, files.cx()),
            false => json!({
                "error": "The patch was interrupted by a crash of Hermes.",
                "applied": names[..=index],
                "not_applied": names[index + 1..],
            })
            .to_string(),
        };
        if let Err(error) = carry_out(step, index, result, files, scope).await {
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
    files: &Files<'_>,
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
    let change = FileChange { path: step.path().to_owned(), place: files.place(), before, after, result };
    let noted = scope.transcript.note_change(scope.intent, &change).await;
    noted.map_err(|error| ToolError::failed(format!("it could not be recorded: {error}")))?;
    match step {
        Step::Write { path, text, before: Some(before), .. } => files.store(&path, Some(&before), text).await,
        Step::Write { path, text, before: None, .. } => files.store_new(&path, text).await,
        Step::Delete { path, before, .. } => files.remove(&path, &before).await,
        Step::Move { from, to, digest, .. } => files.rename(&from, &to, &digest).await,
    }
}
