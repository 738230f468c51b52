//! Giving tasks to sessions of their own.

use crate::delegate::{BegunTask, HelperReport, HelperTask, Role};
use crate::facts::text;
use crate::text::head;
use crate::{
    CallScope, Concurrency, Origin, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, limits,
};
use hermes_conversation::{CallDigest, CallTitle, Cost, ForSubagents, RunsIn, ToolFacts, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Instant;

/// Give tasks to helpers: agents that work on their own, side by side, with the same tools and in
/// the same directory. A helper sees nothing of this conversation, so put everything it
/// must know into goal and context. Only its final summary comes back. Use it for work that can be
/// described fully and done apart, not for one step.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct DelegateArgs {
    /// What to achieve, for one helper. Give either this or tasks.
    goal: Option<String>,
    /// What the helper must know: paths, findings, constraints.
    context: Option<String>,
    /// Several tasks, each for its own helper.
    tasks: Option<Vec<TaskArgs>>,
    /// Whether it may have helpers itself.
    #[serde(default)]
    role: Role,
    /// Do not wait; messages bring the summaries.
    background: Option<bool>,
}

#[derive(Deserialize, JsonSchema)]
struct TaskArgs {
    goal: String,
    context: Option<String>,
    #[serde(default)]
    role: Role,
}

pub(crate) struct DelegateTask;

impl Tool for DelegateTask {
    const NAME: &'static str = "delegate_task";
    const TOOLSET: Toolset = Toolset::Delegation;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Execute,
        for_subagents: ForSubagents::Orchestrators,
        runs_in: RunsIn::Subagents,
        title: Some(|arguments| CallTitle::new("🔀", "delegate", goal_or_count(arguments))),
        digest: CallDigest::of(&["goal", "tasks"]),
        rank: u8::MAX,
        ..ToolFacts::DEFAULT
    };
    type Args = DelegateArgs;

    fn refusal(&self, args: &DelegateArgs, cx: &ToolContext) -> Option<Refusal> {
        let Some(delegate) = cx.delegate() else {
            return Some(Refusal::Denied("helpers cannot be had here; do the task yourself".to_owned()));
        };
        let given = match (&args.goal, &args.tasks) {
            (Some(_), Some(_)) => return invalid("give `goal` or `tasks`, not both"),
            (None, None) => return invalid("`goal` is missing"),
            (Some(goal), None) => vec![goal],
            (None, Some(tasks)) => tasks.iter().map(|task| &task.goal).collect(),
        };
        let most = delegate.most();
        if given.is_empty() {
            return invalid("`tasks` is empty");
        }
        if given.iter().any(|goal| goal.trim().is_empty()) {
            return invalid("a goal is empty");
        }
        (given.len() > most).then(|| {
            let count = given.len();
            Refusal::Invalid(format!(
                "{count} tasks were given and at most {most} can be; give fewer at a time"
            ))
        })
    }

    fn concurrency(&self, _: &DelegateArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Kin
    }

    async fn run(
        &self,
        args: DelegateArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let Some(delegate) = cx.delegate().cloned() else {
            return Err(ToolError::failed("helpers cannot be had here"));
        };
        let wants_background = args.background == Some(true);
        let is_waiting = wants_background && !delegate.has_background();
        if wants_background && !is_waiting {
            let begun = delegate.begin(tasks(args), cx.for_subagent(), scope).await;
            return begun.map(|begun| in_background(&begun)).map_err(ToolError::failed);
        }
        let begun = Instant::now();
        let reports = delegate.run(tasks(args), cx.for_subagent(), scope).await;
        let most = delegate.summary_chars();
        let seconds = begun.elapsed().as_secs_f64();
        let mut output = told(reports, most, Some(seconds), cx);
        if is_waiting {
            output.value["hint"] =
                "nothing goes on after this turn here, so the helpers were waited for".into();
        }
        Ok(output)
    }
}

/// The tool result for tasks that go on in the background.
fn in_background(begun: &[BegunTask]) -> ToolOutput {
    let rows = begun.iter().enumerate().map(|(index, task)| {
        json!({
            "task_index": index,
            "delegation_id": task.id,
            "number": task.number,
            "status": "running",
            "session_id": task.session,
        })
    });
    let hint =
        "A message brings the report of each helper when it ends. Go on with other work, or end your turn.";
    ToolOutput::json(json!({ "results": rows.collect::<Vec<Value>>(), "hint": hint }))
}

/// The goal of a call, or the number of its tasks.
fn goal_or_count(arguments: &Value) -> String {
    match arguments["tasks"].as_array() {
        Some(tasks) => format!("{} task{}", tasks.len(), if tasks.len() == 1 { "" } else { "s" }),
        None => text(arguments, "goal"),
    }
}

fn invalid(why: &str) -> Option<Refusal> {
    Some(Refusal::Invalid(why.to_owned()))
}

fn tasks(args: DelegateArgs) -> Vec<HelperTask> {
    match args.tasks {
        Some(tasks) => tasks
            .into_iter()
            .map(|TaskArgs { goal, context, role }| HelperTask { goal, context, role })
            .collect(),
        None => {
            vec![HelperTask { goal: args.goal.unwrap_or_default(), context: args.context, role: args.role }]
        }
    }
}

/// The tool result for the reports of sub-agents.
fn told(reports: Vec<HelperReport>, most: usize, seconds: Option<f64>, cx: &ToolContext) -> ToolOutput {
    let failed = reports.iter().all(|report| report.status != "completed");
    let cost = reports.iter().filter_map(|report| report.cost).reduce(|mut all, cost: Cost| {
        all += cost;
        all
    });
    let results: Vec<Value> = reports
        .into_iter()
        .enumerate()
        .map(|(index, report)| {
            let mut value = json!({
                "task_index": index,
                "status": report.status,
                "summary": report.summary.map(|summary| shortened(summary, most, cx)),
                "session_id": report.session,
            });
            if let Value::Object(map) = &mut value {
                map.extend(report.details);
            }
            value
        })
        .collect();
    let mut value = json!({ "results": results });
    if let Some(seconds) = seconds {
        value["total_duration_seconds"] = rounded(seconds).into();
    }
    ToolOutput { cost, ..ToolOutput::json(value).failed_if(failed) }
}

/// The tool result for sub-agents that ended together with the session they worked for.
pub fn recollected(reports: Vec<HelperReport>, cx: &ToolContext) -> String {
    let most = cx.delegate().map_or(usize::MAX, |delegate| delegate.summary_chars());
    limits::fitted(told(reports, most, None, cx), limits::MOST, cx)
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

/// A summary that is too long goes to a file.
fn shortened(summary: String, most: usize, cx: &ToolContext) -> String {
    if summary.chars().count() <= most {
        return summary;
    }
    let kept = head(&summary, most);
    match limits::save(cx, &summary, Origin::Here) {
        Ok(path) => format!("{kept}\n[The summary goes on in {}; read it with read_file.]", path.display()),
        Err(error) => {
            tracing::warn!(%error, "a long summary could not be saved");
            format!("{kept}\n[The summary was cut here.]")
        }
    }
}

#[cfg(test)]
#[path = "delegate_task_tests.rs"]
mod tests;
