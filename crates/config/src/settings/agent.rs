//! Settings of the agent: its loop, its prompt, repeated tool calls and sub-agents.

use super::declare::{choice, section};
use super::types::{List, Text};
use crate::keys::Env::{Switch, Value};

section! {
    /// The loop of model calls and tool calls, and the system prompt.
    AgentSettings in [agent] {
        /// maximum model calls per turn
        max_turns: u64 = 90, env: &[Value("HERMES_MAX_ITERATIONS")];
        /// maximum attempts per model call
        api_max_retries: u64 = 3;
        /// ask the model to check code that it changed before it ends the turn: auto, true or false
        verify_on_stop: AutoSwitch = Auto, env: &[Value("HERMES_VERIFY_ON_STOP")];
        /// maximum requests per turn to check changed code
        max_verify_nudges: u64 = 3;
        /// ask the model to continue when it only announces an action: auto (Responses format only), true or false
        intent_ack_continuation: AutoSwitch = Auto;
        /// maximum seconds for one model call; default 1800
        request_timeout_seconds: u64, env: &[Value("HERMES_API_TIMEOUT")];
        /// seconds without data after which a stream fails; default 180 to 600, by size and model
        stream_stale_timeout: u64, env: &[Value("HERMES_STREAM_STALE_TIMEOUT")];
        /// seconds without data after which a stream of a local server fails; default 900
        local_stream_stale_timeout: u64, env: &[Value("HERMES_LOCAL_STREAM_STALE_TIMEOUT")];
        /// seconds to wait for the first byte of a stream; default as for later bytes
        first_byte_timeout: u64, env: &[Value("HERMES_STREAM_READ_TIMEOUT")];
        /// seconds to wait for a reply that is not streamed; default 90 to 600, by size and model
        api_call_stale_timeout: u64, env: &[Value("HERMES_API_CALL_STALE_TIMEOUT")];
        /// seconds to wait for the answer to a question of the model; 0 means no limit
        clarify_timeout: u64 = 3600;
        /// reasoning effort: none to ultra; empty for the provider's default
        reasoning_effort: ReasoningEffort = Default;
        /// run tool calls that a model writes as text: auto means at custom and local endpoints
        text_tool_calls: TextToolCalls = Auto;
        /// toolsets never offered to the model
        disabled_toolsets: List = [];
        /// tell the model to carry a task through to a checked result
        task_completion_guidance: bool = true;
        /// tell the model to make independent tool calls together
        parallel_tool_call_guidance: bool = true;
        /// text added to the system prompt of every request; not stored with sessions
        system_prompt: Text, env: &[Value("HERMES_EPHEMERAL_SYSTEM_PROMPT")];
        /// description of this machine for the model
        environment_hint: Text, env: &[Value("HERMES_ENVIRONMENT_HINT")];
        /// tell the model which common programs are installed
        environment_probe: bool = true;
        /// tell the model about the code project of the working directory: auto means if there is one
        coding_context: CodingContext = Auto;
        /// instructions for every code project
        coding_instructions: Text;
        /// leave SOUL.md, files of the project, memory and skills out of new sessions
        ignore_rules: bool = false, env: &[Switch("HERMES_IGNORE_RULES", "true")];
        /// tell the model the id of its session
        pass_session_id: bool = false;
    }
}

choice! {
    /// A switch that may be left to the program.
    AutoSwitch {
        Auto = "auto",
        On = "true" | "on" | "yes" | "1",
        Off = "false" | "no" | "0" | "off",
    }
}

choice! {
    /// Reasoning effort of the model.
    ReasoningEffort {
        /// The provider's default.
        Default = "",
        None = "none",
        Minimal = "minimal",
        Low = "low",
        Medium = "medium",
        High = "high",
        ExtraHigh = "xhigh",
        Max = "max",
        Ultra = "ultra",
    }
}

choice! {
    /// Handling of tool calls that a model writes as text.
    TextToolCalls {
        /// Run at custom and local endpoints.
        Auto = "auto",
        Off = "off",
    }
}

choice! {
    /// Description of the code project in the system prompt.
    CodingContext {
        /// If the working directory has one.
        Auto = "auto",
        On = "on",
        Off = "off",
    }
}

section! {
    /// Reactions to repeated tool calls.
    LoopGuardrailSettings in [tool_loop_guardrails] {
        /// warn the model when it repeats tool calls without progress
        warnings_enabled: bool = true;
        /// end the turn when tool calls repeat without progress
        hard_stop_enabled: bool = false;
    }
    sections {
        warn_after: WarnAfter,
        hard_stop_after: HardStopAfter,
    }
}

section! {
    /// Repeated tool calls before a warning.
    WarnAfter in [tool_loop_guardrails.warn_after] {
        /// failures of the same call before a warning
        exact_failure: u64 = 2;
        /// failures of the same tool before a warning
        same_tool_failure: u64 = 3;
        /// equal results of the same read-only call before a warning
        idempotent_no_progress: u64 = 2;
    }
}

section! {
    /// Repeated tool calls before the end of the turn.
    HardStopAfter in [tool_loop_guardrails.hard_stop_after] {
        /// failures of the same call before a stop
        exact_failure: u64 = 5;
        /// failures of the same tool before a stop
        same_tool_failure: u64 = 8;
        /// equal results of the same read-only call before a stop
        idempotent_no_progress: u64 = 5;
    }
}

section! {
    /// Sub-agents.
    DelegationSettings in [delegation] {
        /// maximum model calls of one sub-agent
        max_iterations: u64 = 50;
        /// maximum sub-agents running at the same time
        max_concurrent_children: u64 = 3;
        /// maximum depth of nested sub-agents; 1 means no nesting
        max_spawn_depth: u64 = 1;
        /// let sub-agents start sub-agents, if the depth allows it
        orchestrator_enabled: bool = true;
        /// maximum seconds for one sub-agent, at least 30; 0 means no limit
        child_timeout_seconds: u64 = 0;
        /// maximum characters of a sub-agent's summary
        max_summary_chars: u64 = 24_000;
        /// run commands of sub-agents without approval; otherwise commands that need one are denied
        subagent_auto_approve: bool = false;
        /// model of sub-agents; empty for the session's model
        model: Text;
        /// provider of sub-agents; empty for the session's provider
        provider: Text;
    }
}
