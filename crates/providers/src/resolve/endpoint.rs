//! What was chosen: a place, and a model at it.

use super::KeySource;
use crate::address;
use crate::catalogue::chat_reasoning::ReasoningRule;
use crate::catalogue::{self, Provider};
use crate::custom::CustomProvider;
use crate::facts::{Heard, ModelFacts, Prices, Stated, facts};
use crate::local;
use crate::mode::{self, ModeName};
use crate::request_extras::{RequestExtras, RouterSettings};
use hermes_wire::ApiMode;
use secrecy::SecretString;
use std::sync::Arc;
use url::Url;

/// Where a request goes and with which key.
#[derive(Clone)]
pub struct Endpoint {
    pub provider: &'static str,
    /// The name of a custom endpoint that has one.
    pub entry: Option<String>,
    pub base_url: Url,
    pub model: String,
    pub key: Option<SecretString>,
    pub key_source: KeySource,
    /// Whose login the key is of, where requests have to say so.
    pub account: Option<String>,
    /// The line to add if the server turns out to want a key.
    pub key_advice: Option<String>,
    pub mode: ModeName,
    pub api_mode: ApiMode,
    pub context_length: Option<u64>,
    /// What an Ollama server loads the model with, where that is known.
    pub ollama_num_ctx: Option<u64>,
    pub max_tokens: Option<u64>,
    /// What the settings say the model costs.
    pub prices: Option<Prices>,
    pub router: Arc<RouterSettings>,
    /// The efforts that its server advertises for the model, where it was asked.
    pub efforts: Vec<String>,
    /// Why all this was chosen.
    pub reasons: Vec<Reason>,
    pub(super) explicit_mode: Option<ModeName>,
    /// The entry of the settings, which may say something about other models, too.
    pub(super) stated: Option<CustomProvider>,
}

/// One choice and why it was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    pub what: &'static str,
    pub why: String,
}

/// An address and the key that belongs to it, whatever the model.
#[derive(Clone)]
pub struct Place {
    pub provider: &'static Provider,
    pub entry: Option<CustomProvider>,
    pub base_url: Url,
    pub key: Option<SecretString>,
    pub key_source: KeySource,
    /// Whose login the key is of, where requests have to say so.
    pub account: Option<String>,
    /// The line to add if the server turns out to want a key.
    pub key_advice: Option<String>,
    pub reasons: Vec<Reason>,
}

/// What an entry states about its own format holds, though `custom` has doubts about some.
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
    /// Scheme, host and port: what a key is bound to.
    pub fn origin(&self) -> String {
        address::origin(&self.base_url)
    }

    /// Whether this is where Ollama usually is, or it is called so.
    pub fn may_be_ollama(&self) -> bool {
        self.may_be("ollama", local::OLLAMA_PORT)
    }

    /// Returns true for a server that lists the efforts which a model takes.
    pub fn advertises_efforts(&self) -> bool {
        catalogue::known(self.provider).chat.reasoning == ReasoningRule::LmStudio
    }

    /// Returns true for a server of the user's own that the catalogue does not know.
    pub fn is_custom(&self) -> bool {
        catalogue::known(self.provider).is_custom()
    }

    /// Whether this is where LM Studio usually is, or it is called so.
    pub(crate) fn may_be_lm_studio(&self) -> bool {
        self.advertises_efforts() || self.may_be("lmstudio", local::LM_STUDIO_PORT)
    }

    fn may_be(&self, name: &str, port: u16) -> bool {
        let is_called_so = self.entry.as_deref().is_some_and(|entry| entry.eq_ignore_ascii_case(name));
        self.is_loopback() && (is_called_so || self.base_url.port() == Some(port))
    }

    /// Whether it runs on this machine.
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

    /// Another model at the same place; its format may be another one.
    pub fn with_model(&self, model: &str) -> Self {
        let provider = catalogue::known(self.provider);
        let chosen = chosen_mode(self.explicit_mode, self.entry.is_some(), provider, &self.base_url, model);
        // What the settings say of the one model is not true of another; that one may have its own lines.
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

    /// The same, with the window that its Ollama server gives the model.
    pub fn with_ollama_num_ctx(&self, tokens: u64) -> Self {
        Self { ollama_num_ctx: Some(tokens), ..self.clone() }
    }

    /// The same, with the efforts that its server advertises for the model.
    pub fn with_efforts(&self, efforts: Vec<String>) -> Self {
        Self { efforts, ..self.clone() }
    }

    /// What is known about the model, with what the endpoint has said of it.
    pub fn facts(&self, heard: Option<Heard>) -> ModelFacts {
        // An Ollama server drops the beginning of what is longer than it gives, without a word: what the model
        // was made for, or what somebody wishes for, is no window there.
        let window = match (self.context_length, self.ollama_num_ctx) {
            (Some(wished), Some(given)) => Some(wished.min(given)),
            (wished, given) => wished.or(given),
        };
        let config = Stated { window, prices: self.prices, ..Stated::default() };
        facts(self.provider, &self.model, config, heard)
    }

    /// Additions to requests, where the entry of the settings has some.
    pub(crate) fn extras(&self) -> Option<&RequestExtras> {
        self.stated.as_ref().map(|entry| &*entry.extras)
    }

    /// The address and the key, whatever the model.
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
