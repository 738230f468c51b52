//! Errors of choosing and reaching a model.

use crate::auth::CredentialError;
use hermes_config::ConfigError;
use hermes_config::home::HomeError;
use hermes_providers::ResolveError;

/// An error of choosing or reaching a model.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    #[error(transparent)]
    Credentials(#[from] CredentialError),
    #[error(transparent)]
    UnlistedModel(#[from] UnlistedModel),
}

/// A name that the provider does not list.
#[derive(Debug, thiserror::Error)]
#[error(
    "`{model}` is not a model of {provider}{}; `hermes model list {provider}` lists them, --force uses the name anyway",
    did_you_mean(close)
)]
pub struct UnlistedModel {
    pub model: String,
    pub provider: String,
    /// Names that may have been meant, the closest first.
    pub close: Vec<String>,
}

/// The names that may have been meant.
fn did_you_mean(close: &[String]) -> String {
    match close {
        [] => String::new(),
        close => format!("; close matches: {}", close.join(", ")),
    }
}
