//! Errors in the choice of tools.

use hermes_config::ConfigError;
use hermes_models::ModelsError;
use hermes_tools::ToolsetError;

/// The reason why the tools of a platform cannot be chosen or changed.
#[derive(Debug, thiserror::Error)]
pub enum ToolChoiceError {
    #[error(transparent)]
    Toolset(#[from] ToolsetError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Models(#[from] ModelsError),
    #[error("`{name}` cannot be switched for one platform; toolsets that can: {known}")]
    NotConfigurable { name: String, known: String },
    #[error("no platform is called `{name}`; platforms: {known}")]
    UnknownPlatform { name: String, known: String },
}
