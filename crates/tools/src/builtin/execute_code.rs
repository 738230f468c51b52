//! Running a script that calls tools.
//!
//! The script runs like a command: in the sandbox of the session, under the supervisor, with the environment of
//! commands. Its calls come back through a private socket ([`server`]) and are judged and recorded like those of the
//! model.

mod error_pipe;
mod interpreter;
mod lines;
mod module;
mod request;
mod server;

use super::patch::Patch;
use super::read_file::ReadFile;
use super::search_files::SearchFiles;
use super::terminal::{self, Recorder, Terminal};
use super::write_file::WriteFile;
use crate::facts::code_size;
use crate::temporary_dir::private_dir;
use crate::text::strip_ansi;
use crate::{
    Action, ActionKind, CallScope, Caller, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset,
    Touches, limits,
};
use error_pipe::ErrorPipe;
use hermes_conversation::{
    BoxFuture, CallDigest, CallId, CallTitle, ForSubagents, Outcome, RunsIn, Subject, ToolFacts, ToolKind,
    ToolMessage,
};
use hermes_exec::{Command, Ended, EnvChanges, Group, Output, Started, Watch};
use hermes_gate::Assessment;
use interpreter::Language;
pub use interpreter::has_python;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use server::{Rights, Server};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Run a script that calls tools, for work with many calls or large results: only what it prints comes back. In
/// Python: from hermes_tools import the tools that it can call ({tools}), which take the arguments of the tool and
/// return its result, mostly a dict; also json_parse, shell_quote and retry. With a first line such as #!/bin/bash it
/// is a shell script, which calls: hermes-tool NAME JSON.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ExecuteCodeArgs {
    code: String,
}

pub(crate) struct ExecuteCode;

/// The tools that scripts may call, and their arguments by position.
const CALLABLE: [(&str, &[&str]); 7] = [
    ("web_search", &["query", "limit"]),
    ("web_extract", &["urls", "char_limit"]),
    (ReadFile::NAME, &["path", "offset", "limit"]),
    (WriteFile::NAME, &["path", "content"]),
    (
        SearchFiles::NAME,
        &["pattern", "target", "path", "file_glob", "limit", "offset", "output_mode", "context"],
    ),
    (Patch::NAME, &["path", "old_string", "new_string", "replace_all", "mode", "patch"]),
    (Terminal::NAME, &["command", "timeout", "workdir"]),
];

/// The longest script in bytes.
const LONGEST: usize = 512 * 1024;
/// Beginning of the names of directories of scripts.
const FOLDER: &str = "hermes_sandbox_";
const SOCKET: &str = "rpc.sock";
const ERRORS: &str = "stderr";

impl Tool for ExecuteCode {
    const NAME: &'static str = "execute_code";
    const TOOLSET: Toolset = Toolset::CodeExecution;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Execute,
        result_varies: true,
        for_subagents: ForSubagents::No,
        runs_in: RunsIn::Script,
        title: Some(title),
        digest: CallDigest { subject: Subject::Text(code_size), outcome: Outcome::ExitCode },
        ..ToolFacts::DEFAULT
    };
    const LISTS: &'static [&'static str] = &[
        CALLABLE[0].0,
        CALLABLE[1].0,
        CALLABLE[2].0,
        CALLABLE[3].0,
        CALLABLE[4].0,
        CALLABLE[5].0,
        CALLABLE[6].0,
    ];
    const SELDOM: bool = true;
    type Args = ExecuteCodeArgs;

    fn refusal(&self, args: &ExecuteCodeArgs, _cx: &ToolContext) -> Option<Refusal> {
        let why = match Language::of(&args.code) {
            _ if args.code.trim().is_empty() => "`code` is empty".to_owned(),
            _ if args.code.contains('\0') => "`code` contains a NUL character".to_owned(),
            _ if args.code.len() > LONGEST => format!("`code` is longer than {LONGEST} bytes"),
            Err(other) => format!("`{other}` is not supported; write Python, or a shell script"),
            Ok(_) => return None,
        };
        Some(Refusal::Invalid(why))
    }

    fn action(&self, args: &ExecuteCodeArgs, cx: &ToolContext) -> Option<Action> {
        let (cwd, environment) = (cx.cwd(), cx.environment());
        let assessment = assessed(&args.code, &cwd, cx);
        Some(Action { kind: ActionKind::Command, text: args.code.clone(), cwd, environment, assessment })
    }

    fn touches(&self, args: &ExecuteCodeArgs, cx: &ToolContext) -> Option<Touches> {
        let directory = cx.cwd();
        let is_destructive = assessed(&args.code, &directory, cx).looks_destructive();
        Some(Touches::Anything { directory, is_destructive })
    }

    async fn run(
        &self,
        args: ExecuteCodeArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let Caller::Model(Some(calls)) = &scope.caller else {
            return Err(ToolError::failed("Scripts cannot be run here."));
        };
        let begun = Instant::now();
        let tools = request::callable(&calls.tools());
        let script = Script::prepare(&args.code, &tools, cx, scope)?;
        // Ends the script; the calls that run then are ended by `stop`.
        let (ending, stop) = (scope.cancel.child_token(), scope.cancel.child_token());
        let rights = Rights {
            tools,
            most_calls: cx.settings().scripts.max_calls,
            token: script.token.clone(),
            call_id: scope.call_id.clone(),
        };
        let server = Server::bind(&script.path(SOCKET), rights, calls.clone(), ending.clone())?;
        let errors = ErrorPipe::create(&script.path(ERRORS))?;
        let command = script.command(cx, scope);
        let watch = Watch { started: &Admitting { scope, server: &server }, cancel: &ending };
        let running = async {
            let output = cx.backend().run(command, watch).await;
            stop.cancel();
            output
        };
        let (output, errors, ()) = tokio::join!(running, errors.collect(&stop), server.serve(&stop));
        let output = output.map_err(terminal::not_run)?;
        Ok(report(output, &errors, &server, begun.elapsed(), cx.settings().scripts.timeout))
    }
}

/// The assessment of a script as a whole.
fn assessed(code: &str, cwd: &Path, cx: &ToolContext) -> Assessment {
    let scene = cx.scene(cwd);
    match Language::of(code) {
        Ok(Language::Shell) => hermes_gate::assess(code, &scene),
        _ => hermes_gate::assess_python(code, &scene),
    }
}

fn title(arguments: &Value) -> CallTitle {
    CallTitle::new("🐍", "exec", arguments.as_object().map(code_size).unwrap_or_default())
}

/// A script in a directory of its own.
struct Script {
    /// Removed with the value.
    folder: TempDir,
    language: Language,
    python: String,
    token: String,
    env: Vec<(String, String)>,
    changes: EnvChanges,
    is_strict: bool,
}

impl Script {
    fn prepare(code: &str, tools: &[&str], cx: &ToolContext, scope: &CallScope) -> Result<Self, ToolError> {
        let language = Language::of(code).map_err(ToolError::failed)?;
        let is_strict = cx.settings().scripts.strict;
        let changes = if is_strict { EnvChanges::default() } else { scope.environment.changes().clone() };
        let mut env = cx.command_env();
        let mut seen = env.clone();
        changes.apply_to(&mut seen);
        let python = if is_strict { interpreter::of_system(&seen) } else { interpreter::of_project(&seen) };
        let python = python.ok_or_else(|| ToolError::failed("There is no python3 in PATH."))?;
        let base = match cx.created_temporary()? {
            Some(temporary) => temporary,
            None => {
                private_dir(cx.scratch()).map_err(|error| ToolError::io("create", cx.scratch(), &error))?;
                cx.scratch()
            }
        };
        let private = std::fs::Permissions::from_mode(0o700);
        let folder =
            tempfile::Builder::new().prefix(FOLDER).rand_bytes(16).permissions(private).tempdir_in(base);
        let folder = folder.map_err(|error| ToolError::io("create a directory in", base, &error))?;
        let token = token();
        env.extend(
            [
                ("HERMES_RPC_SOCKET", folder.path().join(SOCKET).display().to_string()),
                ("HERMES_RPC_TOKEN", token.clone()),
                ("PYTHONUTF8", "1".to_owned()),
                ("PYTHONIOENCODING", "utf-8".to_owned()),
                ("PYTHONDONTWRITEBYTECODE", "1".to_owned()),
            ]
            .map(|(name, value)| (name.to_owned(), value)),
        );
        let script =
            Self { folder, language, python: python.display().to_string(), token, env, changes, is_strict };
        script.write("hermes_tools.py", &module::text(tools))?;
        script.write(script.name(), code)?;
        Ok(script)
    }

    fn name(&self) -> &'static str {
        match self.language {
            Language::Python => "script.py",
            Language::Shell => "script.sh",
        }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> Result<(), ToolError> {
        let path = self.path(name);
        std::fs::write(&path, text).map_err(|error| ToolError::io("write", &path, &error))
    }

    /// The command that runs the script. The token is in the environment only, because arguments are seen by everyone.
    fn command(&self, cx: &ToolContext, scope: &CallScope) -> Command {
        let quoted = |path: &Path| quoted(&path.display().to_string());
        let (python, module) = (quoted(Path::new(&self.python)), quoted(&self.path("hermes_tools.py")));
        let run = match self.language {
            Language::Python => format!("exec {python} -u"),
            Language::Shell => {
                format!("hermes-tool() {{ {python} {module} \"$@\"; }}\nexport -f hermes-tool\nexec bash")
            }
        };
        Command {
            key: Some(cx.note_command(scope.intent)),
            script: format!(
                "export PYTHONPATH={}${{PYTHONPATH:+:$PYTHONPATH}}\n{run} {} 2>{}",
                quoted(self.folder.path()),
                quoted(&self.path(self.name())),
                quoted(&self.path(ERRORS)),
            ),
            cwd: if self.is_strict { self.folder.path().to_owned() } else { cx.cwd() },
            env: self.env.clone(),
            changes: self.changes.clone(),
            timeout: Duration::from_secs(cx.settings().scripts.timeout),
            report: None,
            output: terminal::kept_output(cx),
            sandbox: cx.policy(&scope.grants),
            client: None,
        }
    }
}

/// 256 random bits.
fn token() -> String {
    rand::random::<[u8; 32]>().iter().map(|byte| format!("{byte:02x}")).collect()
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Records the processes of the script, then lets them connect.
struct Admitting<'a> {
    scope: &'a CallScope,
    server: &'a Server,
}

impl Started for Admitting<'_> {
    fn started<'a>(&'a self, group: &'a Group) -> BoxFuture<'a, Result<(), String>> {
        Box::pin(async move {
            Recorder(self.scope).started(group).await?;
            self.server.admit(group);
            Ok(())
        })
    }
}

fn report(output: Output, errors: &str, server: &Server, took: Duration, seconds: u64) -> ToolOutput {
    let status = match (output.ended, server.failure()) {
        (_, Some(_)) => "error",
        (Ended::Exited, None) if output.exit_code == 0 => "success",
        (Ended::Exited, None) => "error",
        (Ended::TimedOut, None) => "timeout",
        (Ended::Cancelled, None) => "interrupted",
    };
    let mut value = json!({
        "status": status,
        "output": strip_ansi(&output.text),
        "tool_calls_made": server.made(),
        "duration_seconds": (took.as_secs_f64() * 100.0).round() / 100.0,
        "exit_code": output.exit_code,
    });
    let errors = strip_ansi(errors);
    let why = match (server.failure(), output.ended) {
        (Some(error), _) => Some(format!("The script was ended: {error}.")),
        (None, Ended::TimedOut) => Some(format!("The script was ended after {seconds} seconds.")),
        (None, Ended::Cancelled) => Some("The script was interrupted.".to_owned()),
        (None, Ended::Exited) => None,
    };
    match (status, why) {
        ("success", _) if errors.is_empty() => {}
        ("success", _) => value["stderr"] = errors.into(),
        (_, Some(why)) => value["error"] = format!("{why}\n{errors}").trim_end().into(),
        (_, None) if errors.is_empty() => value["error"] = format!("exit code {}", output.exit_code).into(),
        (_, None) => value["error"] = errors.into(),
    }
    if output.omitted > 0 {
        value["stdout_truncated"] = true.into();
        if let Some(spill) = &output.spill {
            value["stdout_bytes_total"] = spill.bytes.into();
        }
    }
    ToolOutput::json(value).failed_if(status != "success").with_origin(server.origin())
}

/// A call of a script whose process died, for [`interrupted`].
pub struct CutOffCall {
    pub tool: String,
    pub arguments: String,
    pub state: &'static str,
    pub result: Option<String>,
}

/// Characters of the arguments of a call that are repeated.
const SHOWN: usize = 300;

/// The result of a script that Hermes' end cut off: what its calls came to.
pub fn interrupted(
    call: CallId,
    output: Option<&str>,
    calls: &[CutOffCall],
    cx: &ToolContext,
) -> ToolMessage {
    let listed: Vec<Value> = calls
        .iter()
        .map(|call| {
            json!({
                "tool": call.tool,
                "arguments": crate::text::head(&call.arguments, SHOWN),
                "state": call.state,
                "result": call.result,
            })
        })
        .collect();
    let value = json!({
        "status": "interrupted",
        "output": strip_ansi(output.unwrap_or_default()),
        "tool_calls_made": calls.len(),
        "calls": listed,
        "error": "Hermes ended while the script ran, and the script with it. Nothing was run again. Calls in the state \
                  `unknown` may or may not have taken effect, and so may what the script did itself; check before you \
                  repeat anything.",
    });
    let output = ToolOutput::json(value).failed_if(true);
    ToolMessage::new(call, ExecuteCode::NAME, limits::fitted(output, limits::MOST, cx))
}

/// The beginning of a result, as the record keeps it for [`interrupted`].
pub fn kept_result(text: &str) -> String {
    /// Characters that are kept.
    const MOST: usize = 1_000;
    crate::text::head(text, MOST).to_owned()
}

#[cfg(test)]
#[path = "execute_code_tests.rs"]
mod tests;
