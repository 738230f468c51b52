//! The system prompt and the tools of a session, for display.

use crate::session::SessionRole;
use crate::{Runtime, RuntimeError, prompting, session};
use hermes_conversation::SessionId;
use hermes_prompt::{OutlinedLayer, ShownLayer, Tier, taken_apart};
use std::path::PathBuf;

pub use hermes_prompt::Tier as PromptTier;

/// The parts of a system prompt, and the tools beside it.
#[derive(Debug)]
pub struct PromptView {
    /// The session; `None` for a prompt of a new one.
    pub session: Option<SessionId>,
    pub layers: Vec<LayerView>,
    pub tools: Vec<ToolView>,
    /// Notices about the files that it was made from.
    pub notices: Vec<String>,
}

/// One layer of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LayerView {
    pub name: String,
    pub tier: PromptTier,
    pub source: Option<String>,
    pub text: String,
}

/// A tool, as it is described to the model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolView {
    pub name: String,
    /// The size of its description and parameters in bytes.
    pub bytes: usize,
}

impl From<ShownLayer> for LayerView {
    fn from(shown: ShownLayer) -> Self {
        let OutlinedLayer { name, tier, source, .. } = shown.layer;
        Self { name, tier, source, text: shown.text }
    }
}

impl Runtime {
    /// Returns the prompt of a new session in the current directory.
    pub fn prompt_here(&self) -> Result<PromptView, RuntimeError> {
        self.gathered(session::starting_directory(self)?, None)
    }

    /// Returns the prompt that a stored session would have if it began now in its working directory.
    pub async fn prompt_now(&self, session: &SessionId) -> Result<PromptView, RuntimeError> {
        let stored = self.store()?.load(session).await?;
        let cwd = match stored.cwd {
            Some(cwd) => PathBuf::from(cwd),
            None => session::starting_directory(self)?,
        };
        self.gathered(cwd, Some(session.clone()))
    }

    /// Returns the stored prompt of a session.
    pub async fn prompt_of(&self, session: &SessionId) -> Result<PromptView, RuntimeError> {
        let store = self.store()?;
        let prompt = store.load(session).await?.system_prompt.unwrap_or_default();
        let outline = store.prompt_outline(session).await?;
        let outline = outline.and_then(|text| serde_json::from_str::<Vec<OutlinedLayer>>(&text).ok());
        let layers = match outline.and_then(|outline| taken_apart(&prompt, &outline)) {
            Some(layers) => layers.into_iter().map(LayerView::from).collect(),
            // Written by another program, or by a version that stored no outline.
            None => {
                vec![LayerView { name: "whole".to_owned(), tier: Tier::Stable, source: None, text: prompt }]
            }
        };
        Ok(PromptView {
            session: Some(session.clone()),
            layers,
            tools: self.tool_views(),
            notices: Vec::new(),
        })
    }

    fn gathered(&self, cwd: PathBuf, session: Option<SessionId>) -> Result<PromptView, RuntimeError> {
        let role = SessionRole::of_user_session(self, &self.default_opening())?;
        let id = session.clone().unwrap_or_else(session::new_id);
        let found = prompting::gather(self, &role, &self.endpoint()?, &cwd, &id)?;
        let layers = found.layers.shown().into_iter().map(LayerView::from).collect();
        Ok(PromptView { session, layers, tools: self.tool_views(), notices: found.notices })
    }

    fn tool_views(&self) -> Vec<ToolView> {
        let definitions = self.registry().definitions();
        let each = definitions.iter().map(|tool| ToolView {
            name: tool.name.clone(),
            bytes: tool.name.len() + tool.description.len() + tool.parameters.as_str().len(),
        });
        each.collect()
    }
}
