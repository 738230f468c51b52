//! The resolved endpoint: a place, and a model at it.

use super::KeySource;
use crate::address;
use crate::catalogue::chat_reasoning::ReasoningRule;
use crate::catalogue::{self, Provider};
use crate::custom::CustomProvider;
use crate::facts::{EndpointFacts, ModelFacts, Prices, Stated, facts};
use crate::local;
use crate::mode::{self, ModeName};
use crate::request_extras::{RequestExtras, RouterSettings};
use hermes_wire::ApiMode;
use secrecy::SecretString;
use std::sync::Arc;
use url::Url;

/// The address, the key and the model of requests.
#[derive(Clone)]
pub struct Endpoint {
    pub provider: &'static str,
    /// The name of a custom endpoint, if it has one.
    pub entry: Option<String>,
    pub base_url: Url,
    pub model: String,
    pub key: Option<SecretString>,
    pub key_source: KeySource,
    /// The account of the login that the key is from, if requests must name it.
    pub account: Option<String>,
    /// The line of settings to add if the server asks for a key.
    pub key_advice: Option<String>,
    pub mode: ModeName,
    pub api_mode: ApiMode,
    pub context_length: Option<u64>,
    /// The window that an Ollama server loads the model with, if known.
    pub ollama_num_ctx: Option<u64>,
    pub max_tokens: Option<u64>,
    /// The prices in the settings.
    pub prices: Option<Prices>,
    pub router: Arc<RouterSettings>,
    /// The efforts that its server advertises for the model, if it was asked.
    pub efforts: Vec<String>,
    /// The reasons of the choice.
    pub reasons: Vec<Reason>,
    pub(super) explicit_mode: Option<ModeName>,
    /// The entry of the settings, which may have values for other models as well.
    pub(super) stated: Option<CustomProvider>,
}

/// One choice and its reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub what: &'static str,
    pub why: String,
}

/// An address and the key that belongs to it, for any model.
#[derive(Clone)]
pub struct Place {
    pub provider: &'static Provider,
    pub entry: Option<CustomProvider>,
    pub base_url: Url,
    pub key: Option<SecretString>,
    pub key_source: KeySource,
    /// The account of the login that the key is from, if requests must name it.
    pub account: Option<String>,
    /// The line of settings to add if the server asks for a key.
    pub key_advice: Option<String>,
    pub reasons: Vec<Reason>,
}

/// The format of an entry is used even if `custom` would replace it.
pub(super) fn chosen_mode(
    explicit: Option<ModeName>,
    is_entry: bool,
    provider: &Provider,
    url: &Url,
    model: &str,
) -> mode::ChosenMode {
    match explicit.filter(|_| is_entry) {
        Some(mode) => mode::ChosenMode { mode, why: mode::ModeReason::Explicit },
        None => mode::api_mode(explicit, provider, url, model),
    }
}

impl Endpoint {
    /// The origin that a key is bound to.
    pub fn origin(&self) -> String {
        address::origin(&self.base_url)
    }

    /// Returns true for the usual address of Ollama, or its name.
    pub fn may_be_ollama(&self) -> bool {
        self.may_be("ollama", local::OLLAMA_PORT)
    }

    /// Returns true for a server that lists the efforts which a model takes.
    pub fn advertises_efforts(&self) -> bool {
        catalogue::known(self.provider).chat.reasoning == ReasoningRule::LmStudio
    }

    /// Returns true for a custom server that the catalogue does not have.
    pub fn is_custom(&self) -> bool {
        catalogue::known(self.provider).is_custom()
    }

    /// Returns true for the usual address of LM Studio, or its name.
    pub(crate) fn may_be_lm_studio(&self) -> bool {
        self.advertises_efforts() || self.may_be("lmstudio", local::LM_STUDIO_PORT)
    }

    fn may_be(&self, name: &str, port: u16) -> bool {
        let is_called_so = self.entry.as_deref().is_some_and(|entry| entry.eq_ignore_ascii_case(name));
        self.is_loopback() && (is_called_so || self.base_url.port() == Some(port))
    }

    /// Returns true if it is on this machine.
    pub fn is_loopback(&self) -> bool {
        address::is_loopback(&self.base_url)
    }

    /// The provider as it is addressed: `openrouter`, `custom`, `custom:NAME`.
    pub fn label(&self) -> String {
        match &self.entry {
            Some(name) => catalogue::custom_label(name),
            None => self.provider.to_owned(),
        }
    }

    /// Returns another model at the same place; its format may differ.
    pub fn with_model(&self, model: &str) -> Self {
        let provider = catalogue::known(self.provider);
        let chosen = chosen_mode(self.explicit_mode, self.entry.is_some(), provider, &self.base_url, model);
        // The settings of one model do not apply to another, which may have its own.
        let stated = self.stated.as_ref();
        let (context_length, ollama_num_ctx, prices) = match model == self.model {
            true => (self.context_length, self.ollama_num_ctx, self.prices),
            false => (
                stated.and_then(|entry| entry.context_length(model)),
                None,
                stated.and_then(|entry| entry.prices(model)),
            ),
        };
        Self {
            model: model.to_owned(),
            mode: chosen.mode,
            api_mode: chosen.mode.into(),
            context_length,
            ollama_num_ctx,
            prices,
            efforts: if model == self.model { self.efforts.clone() } else { Vec::new() },
            ..self.clone()
        }
    }

    /// Returns the same endpoint with the window that its Ollama server offers.
    pub fn with_ollama_num_ctx(&self, tokens: u64) -> Self {
        Self { ollama_num_ctx: Some(tokens), ..self.clone() }
    }

    /// Returns the same endpoint with the efforts that its server advertises for the model.
    pub fn with_efforts(&self, efforts: Vec<String>) -> Self {
        Self { efforts, ..self.clone() }
    }

    /// Returns the facts about the model, including those that the endpoint stated.
    pub fn facts(&self, heard: Option<EndpointFacts>) -> ModelFacts {
        // An Ollama server silently cuts the beginning of requests that are longer than its own window, so other windows
        // do not apply there.
        let window = match (self.context_length, self.ollama_num_ctx) {
            (Some(wished), Some(given)) => Some(wished.min(given)),
            (wished, given) => wished.or(given),
        };
        let config = Stated { window, prices: self.prices, ..Stated::default() };
        facts(self.provider, &self.model, config, heard)
    }

    /// Returns the additions to requests, if the entry of the settings has some.
    pub(crate) fn extras(&self) -> Option<&RequestExtras> {
        self.stated.as_ref().map(|entry| &*entry.extras)
    }

    /// Returns the address and the key for any model.
    pub fn place(&self) -> Place {
        Place {
            provider: catalogue::known(self.provider),
            entry: self.stated.clone(),
            base_url: self.base_url.clone(),
            key: self.key.clone(),
            key_source: self.key_source.clone(),
            account: self.account.clone(),
            key_advice: self.key_advice.clone(),
            reasons: self.reasons.clone(),
        }
    }
}

impl Place {
    pub fn label(&self) -> String {
        match &self.entry {
            Some(entry) => catalogue::custom_label(&entry.name),
            None => self.provider.id.to_owned(),
        }
    }

    pub fn origin(&self) -> String {
        address::origin(&self.base_url)
    }
}
