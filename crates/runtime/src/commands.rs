//! Slash commands: one row and one handler each, for every front end.
//!
//! A front end passes a line to [`SessionHandle::command`](crate::SessionHandle::command) and renders the
//! [`CommandReply`]. Help, completion and the table in the docs come from the rows of [`TABLE`].

mod beside;
mod completion;
mod handlers;
mod reply;
mod rollback;

pub use completion::completions;
pub use reply::{Choice, CommandReply, Effect, Panel};

pub(crate) use beside::Beside;

use crate::{RuntimeError, Session};
use beside::BesideHandler;
use handlers::{Call, Handler};
use hermes_conversation::EventSink;
use tokio_util::sync::CancellationToken;

/// The front ends that offer a command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Surfaces {
    All,
    /// Commands about the terminal itself.
    Terminal,
}

impl Surfaces {
    /// True if a front end of this kind offers commands of `self`.
    pub fn include(self, front_end: Surfaces) -> bool {
        self == Surfaces::All || self == front_end
    }
}

/// One slash command.
#[derive(Clone, Copy)]
pub struct Command {
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    pub arguments: &'static str,
    pub help: &'static str,
    pub surfaces: Surfaces,
    /// The reply while a turn runs; `None` for commands that have to wait for its end.
    while_busy: Option<fn(Option<&str>) -> CommandReply>,
    /// Shown before a command that takes long.
    pub progress: Option<&'static str>,
    /// The running turn is stopped first.
    interrupts: bool,
    run: Run,
}

/// The way in which a command is run.
#[derive(Clone, Copy)]
enum Run {
    /// With the session, between two turns.
    WithSession(Handler),
    /// Beside the session, also while a turn runs.
    Beside(BesideHandler),
}

/// The argument of commands that take a message, which may have several lines.
const MESSAGE: &str = "<message>";

const fn row(name: &'static str, arguments: &'static str, help: &'static str, handler: Handler) -> Command {
    Command {
        name,
        aliases: &[],
        arguments,
        help,
        surfaces: Surfaces::All,
        while_busy: None,
        progress: None,
        interrupts: false,
        run: Run::WithSession(handler),
    }
}

const fn row_beside(
    name: &'static str,
    arguments: &'static str,
    help: &'static str,
    handler: BesideHandler,
) -> Command {
    Command { run: Run::Beside(handler), ..row(name, arguments, help, handlers::help) }
}

impl Command {
    const fn also(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn terminal_only(self) -> Self {
        Self { surfaces: Surfaces::Terminal, ..self }
    }

    const fn interrupting(self) -> Self {
        Self { interrupts: true, ..self }
    }

    const fn with_progress(self, progress: &'static str) -> Self {
        Self { progress: Some(progress), ..self }
    }

    /// True if the command runs while a turn does.
    pub fn runs_while_busy(&self) -> bool {
        self.while_busy.is_some() || matches!(self.run, Run::Beside(_))
    }

    const fn while_busy(self, reply: fn(Option<&str>) -> CommandReply) -> Self {
        Self { while_busy: Some(reply), ..self }
    }
}

/// Every command.
pub static TABLE: &[Command] = &[
    row("help", "", "show this list", handlers::help).also(&["?"]).while_busy(handlers::help_while_busy),
    row("new", "[title]", "start a new session", handlers::new).also(&["reset"]),
    row(
        "resume",
        "[id or title]",
        "continue another session; without a name, list the others",
        handlers::resume,
    ),
    row(
        "model",
        "[name] [--provider name] [--force]",
        "show the model, or go on with another one",
        handlers::model,
    ),
    row_beside(
        "stop",
        "",
        "stop the running turn, as Ctrl-C does, and background processes and sub-agents",
        beside::stop,
    )
    .interrupting(),
    row_beside("ps", "[all]", "list the background processes of this session, or of all", beside::list),
    row_beside("kill", "<number>", "end a background process", beside::kill),
    row_beside("agents", "[stop <number>]", "list the running sub-agents, or stop one", beside::agents)
        .also(&["tasks"]),
    row("queue", MESSAGE, "send this when the running turn is over", handlers::queue)
        .also(&["q"])
        .while_busy(handlers::queue_while_busy),
    row("steer", MESSAGE, "send this to the running turn, beside its next tool result", handlers::steer)
        .while_busy(handlers::steer_while_busy),
    row(
        "busy",
        "[queue|steer|interrupt|status]",
        "show or set what Enter does while a turn runs",
        handlers::busy,
    )
    .while_busy(handlers::busy_reply),
    row("title", "[text]", "show or set the title of this session", handlers::title),
    row("usage", "", "show the tokens used in this session", handlers::usage),
    row("compress", "[topic]", "compact older messages now, with a topic to focus on", handlers::compress)
        .also(&["compact"])
        .with_progress("compacting older messages; Ctrl-C stops it and changes nothing"),
    row("context", "", "show how full the context window is, and with what", handlers::context),
    row("pin", "[text]", "keep a text through every compaction; without a text, list them", handlers::pin)
        .also(&["pins"]),
    row("unpin", "<number>", "remove a pinned text", handlers::unpin),
    row(
        "rollback",
        "[diff|restore] [number] [file] [--force]",
        "list checkpoints, show the changes since one, or restore its files and undo the last turn",
        rollback::rollback,
    )
    .with_progress("reading checkpoints"),
    row("statusbar", "", "show or hide the status line after each answer", handlers::status_bar)
        .also(&["sb"])
        .terminal_only(),
    row(
        "personality",
        "[name]",
        "list personalities, or use one from now on (`none` clears it)",
        handlers::personality,
    ),
    row(
        "yolo",
        "[on|off]",
        "show or set whether commands run without approval in this session; the sandbox stays",
        handlers::yolo,
    ),
    row("approvals", "[clear]", "list the approvals of this session, or forget them", handlers::approvals),
    row("backend", "", "show where commands run", handlers::backend),
    row("sandbox", "", "show what the sandbox of commands enforces", handlers::sandbox),
    row("quit", "", "leave", handlers::quit).also(&["exit"]).terminal_only(),
];

/// The meaning of a line that a user entered.
#[derive(Clone, Copy)]
pub enum Line<'a> {
    /// A message for the model.
    Message,
    Command(&'static Command, Option<&'a str>),
    /// A command that does not exist, with the nearest one that does.
    Unknown {
        name: &'a str,
        nearest: Option<&'static str>,
    },
}

/// Reads a line. Only a first word of letters after the slash is a command, so that a path
/// such as `/etc/hosts` stays a message.
pub fn read(line: &str) -> Line<'_> {
    let Some(rest) = line.trim().strip_prefix('/') else {
        return Line::Message;
    };
    let (name, argument) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphabetic() || c == '-' || c == '?');
    if !is_name {
        return Line::Message;
    }
    let is_called = |called: &str| called.eq_ignore_ascii_case(name);
    let found = TABLE
        .iter()
        .find(|command| is_called(command.name) || command.aliases.iter().any(|alias| is_called(alias)));
    // Several lines are a message, unless the command takes one.
    if line.trim().contains('\n') && found.is_none_or(|command| command.arguments != MESSAGE) {
        return Line::Message;
    }
    match found {
        Some(command) => Line::Command(command, Some(argument.trim()).filter(|text| !text.is_empty())),
        None => Line::Unknown { nearest: nearest(&name.to_ascii_lowercase()), name },
    }
}

/// True for lines that [`run`] should get: commands, and names that a skill may have.
pub fn is_for_command(line: &str) -> bool {
    !matches!(read(line), Line::Message) || slash_name(line).is_some()
}

/// The line to show while the command of `line` runs, if it takes long.
pub fn progress(line: &str) -> Option<&'static str> {
    match read(line) {
        Line::Command(command, _) => command.progress,
        Line::Message | Line::Unknown { .. } => None,
    }
}

/// Runs a line that [`is_for_command`] accepts.
pub(crate) async fn run(
    session: &mut Session,
    line: &str,
    cancel: &CancellationToken,
    events: EventSink,
) -> Result<CommandReply, RuntimeError> {
    match read(line) {
        Line::Command(command, argument) => match command.run {
            Run::WithSession(handler) => handler(Call { session, argument, cancel, events }).await,
            Run::Beside(handler) => handler(Beside::of(session, false), argument.map(str::to_owned)).await,
        },
        other => {
            if let Some(message) = skill_message(session, line) {
                return Ok(CommandReply::Effect(Effect::Submit(message?)));
            }
            Ok(match other {
                Line::Unknown { name, nearest } => CommandReply::Text(unknown(name, nearest)),
                _ => CommandReply::Effect(Effect::Submit(line.to_owned())),
            })
        }
    }
}

/// The handler of a command that runs beside the session, its argument, and whether the running turn is stopped first.
pub(crate) fn beside(line: &str) -> Option<(BesideHandler, Option<String>, bool)> {
    match read(line) {
        Line::Command(command, argument) => match command.run {
            Run::Beside(handler) => Some((handler, argument.map(str::to_owned), command.interrupts)),
            Run::WithSession(_) => None,
        },
        Line::Message | Line::Unknown { .. } => None,
    }
}

/// True for lines that [`SessionHandle::command`](crate::SessionHandle::command) carries out while a turn runs.
pub fn runs_beside(line: &str) -> bool {
    beside(line).is_some()
}

/// Replies to a line that was entered while a turn runs, unless it [`runs_beside`] the turn. No other command
/// interrupts the turn.
pub fn while_busy(line: &str) -> CommandReply {
    match read(line) {
        Line::Command(command, argument) => match command.while_busy {
            Some(reply) => reply(argument),
            None => CommandReply::Text(format!(
                "/{} has to wait until the turn is over; Ctrl-C stops it",
                command.name
            )),
        },
        Line::Unknown { name, nearest } => CommandReply::Text(unknown(name, nearest)),
        Line::Message => CommandReply::Effect(Effect::Submit(line.trim().to_owned())),
    }
}

/// The prompt that `/NAME text` stands for, if a skill or a bundle has that name.
fn skill_message(session: &Session, line: &str) -> Option<Result<String, RuntimeError>> {
    let (name, text) = slash_name(line)?;
    let message = session.runtime().skill_message(session.id().as_str(), name, text)?;
    Some(message.map_err(RuntimeError::from))
}

/// The name after a slash and the text after it, if the line could call a skill: a path such as
/// `/etc/hosts` cannot.
fn slash_name(line: &str) -> Option<(&str, &str)> {
    let rest = line.trim().strip_prefix('/')?;
    let (name, text) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let is_name = name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(fits);
    is_name.then(|| (name, text.trim()))
}

fn nearest(name: &str) -> Option<&'static str> {
    let shared = |other: &str| name.chars().zip(other.chars()).take_while(|(a, b)| a == b).count();
    let best = TABLE.iter().max_by_key(|command| shared(command.name))?;
    (shared(best.name) > 0).then_some(best.name)
}

fn unknown(name: &str, nearest: Option<&str>) -> String {
    let hint = nearest.map(|nearest| format!("; did you mean /{nearest}?")).unwrap_or_default();
    format!("there is no command /{name}{hint} (/help lists them)")
}

/// The list that `/help` shows.
pub fn help() -> String {
    let width = TABLE.iter().map(|c| c.name.len() + c.arguments.len() + 2).max().unwrap_or(0);
    let row = |command: &Command| {
        let call = format!("/{} {}", command.name, command.arguments);
        let also: String = command.aliases.iter().map(|alias| format!(" (/{alias})")).collect();
        format!("{call:width$}  {}{also}", command.help)
    };
    TABLE.iter().map(row).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
