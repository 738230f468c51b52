//! Facts about models: what endpoints state is kept under `cache/models` of the home.

use crate::learned_windows::learned;
use hermes_config::clock::now;
use hermes_config::home::{Home, PRIVATE_FILE, ensure_private_dir, fence_key, write_atomically};
use hermes_guard::{seal, unseal};
use hermes_providers::{
    Basis, Endpoint, EndpointFacts, Fact, FactSource, Fetcher, ListedModel, ModelFacts, Prices, ProbedServer,
    Stated, StoredModels, facts, list_models, models_file,
};
use std::path::PathBuf;

/// The age in seconds up to which prices are used for budgets.
const FRESH: f64 = 24.0 * 3600.0;
const PURPOSE: &str = "models";

/// Returns the facts about an endpoint's model without a request.
pub fn known(home: &Home, endpoint: &Endpoint) -> ModelFacts {
    let mut facts = endpoint.facts(remembered(home, endpoint));
    // The limit in a rejection is more reliable than any list.
    if facts.window.source != FactSource::Config
        && let Some(value) = learned(home, endpoint)
    {
        facts.window = Fact { value, source: FactSource::Remembered };
    }
    facts
}

/// Replaces the window by that of the server on this machine, unless the settings state it.
pub fn served(mut facts: ModelFacts, server: Option<&ProbedServer>) -> ModelFacts {
    let window = server.and_then(|server| server.window).filter(|window| window.basis != Basis::Trained);
    if let Some(window) = window.filter(|_| facts.window.source != FactSource::Config) {
        facts.window = Fact { value: window.tokens, source: FactSource::Endpoint };
    }
    facts
}

/// Returns the window of an endpoint's model. If the settings state it, nothing is read.
pub fn window(home: &Home, endpoint: &Endpoint) -> u64 {
    match (endpoint.context_length, endpoint.ollama_num_ctx) {
        (Some(stated), None) => stated,
        _ => known(home, endpoint).window.value,
    }
}

/// Returns the prices of a model in the built-in table.
pub fn list_prices(provider: &str, model: &str) -> Option<Prices> {
    facts(provider, model, Stated::default(), None).prices.map(|fact| fact.value)
}

/// Stores the models that an endpoint listed, if there is a home. A failure is ignored: the list is fetched again.
pub fn keep(home: &Home, origin: &str, models: &[ListedModel]) {
    let path = file(home, origin);
    let kept = StoredModels::of(origin.to_owned(), now(), models).to_bytes();
    let dirs = [home.cache_dir(), home.cache_dir().join("models")];
    if home.path().is_dir() && dirs.iter().all(|dir| ensure_private_dir(dir).is_ok()) {
        let bytes = seal(&fence_key::of(home), PURPOSE, &kept);
        let _ = write_atomically(&path, &bytes, PRIVATE_FILE);
    }
}

/// Fetches the facts from the endpoint and stores them.
pub async fn ask(home: &Home, endpoint: &Endpoint, fetcher: &Fetcher) -> ModelFacts {
    let Ok(models) = list_models(&endpoint.place(), fetcher).await else {
        return known(home, endpoint);
    };
    keep(home, &endpoint.origin(), &models);
    let model = models.iter().find(|model| model.id == endpoint.model);
    endpoint.facts(model.map(|model| (model.stated, FactSource::Endpoint)))
}

/// Returns true if the stored prices are recent enough for a budget.
pub(crate) fn is_fresh(home: &Home, endpoint: &Endpoint) -> bool {
    kept(home, &endpoint.origin()).is_some_and(|kept| (now() - kept.fetched_at).abs() < FRESH)
}

fn remembered(home: &Home, endpoint: &Endpoint) -> Option<EndpointFacts> {
    let stated = kept(home, &endpoint.origin())?.find(&endpoint.model)?;
    Some((stated, FactSource::Remembered))
}

fn kept(home: &Home, origin: &str) -> Option<StoredModels> {
    let bytes = std::fs::read(file(home, origin)).ok()?;
    // Commands of the model can write there; forged numbers would change windows and budgets.
    StoredModels::read(unseal(&fence_key::of(home), PURPOSE, &bytes)?, origin)
}

fn file(home: &Home, origin: &str) -> PathBuf {
    home.cache_dir().join("models").join(models_file(origin))
}
