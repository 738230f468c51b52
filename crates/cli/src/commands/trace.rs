//! `hermes trace`: the timeline of a turn.

mod as_json;
mod draw;
mod timeline;

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::{launch, time_input};
use clap::Args;
use draw::{Look, draw};
use hermes_runtime::Runtime;
use hermes_store::TurnTrace;
use hermes_terminal::print;
use hermes_terminal::term::{self, Style};
use std::io::IsTerminal;
use timeline::Timeline;

/// Show the timeline of a turn: model calls, tools, retries, costs
///
/// The data comes from the session store, so it is complete after a crash, too.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes trace
  hermes trace latest --turn 2")]
pub(crate) struct TraceArgs {
    /// Session: its id, the start of its id, its title, or `latest`
    #[arg(value_name = "SESSION", default_value = "latest")]
    session: String,
    /// Turn of the session, counting from 1 [default: the newest]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    turn: Option<u64>,
}

pub(crate) async fn run(args: &TraceArgs, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let trace = found(&runtime, args).await;
    runtime.leave().await;
    let trace = trace?;
    let timeline = Timeline::of(&trace, time_input::now());
    if common.json {
        print::json(&as_json::trace(&trace, &timeline));
        return Ok(Exit::Answered);
    }
    let stdout = std::io::stdout();
    let look = Look {
        width: term::columns(&stdout),
        style: Style::for_stream(&stdout),
        is_plain: !stdout.is_terminal(),
    };
    print::lines(draw(&trace, &timeline, look));
    Ok(Exit::Answered)
}

async fn found(runtime: &Runtime, args: &TraceArgs) -> Result<TurnTrace, Failure> {
    let session = launch::stored(runtime, &args.session).await?;
    let store = runtime.store()?;
    if let Some(trace) = store.trace(&session, args.turn).await? {
        return Ok(trace);
    }
    let newest = store.trace(&session, None).await?;
    Err(Failure::usage(match newest {
        Some(newest) => format!("session {session} has {} turns; choose one with --turn N", newest.turns),
        None => {
            format!("session {session} has no recorded turns; another program may have written it")
        }
    }))
}
