//! `hermes model show`: the configured model, and facts from a local server.

use super::{endpoint_json, facts, key_text};
use crate::commands::config::{as_json, failure, read};
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use hermes_config::settings::ModelSettings;
use hermes_config::{Config, Explanation, Key, Source};
use hermes_runtime::{Endpoint, ModelFacts, ProbedServer, model_choice, model_facts, probe, shown_url};
use hermes_terminal::{print, term};
use serde_json::{Value, json};
use std::time::Duration;

const KEYS: [Key; 8] = [
    ModelSettings::provider,
    ModelSettings::default,
    ModelSettings::base_url,
    ModelSettings::api_key,
    ModelSettings::api_mode,
    ModelSettings::context_length,
    ModelSettings::ollama_num_ctx,
    ModelSettings::max_tokens,
];

/// The time limit for a local server.
pub(crate) const PATIENCE: Duration = Duration::from_secs(2);

pub(super) async fn run(common: &Common) -> Result<Exit, Failure> {
    let config = read(common)?;
    let settings =
        KEYS.iter().map(|key| config.explain(key.name)).collect::<Result<Vec<_>, _>>().map_err(failure)?;
    let found = model_choice::endpoint(&config);
    let served = match &found {
        Ok(endpoint) => ask_server(&config, endpoint).await,
        Err(_) => None,
    };
    if common.json {
        let settings: Vec<Value> = settings.iter().map(as_json).collect();
        let (endpoint, problem) = match &found {
            Ok(endpoint) => (Some(endpoint_json(endpoint)), None),
            Err(error) => (None, Some(error.to_string())),
        };
        let facts = match &found {
            Ok(endpoint) => Some(facts::as_json(&known(endpoint, served.as_ref())?)),
            Err(_) => None,
        };
        let server = served.as_ref().map(server_json);
        let all = json!({ "settings": settings, "endpoint": endpoint, "problem": problem, "server": server,
            "facts": facts });
        print::json(&all);
        return Ok(Exit::Answered);
    }
    for setting in settings.iter().filter(|setting| setting.source != Source::Default) {
        term::print_line(&term::printable(&setting_line(setting)));
    }
    match &found {
        Ok(endpoint) => {
            let (url, key) = (shown_url(&endpoint.base_url), key_text(&endpoint.key_source));
            let used =
                format!("{:<20}  {} at {url} ({}, key: {key})", "used", endpoint.model, endpoint.label());
            term::print_line(&term::printable(&used));
            for (what, text) in facts::lines(&known(endpoint, served.as_ref())?, endpoint.provider) {
                term::print_line(&format!("{what:<20}  {text}"));
            }
        }
        Err(error) => print::notice(&error.to_string()),
    }
    if let Some(server) = &served {
        term::print_line(&format!("{:<20}  {}", "server", server_text(server)));
    }
    Ok(Exit::Answered)
}

/// The facts about the model, with the context window that its server states and sessions use.
fn known(endpoint: &Endpoint, server: Option<&ProbedServer>) -> Result<ModelFacts, Failure> {
    Ok(model_facts::served(model_facts::known(&launch::home()?, endpoint), server))
}

fn setting_line(setting: &Explanation) -> String {
    let value = setting.value.as_deref().unwrap_or("(none)");
    format!("{:<20}  {value}  ({})", setting.key, setting.origin)
}

/// The facts that a server at a loopback address reports.
pub(crate) async fn ask_server(config: &Config, endpoint: &Endpoint) -> Option<ProbedServer> {
    let fetcher = model_choice::fetcher(config, PATIENCE).ok()?;
    probe(&endpoint.base_url, &endpoint.model, endpoint.key.as_ref(), &fetcher).await
}

pub(crate) fn server_text(server: &ProbedServer) -> String {
    match server.window {
        Some(window) => {
            format!("{}, window {} tokens ({})", server.kind.name(), window.tokens, window.basis.as_str())
        }
        None => format!("{}, which does not report the model's context window", server.kind.name()),
    }
}

pub(crate) fn server_json(server: &ProbedServer) -> Value {
    json!({
        "name": server.kind.name(),
        "context_length": server.window.map(|window| window.tokens),
        "basis": server.window.map(|window| window.basis.as_str()),
    })
}
