//! What endpoints have said about their models, kept under `cache/models` of the home.

use crate::learned_windows::learned;
use hermes_config::clock::now;
use hermes_config::home::{Home, PRIVATE_FILE, ensure_private_dir, fence_key, write_atomically};
use hermes_guard::{seal, unseal};
use hermes_providers::{
    Asker, Basis, Endpoint, Fact, FactSource, Heard, KeptModels, ListedModel, ModelFacts, Prices,
    ProbedServer, Stated, facts, list_models, models_file,
};
use std::path::PathBuf;

/// Prices are asked for again after a day, where somebody counts on them.
const FRESH: f64 = 24.0 * 3600.0;
const PURPOSE: &str = "models";

/// What is known about the model of an endpoint without asking anybody.
pub fn known(home: &Home, endpoint: &Endpoint) -> ModelFacts {
    let mut facts = endpoint.facts(remembered(home, endpoint));
    // What a refusal told is nearer to the truth than any list.
    if facts.window.source != FactSource::Config
        && let Some(value) = learned(home, endpoint)
    {
        facts.window = Fact { value, source: FactSource::Remembered };
    }
    facts
}

/// The same facts with the window that the server on this machine states, where the settings do not.
pub fn served(mut facts: ModelFacts, server: Option<&ProbedServer>) -> ModelFacts {
    let window = server.and_then(|server| server.window).filter(|window| window.basis != Basis::Trained);
    if let Some(window) = window.filter(|_| facts.window.source != FactSource::Config) {
        facts.window = Fact { value: window.tokens, source: FactSource::Endpoint };
    }
    facts
}

/// The window of an endpoint's model. Where the settings state it, nothing is read.
pub fn window(home: &Home, endpoint: &Endpoint) -> u64 {
    match (endpoint.context_length, endpoint.ollama_num_ctx) {
        (Some(stated), None) => stated,
        _ => known(home, endpoint).window.value,
    }
}

/// What a model costs by the table that is built in.
pub fn list_prices(provider: &str, model: &str) -> Option<Prices> {
    facts(provider, model, Stated::default(), None).prices.map(|fact| fact.value)
}

/// Keeps what an endpoint said about its models, if there is a home. Failing to costs no more than
/// asking again.
pub fn keep(home: &Home, origin: &str, models: &[ListedModel]) {
    let path = file(home, origin);
    let kept = KeptModels::of(origin.to_owned(), now(), models).to_bytes();
    let dirs = [home.cache_dir(), home.cache_dir().join("models")];
    if home.path().is_dir() && dirs.iter().all(|dir| ensure_private_dir(dir).is_ok()) {
        let bytes = seal(&fence_key::of(home), PURPOSE, &kept);
        let _ = write_atomically(&path, &bytes, PRIVATE_FILE);
    }
}

/// Asks the endpoint for what is not known or no longer sure, and keeps the answer.
pub async fn ask(home: &Home, endpoint: &Endpoint, asker: &Asker) -> ModelFacts {
    let Ok(models) = list_models(&endpoint.place(), asker).await else {
        return known(home, endpoint);
    };
    keep(home, &endpoint.origin(), &models);
    let model = models.iter().find(|model| model.id == endpoint.model);
    endpoint.facts(model.map(|model| (model.stated, FactSource::Endpoint)))
}

/// Whether what is remembered is recent enough to count money by.
pub(crate) fn is_fresh(home: &Home, endpoint: &Endpoint) -> bool {
    kept(home, &endpoint.origin()).is_some_and(|kept| (now() - kept.fetched_at).abs() < FRESH)
}

fn remembered(home: &Home, endpoint: &Endpoint) -> Option<Heard> {
    let stated = kept(home, &endpoint.origin())?.find(&endpoint.model)?;
    Some((stated, FactSource::Remembered))
}

fn kept(home: &Home, origin: &str) -> Option<KeptModels> {
    let bytes = std::fs::read(file(home, origin)).ok()?;
    // Commands of the model can write there; another's numbers would move windows and budgets.
    KeptModels::read(unseal(&fence_key::of(home), PURPOSE, &bytes)?, origin)
}

fn file(home: &Home, origin: &str) -> PathBuf {
    home.cache_dir().join("models").join(models_file(origin))
}
