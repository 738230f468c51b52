//! The models of a home: each with its credentials, its facts and the meter.

use crate::auxiliary::Auxiliary;
use crate::credentials::{credential_warnings, keys_of};
use crate::fallback::{Fallbacks, fallbacks};
use crate::model_choice::fetcher;
use crate::{ModelsError, model_facts};
use hermes_agent::FallbackRoute;
use hermes_agent::auxiliary::Cooldowns;
use hermes_config::Config;
use hermes_config::home::Home;
use hermes_config::settings::{self, TextToolCalls};
use hermes_conversation::{AuxTask, BoxFuture};
use hermes_guard::Secrets;
use hermes_providers::{
    Endpoint, FactSource, Fetcher, HttpClients, HttpModel, Metered, ModelFacts, SharedLimit, Tap, Tariff,
    Thinking, lm_studio_efforts, unsent_extras,
};
use hermes_wire::{CacheTtl, Effort, Meter, Model, ModelRoute, SingleModel};
use std::sync::Arc;
use std::time::Duration;

/// The time limit of fetching prices.
const ASKING_PRICES: Duration = Duration::from_secs(10);
/// The time limit of asking a server for its efforts.
const ASKING_EFFORTS: Duration = Duration::from_secs(2);

/// The builder of a home's models.
#[derive(Clone, Copy)]
pub struct Models<'a> {
    pub config: &'a Config,
    pub home: &'a Home,
    pub clients: &'a HttpClients,
    pub secrets: &'a Arc<Secrets>,
    /// Counts every call, and refuses those over the budget.
    pub meter: &'a Arc<dyn Meter>,
    /// The cooldowns of models for auxiliary tasks.
    pub cooldowns: &'a Arc<Cooldowns>,
}

impl<'a> Models<'a> {
    /// Returns the model at an endpoint with its fallbacks, and warnings for the user.
    ///
    /// `tap` gets the bytes of their replies.
    pub fn route(
        &self,
        own: &Endpoint,
        tap: Option<Arc<dyn Tap>>,
    ) -> Result<(Arc<dyn ModelRoute>, Vec<String>), ModelsError> {
        let Fallbacks { stops, warnings } = fallbacks(self.config, own)?;
        let unsent = [own].into_iter().chain(&stops).filter_map(unsent_extras).collect::<Vec<_>>();
        let warnings = credential_warnings(self.config).into_iter().chain(warnings).chain(unsent).collect();
        let model = self.model(own, tap.clone())?;
        if stops.is_empty() {
            return Ok((Arc::new(SingleModel(model)), warnings));
        }
        let stops: Vec<_> =
            stops.iter().map(|stop| self.model(stop, tap.clone())).collect::<Result<_, _>>()?;
        Ok((Arc::new(FallbackRoute::new(model, stops)), warnings))
    }

    /// Returns the endpoint with the efforts that its LM Studio server advertises; `None` for any other server.
    pub async fn with_efforts(&self, own: &Endpoint) -> Result<Option<Endpoint>, ModelsError> {
        if !own.advertises_efforts() {
            return Ok(None);
        }
        let fetcher = fetcher(self.config, ASKING_EFFORTS)?;
        let efforts = lm_studio_efforts(&own.base_url, &own.model, own.key.as_ref(), &fetcher).await;
        Ok((efforts != own.efforts).then(|| own.with_efforts(efforts)))
    }

    /// Returns the models for auxiliary tasks beside conversations with `own`.
    pub fn auxiliary(&self, own: &Endpoint) -> Auxiliary<'a> {
        Auxiliary { models: *self, own: own.clone() }
    }

    /// The model at an endpoint for one auxiliary task: its calls are counted under the task's name.
    pub(crate) fn side_model(
        &self,
        endpoint: &Endpoint,
        task: AuxTask,
        effort: Option<Effort>,
    ) -> Result<Arc<dyn Model>, ModelsError> {
        let metered = self.metered(endpoint, Thinking::Task(effort), CacheTtl::FiveMinutes, None)?;
        Ok(Arc::new(metered.for_task(task.as_str())))
    }

    fn model(&self, endpoint: &Endpoint, tap: Option<Arc<dyn Tap>>) -> Result<Arc<dyn Model>, ModelsError> {
        let effort = self.config.settings.agent.reasoning_effort.value()?;
        let ttl = match self.config.settings.prompt_caching.cache_ttl.value()? {
            settings::CacheTtl::OneHour => CacheTtl::OneHour,
            settings::CacheTtl::FiveMinutes => CacheTtl::FiveMinutes,
        };
        let thinking = Thinking::Conversation(Effort::parse(effort.as_str()));
        Ok(Arc::new(self.metered(endpoint, thinking, ttl, tap)?))
    }

    /// Returns true if tool calls written as text are run. Hosted providers parse tool calls themselves, so text
    /// that looks like one is text there.
    fn takes_text_tool_calls(&self, endpoint: &Endpoint) -> Result<bool, ModelsError> {
        let is_off = self.config.settings.agent.text_tool_calls.value()? == TextToolCalls::Off;
        Ok(!is_off && (endpoint.is_custom() || endpoint.is_loopback()))
    }

    /// The model at an endpoint, with the meter of this home.
    fn metered(
        &self,
        endpoint: &Endpoint,
        thinking: Thinking,
        ttl: CacheTtl,
        tap: Option<Arc<dyn Tap>>,
    ) -> Result<Metered, ModelsError> {
        let facts = &model_facts::known(self.home, endpoint);
        let model = HttpModel::new(endpoint, self.clients.clone(), Secrets::clone(self.secrets))
            .with_thinking(thinking)
            .with_window(facts.window.value)
            .with_sight(facts.sees_images.map(|fact| fact.value))
            .with_text_tool_calls(self.takes_text_tool_calls(endpoint)?)
            .with_patience(self.config.time_limits_with(&endpoint.label(), &endpoint.model)?)
            .with_cache_ttl(ttl)
            .with_shared_limit(SharedLimit::of(self.home.path(), endpoint.provider))
            .with_tap(tap);
        let fetcher = Fetcher {
            clients: self.clients.clone(),
            secrets: Secrets::clone(self.secrets),
            limit: ASKING_PRICES,
        };
        let model = match keys_of(self.config, endpoint, &fetcher)? {
            Some(keys) => model.with_keys(keys),
            None => model,
        };
        let is_stale = facts.prices.is_some_and(|prices| prices.source == FactSource::Remembered)
            && self.meter.has_limits()
            && !model_facts::is_fresh(self.home, endpoint);
        let known = if is_stale { Tariff::Unknown } else { tariff(facts, endpoint.provider, ttl) };
        let (home, asked) = (self.home.clone(), endpoint.clone());
        let ask = move || -> BoxFuture<'static, Tariff> {
            let (home, asked, fetcher) = (home.clone(), asked.clone(), fetcher.clone());
            Box::pin(
                async move { tariff(&model_facts::ask(&home, &asked, &fetcher).await, asked.provider, ttl) },
            )
        };
        let metered = Metered::new(Arc::new(model), self.meter.clone(), known, facts.longest_reply());
        Ok(metered.with_prices_from(Arc::new(ask)))
    }
}

fn tariff(facts: &ModelFacts, provider: &str, ttl: CacheTtl) -> Tariff {
    match (facts.tariff(provider), ttl) {
        (Tariff::Prices(prices, source), CacheTtl::OneHour) => {
            Tariff::Prices(prices.for_long_cache(), source)
        }
        (tariff, _) => tariff,
    }
}
