//! `hermes insights`: what was done in the last days.

mod activity;
mod as_json;
mod layout;
mod numbers;
mod report;

use crate::args::{Common, InsightsArgs};
use crate::exit::{Exit, Failure};
use crate::launch;
use crate::term::{self, Style};
use activity::Stretch;
use hermes_store::{Insights, InsightsFilter};

pub(crate) async fn run(args: &InsightsArgs, common: &Common) -> Result<Exit, Failure> {
    let runtime = launch::open(common)?;
    let stretch = Stretch::ending_now(args.days)
        .map_err(|error| Failure::usage(format!("--days {} cannot be counted back: {error}", args.days)))?;
    // Looking where nothing was ever stored creates no database.
    let found = match runtime.home().state_db().exists() {
        true => launch::store(&runtime)?.insights(filter(&stretch, common)).await,
        false => Ok(Insights::default()),
    };
    runtime.leave().await;
    let shown = report::Shown { insights: &found?, stretch: &stretch, source: common.source.as_deref() };
    if common.json {
        term::print_line(&as_json::value(&shown).to_string());
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
