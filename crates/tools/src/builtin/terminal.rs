//! Running a command and waiting for it.

use super::{background, exit_meaning::exit_meaning, foreground, process::Process};
use crate::facts::text;
use crate::skill_scripts;
use crate::temporary_dir::private_dir;
use crate::text::strip_ansi;
use crate::{
    Action, CallScope, Concurrency, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset, Touches,
    limits,
};
use hermes_conversation::{
    BoxFuture, CallDigest, CallId, CallTitle, Effect, Guidance, Outcome, ProcessMark, RunsIn, Subject,
    ToolFacts, ToolKind, ToolMessage,
};
use hermes_exec::supervisor::{EndReason, Finished as Collected};
use hermes_exec::{Command, Ended, ExecError, Group, Output, OutputLimits, ShellReport, Started, Watch};
use hermes_gate::{assess_write, is_read_only};
use hermes_sandbox::{Denial, Grant, explain};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Run a bash command and wait for it. Returns stdout and stderr together, and the exit code.
/// The working directory and exports are kept between calls, and every process is ended with
/// the command. Standard input is empty, so avoid commands that ask questions. Prefer
/// `read_file`, `search_files`, `write_file` and `patch` over cat, grep, echo and sed. Servers, watchers and
/// programs that ask go to the background; the `process` tool reads and answers them.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct TerminalArgs {
    pub(super) command: String,
    /// Start it and return at once, with a session_id; without a time limit unless one is given.
    #[serde(default)]
    pub(super) background: bool,
    /// Seconds until it is ended; default 180, at most 600.
    #[schemars(range(min = 1))]
    pub(super) timeout: Option<u64>,
    /// Directory for this command only.
    workdir: Option<PathBuf>,
    /// In the background: a terminal for it, for interactive programs.
    #[serde(default)]
    pub(super) pty: bool,
    /// In the background: a message when it ends.
    #[serde(default)]
    pub(super) notify_on_complete: bool,
    /// In the background: a message when its output contains one of these.
    pub(super) watch_patterns: Option<Vec<String>>,
    /// Paths outside the project that it must write, after the sandbox denied them; the user is asked.
    write_access: Option<Vec<PathBuf>>,
}

pub(crate) struct Terminal;

const ABANDONED: &str = "Hermes was gone for so long that the command was ended; the output is what it wrote \
until then.";

impl Tool for Terminal {
    const NAME: &'static str = "terminal";
    const TOOLSET: Toolset = Toolset::Terminal;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Execute,
        result_varies: true,
        runs_in: RunsIn::Command,
        title: Some(|arguments| CallTitle::new("💻", "$", text(arguments, "command"))),
        digest: CallDigest { subject: Subject::Values(&["command"]), outcome: Outcome::ExitCode },
        guidance: Some(Guidance::new(GUIDANCE)),
        rank: 0,
        ..ToolFacts::DEFAULT
    };
    const NEEDS: &'static [(&'static str, &'static str)] = &[
        ("background", Process::NAME),
        ("pty", Process::NAME),
        ("notify_on_complete", Process::NAME),
        ("watch_patterns", Process::NAME),
    ];
    type Args = TerminalArgs;

    fn refusal(&self, args: &TerminalArgs, cx: &ToolContext) -> Option<Refusal> {
        let most = cx.settings().max_foreground;
        if args.command.trim().is_empty() {
            return Some(Refusal::Invalid("`command` is empty".to_owned()));
        }
        if args.background {
            return background::refusal(cx).map(Refusal::Invalid);
        }
        if args.timeout.is_some_and(|seconds| seconds > most) {
            return Some(Refusal::Invalid(format!(
                "`timeout` is at most {most} seconds; run longer commands with background=true"
            )));
        }
        foreground::objection(&args.command).map(Refusal::Invalid)
    }

    fn effect(&self, args: &TerminalArgs, cx: &ToolContext) -> Effect {
        if is_looking(args, cx) { Effect::Read } else { Effect::Any }
    }

    fn action(&self, args: &TerminalArgs, cx: &ToolContext) -> Option<Action> {
        let cwd = directory(args, cx);
        let scene = cx.scene(&cwd);
        let mut assessment = hermes_gate::assess(&args.command, &scene);
        skill_scripts::judge(&mut assessment, &cwd, cx);
        for path in args.write_access.iter().flatten() {
            assessment.findings.extend(assess_write(&cx.resolve(path, &cwd), &scene).findings);
        }
        let (text, environment) = (args.command.clone(), cx.environment());
        Some(Action { kind: cx.command_kind(), text, cwd, environment, assessment })
    }

    /// A looking command may look anywhere.
    fn concurrency(&self, args: &TerminalArgs, cx: &ToolContext) -> Concurrency {
        if is_looking(args, cx) { Concurrency::Reads(vec![PathBuf::from("/")]) } else { Concurrency::Alone }
    }

    fn touches(&self, args: &TerminalArgs, cx: &ToolContext) -> Option<Touches> {
        let directory = directory(args, cx);
        let scene = cx.scene(&directory);
        let is_destructive = hermes_gate::assess(&args.command, &scene).looks_destructive();
        (!is_looking(args, cx)).then_some(Touches::Anything { directory, is_destructive })
    }

    async fn run(
        &self,
        args: TerminalArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        // The live directory, not the one at preparation: a command of the same reply may have
        // moved there for this one.
        let here = cx.cwd();
        let (cwd, moved) = match &args.workdir {
            Some(dir) => (cx.command_directory(dir, &here), false),
            // Elsewhere, the far end finds the nearest directory.
            None if cx.far().is_some() => (here.clone(), false),
            None => existing(&here),
        };
        // The sandbox shows it to commands, so it exists before the first one.
        for dir in [cx.scratch(), &cx.results_dir()] {
            private_dir(dir).map_err(|error| ToolError::io("create", dir, &error))?;
        }
        let sandbox = cx.policy(&scope.grants);
        cx.created_temporary()?;
        if args.background {
            return background::start(args, cwd, sandbox, cx, scope).await;
        }
        let seconds = args.timeout.unwrap_or(cx.settings().timeout);
        let policy = sandbox.clone();
        let command = Command {
            key: Some(cx.note_command(scope.intent)),
            script: args.command.clone(),
            cwd,
            env: cx.command_env(),
            changes: scope.environment.changes().clone(),
            timeout: Duration::from_secs(seconds),
            report: Some(ShellReport {
                file: cx.scratch().join(format!("cwd-{}", scope.intent)),
                cwd: args.workdir.is_none(),
                exports: Some(cx.secret_variables().to_vec()),
            }),
            output: kept_output(cx),
            sandbox,
            client: None,
        };
        let watch = Watch { started: &Recorder(scope), cancel: &scope.cancel };
        let mut output = cx.backend().run(command, watch).await.map_err(not_run)?;
        let not_kept = output.exports.take().and_then(|exports| cx.add_exports(exports));
        if let Some(cwd) = output.cwd.clone() {
            cx.set_cwd(cwd);
        }
        let denial = policy.and_then(|policy| explain(&output.text, output.exit_code, &policy));
        let mut result = report(&args.command, output, seconds);
        if let Some(denial) = denial {
            result.value["sandbox"] = advised(&denial).into();
        }
        let moved = moved.then(|| {
            format!("{} no longer exists; the command ran in the nearest directory above it", here.display())
        });
        let warnings: Vec<String> = moved.into_iter().chain(not_kept).collect();
        if !warnings.is_empty() {
            result.value["warning"] = warnings.join("; ").into();
        }
        Ok(result)
    }
}

/// Returns true if a call changes nothing. One in the background goes on after it.
fn is_looking(args: &TerminalArgs, cx: &ToolContext) -> bool {
    !args.background && is_read_only(&args.command, &cx.scene(&directory(args, cx)))
}

/// The directory that a call runs in, as it stands now.
fn directory(args: &TerminalArgs, cx: &ToolContext) -> PathBuf {
    let here = cx.cwd();
    args.workdir.as_ref().map_or(here.clone(), |dir| cx.command_directory(dir, &here))
}

const GUIDANCE: &str = "The terminal keeps its working directory between calls. Prefer commands that end by \
themselves and ask no questions.";

/// The limits of a command's output.
pub fn kept_output(cx: &ToolContext) -> OutputLimits {
    OutputLimits {
        chars: cx.settings().output,
        spill: Some(cx.results_dir()),
        spill_limits: cx.spill_limits(),
    }
}

/// The end of a call whose command was found again after a crash, as it would have been without one.
pub fn collected(call: CallId, arguments: &str, ended: Collected, cx: &ToolContext) -> ToolMessage {
    let args: Option<TerminalArgs> = serde_json::from_str(arguments).ok();
    let seconds = args.as_ref().and_then(|args| args.timeout).unwrap_or(cx.settings().timeout);
    let command = args.map(|args| args.command).unwrap_or_default();
    let mut output = report(&command, ended.output, seconds);
    if matches!(ended.how, EndReason::Orphaned | EndReason::OwnerLeft) {
        output.value["error"] = ABANDONED.into();
    }
    ToolMessage::new(call, Terminal::NAME, limits::fitted(output, limits::MOST, cx))
}

/// The end of a call that had started a background process when Hermes died.
pub fn collected_start(call: CallId, arguments: &str, id: &str, pid: u32) -> ToolMessage {
    let args: Option<TerminalArgs> = serde_json::from_str(arguments).ok();
    let hint = args.and_then(|args| background::hint(&args, true));
    ToolMessage::new(call, Terminal::NAME, background::started(id, pid, hint).to_string())
}

/// The nearest directory above `path` that still exists, and whether that is another one. A
/// session whose directory was deleted would otherwise never run anything again.
fn existing(path: &Path) -> (PathBuf, bool) {
    let found = path.ancestors().find(|dir| dir.is_dir()).unwrap_or(Path::new("/"));
    (found.to_owned(), found != path)
}

/// The denial for the model, with the way to ask the user for the access.
fn advised(denial: &Denial) -> String {
    match &denial.grant {
        Some(Grant::Write(path)) => format!(
            "{} Call terminal again with write_access: [\"{}\"] to ask the user for it.",
            denial.sentence,
            path.display()
        ),
        _ => denial.sentence.clone(),
    }
}

fn report(command: &str, output: Output, seconds: u64) -> ToolOutput {
    let error = match output.ended {
        Ended::Exited => None,
        Ended::TimedOut => Some(format!(
            "The command was ended after {seconds} seconds; the output is what it wrote until then."
        )),
        Ended::Cancelled => {
            Some("The command was interrupted; the output is what it wrote until then.".to_owned())
        }
    };
    let mut value = json!({
        "output": strip_ansi(&output.text),
        "exit_code": output.exit_code,
        "error": error,
    });
    if let (Ended::Exited, Some(meaning)) = (output.ended, exit_meaning(command, output.exit_code)) {
        value["exit_code_meaning"] = meaning.into();
    }
    ToolOutput::json(value).failed_if(output.exit_code != 0)
}

pub(super) fn not_run(error: ExecError) -> ToolError {
    let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
    ToolError::failed(format!("The command was not run: {error}{}", cause.unwrap_or_default()))
}

/// Writes the process group into the record before the command does anything.
pub(super) struct Recorder<'a>(pub(super) &'a CallScope);

impl Started for Recorder<'_> {
    fn started<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            let mark = ProcessMark { group: group.id, started: group.started, boot: group.boot.clone() };
            let noted = self.0.transcript.note_process(self.0.intent, &mark).await;
            noted.map_err(|error| error.to_string())
        })
    }
}

#[cfg(test)]
#[path = "terminal_tests.rs"]
mod tests;
