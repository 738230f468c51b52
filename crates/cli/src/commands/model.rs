//! `hermes model`: which model is used.
//!
//! What is used is decided in `providers`; here it is shown, listed and saved. Looking creates no
//! home, and no key is ever printed: only where it was found.

mod facts;
mod list;
mod models;
mod parse_choice;
mod pick;
mod set;
pub(crate) mod show;
mod tasks;

use crate::args::{Common, ModelCommand};
use crate::commands::config::read;
use crate::exit::{Exit, Failure};
use crate::{launch, term};
use hermes_config::Config;
use hermes_runtime::{Endpoint, Fallbacks, KeySource, fallbacks, model_choice, model_facts, shown_url};
use serde_json::{Value, json};

pub(crate) async fn run(command: Option<ModelCommand>, common: &Common) -> Result<Exit, Failure> {
    match command {
        None => pick::run(common).await,
        Some(ModelCommand::List { of: Some(provider), .. }) => models::run(&provider, common).await,
        Some(ModelCommand::List { of: None, all }) => list::run(all, common),
        Some(ModelCommand::Show) => show::run(common).await,
        Some(ModelCommand::Set { choice, yes }) => set::run(&choice, yes, common),
        Some(ModelCommand::Resolve) => resolve(common),
        Some(ModelCommand::Tasks { task }) => tasks::run(task.as_deref(), common),
    }
}

fn resolve(common: &Common) -> Result<Exit, Failure> {
    let config = read(common)?;
    let found = model_choice::endpoint(&config);
    let endpoint = found.map_err(|error| launch::blame_flags(error, common))?;
    if common.json {
        let mut all = endpoint_json(&endpoint);
        let stops: Vec<Value> = fallbacks(&config, &endpoint)?.stops.iter().map(endpoint_json).collect();
        all["fallbacks"] = json!(stops);
        term::print_line(&all.to_string());
        return Ok(Exit::Answered);
    }
    let values = [
        ("provider", endpoint.label()),
        ("base_url", shown_url(&endpoint.base_url)),
        ("key", key_words(&endpoint.key_source)),
        ("model", endpoint.model.clone()),
        ("api_mode", endpoint.mode.as_str().to_owned()),
    ];
    for (what, value) in values {
        let why = endpoint.reasons.iter().find(|reason| reason.what == what);
        let why = why.map(|reason| format!("  ({})", reason.why)).unwrap_or_default();
        term::print_line(&term::printable(&format!("{what:>9}  {value}{why}")));
    }
    for (name, key) in fallback_lines(&config, &endpoint)? {
        term::print_line(&term::printable(&format!("{:>9}  {name}  ({key})", "then")));
    }
    for (what, text) in facts::lines(&model_facts::known(&launch::home()?, &endpoint), endpoint.provider) {
        term::print_line(&format!("{what:>9}  {text}"));
    }
    Ok(Exit::Answered)
}

/// The models that step in, each with where its key comes from; what is wrong with an entry is told.
fn fallback_lines(config: &Config, own: &Endpoint) -> Result<Vec<(String, String)>, Failure> {
    let Fallbacks { stops, warnings } = fallbacks(config, own)?;
    for warning in warnings {
        term::complain(&format!("hermes: {}", term::printable(&warning)));
    }
    let line = |stop: &Endpoint| (format!("{}/{}", stop.label(), stop.model), stop.key_source.to_string());
    Ok(stops.iter().map(line).collect())
}

/// Where a key comes from, in a few words.
fn key_words(source: &KeySource) -> String {
    match source {
        KeySource::None => "none".to_owned(),
        KeySource::Variable(name) => (*name).to_owned(),
        KeySource::EntryVariable(name) => name.clone(),
        KeySource::VendorFile { tool, .. } => format!("login of {tool}"),
        other => other.to_string(),
    }
}

/// An endpoint for programs, without its key.
fn endpoint_json(endpoint: &Endpoint) -> Value {
    let reasons: serde_json::Map<String, Value> =
        endpoint.reasons.iter().map(|reason| (reason.what.to_owned(), json!(reason.why))).collect();
    json!({
        "provider": endpoint.label(),
        "base_url": shown_url(&endpoint.base_url),
        "origin": endpoint.origin(),
        "model": endpoint.model,
        "api_mode": endpoint.mode.as_str(),
        "key": key_json(&endpoint.key_source),
        "context_length": endpoint.context_length,
        "max_tokens": endpoint.max_tokens,
        "reasons": reasons,
    })
}

fn key_json(source: &KeySource) -> Value {
    json!({ "found": *source != KeySource::None, "source": key_words(source) })
}
