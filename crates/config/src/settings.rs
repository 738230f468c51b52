//! All settings as one value: a struct for each section of `config.yaml`.
//!
//! [`Settings`] is read once, from the layers. A field holds its value, the source of the value, and the problem of
//! a value that cannot be used; a wrong value is an error for the operation that needs it and for no other.
//! A new setting is one field in one of the files below `settings/`.

mod agent;
mod context;
pub(crate) mod declare;
pub(crate) mod free_form;
mod model;
mod program;
pub(crate) mod reader;
pub(crate) mod setting;
mod terminal;
mod tools;
pub(crate) mod types;

pub use agent::*;
pub use context::*;
pub use free_form::Section;
pub use model::*;
pub use program::*;
pub use setting::Setting;
pub use terminal::*;
pub use tools::*;
pub use types::{Dollars, List, Secret, Share, Text};

use crate::auxiliary::AuxiliarySettings;
use crate::custom_providers::NamedProviders;
use crate::error::Problem;
use crate::fallback_providers::FallbackEntries;
use crate::hooks::HookEntries;
use crate::keys::Env::{Switch, Value};
use crate::layers::Layers;
use crate::platform_toolsets::PlatformToolsets;
use crate::pool_strategies::PoolStrategies;
use crate::prompting::Personalities;
use declare::section;
use hermes_prompt::ToolUse;
use reader::Reader;

section! {
    /// The settings in force.
    Settings in []
    first {
        model: ModelSettings,
        budget: BudgetSettings,
        prompt_caching: PromptCachingSettings,
        provider_routing: ProviderRoutingSettings,
        openrouter: OpenRouterSettings,
        network: NetworkSettings,
        agent: AgentSettings,
        tool_loop_guardrails: LoopGuardrailSettings,
        delegation: DelegationSettings,
        compression: CompressionSettings,
        context: ContextSettings,
        memory: MemorySettings,
        skills: SkillSettings,
        terminal: TerminalSettings,
        code_execution: CodeExecutionSettings,
        checkpoints: CheckpointSettings,
        tool_output: ToolOutputSettings,
        approvals: ApprovalSettings,
        sandbox: SandboxSettings,
        tools: ToolSettings,
        web: WebSettings,
        security: SecuritySettings,
        display: DisplaySettings,
        sessions: SessionSettings,
        logging: LoggingSettings,
        telemetry: TelemetrySettings,
    }
    {
        /// JSON list of messages ({role, content}) that precede every conversation; not stored with it
        prefill_messages_file: Text, env: &[Value("HERMES_PREFILL_MESSAGES_FILE")];
        /// maximum characters of one project file in the prompt; default a share of the context window
        context_file_max_chars: u64;
        /// maximum characters of one file read
        file_read_max_chars: u64 = 100_000;
        /// toolsets offered to the model
        toolsets: List = ["hermes-cli"];
        /// rules and commands that run without approval; answering `always` adds to it
        command_allowlist: List = [];
        /// run the hooks in `hooks` without approval
        hooks_auto_accept: bool = false, env: &[Switch("HERMES_ACCEPT_HOOKS", "true")];
    }
    sections {
        variables: VariableSettings,
    }
    free_form {
        /// Endpoints with a name: `providers` and `custom_providers`.
        providers: Section<NamedProviders>,
        /// Fallback models: `fallback_providers` and `fallback_model`.
        fallbacks: FallbackEntries,
        /// Models for auxiliary tasks: `auxiliary`.
        auxiliary: AuxiliarySettings,
        /// Variables of commands in a container: `terminal.docker_env`.
        docker_env: DockerEnv,
        /// Toolsets of each platform: `platform_toolsets`.
        platform_toolsets: Section<PlatformToolsets>,
        /// Shell hooks: `hooks`.
        hooks: HookEntries,
        /// The use of several credentials of one provider: `credential_pool_strategies`.
        pool_strategies: PoolStrategies,
        /// Models that get an instruction to act: `agent.tool_use_enforcement`.
        tool_use: Section<ToolUse>,
        /// The user's personalities: `personalities` and `agent.personalities`.
        personalities: Section<Personalities>,
    }
}

impl Settings {
    /// Reads all settings, and lists the values that cannot be used in the order of the table of keys.
    pub(crate) fn load(layers: &Layers) -> (Self, Vec<Problem>) {
        let mut reader = Reader { layers, problems: Vec::new() };
        let settings = Self::read(&mut reader, layers.file.tree().as_object());
        (settings, reader.problems)
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
