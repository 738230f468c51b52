//! `hermes model tasks`: the models of auxiliary tasks.

use crate::commands::config::read;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use hermes_config::Config;
use hermes_conversation::AuxTask;
use hermes_runtime::{AuxRoute, AuxStop, Endpoint, auxiliary_route, model_choice, model_facts, shown_url};
use hermes_terminal::{print, term};
use serde_json::{Value, json};

pub(super) fn run(task: Option<&str>, common: &Common) -> Result<Exit, Failure> {
    let config = read(common)?;
    let own = model_choice::endpoint(&config).map_err(|error| launch::blame_flags(error, common))?;
    let tasks = match task {
        Some(name) => vec![AuxTask::parse(name).ok_or_else(|| unknown(name))?],
        None => AuxTask::ALL.to_vec(),
    };
    let mut rows = Vec::new();
    for one in tasks {
        let route = route(&config, one, &own)?;
        for warning in &route.warnings {
            print::notice(warning);
        }
        let settings = config.settings.auxiliary.task(one).map_err(crate::commands::config::failure)?;
        let seconds = settings.timeout.as_secs();
        match (common.json, task.is_some()) {
            (true, _) => rows.push(as_json(one, seconds, &route)),
            (false, false) => {
                let chain: Vec<_> = route.stops.iter().map(name).collect();
                print(&format!("{:<22}  {}", one.as_str(), chain.join(", then ")));
            }
            (false, true) => {
                print(&format!("{}, timeout {seconds} s", one.as_str()));
                for stop in &route.stops {
                    print(&format!(
                        "  {} at {}  ({})",
                        name(stop),
                        shown_url(&stop.endpoint.base_url),
                        stop.why
                    ));
                }
            }
        }
    }
    if common.json {
        print::json(&json!(rows));
    }
    Ok(Exit::Answered)
}

fn route(config: &Config, task: AuxTask, own: &Endpoint) -> Result<AuxRoute, Failure> {
    let home = launch::home()?;
    let sees = |endpoint: &Endpoint| model_facts::known(&home, endpoint).sees_images.map(|fact| fact.value);
    Ok(auxiliary_route(config, task, own, sees)?)
}

fn print(line: &str) {
    term::print_line(&term::printable(line));
}

fn name(stop: &AuxStop) -> String {
    format!("{}/{}", stop.endpoint.label(), stop.endpoint.model)
}

fn as_json(task: AuxTask, seconds: u64, route: &AuxRoute) -> Value {
    let stop = |stop: &AuxStop| {
        json!({ "provider": stop.endpoint.label(), "model": stop.endpoint.model, "why": stop.why,
            "base_url": shown_url(&stop.endpoint.base_url), "api_mode": stop.endpoint.mode.as_str() })
    };
    let stops: Vec<Value> = route.stops.iter().map(stop).collect();
    json!({ "task": task.as_str(), "timeout_seconds": seconds, "models": stops, "warnings": route.warnings })
}

fn unknown(name: &str) -> Failure {
    let all: Vec<_> = AuxTask::ALL.iter().map(|task| task.as_str()).collect();
    Failure::usage(format!("unknown task `{name}`; use one of {}", all.join(", ")))
}
