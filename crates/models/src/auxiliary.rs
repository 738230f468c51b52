//! The models for auxiliary tasks: from `auxiliary.<task>` to models in the order of their calls.

use crate::fallback::{common, fallbacks, is_same, resolve_entry};
use crate::{Models, ModelsError, model_facts};
use hermes_agent::auxiliary::{AuxLimits, ask_in_order};
use hermes_config::{AuxProvider, AuxSettings, Config, FallbackEntry};
use hermes_conversation::{AuxModel, AuxRequest, AuxTask, BoxFuture};
use hermes_providers::{Endpoint, find_provider, providers};
use hermes_wire::Model;
use std::sync::Arc;

/// A model for a task, and the reason why it is in the list.
pub struct AuxStop {
    pub endpoint: Endpoint,
    pub why: String,
}

/// The models for a task in the order of their calls, and warnings for the user.
#[derive(Default)]
pub struct AuxRoute {
    pub stops: Vec<AuxStop>,
    pub warnings: Vec<String>,
}

impl AuxRoute {
    /// Adds a model that is not in the list yet.
    fn add(&mut self, endpoint: Endpoint, why: impl Into<String>) {
        if !self.stops.iter().any(|known| is_same(&known.endpoint, &endpoint)) {
            self.stops.push(AuxStop { endpoint, why: why.into() });
        }
    }

    fn add_entries(&mut self, config: &Config, entries: &[FallbackEntry]) -> Result<(), ModelsError> {
        let common = common(config)?;
        for entry in entries {
            match resolve_entry(config, entry, &common) {
                Ok(endpoint) => self.add(endpoint, entry.key.clone()),
                Err(warning) => self.warnings.push(warning),
            }
        }
        Ok(())
    }
}

/// Returns the models for a task beside a conversation with `own`. `sees` tells if a model can see images;
/// `None` means that this is unknown.
pub fn route(
    config: &Config,
    task: AuxTask,
    own: &Endpoint,
    sees: impl Fn(&Endpoint) -> Option<bool>,
) -> Result<AuxRoute, ModelsError> {
    let settings = config.settings.auxiliary.task(task)?;
    let mut route = AuxRoute { warnings: settings.warnings.clone(), ..AuxRoute::default() };
    let main = match &settings.model {
        Some(model) => own.with_model(model),
        None => own.clone(),
    };
    let can = |endpoint: &Endpoint| task != AuxTask::Vision || sees(endpoint) != Some(false);
    match &settings.provider {
        AuxProvider::Named(name) => {
            route.add_entries(config, &[entry(&settings, name, own)])?;
            route.add_entries(config, &settings.chain)?;
            // It has the conversation already.
            if can(own) {
                route.add(own.clone(), "the conversation's model");
            }
        }
        AuxProvider::Main => {
            route.add(main, "the conversation's model");
            route.add_entries(config, &settings.chain)?;
        }
        AuxProvider::Auto => {
            if can(&main) {
                route.add(main, "the conversation's model");
            }
            route.add_entries(config, &settings.chain)?;
            for stop in fallbacks(config, own)?.stops.into_iter().filter(|stop| can(stop)) {
                route.add(stop, "steps in for the conversation's model");
            }
            add_small_models(config, task, &mut route)?;
        }
    }
    Ok(route)
}

/// The task's own settings, as a fallback entry.
fn entry(settings: &AuxSettings, provider: &str, own: &Endpoint) -> FallbackEntry {
    FallbackEntry {
        key: settings.key.clone(),
        provider: provider.to_owned(),
        model: settings.model.clone().or_else(|| small_model(provider)).unwrap_or_else(|| own.model.clone()),
        base_url: settings.base_url.clone(),
        api_key: settings.api_key.clone(),
        key_env: settings.key_env.clone(),
    }
}

fn small_model(provider: &str) -> Option<String> {
    find_provider(provider)?.aux_model.map(str::to_owned)
}

/// Adds providers with a small model of their own and a key that is set: OpenRouter and Nous first.
fn add_small_models(config: &Config, task: AuxTask, route: &mut AuxRoute) -> Result<(), ModelsError> {
    let first = providers().filter(|provider| provider.quirks.is_first_for_tasks);
    let others = providers().filter(|_| task != AuxTask::Vision);
    let common = common(config)?;
    for provider in first.chain(others).filter(|provider| provider.not_yet().is_none()) {
        let Some(model) = provider.aux_model else { continue };
        let entry = FallbackEntry {
            key: "auto".to_owned(),
            provider: provider.id.to_owned(),
            model: model.to_owned(),
            base_url: None,
            api_key: None,
            key_env: None,
        };
        // A missing key is not an error here.
        if let Ok(endpoint) = resolve_entry(config, &entry, &common)
            && endpoint.key.is_some()
        {
            route.add(endpoint, format!("a key of {} is set", provider.name));
        }
        // Two fallbacks are enough; more would send the conversation to further providers.
        if route.stops.len() >= 4 {
            break;
        }
    }
    Ok(())
}

/// The models for auxiliary tasks beside conversations with one endpoint.
pub struct Auxiliary<'a> {
    pub(crate) models: Models<'a>,
    pub(crate) own: Endpoint,
}

impl Auxiliary<'_> {
    async fn answer(&self, request: AuxRequest) -> Result<String, String> {
        let (stops, limits) = self.prepare(request.task).map_err(|error| error.to_string())?;
        ask_in_order(&stops, self.models.cooldowns, &limits, &request).await
    }

    /// Returns the models and limits of a task, for a call from another task.
    pub fn prepare(&self, task: AuxTask) -> Result<(Vec<Arc<dyn Model>>, AuxLimits), ModelsError> {
        let Models { config, home, .. } = self.models;
        let settings = config.settings.auxiliary.task(task)?;
        let sees =
            |endpoint: &Endpoint| model_facts::known(home, endpoint).sees_images.map(|fact| fact.value);
        let route = route(config, task, &self.own, sees)?;
        let model = |stop: &AuxStop| self.models.side_model(&stop.endpoint, task, settings.effort);
        let stops = route.stops.iter().map(model).collect::<Result<_, _>>()?;
        let retries = config.settings.auxiliary.transient_retries;
        let limits = AuxLimits { time: settings.timeout, retries, ..AuxLimits::of(task) };
        Ok((stops, limits))
    }
}

impl AuxModel for Auxiliary<'_> {
    fn ask(&self, request: AuxRequest) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(self.answer(request))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model_choice::endpoint;
    use hermes_config::{ConfigFile, Layers};
    use std::path::Path;

    const OWN: &str = "model: {provider: deepseek, default: big}\n";

    fn found(text: &str, task: AuxTask, sees: Option<bool>) -> (Vec<String>, usize) {
        let file = ConfigFile::parse(Path::new("/h/config.yaml"), format!("{OWN}{text}\n")).unwrap();
        let env =
            [("OPENROUTER_API_KEY", "or-key"), ("DEEPSEEK_API_KEY", "ds-key"), ("GLM_API_KEY", "z-key")];
        let shell = env.map(|(name, value)| (name.to_owned(), value.to_owned())).into();
        let config = Config::new(Layers { file, shell, ..Layers::default() });
        let own = endpoint(&config).unwrap();
        let route = route(&config, task, &own, |_| sees).unwrap();
        let stop = |stop: &AuxStop| format!("{}/{}", stop.endpoint.label(), stop.endpoint.model);
        (route.stops.iter().map(stop).collect(), route.warnings.len())
    }

    #[test]
    fn tasks_use_models_in_the_order_of_the_settings() {
        const FLASH: &str = "openrouter/google/gemini-3-flash-preview";
        for (text, want) in [
            ("", vec!["deepseek/big", FLASH, "deepseek/deepseek-chat", "zai/glm-4.5-flash"]),
            ("auxiliary: {title_generation: {provider: main}}", vec!["deepseek/big"]),
            ("auxiliary: {title_generation: {provider: main, model: small}}", vec!["deepseek/small"]),
            ("auxiliary: {title_generation: {provider: zai}}", vec!["zai/glm-4.5-flash", "deepseek/big"]),
            (
                "auxiliary: {title_generation: {provider: zai, model: m, fallback_chain: [{provider: openrouter, model: x}]}}",
                vec!["zai/m", "openrouter/x", "deepseek/big"],
            ),
            (
                "auxiliary: {title_generation: {base_url: 'http://127.0.0.1:9/v1', model: local}}",
                vec!["custom/local", "deepseek/big"],
            ),
            (
                "fallback_providers: [{provider: zai, model: glm-5}]",
                vec!["deepseek/big", "zai/glm-5", FLASH, "deepseek/deepseek-chat"],
            ),
        ] {
            let (stops, warnings) = found(text, AuxTask::Title, None);
            assert_eq!((stops, warnings), (want.into_iter().map(str::to_owned).collect(), 0), "{text}");
        }
    }

    #[test]
    fn images_go_to_models_that_see() {
        const FLASH: &str = "openrouter/google/gemini-3-flash-preview";
        assert_eq!(found("", AuxTask::Vision, Some(false)).0, [FLASH]);
        assert_eq!(found("", AuxTask::Vision, None).0, ["deepseek/big", FLASH]);
    }

    #[test]
    fn an_unusable_entry_gives_a_warning_and_is_skipped() {
        let text = "auxiliary: {title_generation: {provider: nonsense}}";
        assert_eq!(found(text, AuxTask::Title, None), (vec!["deepseek/big".to_owned()], 1));
    }
}
