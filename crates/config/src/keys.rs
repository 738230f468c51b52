//! The one table of settings this version reads: names, types, defaults and variables.
//!
//! Documentation, `config show`, checking and did-you-mean all come from here. A key that is not
//! in the table is kept in the file and otherwise ignored.

/// One setting.
#[derive(Debug)]
pub struct Key {
    pub name: &'static str,
    pub kind: Kind,
    pub default: Fallback,
    /// Variables that set it, the first one found counting.
    pub env: &'static [Env],
    pub order: Order,
    pub secret: bool,
    pub description: &'static str,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    /// US dollars, as a decimal number.
    Dollars,
    /// A number from 0 to 1.
    Share,
    Boolean,
    List,
    /// One of a few texts. In a file, any other text means the last one, the safest.
    Choice(&'static [&'static str]),
}

/// The default of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    None,
    Text(&'static str),
    Integer(i64),
    Boolean(bool),
    List(&'static [&'static str]),
}

/// The way in which an environment variable sets a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Env {
    /// Its text is the value.
    Value(&'static str),
    /// Switched on (`1`, `true`, `yes`, `on`) it stands for this value; otherwise it says nothing.
    Switch(&'static str, &'static str),
}

impl Env {
    pub fn name(&self) -> &'static str {
        match self {
            Env::Value(name) | Env::Switch(name, _) => name,
        }
    }
}

/// The precedence of two layers, below flags and above the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `.env`, then the shell, then `config.yaml`.
    EnvFirst,
    /// `config.yaml`, then `.env`, then the shell: a saved choice of model outlives a stale export.
    FileFirst,
    /// `.env`, then the shell; `config.yaml` is not asked.
    EnvOnly,
}

impl Key {
    /// The entry of a known key; `model` is another name for `model.default`. Variables of providers
    /// are known, too.
    pub fn find(name: &str) -> Option<&'static Key> {
        let name = if name == "model" { "model.default" } else { name };
        KEYS.iter().chain(super::provider_keys::all()).find(|key| key.name == name)
    }
}

const fn key(name: &'static str, kind: Kind, default: Fallback, description: &'static str) -> Key {
    Key { name, kind, default, env: &[], order: Order::EnvFirst, secret: false, description }
}

const fn text(name: &'static str, description: &'static str) -> Key {
    key(name, Kind::Text, Fallback::None, description)
}

const fn seconds(name: &'static str, description: &'static str) -> Key {
    key(name, Kind::Integer, Fallback::None, description)
}

const fn dollars(name: &'static str, description: &'static str) -> Key {
    key(name, Kind::Dollars, Fallback::None, description)
}

const fn integer(name: &'static str, default: i64, description: &'static str) -> Key {
    key(name, Kind::Integer, Fallback::Integer(default), description)
}

const fn variable(env: &'static [Env; 1], description: &'static str) -> Key {
    let (Env::Value(name) | Env::Switch(name, _)) = env[0];
    Key { env, order: Order::EnvOnly, ..text(name, description) }
}

const fn secret(key: Key) -> Key {
    Key { secret: true, ..key }
}

impl Key {
    const fn env(self, env: &'static [Env]) -> Key {
        Key { env, ..self }
    }

    const fn file_first(self) -> Key {
        Key { order: Order::FileFirst, ..self }
    }
}

use Env::{Switch, Value};

/// The spellings of a switch that may also be `auto`.
const AUTO_OR_SWITCH: &[&str] = &["auto", "true", "on", "yes", "1", "false", "no", "0", "off"];

/// Every setting this version reads.
pub static KEYS: &[Key] = &[
    text("model.default", "model to use; `model: NAME` means the same")
        .env(&[Value("HERMES_INFERENCE_MODEL")])
        .file_first(),
    key(
        "model.provider",
        Kind::Text,
        Fallback::Text("auto"),
        "provider to ask; `auto` picks by available keys",
    )
    .env(&[Value("HERMES_INFERENCE_PROVIDER")])
    .file_first(),
    text("model.base_url", "endpoint of a custom provider"),
    secret(text("model.api_key", "key sent to model.base_url only")),
    text("model.api_mode", "format of model.base_url: chat_completions, codex_responses, anthropic_messages"),
    key("model.context_length", Kind::Integer, Fallback::None, "tokens that fit into the model's window"),
    key(
        "model.ollama_num_ctx",
        Kind::Integer,
        Fallback::None,
        "window that Ollama loads model.default with; asked of the server unless set",
    ),
    key("model.max_tokens", Kind::Integer, Fallback::None, "most tokens in one reply")
        .env(&[Value("HERMES_MAX_TOKENS")]),
    dollars("model.pricing.input", "dollars for a million tokens sent to model.default"),
    dollars("model.pricing.output", "dollars for a million tokens written by model.default"),
    dollars(
        "model.pricing.cache_read",
        "dollars for a million tokens that model.default reads from its cache",
    ),
    dollars(
        "model.pricing.cache_write",
        "dollars for a million tokens that model.default writes to its cache",
    ),
    dollars(
        "budget.session_usd",
        "maximum cost of a session and its sub-agents in dollars; empty means no limit",
    ),
    dollars("budget.day_usd", "maximum cost of all sessions of a day in dollars; empty means no limit"),
    key(
        "budget.unknown_price",
        Kind::Choice(&["allow", "block"]),
        Fallback::Text("block"),
        "allow or block models without a known price when a budget is set",
    ),
    integer("agent.max_turns", 90, "maximum model calls per turn").env(&[Value("HERMES_MAX_ITERATIONS")]),
    integer("agent.api_max_retries", 3, "maximum attempts per model call"),
    key(
        "agent.verify_on_stop",
        Kind::Choice(AUTO_OR_SWITCH),
        Fallback::Text("auto"),
        "ask the model to check code that it changed before it ends the turn: auto, true or false",
    )
    .env(&[Value("HERMES_VERIFY_ON_STOP")]),
    integer("agent.max_verify_nudges", 3, "maximum requests per turn to check changed code"),
    key(
        "agent.intent_ack_continuation",
        Kind::Choice(AUTO_OR_SWITCH),
        Fallback::Text("auto"),
        "ask the model to continue when it only announces an action: auto (Responses format only), true or false",
    ),
    key(
        "display.file_mutation_verifier",
        Kind::Boolean,
        Fallback::Boolean(true),
        "list failed file edits below the reply",
    ),
    key(
        "tool_loop_guardrails.warnings_enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "warn the model when it repeats tool calls without progress",
    ),
    key(
        "tool_loop_guardrails.hard_stop_enabled",
        Kind::Boolean,
        Fallback::Boolean(false),
        "end the turn when tool calls repeat without progress",
    ),
    integer("tool_loop_guardrails.warn_after.exact_failure", 2, "failures of the same call before a warning"),
    integer(
        "tool_loop_guardrails.warn_after.same_tool_failure",
        3,
        "failures of the same tool before a warning",
    ),
    integer(
        "tool_loop_guardrails.warn_after.idempotent_no_progress",
        2,
        "equal results of the same read-only call before a warning",
    ),
    integer(
        "tool_loop_guardrails.hard_stop_after.exact_failure",
        5,
        "failures of the same call before a stop",
    ),
    integer(
        "tool_loop_guardrails.hard_stop_after.same_tool_failure",
        8,
        "failures of the same tool before a stop",
    ),
    integer(
        "tool_loop_guardrails.hard_stop_after.idempotent_no_progress",
        5,
        "equal results of the same read-only call before a stop",
    ),
    seconds("agent.request_timeout_seconds", "maximum seconds for one model call; default 1800")
        .env(&[Value("HERMES_API_TIMEOUT")]),
    seconds(
        "agent.stream_stale_timeout",
        "seconds without data after which a stream fails; default 180 to 600, by size and model",
    )
    .env(&[Value("HERMES_STREAM_STALE_TIMEOUT")]),
    seconds(
        "agent.local_stream_stale_timeout",
        "seconds without data after which a stream of a local server fails; default 900",
    )
    .env(&[Value("HERMES_LOCAL_STREAM_STALE_TIMEOUT")]),
    seconds(
        "agent.first_byte_timeout",
        "seconds to wait for the first byte of a stream; default as for later bytes",
    )
    .env(&[Value("HERMES_STREAM_READ_TIMEOUT")]),
    seconds(
        "agent.api_call_stale_timeout",
        "seconds to wait for a reply that is not streamed; default 90 to 600, by size and model",
    )
    .env(&[Value("HERMES_API_CALL_STALE_TIMEOUT")]),
    integer(
        "agent.clarify_timeout",
        3600,
        "seconds to wait for the answer to a question of the model; 0 means no limit",
    ),
    key(
        "agent.reasoning_effort",
        Kind::Choice(&["", "none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]),
        Fallback::Text(""),
        "reasoning effort: none to ultra; empty for the provider's default",
    ),
    key(
        "agent.text_tool_calls",
        Kind::Choice(&["auto", "off"]),
        Fallback::Text("auto"),
        "run tool calls that a model writes as text: auto means at custom and local endpoints",
    ),
    key(
        "prompt_caching.cache_ttl",
        Kind::Choice(&["5m", "1h"]),
        Fallback::Text("5m"),
        "lifetime of cached prompt prefixes at the provider",
    ),
    key(
        "provider_routing.sort",
        Kind::Choice(&["", "price", "throughput", "latency"]),
        Fallback::Text(""),
        "sort order of a model's servers at OpenRouter and Nous: price, throughput or latency",
    ),
    key("provider_routing.only", Kind::List, Fallback::List(&[]), "only servers that a router may use"),
    key("provider_routing.ignore", Kind::List, Fallback::List(&[]), "servers that a router never uses"),
    key(
        "provider_routing.order",
        Kind::List,
        Fallback::List(&[]),
        "servers that a router tries first, in order",
    ),
    key(
        "provider_routing.require_parameters",
        Kind::Boolean,
        Fallback::Boolean(false),
        "use only servers that support every parameter of a request",
    ),
    key(
        "provider_routing.data_collection",
        Kind::Choice(&["", "allow", "deny"]),
        Fallback::Text(""),
        "allow or deny servers that store prompts; empty for the account's default",
    ),
    key(
        "openrouter.response_cache",
        Kind::Boolean,
        Fallback::Boolean(true),
        "let OpenRouter answer an identical request from its cache, free of charge",
    )
    .env(&[Value("HERMES_OPENROUTER_CACHE")]),
    integer(
        "openrouter.response_cache_ttl",
        300,
        "lifetime of OpenRouter's cached replies in seconds, 1 to 86400",
    )
    .env(&[Value("HERMES_OPENROUTER_CACHE_TTL")]),
    key(
        "openrouter.min_coding_score",
        Kind::Share,
        Fallback::None,
        "lowest coding score for the model openrouter/pareto-code, 0 to 1; default 0.65",
    ),
    integer("delegation.max_iterations", 50, "maximum model calls of one sub-agent"),
    integer("delegation.max_concurrent_children", 3, "maximum sub-agents running at the same time"),
    integer("delegation.max_spawn_depth", 1, "maximum depth of nested sub-agents; 1 means no nesting"),
    key(
        "delegation.orchestrator_enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "let sub-agents start sub-agents, if the depth allows it",
    ),
    integer(
        "delegation.child_timeout_seconds",
        0,
        "maximum seconds for one sub-agent, at least 30; 0 means no limit",
    ),
    integer("delegation.max_summary_chars", 24_000, "maximum characters of a sub-agent's summary"),
    key(
        "delegation.subagent_auto_approve",
        Kind::Boolean,
        Fallback::Boolean(false),
        "run commands of sub-agents without approval; otherwise commands that need one are denied",
    ),
    text("delegation.model", "model of sub-agents; empty for the session's model"),
    text("delegation.provider", "provider of sub-agents; empty for the session's provider"),
    key("agent.disabled_toolsets", Kind::List, Fallback::List(&[]), "toolsets never offered to the model"),
    key(
        "agent.task_completion_guidance",
        Kind::Boolean,
        Fallback::Boolean(true),
        "tell the model to carry a task through to a checked result",
    ),
    key(
        "agent.parallel_tool_call_guidance",
        Kind::Boolean,
        Fallback::Boolean(true),
        "tell the model to make independent tool calls together",
    ),
    text("agent.system_prompt", "text added to the system prompt of every request; not stored with sessions")
        .env(&[Value("HERMES_EPHEMERAL_SYSTEM_PROMPT")]),
    text(
        "prefill_messages_file",
        "JSON list of messages ({role, content}) that precede every conversation; not stored with it",
    )
    .env(&[Value("HERMES_PREFILL_MESSAGES_FILE")]),
    text("agent.environment_hint", "description of this machine for the model")
        .env(&[Value("HERMES_ENVIRONMENT_HINT")]),
    key(
        "agent.environment_probe",
        Kind::Boolean,
        Fallback::Boolean(true),
        "tell the model which common programs are installed",
    ),
    key(
        "agent.coding_context",
        Kind::Choice(&["auto", "on", "off"]),
        Fallback::Text("auto"),
        "tell the model about the code project of the working directory: auto means if there is one",
    ),
    text("agent.coding_instructions", "instructions for every code project"),
    text("display.personality", "personality of replies, such as concise or pirate; empty for none"),
    key(
        "memory.write_approval",
        Kind::Boolean,
        Fallback::Boolean(false),
        "ask before the model changes the memory; without a user, changes wait in pending/memory",
    ),
    key(
        "agent.ignore_rules",
        Kind::Boolean,
        Fallback::Boolean(false),
        "leave SOUL.md, files of the project, memory and skills out of new sessions",
    )
    .env(&[Switch("HERMES_IGNORE_RULES", "true")]),
    key(
        "agent.pass_session_id",
        Kind::Boolean,
        Fallback::Boolean(false),
        "tell the model the id of its session",
    ),
    key(
        "context_file_max_chars",
        Kind::Integer,
        Fallback::None,
        "maximum characters of one project file in the prompt; default a share of the context window",
    ),
    key(
        "memory.memory_enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "let the model keep notes across sessions (memories/MEMORY.md)",
    ),
    key(
        "memory.user_profile_enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "let the model keep a profile of the user (memories/USER.md)",
    ),
    integer("memory.memory_char_limit", 2_200, "maximum characters of memories/MEMORY.md"),
    integer("memory.user_char_limit", 1_375, "maximum characters of memories/USER.md"),
    key(
        "memory.provider",
        Kind::Choice(&["sessions", "none"]),
        Fallback::Text("none"),
        "source of recalled context for each message: sessions (earlier sessions on this machine) or none",
    ),
    integer("memory.nudge_interval", 0, "turns between memory reviews by an auxiliary model; 0 means never"),
    integer("terminal.timeout", 180, "maximum seconds for a command").env(&[Value("TERMINAL_TIMEOUT")]),
    integer("terminal.orphan_grace", 600, "maximum seconds that a command runs after Hermes died"),
    key("terminal.cwd", Kind::Text, Fallback::Text("."), "directory commands start in"),
    key(
        "terminal.env_passthrough",
        Kind::List,
        Fallback::List(&[]),
        "variables commands may see besides the basic ones",
    ),
    integer("tool_output.max_bytes", 50_000, "maximum bytes of one tool result"),
    integer("tool_output.max_lines", 2_000, "maximum lines of one tool result"),
    integer("tool_output.max_line_length", 2_000, "maximum characters of one line of a tool result"),
    integer("file_read_max_chars", 100_000, "maximum characters of one file read"),
    key(
        "compression.enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "compact older messages when a conversation approaches the context window",
    ),
    key(
        "compression.threshold",
        Kind::Share,
        Fallback::None,
        "share of the context window that triggers compaction; default 0.75 (0.5 for very large windows)",
    ),
    key(
        "compression.target_ratio",
        Kind::Share,
        Fallback::None,
        "share of the threshold kept for the newest messages; default 0.2",
    ),
    key(
        "compression.protect_last_n",
        Kind::Integer,
        Fallback::None,
        "minimum number of newest messages kept unchanged; default 3 to 8",
    ),
    integer("compression.protect_first_n", 3, "first messages that the first compaction keeps unchanged"),
    integer(
        "compression.hygiene_hard_message_limit",
        5000,
        "number of messages at which an unattended session is compacted, whatever its size",
    ),
    key(
        "compression.abort_on_summary_failure",
        Kind::Boolean,
        Fallback::Boolean(false),
        "do not compact when no summary could be written, instead of using excerpts",
    ),
    key(
        "compression.codex_gpt55_autoraise",
        Kind::Boolean,
        Fallback::Boolean(true),
        "raise the threshold for models that handle a full context window well",
    ),
    key(
        "compression.in_place",
        Kind::Boolean,
        Fallback::Boolean(true),
        "continue in the same session after a compaction; otherwise start a new one",
    ),
    key(
        "context.lossless.extractive",
        Kind::Boolean,
        Fallback::Boolean(false),
        "let the lossless engine use excerpts as summaries, without model calls",
    ),
    integer(
        "context.lossless.fan_out",
        6,
        "number of summaries of one level that the lossless engine merges into one",
    ),
    key(
        "context.engine",
        Kind::Text,
        Fallback::Text("compressor"),
        "context engine: compressor, lossless, or the name of a plugin",
    ),
    key("toolsets", Kind::List, Fallback::List(&["hermes-cli"]), "toolsets offered to the model"),
    key(
        "tools.tool_search.enabled",
        Kind::Choice(&["off", "on", "auto"]),
        Fallback::Text("auto"),
        "offer rarely used tools through a catalogue: auto (if all need too many tokens), on, off",
    ),
    key("skills.disabled", Kind::List, Fallback::List(&[]), "skills that are never offered to the model"),
    key(
        "skills.external_dirs",
        Kind::List,
        Fallback::List(&[]),
        "additional directories with skills, read-only",
    ),
    key(
        "skills.template_vars",
        Kind::Boolean,
        Fallback::Boolean(true),
        "replace ${HERMES_SKILL_DIR} and ${HERMES_SESSION_ID} in skills",
    ),
    key(
        "skills.guard_agent_created",
        Kind::Boolean,
        Fallback::Boolean(false),
        "also reject suspicious findings of the scan in skills that the agent writes",
    ),
    key(
        "approvals.mode",
        Kind::Choice(&["smart", "off", "manual"]),
        Fallback::Text("smart"),
        "approval of commands: manual (always ask), smart (as manual for now), off (never ask)",
    )
    .env(&[Switch("HERMES_YOLO_MODE", "off")]),
    key(
        "hooks_auto_accept",
        Kind::Boolean,
        Fallback::Boolean(false),
        "run the hooks in `hooks` without approval",
    )
    .env(&[Switch("HERMES_ACCEPT_HOOKS", "true")]),
    integer(
        "sessions.files_retention_days",
        30,
        "days after the last write before the file of a long tool result is deleted; 0 means never",
    ),
    integer(
        "sessions.files_max_mb",
        2048,
        "maximum MiB of all files of long tool results, oldest deleted first; 0 means no limit",
    ),
    key(
        "display.busy_input_mode",
        Kind::Choice(&["queue", "steer", "interrupt"]),
        Fallback::Text("interrupt"),
        "effect of Enter while a turn runs: interrupt the turn, queue the message, or steer the turn",
    ),
    key(
        "display.memory_notifications",
        Kind::Choice(&["off", "verbose", "on"]),
        Fallback::Text("on"),
        "notices about memory written in the background: off, on, verbose (with the text)",
    ),
    key("display.show_reasoning", Kind::Boolean, Fallback::Boolean(true), "show the model's reasoning"),
    key(
        "sessions.auto_prune",
        Kind::Boolean,
        Fallback::Boolean(false),
        "delete old ended sessions when a conversation is started",
    ),
    integer("sessions.retention_days", 90, "days after which an ended session is old"),
    integer("sessions.min_interval_hours", 24, "hours between two automatic deletions"),
    key(
        "sessions.vacuum_after_prune",
        Kind::Boolean,
        Fallback::Boolean(true),
        "reclaim unused space after an automatic deletion",
    ),
    key(
        "logging.level",
        Kind::Choice(&["DEBUG", "WARNING", "ERROR", "INFO"]),
        Fallback::Text("INFO"),
        "minimum level of logs/agent.log: DEBUG, INFO, WARNING or ERROR",
    ),
    integer("logging.max_size_mb", 5, "MiB at which logs/agent.log is rotated; 0 means never"),
    integer("logging.backup_count", 3, "number of rotated logs that are kept; 0 disables rotation"),
    text(
        "telemetry.otlp.endpoint",
        "collector that traces are sent to, such as http://127.0.0.1:4318; empty means none",
    ),
    key(
        "telemetry.otlp.service_name",
        Kind::Text,
        Fallback::Text("hermes"),
        "service name sent to the collector",
    ),
    text("network.proxy", "proxy for outgoing requests").env(&[
        Value("HTTPS_PROXY"),
        Value("https_proxy"),
        Value("ALL_PROXY"),
        Value("all_proxy"),
        Value("HTTP_PROXY"),
        Value("http_proxy"),
    ]),
    text("network.no_proxy", "hosts reached without the proxy, separated by commas")
        .env(&[Value("NO_PROXY"), Value("no_proxy")]),
    secret(variable(&[Value("OPENAI_API_KEY")], "key for OpenAI")),
    secret(variable(&[Value("OPENROUTER_API_KEY")], "key for OpenRouter")),
    variable(&[Value("OPENAI_BASE_URL")], "endpoint used instead of OpenAI's own"),
    variable(&[Value("OPENROUTER_BASE_URL")], "endpoint used instead of OpenRouter's own"),
    variable(&[Value("CUSTOM_BASE_URL")], "endpoint of the provider `custom`"),
    variable(&[Value("HERMES_DUMP_REQUESTS")], "write every request to sessions/request_dump_*.json"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_listed_once_and_its_default_fits() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..at].iter().all(|other| other.name != key.name), "{} twice", key.name);
            let fits = match (key.kind, key.default) {
                (_, Fallback::None) => true,
                (Kind::Text, Fallback::Text(_)) | (Kind::Integer, Fallback::Integer(_)) => true,
                (Kind::Boolean, Fallback::Boolean(_)) | (Kind::List, Fallback::List(_)) => true,
                (Kind::Choice(words), Fallback::Text(word)) => words.contains(&word),
                _ => false,
            };
            assert!(fits && !key.description.is_empty(), "{}", key.name);
        }
    }
}
