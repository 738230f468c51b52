//! `hermes model list PROVIDER`: the models that a provider lists.

use super::facts;
use crate::commands::config::read;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use hermes_runtime::{CallFailure, ListedModel, find_provider, list_models, model_choice, model_facts};
use hermes_terminal::{print, term};
use serde_json::{Value, json};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(15);

pub(super) async fn run(provider: &str, common: &Common) -> Result<Exit, Failure> {
    let config = read(common)?;
    if let Some(known) = find_provider(provider)
        && let Some(why) = known.not_yet()
    {
        return Err(Failure::new(Exit::Config, format!("{} cannot be used yet: {why}", known.id)));
    }
    let place = model_choice::place(&config, Some(provider)).map_err(launch::blame_argument)?;
    let fetcher = model_choice::fetcher(&config, PATIENCE)?;
    let models = list_models(&place, &fetcher).await.map_err(|failure| {
        let exit = match failure {
            CallFailure::Unreachable { .. } | CallFailure::TimedOut { .. } => Exit::Unreachable,
            _ => Exit::FailedTurn,
        };
        Failure::new(exit, format!("{} did not list its models: {failure}", place.label()))
    })?;
    model_facts::keep(&launch::home()?, &place.origin(), &models);
    print(&models, &place.label(), common);
    Ok(Exit::Answered)
}

fn print(models: &[ListedModel], label: &str, common: &Common) {
    if common.json {
        let row = |model: &ListedModel| {
            json!({ "id": model.id, "context_length": model.stated.window,
                "pricing": model.stated.prices.as_ref().map(facts::price_json) })
        };
        let rows: Vec<Value> = models.iter().map(row).collect();
        print::json(&json!(rows));
        return;
    }
    if models.is_empty() {
        print::notice(&format!("{label} lists no models"));
    }
    print::lines(models.iter().map(|model| {
        let window = model.stated.window.map(|tokens| format!("  {tokens} tokens")).unwrap_or_default();
        let price = model.stated.prices.as_ref();
        let price = price.map(|prices| format!("  {}", facts::price_text(prices))).unwrap_or_default();
        term::printable(&format!("{}{window}{price}", model.id)).into_owned()
    }));
}
