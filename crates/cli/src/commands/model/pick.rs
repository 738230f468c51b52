//! `hermes model` without a subcommand: provider and model from numbered lists.

use super::key_text;
use super::list::{self, Row, State};
use super::parse_choice::{Choice, Known};
use super::set::save;
use crate::commands::config::{failure, read};
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_config::Config;
use hermes_runtime::{ListedModel, find_provider, list_models, model_choice};
use hermes_terminal::term::{self, printable};
use std::io::IsTerminal;
use std::time::Duration;

/// The time limit for the list of models; after it, the user enters a name.
const PATIENCE: Duration = Duration::from_secs(3);
/// Limit of listed models; others can be entered by name.
const MOST: usize = 40;

pub(super) async fn run(common: &Common) -> Result<Exit, Failure> {
    if !(std::io::stdin().is_terminal() && std::io::stdout().is_terminal()) || common.json {
        return Err(Failure::usage(
            "choosing needs a terminal; use `hermes model set PROVIDER/MODEL`, or `hermes model list`",
        ));
    }
    let config = read(&common.without_model())?;
    match choose(&config).await? {
        Some(choice) => save(&config, &choice, false, common),
        None => {
            term::print_error("No change.");
            Ok(Exit::FailedTurn)
        }
    }
}

async fn choose(config: &Config) -> Result<Option<Choice>, Failure> {
    let mut rows = list::rows(config)?;
    rows.retain(|row| !matches!(row.state, State::NotYet(_)));
    for (at, row) in rows.iter().enumerate() {
        term::print_line(&printable(&provider_line(at + 1, row)));
    }
    let Some(provider) = ask_provider(config, &rows).await? else { return Ok(None) };
    let base_url = match ask_address(config, &provider).await? {
        Asked::NotNeeded => None,
        Asked::Given(url) => Some(url),
        Asked::Left => return Ok(None),
    };
    let models = match &base_url {
        None => known_models(config, &provider).await,
        Some(_) => Vec::new(),
    };
    let Some(model) = ask_model(&models).await? else { return Ok(None) };
    Ok(Some(Choice { provider: Some(provider), model: Some(model), base_url }))
}

fn provider_line(number: usize, row: &Row) -> String {
    let state = match &row.state {
        State::Ready(source) => format!("key: {}", key_text(source)),
        State::Needs(what) | State::NotYet(what) => what.clone(),
    };
    format!("{number:>3}  {:<22}  {:<32}  {state}", row.id, row.name)
}

async fn ask_provider(config: &Config, rows: &[Row]) -> Result<Option<String>, Failure> {
    let entries = &config.settings.providers.get().map_err(failure)?.entries;
    loop {
        let Some(answer) = ask("Provider (number or name): ").await? else { return Ok(None) };
        let known = Known { current: None, label: String::new(), entries };
        let by_number = answer.parse().ok().and_then(|number: usize| rows.get(number.checked_sub(1)?));
        let found = by_number.map(|row| row.id.clone()).or_else(|| known.provider(&answer));
        match found {
            Some(id) if find_provider(&id).is_none_or(|provider| provider.not_yet().is_none()) => {
                return Ok(Some(id));
            }
            Some(id) => {
                term::print_error(&format!("{id} cannot be used yet; see `hermes model list --all`."))
            }
            None => term::print_error("Unknown provider; enter a number of the list."),
        }
    }
}

enum Asked {
    NotNeeded,
    Given(String),
    Left,
}

/// Asks for the address of a custom endpoint, unless one is configured.
async fn ask_address(config: &Config, provider: &str) -> Result<Asked, Failure> {
    let is_own = find_provider(provider).is_some_and(|provider| provider.has_no_address());
    if !is_own || model_choice::place(config, Some(provider)).is_ok() {
        return Ok(Asked::NotNeeded);
    }
    let answer = ask("Address (http://HOST:PORT/v1): ").await?;
    Ok(answer.map_or(Asked::Left, Asked::Given))
}

/// The models that the endpoint lists in time; prints the reason if there are none.
async fn known_models(config: &Config, provider: &str) -> Vec<ListedModel> {
    let place = match model_choice::place(config, Some(provider)) {
        Ok(place) => place,
        Err(error) => {
            term::print_error(&printable(&error.to_string()));
            return Vec::new();
        }
    };
    let Ok(fetcher) = model_choice::fetcher(config, PATIENCE) else { return Vec::new() };
    match list_models(&place, &fetcher).await {
        Ok(models) => models,
        Err(error) => {
            term::print_error(&printable(&format!("{} did not list its models: {error}", place.label())));
            Vec::new()
        }
    }
}

async fn ask_model(models: &[ListedModel]) -> Result<Option<String>, Failure> {
    for (at, model) in models.iter().take(MOST).enumerate() {
        term::print_line(&printable(&format!("{:>3}  {}", at + 1, model.id)));
    }
    if let Some(more @ 1..) = models.len().checked_sub(MOST) {
        term::print_line(&format!("     and {more} more; enter the name"));
    }
    let question = if models.is_empty() { "Model (name): " } else { "Model (number or name): " };
    loop {
        let Some(answer) = ask(question).await? else { return Ok(None) };
        let number = answer.parse::<usize>().ok().filter(|_| !models.is_empty());
        match number.map(|number| number.checked_sub(1).and_then(|at| models.get(at))) {
            None => return Ok(Some(answer)),
            Some(Some(model)) => return Ok(Some(model.id.clone())),
            Some(None) => term::print_error("No such number in the list."),
        }
    }
}

/// The entered line; `None` if it is empty or the input has ended.
async fn ask(question: &str) -> Result<Option<String>, Failure> {
    term::print(question);
    let read = || {
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer).map(|_| answer)
    };
    let answer = tokio::task::spawn_blocking(read).await.map_err(std::io::Error::other)??;
    let answer = answer.trim().to_owned();
    Ok((!answer.is_empty()).then_some(answer))
}
