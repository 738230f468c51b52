//! `hermes chat`, and `hermes` without a subcommand: a conversation, or one prompt and its reply.

use crate::commands::ps;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::json_events::About;
use crate::prompt_input::{self, Prompt};
use crate::{launch, missing_model, oneshot};
use clap::Args;
use hermes_config::{Config, Refused, unused_summary};
use hermes_runtime::{Home, ResolveError, Runtime, RuntimeError, credential_warnings, telemetry_problem};
use hermes_terminal::text::counted;
use hermes_terminal::{Terminal, print};
use std::io::IsTerminal;

/// Chat with the model in this terminal (the default)
#[derive(Debug, Clone, Default, Args)]
#[command(after_help = "\
Examples:
  hermes chat
  hermes chat -q \"Explain @file:src/main.rs\"
  hermes chat --resume latest --yolo
  hermes chat -q - -Q <prompt.txt")]
pub(crate) struct ChatArgs {
    /// Answer one prompt and exit; `-` reads it from standard input
    #[arg(short, long, value_name = "PROMPT")]
    pub(crate) query: Option<String>,
    /// With -q: print only the reply
    #[arg(short = 'Q', long)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) flags: Common,
}

/// Runs a one-shot or the interactive chat.
pub(crate) async fn run(args: ChatArgs, common: Common) -> Result<Exit, Failure> {
    let (runtime, prompt) = match prepare(&args, &common) {
        Ok(prepared) => prepared,
        Err(Obstacle::NoModel(home)) => return Err(no_model(&home, &common).await),
        Err(Obstacle::Failure(failure)) => {
            return Err(oneshot::end_without_turn(&common, &About::none(), failure));
        }
    };
    announce_settings(runtime.config());
    if let Some(problem) = telemetry_problem(runtime.config()) {
        print::notice(&format!("no traces are sent: {}", problem));
    }
    // Not when an old session is about to be resumed.
    if common.conversation.resume.is_none() && common.conversation.continue_.is_none() {
        prune(&runtime).await;
    }
    let exit = match prompt {
        Some(prompt) => oneshot::run(&runtime, &common, prompt).await,
        None => chat(&runtime, &common).await,
    };
    if let Some(why) = runtime.recording_failure() {
        print::notice(&why);
    }
    ps::announce_remaining(&runtime).await;
    runtime.tidy_files().await;
    runtime.leave().await;
    exit
}

/// Runs the chat in the session that the flags ask for.
async fn chat(runtime: &Runtime, common: &Common) -> Result<Exit, Failure> {
    let terminal = Terminal::open(runtime.home().history_file())?;
    let session = launch::session(runtime, common, hermes_terminal::opening(runtime), terminal.ask()).await?;
    hermes_terminal::run(runtime, terminal, session).await?;
    Ok(Exit::Answered)
}

/// Prints notices about settings that are not used or not enforced.
fn announce_settings(config: &Config) {
    let mut refused = config.unsupported_safety();
    // These end the run with an error.
    refused.retain(|promise| promise.refused != Refused::Run);
    for line in refused.into_iter().map(|promise| promise.text).chain(unused_summary(&config.unused_keys())) {
        print::notice(&line);
    }
}

/// Prunes old sessions before the conversation starts: releasing disk space blocks other processes. A failure is
/// only a notice.
async fn prune(runtime: &Runtime) {
    match runtime.prune_if_wanted().await {
        Ok(None) => {}
        Ok(Some(done)) if done.old.is_empty() => {}
        Ok(Some(done)) => {
            print::notice(&format!(
                "deleted {} (sessions.auto_prune)",
                counted(done.old.len(), "old session")
            ));
        }
        Err(error) => {
            let cause = Failure::from(error).line;
            print::notice(&format!("old sessions were not deleted: {}", cause));
        }
    }
}

/// The reason why a conversation cannot start.
enum Obstacle {
    NoModel(Home),
    Failure(Failure),
}

fn prepare(args: &ChatArgs, common: &Common) -> Result<(Runtime, Option<Prompt>), Obstacle> {
    let runtime = launch::open(common).map_err(Obstacle::Failure)?;
    match runtime.endpoint() {
        Ok(_) => {}
        Err(error) if !credential_warnings(runtime.config()).is_empty() => {
            // The credential file may be unreadable.
            let warnings = credential_warnings(runtime.config());
            let failure = launch::blame_flags(error, common);
            let line = format!("{}; {}", failure.line, warnings.join("; "));
            return Err(Obstacle::Failure(Failure { line, ..failure }));
        }
        Err(RuntimeError::Resolve(ResolveError::NothingConfigured)) => {
            return Err(Obstacle::NoModel(runtime.home().clone()));
        }
        Err(error) => return Err(Obstacle::Failure(launch::blame_flags(error, common))),
    }
    let prompt = prompt_input::wanted(args, common, std::io::stdin().is_terminal());
    let prompt = prompt.map_err(Obstacle::Failure)?;
    if let Some(path) = &common.output.record {
        runtime.record(path).map_err(|error| Obstacle::Failure(error.into()))?;
    }
    Ok((runtime, prompt))
}

/// Prints how to configure a model, and the result event for programs.
async fn no_model(home: &Home, common: &Common) -> Failure {
    missing_model::print_next_steps(home).await;
    let failure = Failure::new(Exit::Config, "no model is configured");
    Failure { line: String::new(), ..oneshot::end_without_turn(common, &About::none(), failure) }
}
