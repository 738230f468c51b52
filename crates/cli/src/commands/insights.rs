//! `hermes insights`: usage over the last days.

mod activity;
mod as_json;
mod layout;
mod numbers;
mod report;

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use activity::Stretch;
use clap::Args;
use hermes_store::{Insights, InsightsFilter};
use hermes_terminal::print;
use hermes_terminal::term::{self, Style};

/// Show usage of the last days: tokens, costs, models, tools
///
/// Days are days of local time, today included. A message counts for the day it was written. Tokens and costs are
/// stored as a sum per session and model, which counts as a whole if the model was last called within these days, or,
/// without such a sum, if the session started within them.
///
/// The cache hit rate is cache reads divided by all input (fresh input, cache reads and cache writes). Active time is
/// the time between consecutive messages of a session, without pauses over ten minutes; parallel sessions add up.
#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes insights
  hermes insights --days 7 --source cron")]
pub(crate) struct InsightsArgs {
    /// Number of days, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    days: u32,
    /// Count only sessions with this tag
    #[arg(long, value_name = "TAG")]
    pub(crate) source: Option<String>,
}

pub(crate) async fn run(args: &InsightsArgs, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let stretch = Stretch::ending_now(args.days)
        .map_err(|error| Failure::usage(format!("invalid --days {}: {error}", args.days)))?;
    // Nothing was used without a database; it is not created here.
    let found = match runtime.home().state_db().exists() {
        true => launch::store(&runtime)?.insights(filter(&stretch, common)).await,
        false => Ok(Insights::default()),
    };
    runtime.leave().await;
    let shown = report::Shown { insights: &found?, stretch: &stretch, source: common.source.as_deref() };
    if common.json {
        print::json(&as_json::value(&shown));
    } else {
        let stdout = std::io::stdout();
        term::print(&report::text(&shown, term::columns(&stdout), Style::for_stream(&stdout)));
    }
    Ok(Exit::Answered)
}

fn filter(stretch: &Stretch, common: &Common) -> InsightsFilter {
    InsightsFilter {
        since: stretch.since(),
        until: stretch.until(),
        source: common.source.clone(),
        ..InsightsFilter::default()
    }
}
