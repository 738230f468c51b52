//! The command line: the root with its flags, the subcommands, and the parser.
//!
//! A command line without a subcommand is parsed by [`Root`] alone: the arguments of sixty subcommands need not be
//! built for a one-shot. Everything else, errors included, goes to [`Cli`].

use crate::commands::approvals::ApprovalsCommand;
use crate::commands::auth::AuthCommand;
use crate::commands::backend::BackendCommand;
use crate::commands::budget::BudgetArgs;
use crate::commands::cache::CacheCommand;
use crate::commands::chat::ChatArgs;
use crate::commands::completion::CompletionArgs;
use crate::commands::config::ConfigCommand;
use crate::commands::context::ContextCommand;
use crate::commands::demo::DemoArgs;
use crate::commands::doctor::DoctorArgs;
use crate::commands::hooks::HooksCommand;
use crate::commands::insights::InsightsArgs;
use crate::commands::logs::LogsArgs;
use crate::commands::memory::MemoryCommand;
use crate::commands::model::ModelArgs;
use crate::commands::prompt::PromptCommand;
use crate::commands::ps::{KillArgs, PsArgs};
use crate::commands::replay::ReplayArgs;
use crate::commands::rollback::RollbackArgs;
use crate::commands::sandbox::SandboxCommand;
use crate::commands::sessions::SessionsCommand;
use crate::commands::skills::SkillsCommand;
use crate::commands::tools::ToolsCommand;
use crate::commands::trace::TraceArgs;
use crate::flags::Common;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::fmt::Write;

const EXAMPLES: &str = "\
Examples:
  hermes                                 start a chat
  hermes -z \"Why does the build fail?\"   print one reply
  hermes -z - <prompt.txt                read the prompt from a file
  hermes --continue                      resume the newest session
  hermes model                           choose a model
  hermes demo                            watch a session, without a key or a network

`hermes COMMAND --help` describes a command.";

/// Run an AI agent in your terminal: a model that answers with the help of tools on your machine
#[derive(Debug, Parser)]
#[command(name = "hermes", disable_version_flag = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    #[command(flatten)]
    root: RootFlags,
    #[command(subcommand)]
    command: Option<Command>,
}

/// Run an AI agent in your terminal: a model that answers with the help of tools on your machine
#[derive(Debug, Parser)]
#[command(
    name = "hermes",
    disable_version_flag = true,
    override_usage = "hermes [OPTIONS] [COMMAND]",
    after_help = EXAMPLES
)]
struct Root {
    #[command(flatten)]
    root: RootFlags,
}

#[derive(Debug, Args)]
struct RootFlags {
    #[command(flatten)]
    common: Common,
    /// Print JSON; of a conversation, one event per line (docs/json-events.md)
    #[arg(long, global = true)]
    json: bool,
    /// Print the version
    #[arg(short = 'V', long)]
    version: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Chat(ChatArgs),
    Demo(DemoArgs),
    #[command(subcommand)]
    Sessions(SessionsCommand),
    Insights(InsightsArgs),
    Budget(BudgetArgs),
    Logs(LogsArgs),
    Trace(TraceArgs),
    Replay(ReplayArgs),
    Rollback(RollbackArgs),
    Ps(PsArgs),
    Kill(KillArgs),
    Model(ModelArgs),
    #[command(subcommand)]
    Auth(AuthCommand),
    #[command(subcommand)]
    Config(ConfigCommand),
    #[command(subcommand)]
    Approvals(ApprovalsCommand),
    #[command(subcommand)]
    Tools(ToolsCommand),
    #[command(subcommand)]
    Backend(BackendCommand),
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    #[command(subcommand)]
    Hooks(HooksCommand),
    #[command(subcommand)]
    Memory(MemoryCommand),
    #[command(subcommand)]
    Prompt(PromptCommand),
    #[command(subcommand)]
    Context(ContextCommand),
    #[command(subcommand)]
    Cache(CacheCommand),
    #[command(subcommand)]
    Skills(SkillsCommand),
    Doctor(DoctorArgs),
    Completion(CompletionArgs),
    /// Print the version
    Version,
}

/// The subcommands as the root's help groups them.
pub(crate) const GROUPS: [(&str, &[&str]); 4] = [
    ("Conversations", &["chat", "sessions", "rollback", "ps", "kill", "replay", "demo"]),
    ("Usage and diagnosis", &["context", "cache", "trace", "logs", "insights", "budget", "doctor"]),
    (
        "Setup",
        &["model", "auth", "config", "tools", "approvals", "backend", "sandbox", "completion", "version"],
    ),
    ("Customisation", &["memory", "skills", "prompt", "hooks"]),
];

/// A parsed command line.
#[derive(Debug)]
pub(crate) struct Parsed {
    /// The flags before the subcommand, merged with its own.
    pub(crate) common: Common,
    pub(crate) wants_version: bool,
    /// `None` is a conversation.
    pub(crate) command: Option<Command>,
}

impl Parsed {
    fn new(root: RootFlags, command: Option<Command>) -> Self {
        let before = Common { json: root.json, ..root.common };
        let common = match &command {
            Some(command) => command.flags().or(before),
            None => before,
        };
        Self { common, wants_version: root.version, command }
    }
}

/// Parses a command line, program name included. As in clap, requested help is an error, too.
pub(crate) fn parse(line: Vec<OsString>) -> Result<Parsed, clap::Error> {
    if line.len() == 2 && line[1] == "help" {
        return Err(root_help(vec![line[0].clone(), "--help".into()]));
    }
    if line.get(1).is_none_or(|first| first.as_encoded_bytes().starts_with(b"-")) {
        match Root::try_parse_from(&line) {
            Ok(Root { root }) => return Ok(Parsed::new(root, None)),
            Err(error) if error.kind() == ErrorKind::DisplayHelp => return Err(root_help(line)),
            // There is a subcommand, or an error that the whole parser explains better.
            Err(_) => {}
        }
    }
    parse_with_subcommands(line)
}

fn parse_with_subcommands(line: Vec<OsString>) -> Result<Parsed, clap::Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(line).map_err(name_owner)?;
    if let Some((flag, path)) = misplaced(&command, &matches) {
        let text =
            format!("the flag '{flag}' does not apply to '{path}'\n\nFor more information, try '--help'.\n");
        return Err(clap::Error::raw(ErrorKind::UnknownArgument, text));
    }
    let Cli { root, command } = Cli::from_arg_matches(&matches)?;
    Ok(Parsed::new(root, command))
}

/// The first flag before a subcommand that does not take it, and that subcommand.
fn misplaced(root: &clap::Command, matches: &ArgMatches) -> Option<(String, String)> {
    let (mut path, mut command, mut inner) = ("hermes".to_owned(), root, matches);
    while let Some((name, next)) = inner.subcommand() {
        command = command.find_subcommand(name)?;
        path = format!("{path} {name}");
        inner = next;
    }
    let is_typed = |id: &str| matches.value_source(id) == Some(ValueSource::CommandLine);
    let is_taken = |id: &str| command.get_arguments().any(|taken| taken.get_id() == id);
    let stray = root.get_arguments().find(|flag| {
        let id = flag.get_id().as_str();
        id != "version" && is_typed(id) && !is_taken(id)
    })?;
    Some((format!("--{}", stray.get_long()?), path))
}

/// Adds a tip to the error about a conversation flag after a command that does not take it.
fn name_owner(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(typed)) = error.get(ContextKind::InvalidArg) else { return error };
    let is_of_root = |flag: &clap::Arg| {
        flag.get_long().is_some_and(|long| *typed == format!("--{long}"))
            || flag.get_short().is_some_and(|short| *typed == format!("-{short}"))
    };
    let is_known = || Common::augment_args(clap::Command::new("")).get_arguments().any(is_of_root);
    if error.kind() == ErrorKind::UnknownArgument && is_known() {
        let tip = format!(
            "'{typed}' is a flag of 'hermes' and 'hermes chat'; 'hermes COMMAND --help' lists the flags of a command"
        );
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![tip.into()]));
    }
    error
}

/// The root's help, with the subcommands in groups.
fn root_help(line: Vec<OsString>) -> clap::Error {
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{}{{all-args}}{{after-help}}",
        groups(&Cli::command())
    );
    match Root::command().help_template(template).try_get_matches_from(line) {
        Err(help) => help,
        Ok(_) => clap::Error::raw(ErrorKind::DisplayHelp, ""),
    }
}

fn groups(root: &clap::Command) -> String {
    let mut text = String::new();
    for (heading, names) in GROUPS {
        let _ = writeln!(text, "{heading}:");
        for name in names {
            let about = root.find_subcommand(name).and_then(clap::Command::get_about);
            let about = about.map(ToString::to_string).unwrap_or_default();
            let _ = writeln!(text, "  {name:<10}  {about}");
        }
        text.push('\n');
    }
    text
}

impl Command {
    /// The shared flags after the subcommand.
    fn flags(&self) -> Common {
        match self {
            Self::Chat(args) => args.flags.clone(),
            Self::Sessions(command) => command.flags(),
            Self::Insights(args) => Common { source: args.source.clone(), ..Common::default() },
            Self::Replay(args) => args.flags(),
            Self::Model(args) => args.flags(),
            Self::Prompt(command) => command.flags(),
            Self::Context(command) => command.flags(),
            Self::Doctor(args) => Common { model: args.model.clone(), ..Common::default() },
            Self::Demo(_)
            | Self::Budget(_)
            | Self::Logs(_)
            | Self::Ps(_)
            | Self::Kill(_)
            | Self::Trace(_)
            | Self::Auth(_)
            | Self::Config(_)
            | Self::Hooks(_)
            | Self::Approvals(_)
            | Self::Tools(_)
            | Self::Backend(_)
            | Self::Sandbox(_)
            | Self::Rollback(_)
            | Self::Memory(_)
            | Self::Cache(_)
            | Self::Skills(_)
            | Self::Completion(_)
            | Self::Version => Common::default(),
        }
    }
}

#[cfg(test)]
#[path = "args_tests.rs"]
mod tests;
