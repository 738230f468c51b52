//! The errors of starting or continuing a session.

use hermes_attachments::ImageError;
use hermes_config::ConfigError;
use hermes_config::home::HomeError;
use hermes_models::auth::CredentialError;
use hermes_models::{ModelsError, UnlistedModel};
use hermes_plugins::hooks::HookError;
use hermes_providers::ResolveError;
use hermes_recording::RecordingError;
use hermes_skills::SkillError;
use hermes_store::StoreError;
use hermes_toolsets::ToolChoiceError;
use std::path::PathBuf;

/// An error of starting or continuing a session.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    #[error(transparent)]
    Home(#[from] HomeError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// The session was closed, or evicted, before the request was served.
    #[error("the session is closed; open it again")]
    SessionClosed,
    /// The background processes cannot be read or ended.
    #[error("cannot manage background processes: {0}")]
    Processes(String),
    #[error("no background process `{0}`; `hermes ps --all` lists them")]
    NoProcess(String),
    /// A conversation ended without an answer.
    #[error("{0}")]
    NoAnswer(String),
    /// The settings name a model for sub-agents that cannot be used.
    #[error("{0}")]
    SubAgentModel(String),
    /// The list of approved hooks cannot be used.
    #[error("{0}")]
    Hooks(String),
    /// A safety setting that this version does not support.
    #[error("{text}")]
    UnsupportedSafety { text: String },
    #[error("{text}")]
    Backend { text: String },
    /// The file of messages before every conversation cannot be used.
    #[error("prefill_messages_file {path}: {why}", path = path.display())]
    Prefill { path: PathBuf, why: String },
    #[error(transparent)]
    UnlistedModel(#[from] UnlistedModel),
    /// None of the skills that a session should begin with exists.
    #[error("unknown skills: {0}; `hermes skills list` lists them")]
    UnknownSkills(String),
    #[error(transparent)]
    Skill(#[from] SkillError),
    #[error(transparent)]
    Toolsets(Box<ToolChoiceError>),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Credentials(#[from] CredentialError),
    #[error(transparent)]
    Recording(#[from] RecordingError),
}

impl RuntimeError {
    /// Returns the error with its causes and, if known, the next step, in one line.
    pub fn explained(&self) -> String {
        let line = with_causes(self);
        match self {
            Self::Store(error) => match error.remedy() {
                Some(remedy) => format!("{line}; {remedy}"),
                None => line,
            },
            _ => line,
        }
    }
}

impl From<ToolChoiceError> for RuntimeError {
    fn from(error: ToolChoiceError) -> Self {
        match error {
            ToolChoiceError::Config(error) => Self::Config(error),
            ToolChoiceError::Models(error) => error.into(),
            other => Self::Toolsets(Box::new(other)),
        }
    }
}

impl From<HookError> for RuntimeError {
    fn from(error: HookError) -> Self {
        match error {
            HookError::Home(error) => Self::Home(error),
            HookError::Config(error) => Self::Config(error),
            HookError::Approvals(why) => Self::Hooks(why),
        }
    }
}

impl From<ModelsError> for RuntimeError {
    fn from(error: ModelsError) -> Self {
        match error {
            ModelsError::Home(error) => Self::Home(error),
            ModelsError::Config(error) => Self::Config(error),
            ModelsError::Resolve(error) => Self::Resolve(error),
            ModelsError::Credentials(error) => Self::Credentials(error),
            ModelsError::UnlistedModel(error) => Self::UnlistedModel(error),
        }
    }
}

/// Returns an error with its causes in one line.
pub fn with_causes(error: &dyn std::error::Error) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = error.source();
    }
    line
}
