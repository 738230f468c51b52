//! Settings of the program: the screen, stored sessions, logs, traces, and variables.

use super::declare::{choice, section};
use super::types::{Secret, Text};
use crate::keys::Env::Value;
use crate::keys::Order::EnvOnly;

section! {
    /// The screen.
    DisplaySettings in [display] {
        /// list failed file edits below the reply
        file_mutation_verifier: bool = true;
        /// personality of replies, such as concise or pirate; empty for none
        personality: Text;
        /// effect of Enter while a turn runs: interrupt the turn, queue the message, or steer the turn
        busy_input_mode: BusyInputMode = Interrupt;
        /// notices about memory written in the background: off, on, verbose (with the text)
        memory_notifications: MemoryNotifications = On;
        /// show the model's reasoning
        show_reasoning: bool = true;
    }
}

choice! {
    /// Effect of Enter while a turn runs.
    BusyInputMode {
        Queue = "queue",
        Steer = "steer",
        Interrupt = "interrupt",
    }
}

choice! {
    /// Notices about memory that is written in the background.
    MemoryNotifications {
        Off = "off",
        /// With the text.
        Verbose = "verbose",
        On = "on",
    }
}

section! {
    /// Stored sessions and files of tool results.
    SessionSettings in [sessions] {
        /// days after the last write before the file of a long tool result is deleted; 0 means never
        files_retention_days: u64 = 30;
        /// maximum MiB of all files of long tool results, oldest deleted first; 0 means no limit
        files_max_mb: u64 = 2048;
        /// delete old ended sessions when a conversation is started
        auto_prune: bool = false;
        /// days after which an ended session is old
        retention_days: u64 = 90;
        /// hours between two automatic deletions
        min_interval_hours: u64 = 24;
        /// reclaim unused space after an automatic deletion
        vacuum_after_prune: bool = true;
    }
}

section! {
    /// Log files.
    LoggingSettings in [logging] {
        /// minimum level of logs/agent.log: DEBUG, INFO, WARNING or ERROR
        level: MinimumLevel = Info;
        /// MiB at which logs/agent.log is rotated; 0 means never
        max_size_mb: u64 = 5;
        /// number of rotated logs that are kept; 0 disables rotation
        backup_count: u64 = 3;
    }
}

choice! {
    /// Minimum level of the log.
    MinimumLevel {
        Debug = "DEBUG",
        Warning = "WARNING",
        Error = "ERROR",
        Info = "INFO",
    }
}

section! {
    /// Traces.
    TelemetrySettings in [telemetry] {}
    sections {
        otlp: OtlpCollectorSettings,
    }
}

section! {
    /// The collector of traces.
    OtlpCollectorSettings in [telemetry.otlp] {
        /// collector that traces are sent to, such as http://127.0.0.1:4318; empty means none
        endpoint: Text;
        /// service name sent to the collector
        service_name: Text = "hermes";
    }
}

section! {
    /// Variables, which `config.yaml` cannot set.
    VariableSettings in [] {
        /// key for OpenAI
        openai_api_key: Secret,
            name: "OPENAI_API_KEY", env: &[Value("OPENAI_API_KEY")], order: EnvOnly, secret: true;
        /// key for OpenRouter
        openrouter_api_key: Secret,
            name: "OPENROUTER_API_KEY", env: &[Value("OPENROUTER_API_KEY")], order: EnvOnly, secret: true;
        /// endpoint used instead of OpenAI's own
        openai_base_url: Text,
            name: "OPENAI_BASE_URL", env: &[Value("OPENAI_BASE_URL")], order: EnvOnly;
        /// endpoint used instead of OpenRouter's own
        openrouter_base_url: Text,
            name: "OPENROUTER_BASE_URL", env: &[Value("OPENROUTER_BASE_URL")], order: EnvOnly;
        /// endpoint of the provider `custom`
        custom_base_url: Text,
            name: "CUSTOM_BASE_URL", env: &[Value("CUSTOM_BASE_URL")], order: EnvOnly;
        /// write every request to sessions/request_dump_*.json
        dump_requests: Text,
            name: "HERMES_DUMP_REQUESTS", env: &[Value("HERMES_DUMP_REQUESTS")], order: EnvOnly;
    }
}
