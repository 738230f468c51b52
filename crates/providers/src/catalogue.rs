//! The providers this build knows, as data.
//!
//! The rows are in files by theme; this file defines a row and finds one. A row that cannot be used yet has the
//! reason.

pub(crate) mod chat_quirks;
pub(crate) mod chat_reasoning;
pub(crate) mod hosts;
mod local;
mod login_flows;
mod logins;
pub(crate) mod model_table;
mod quirks;
pub(crate) mod refusals;
mod routers;
pub(crate) mod vendor_quirks;
mod vendors;

use crate::catalogue::chat_reasoning::ReasoningRule;
use crate::mode::{self, ModeName};
pub use chat_quirks::ChatQuirks;
pub(crate) use login_flows::login_row;
pub use quirks::{Forbidden, LoginQuirks, MessagesQuirks, ProviderQuirks};
use url::Url;

/// A service that offers models.
#[derive(Debug, PartialEq, Eq)]
pub struct Provider {
    pub id: &'static str,
    /// The name for display.
    pub name: &'static str,
    pub aliases: &'static [&'static str],
    /// Empty if the user supplies it.
    pub base_url: &'static str,
    /// Other addresses of the same provider, which its key may be sent to as well.
    pub also_at: &'static [&'static str],
    /// The variable that overrides the base URL; empty if there is none.
    pub base_url_env: &'static str,
    /// The variables that may hold its key, in order.
    pub key_env: &'static [&'static str],
    pub auth: Auth,
    pub mode: ModeRule,
    /// The key goes to the addresses above only, not even to that of `base_url_env`.
    pub pinned: bool,
    /// Its models are named `vendor/model`.
    pub routes: bool,
    /// A small model for auxiliary tasks.
    pub aux_model: Option<&'static str>,
    pub models: Models,
    /// A request that only a valid key can make.
    pub key_proof: KeyProof,
    /// The requirements of its chat completions.
    pub chat: ChatQuirks,
    /// Its other peculiarities.
    pub quirks: ProviderQuirks,
    /// The reason why this build cannot use it.
    pub lacks: Option<&'static str>,
}

/// The kind of authentication.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Auth {
    ApiKey,
    /// A server that needs no key, or one of its own.
    OptionalKey,
    DeviceLogin,
    /// A login in the browser that returns a code.
    BrowserLogin,
    /// A token of another service is exchanged for a short-lived one.
    TokenExchange,
    /// The credential file of another program.
    CredentialsFile,
    /// The credentials of a cloud account.
    Cloud,
    /// Another program makes the requests.
    ExternalProcess,
    /// No request leaves this machine.
    None,
}

impl Auth {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api_key",
            Self::OptionalKey => "optional_key",
            Self::DeviceLogin => "oauth_device",
            Self::BrowserLogin => "oauth_pkce",
            Self::TokenExchange => "token_exchange",
            Self::CredentialsFile => "credentials_file",
            Self::Cloud => "cloud",
            Self::ExternalProcess => "external_process",
            Self::None => "none",
        }
    }
}

/// The rule for a provider's format, before the address and the model are considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModeRule {
    Always(ModeName),
    /// The address decides, then the general rules.
    ByUrl,
    /// Chat completions for every model.
    NeverUpgraded,
    /// By prefixes of model names; chat completions for all others.
    ByModel(&'static [(&'static str, ModeName)]),
}

/// The content of a provider's `/models` beyond names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Models {
    All,
    /// Each has a `type` and `tags`; only language models that use tools are listed.
    TaggedTypes,
    /// All models, below `v1` and with the headers of the Messages format.
    Messages,
}

/// A request that checks a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyProof {
    /// The list of models.
    Models,
    /// Another path: the list of models is public.
    Path(&'static str),
    /// None: its list of models is public, or refuses valid keys.
    None,
}

/// An ordinary row: a key, an address, chat completions unless the address demands another format.
const fn provider(id: &'static str, name: &'static str, base_url: &'static str) -> Provider {
    Provider {
        id,
        name,
        aliases: &[],
        base_url,
        also_at: &[],
        base_url_env: "",
        key_env: &[],
        auth: Auth::ApiKey,
        mode: ModeRule::ByUrl,
        pinned: false,
        routes: false,
        aux_model: None,
        models: Models::All,
        key_proof: KeyProof::Models,
        chat: ChatQuirks::COMMON,
        quirks: ProviderQuirks::COMMON,
        lacks: None,
    }
}

impl Provider {
    const fn aliases(self, aliases: &'static [&'static str]) -> Self {
        Self { aliases, ..self }
    }

    const fn key(self, key_env: &'static [&'static str]) -> Self {
        Self { key_env, ..self }
    }

    const fn url_env(self, base_url_env: &'static str) -> Self {
        Self { base_url_env, ..self }
    }

    const fn also_at(self, also_at: &'static [&'static str]) -> Self {
        Self { also_at, ..self }
    }

    const fn mode(self, mode: ModeRule) -> Self {
        Self { mode, ..self }
    }

    const fn auth(self, auth: Auth) -> Self {
        Self { auth, ..self }
    }

    const fn aux(self, model: &'static str) -> Self {
        Self { aux_model: Some(model), ..self }
    }

    const fn lacks(self, what: &'static str) -> Self {
        Self { lacks: Some(what), ..self }
    }

    const fn reasoning(self, reasoning: ReasoningRule) -> Self {
        Self { chat: ChatQuirks { reasoning, ..self.chat }, ..self }
    }

    const fn headers(self, headers: &'static [(&'static str, &'static str)]) -> Self {
        Self { chat: ChatQuirks { headers, ..self.chat }, ..self }
    }

    const fn quirks(self, quirks: ProviderQuirks) -> Self {
        Self { quirks, ..self }
    }

    const fn key_proof(self, key_proof: KeyProof) -> Self {
        Self { key_proof, ..self }
    }

    const fn echoes_reasoning(self) -> Self {
        Self { chat: ChatQuirks { echoes_reasoning: true, ..self.chat }, ..self }
    }

    const fn output_cap(self, tokens: u64) -> Self {
        Self { chat: ChatQuirks { output_cap: Some(tokens), ..self.chat }, ..self }
    }

    const fn routes(self) -> Self {
        Self { routes: true, ..self }
    }

    const fn pinned(self) -> Self {
        Self { pinned: true, ..self }
    }

    /// Returns true for the row of servers that users run themselves.
    pub fn is_custom(&self) -> bool {
        self.id == CUSTOM
    }

    /// Returns true if the user supplies the address.
    pub fn has_no_address(&self) -> bool {
        self.base_url.is_empty()
    }

    pub fn needs_key(&self) -> bool {
        self.auth == Auth::ApiKey
    }

    /// The built-in addresses.
    pub fn addresses(&self) -> impl Iterator<Item = &'static str> {
        let own = (!self.base_url.is_empty()).then_some(self.base_url);
        own.into_iter().chain(self.also_at.iter().copied())
    }

    /// Returns the reason why this build cannot use it, if any.
    pub fn not_yet(&self) -> Option<&'static str> {
        self.lacks
    }

    /// Returns the name of the format for lists.
    pub fn mode_label(&self) -> &'static str {
        match (self.mode, Url::parse(self.base_url)) {
            (ModeRule::ByModel(_), _) => "by model",
            (_, Ok(url)) => mode::api_mode(None, self, &url, "").mode.as_str(),
            (_, Err(_)) => "by address",
        }
    }
}

/// The id of the row for servers that users run, and the prefix of their names: `custom:NAME`.
const CUSTOM: &str = "custom";

/// Returns the row for servers that users run.
pub fn custom() -> &'static Provider {
    known(CUSTOM)
}

/// Returns the label of a named custom server.
pub fn custom_label(name: &str) -> String {
    format!("{CUSTOM}:{name}")
}

/// Returns the name in the label of a custom server.
pub fn custom_name(label: &str) -> Option<&str> {
    label.strip_prefix(CUSTOM)?.strip_prefix(':')
}

/// Returns true for the id of that row itself, and false for its aliases.
pub fn is_custom_id(word: &str) -> bool {
    word.eq_ignore_ascii_case(CUSTOM)
}

/// Every provider, in the order in which `auto` looks for keys.
pub fn providers() -> impl Iterator<Item = &'static Provider> {
    [routers::ROWS, vendors::ROWS, logins::ROWS, local::ROWS].into_iter().flatten()
}

/// Returns true if a provider's API reports another name than its models have.
pub fn misnames_models(provider: &str) -> bool {
    find(provider).is_some_and(|provider| provider.quirks.misnames_models)
}

/// Returns the provider with this id or alias, in any case.
pub fn find(name: &str) -> Option<&'static Provider> {
    let name = name.trim().to_ascii_lowercase();
    providers().find(|provider| provider.id == name || provider.aliases.contains(&name.as_str()))
}

/// The provider of an id that is a constant of this crate.
pub(crate) fn known(id: &'static str) -> &'static Provider {
    match find(id) {
        Some(provider) => provider,
        None => unreachable!("the catalogue has a row `{id}`"),
    }
}

#[cfg(test)]
#[path = "catalogue_tests.rs"]
mod tests;
