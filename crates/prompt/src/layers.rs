//! The layers of the system prompt, in the order in which they are joined.
//!
//! What changes least comes first, so that sessions of one day share the longest prefix.

use crate::code_project::CodeProject;
use crate::family::{self, ToolUse};
use crate::platform::{self, HintChange};
use crate::project::{self, ProjectFile};
use crate::tool_guidance::ToolGuidance;
use crate::{steering, wording};
use hermes_conversation::ToolTable;
use serde::{Deserialize, Serialize};

/// The parts of the system prompt. Gathered once, when a session starts.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Layers {
    /// Who the assistant is; our own default when absent.
    pub identity: Option<Sourced>,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
    /// The guidance that their facts hold; see [`Layers::describe_tools`]. It follows from the names, so it is not stored.
    #[serde(skip)]
    pub guidance: ToolGuidance,
    /// Sentences that the settings leave out.
    pub without: Without,
    pub tool_use: ToolUse,
    /// The index of what can be looked up when it is needed.
    pub skills: Option<String>,
    /// Operating system, as `uname -s` would say it.
    pub os: String,
    pub cwd: String,
    /// Special properties of the environment in which commands run.
    pub surroundings: Vec<Surroundings>,
    /// The same, as a text of the settings.
    pub environment_hint: Option<String>,
    /// Programs that commands can use.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub programs: Vec<String>,
    /// The code project that the working directory is in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code_project: Option<CodeProject>,
    /// The front end that shows the replies: `cli`, or the name of a chat platform.
    pub platform: String,
    pub platform_hint: HintChange,
    /// Text from the program that embeds Hermes.
    pub system_message: Option<String>,
    pub project: Vec<ProjectFile>,
    /// Blocks as they stood when the session began.
    pub memory: Option<Sourced>,
    pub profile: Option<Sourced>,
    /// Text of an external memory provider.
    pub recalled: Option<String>,
    /// The day the conversation started: a date, never a time, because bytes are a promise.
    pub date: String,
    /// Only where the model is to know it.
    pub session: Option<String>,
    pub model: String,
    pub provider: String,
    /// The provider's API reports another name than the model has. It follows from the provider, so it is not
    /// stored.
    #[serde(skip)]
    pub is_misnamed: bool,
}

/// A text and the file that it is from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sourced {
    pub text: String,
    pub source: String,
}

/// Guidance that is switched off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Without {
    /// `agent.task_completion_guidance: false`.
    pub finishing: bool,
    /// `agent.parallel_tool_call_guidance: false`.
    pub calling_together: bool,
}

/// A system inside another one, which has habits of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Surroundings {
    Wsl,
    Termux,
}

impl Surroundings {
    fn hint(self) -> &'static str {
        match self {
            Self::Wsl => {
                "This is Linux under Windows (WSL): drives are at /mnt/c and so on, and Windows programs such as \
                 explorer.exe can be called."
            }
            Self::Termux => {
                "This is Termux on Android: packages come from `pkg`, there is no root and no /usr; $PREFIX is \
                 its place."
            }
        }
    }
}

/// The lifetime of a layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Over all sessions with the same settings.
    Stable,
    /// Over the sessions of a project.
    Context,
    /// Within one session.
    Volatile,
}

/// One part of the prompt, for display.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    pub name: &'static str,
    pub tier: Tier,
    /// The file or setting it is from; `None` for built-in text.
    pub source: Option<String>,
    pub text: String,
}

/// Between two layers.
pub const BETWEEN: &str = "\n\n";

/// The assembled prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt(String);

impl SystemPrompt {
    /// Joins the layers. The same layers give the same bytes.
    pub fn assemble(layers: &Layers) -> Self {
        let texts: Vec<String> = layers.all().into_iter().map(|layer| layer.text).collect();
        Self(texts.join(BETWEEN))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// A stored prompt with the lines that name the model naming another one; `None` for a prompt
    /// without such lines. They are in the last layer, so the last ones that look like them count.
    pub fn renamed(prompt: &str, model: &str, provider: &str) -> Option<String> {
        let lines: Vec<&str> = prompt.split('\n').collect();
        let names = |pair: &[&str]| pair[0].starts_with("Model: ") && pair[1].starts_with("Provider: ");
        let at = lines.windows(2).rposition(names)?;
        let (model, provider) = (format!("Model: {model}"), format!("Provider: {provider}"));
        let new = [&lines[..at], &[&model, &provider], &lines[at + 2..]].concat();
        Some(new.join("\n"))
    }
}

impl Layers {
    /// Fills the guidance from the facts of the tools.
    pub fn describe_tools(&mut self, tools: &dyn ToolTable) {
        self.guidance = ToolGuidance::of(&self.tools, tools);
    }

    /// Every layer that has something to say, in order.
    pub fn all(&self) -> Vec<Layer> {
        let found = self.stable().into_iter().chain(self.context()).chain(self.volatile());
        found.filter(|layer| !layer.text.trim().is_empty()).collect()
    }

    fn stable(&self) -> Vec<Layer> {
        let has_tools = !self.tools.is_empty();
        // A helper talks to a model, which asks about its task.
        let is_helper = self.platform.is_empty();
        let own = |name, text: Option<String>| layer(Tier::Stable, name, None, text);
        let when = |is_so: bool, text: &str| is_so.then(|| text.to_owned());
        let identity = match &self.identity {
            Some(soul) => layer(Tier::Stable, "identity", Some(&soul.source), Some(soul.text.clone())),
            None => own("identity", Some(wording::IDENTITY.to_owned())),
        };
        let family = family::guidance(&self.tool_use, &self.model).filter(|_| has_tools);
        let hint = platform::hint(&self.platform, &self.platform_hint);
        let all = [
            identity,
            own("self help", when(self.guidance.runs_commands && !is_helper, wording::SELF_HELP)),
            own("finish the work", when(has_tools && !self.without.finishing, wording::FINISH_THE_WORK)),
            own("call together", when(has_tools && !self.without.calling_together, wording::CALL_TOGETHER)),
            own("tools", self.guidance.text.clone()),
            own("steering", when(has_tools, steering::NOTE)),
            own("model family", family),
            own("skills", self.skills.clone()),
            own("model name", self.is_misnamed.then(|| wording::model_name(&self.model))),
            own("environment", Some(self.environment())),
            own("platform", hint),
        ];
        all.into_iter().flatten().collect()
    }

    fn environment(&self) -> String {
        let facts = format!("Operating system: {}. Working directory at the start: {}.", self.os, self.cwd);
        let hints = self.surroundings.iter().map(|found| found.hint());
        let programs = match &self.programs[..] {
            [] => None,
            names => Some(format!("Programs here: {}.", names.join(", "))),
        };
        [facts.as_str()]
            .into_iter()
            .chain(hints)
            .chain(programs.as_deref())
            .chain(self.environment_hint.as_deref())
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn context(&self) -> Vec<Layer> {
        let files: Vec<&str> = self.project.iter().map(|file| file.source.as_str()).collect();
        let all = [
            layer(Tier::Context, "system message", None, self.system_message.clone()),
            layer(Tier::Context, "code project", None, self.code_project.as_ref().map(CodeProject::text)),
            layer(Tier::Context, "project", Some(&files.join(", ")), project::section(&self.project)),
        ];
        all.into_iter().flatten().collect()
    }

    fn volatile(&self) -> Vec<Layer> {
        let block = |name, block: &Option<Sourced>| {
            let block = block.as_ref()?;
            layer(Tier::Volatile, name, Some(&block.source), Some(block.text.clone()))
        };
        let session = self.session.as_ref().map(|id| format!("Session ID: {id}\n")).unwrap_or_default();
        let names = format!(
            "Conversation started: {}\n{session}Model: {}\nProvider: {}",
            self.date, self.model, self.provider
        );
        let all = [
            block("memory", &self.memory),
            block("profile", &self.profile),
            layer(Tier::Volatile, "recalled", None, self.recalled.clone()),
            layer(Tier::Volatile, "date and model", None, Some(names)),
        ];
        all.into_iter().flatten().collect()
    }
}

fn layer(tier: Tier, name: &'static str, source: Option<&str>, text: Option<String>) -> Option<Layer> {
    Some(Layer { name, tier, source: source.map(str::to_owned), text: text?.trim_end().to_owned() })
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
