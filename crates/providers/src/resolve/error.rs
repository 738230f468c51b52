//! Errors of resolving an endpoint.

/// An error of resolving an endpoint. No variant has a key.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    #[error("no model provider is configured")]
    NothingConfigured,
    #[error("unknown provider `{name}`; `hermes model list --all` lists the known ones")]
    UnknownProvider { name: String },
    #[error("provider {provider} has no key: set {variable} with `hermes config set {variable} ...`")]
    NoKey { provider: &'static str, variable: &'static str },
    #[error("provider {provider} cannot be used: {why}")]
    NoLogin { provider: &'static str, why: String },
    #[error(
        "`{name}` in config.yaml takes its key from {variable}, which is not set: `hermes config set {variable} ...`"
    )]
    NoEntryKey { name: String, variable: String },
    #[error(
        "{variable} is a key of {provider} and is not sent to {origin}; give `{name}` a variable of its own (key_env)"
    )]
    KeyOfAnother { name: String, variable: String, provider: &'static str, origin: String },
    #[error("provider {provider} needs an address: `hermes config set model.base_url http://HOST:PORT/v1`")]
    NoBaseUrl { provider: &'static str },
    #[error("no model is chosen: `hermes config set model.default NAME` or `-m NAME`")]
    NoModel,
    #[error("`{url}` is not an http or https address: {cause}")]
    BadUrl { url: String, cause: String },
    #[error("provider {provider} cannot be used yet: {why}")]
    NotYet { provider: &'static str, why: String },
    #[error("provider {name} is switched off in config.yaml: `hermes config unset providers.{name}.enabled`")]
    Disabled { name: String },
    #[error(
        "`{mode}` is not an API mode; there are chat_completions, codex_responses and anthropic_messages"
    )]
    UnknownMode { mode: String },
}
