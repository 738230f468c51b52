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

/// What a value must be.
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
    /// One of a few words. In a file, other words mean the last one given here: the safest.
    Choice(&'static [&'static str]),
}

/// The value when nobody set one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    None,
    Text(&'static str),
    Integer(i64),
    Boolean(bool),
    List(&'static [&'static str]),
}

/// How an environment variable sets a key.
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

/// Which of two layers wins, below flags and above the default.
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
        "dollars that one session and its helpers may cost; empty means any amount",
    ),
    dollars("budget.day_usd", "dollars that all sessions of a day may cost; empty means any amount"),
    key(
        "budget.unknown_price",
        Kind::Choice(&["allow", "block"]),
        Fallback::Text("block"),
        "whether models without a known price may be asked when there is a budget",
    ),
    integer("agent.max_turns", 90, "model calls in one turn, before a last one without tools")
        .env(&[Value("HERMES_MAX_ITERATIONS")]),
    integer("agent.api_max_retries", 3, "tries for one model call"),
    key(
        "agent.verify_on_stop",
        Kind::Choice(AUTO_OR_SWITCH),
        Fallback::Text("auto"),
        "ask the model to check code that it changed before it ends the turn: auto, true or false",
    )
    .env(&[Value("HERMES_VERIFY_ON_STOP")]),
    integer("agent.max_verify_nudges", 3, "times in a turn that the model is asked to check its changes"),
    key(
        "agent.intent_ack_continuation",
        Kind::Choice(AUTO_OR_SWITCH),
        Fallback::Text("auto"),
        "ask the model to act when it only promises to: auto (Responses format only), true or false",
    ),
    key(
        "display.file_mutation_verifier",
        Kind::Boolean,
        Fallback::Boolean(true),
        "list file edits that failed below the answer",
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
    seconds("agent.request_timeout_seconds", "longest wait for one model call; 1800 unless set")
        .env(&[Value("HERMES_API_TIMEOUT")]),
    seconds(
        "agent.stream_stale_timeout",
        "seconds of silence after which a stream counts as dead; 180 to 600 unless set, by size and model",
    )
    .env(&[Value("HERMES_STREAM_STALE_TIMEOUT")]),
    seconds("agent.local_stream_stale_timeout", "the same for a server on this machine; 900 unless set")
        .env(&[Value("HERMES_LOCAL_STREAM_STALE_TIMEOUT")]),
    seconds(
        "agent.first_byte_timeout",
        "seconds to wait for the first byte of a stream; as long as for any other unless set",
    )
    .env(&[Value("HERMES_STREAM_READ_TIMEOUT")]),
    seconds(
        "agent.api_call_stale_timeout",
        "seconds to wait for a reply that is not streamed; 90 to 600 unless set, by size and model",
    )
    .env(&[Value("HERMES_API_CALL_STALE_TIMEOUT")]),
    integer(
        "agent.clarify_timeout",
        3600,
        "seconds to wait for your answer to a question of the model; 0 means any number",
    ),
    key(
        "agent.reasoning_effort",
        Kind::Choice(&["", "none", "minimal", "low", "medium", "high", "xhigh", "max", "ultra"]),
        Fallback::Text(""),
        "how hard the model thinks: none to ultra; empty leaves it to the provider",
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
        "how long a provider keeps what requests mark for its cache",
    ),
    key(
        "provider_routing.sort",
        Kind::Choice(&["", "price", "throughput", "latency"]),
        Fallback::Text(""),
        "what OpenRouter and Nous prefer among the servers of a model: price, throughput or latency",
    ),
    key("provider_routing.only", Kind::List, Fallback::List(&[]), "servers that a router may use, no others"),
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
        "whether servers that keep prompts may be used: allow or deny; empty leaves it to the account",
    ),
    key(
        "openrouter.response_cache",
        Kind::Boolean,
        Fallback::Boolean(true),
        "let OpenRouter answer an identical request from its cache, free of charge",
    )
    .env(&[Value("HERMES_OPENROUTER_CACHE")]),
    integer("openrouter.response_cache_ttl", 300, "seconds for which it may, 1 to 86400")
        .env(&[Value("HERMES_OPENROUTER_CACHE_TTL")]),
    key(
        "openrouter.min_coding_score",
        Kind::Share,
        Fallback::None,
        "lowest coding score for the model openrouter/pareto-code, 0 to 1; 0.65 unless set",
    ),
    integer("delegation.max_iterations", 50, "model calls of one helper, before a last one without tools"),
    integer("delegation.max_concurrent_children", 3, "helpers that work at the same time"),
    integer("delegation.max_spawn_depth", 1, "how deep helpers may have helpers; 1 means they may not"),
    key(
        "delegation.orchestrator_enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "whether helpers may have helpers at all, where the depth allows it",
    ),
    integer("delegation.child_timeout_seconds", 0, "seconds for one helper, at least 30; 0 means any number"),
    integer("delegation.max_summary_chars", 24_000, "characters of a helper's summary that are told"),
    key(
        "delegation.subagent_auto_approve",
        Kind::Boolean,
        Fallback::Boolean(false),
        "run the commands of helpers without asking; otherwise those that need asking are refused",
    ),
    text("delegation.model", "model of helpers; empty means that of the session"),
    text("delegation.provider", "provider of helpers; empty means that of the session"),
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
    text("agent.system_prompt", "words behind the system prompt of every request; not stored with sessions")
        .env(&[Value("HERMES_EPHEMERAL_SYSTEM_PROMPT")]),
    text(
        "prefill_messages_file",
        "JSON list of messages ({role, content}) that stand before every conversation; not stored with it",
    )
    .env(&[Value("HERMES_PREFILL_MESSAGES_FILE")]),
    text("agent.environment_hint", "words about this machine for the model")
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
        "most characters of one file of the project in the prompt; unless set, a share of the window",
    ),
    key(
        "memory.memory_enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "whether the model has notes of its own across sessions (memories/MEMORY.md)",
    ),
    key(
        "memory.user_profile_enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "whether the model remembers who you are (memories/USER.md)",
    ),
    integer("memory.memory_char_limit", 2_200, "most characters in memories/MEMORY.md"),
    integer("memory.user_char_limit", 1_375, "most characters in memories/USER.md"),
    key(
        "memory.provider",
        Kind::Choice(&["sessions", "none"]),
        Fallback::Text("none"),
        "where more is recalled from for each message: sessions (what was said before, on this machine) or none",
    ),
    integer(
        "memory.nudge_interval",
        0,
        "turns after which a second model looks back and notes what to remember; 0 means never",
    ),
    integer("terminal.timeout", 180, "seconds a command may run").env(&[Value("TERMINAL_TIMEOUT")]),
    integer("terminal.orphan_grace", 600, "seconds a command goes on after Hermes died, at most"),
    key("terminal.cwd", Kind::Text, Fallback::Text("."), "directory commands start in"),
    key(
        "terminal.env_passthrough",
        Kind::List,
        Fallback::List(&[]),
        "variables commands may see besides the basic ones",
    ),
    integer("tool_output.max_bytes", 50_000, "most bytes of one tool result shown to the model"),
    integer("tool_output.max_lines", 2_000, "most lines of one tool result shown to the model"),
    integer("tool_output.max_line_length", 2_000, "most characters of one line shown to the model"),
    integer("file_read_max_chars", 100_000, "most characters one file read returns"),
    key(
        "compression.enabled",
        Kind::Boolean,
        Fallback::Boolean(true),
        "sum up older messages when a conversation outgrows its model's window",
    ),
    key(
        "compression.threshold",
        Kind::Share,
        Fallback::None,
        "part of the window at which that happens; without it, 0.75 (0.5 of very large windows)",
    ),
    key(
        "compression.target_ratio",
        Kind::Share,
        Fallback::None,
        "part of the threshold that the newest messages keep as they are; without it, 0.2",
    ),
    key(
        "compression.protect_last_n",
        Kind::Integer,
        Fallback::None,
        "newest messages that are always kept as they are; without it, 3 to 8",
    ),
    integer("compression.protect_first_n", 3, "first messages that the first compaction keeps as they are"),
    integer(
        "compression.hygiene_hard_message_limit",
        5000,
        "messages from which on a session that nobody watches is compacted, whatever its size",
    ),
    key(
        "compression.abort_on_summary_failure",
        Kind::Boolean,
        Fallback::Boolean(false),
        "leave the conversation as it is when no summary could be written, instead of going on with excerpts",
    ),
    key(
        "compression.codex_gpt55_autoraise",
        Kind::Boolean,
        Fallback::Boolean(true),
        "let models that are known to cope fill more of their window",
    ),
    key(
        "compression.in_place",
        Kind::Boolean,
        Fallback::Boolean(true),
        "go on in the same session after a compaction; off, a new one takes over",
    ),
    key(
        "context.lossless.extractive",
        Kind::Boolean,
        Fallback::Boolean(false),
        "let the lossless engine sum up by excerpts, without asking a model",
    ),
    integer(
        "context.lossless.fan_out",
        6,
        "summaries of a level that the lossless engine leaves side by side before it sums them up",
    ),
    key(
        "context.engine",
        Kind::Text,
        Fallback::Text("compressor"),
        "who keeps conversations in the window: compressor, lossless, or the name of a plugin",
    ),
    key("toolsets", Kind::List, Fallback::List(&["hermes-cli"]), "toolsets offered to the model"),
    key(
        "tools.tool_search.enabled",
        Kind::Choice(&["off", "on", "auto"]),
        Fallback::Text("auto"),
        "whether seldom used tools wait in a catalogue: auto (when all are too much), on, off",
    ),
    key("skills.disabled", Kind::List, Fallback::List(&[]), "skills that are never offered to the model"),
    key("skills.external_dirs", Kind::List, Fallback::List(&[]), "further folders with skills, only read"),
    key(
        "skills.template_vars",
        Kind::Boolean,
        Fallback::Boolean(true),
        "put the folder and the session in place of ${HERMES_SKILL_DIR} and ${HERMES_SESSION_ID} in skills",
    ),
    key(
        "skills.guard_agent_created",
        Kind::Boolean,
        Fallback::Boolean(false),
        "also refuse what the scan only thinks odd in skills that the agent writes",
    ),
    key(
        "approvals.mode",
        Kind::Choice(&["smart", "off", "manual"]),
        Fallback::Text("smart"),
        "when a person is asked before a command: manual always, smart as manual for now, off never",
    )
    .env(&[Switch("HERMES_YOLO_MODE", "off")]),
    key(
        "hooks_auto_accept",
        Kind::Boolean,
        Fallback::Boolean(false),
        "run the hooks in `hooks` without asking first",
    )
    .env(&[Switch("HERMES_ACCEPT_HOOKS", "true")]),
    integer(
        "sessions.files_retention_days",
        30,
        "days for which a long tool result is kept in its file, from when it was last written; 0 keeps it",
    ),
    integer(
        "sessions.files_max_mb",
        2048,
        "MiB that long tool results may have together, the oldest going first; 0 means any number",
    ),
    key(
        "display.busy_input_mode",
        Kind::Choice(&["queue", "steer", "interrupt"]),
        Fallback::Text("interrupt"),
        "what Enter does while a turn runs: interrupt it, queue the message, or steer the turn with it",
    ),
    key(
        "display.memory_notifications",
        Kind::Choice(&["off", "verbose", "on"]),
        Fallback::Text("on"),
        "what you are told of memory written in the background: off, on (that it was), verbose (what)",
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
        "give unused space back after an automatic deletion",
    ),
    key(
        "logging.level",
        Kind::Choice(&["DEBUG", "WARNING", "ERROR", "INFO"]),
        Fallback::Text("INFO"),
        "what is written to logs/agent.log: DEBUG, INFO, WARNING or ERROR, and what is worse",
    ),
    integer("logging.max_size_mb", 5, "MiB at which logs/agent.log is put away; 0 means never"),
    integer("logging.backup_count", 3, "logs that were put away and are kept; with 0, none ever is"),
    text(
        "telemetry.otlp.endpoint",
        "collector that traces are sent to, such as http://127.0.0.1:4318; empty means none",
    ),
    key(
        "telemetry.otlp.service_name",
        Kind::Text,
        Fallback::Text("hermes"),
        "what the collector calls this program",
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
