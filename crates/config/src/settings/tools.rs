//! Settings of tools: commands, their output, approvals and the offered tools.

use super::declare::{choice, section};
use super::types::{List, Text};
use crate::keys::Env::{Switch, Value};

section! {
    /// Commands.
    TerminalSettings in [terminal] {
        /// maximum seconds for a command
        timeout: u64 = 180, env: &[Value("TERMINAL_TIMEOUT")];
        /// maximum seconds that a command runs after Hermes died
        orphan_grace: u64 = 600;
        /// directory commands start in
        cwd: Text = ".";
        /// variables commands may see besides the basic ones
        env_passthrough: List = [];
    }
}

section! {
    /// Limits of tool results.
    ToolOutputSettings in [tool_output] {
        /// maximum bytes of one tool result
        max_bytes: u64 = 50_000;
        /// maximum lines of one tool result
        max_lines: u64 = 2000;
        /// maximum characters of one line of a tool result
        max_line_length: u64 = 2000;
    }
}

section! {
    /// Approvals of tool calls.
    ApprovalSettings in [approvals] {
        /// approval of commands: manual (always ask), smart (as manual for now), off (never ask)
        mode: ApprovalMode = Smart, env: &[Switch("HERMES_YOLO_MODE", "off")];
    }
}

choice! {
    /// Approval of commands.
    ApprovalMode {
        Smart = "smart",
        Off = "off",
        Manual = "manual",
    }
}

section! {
    /// Offered tools.
    ToolSettings in [tools] {}
    sections {
        tool_search: ToolSearchSettings,
    }
}

section! {
    /// The catalogue of rarely used tools.
    ToolSearchSettings in [tools.tool_search] {
        /// offer rarely used tools through a catalogue: auto (if all need too many tokens), on, off
        enabled: ToolSearch = Auto;
    }
}

choice! {
    /// Use of the catalogue of tools.
    ToolSearch {
        Off = "off",
        On = "on",
        /// If the definitions of all tools need too many tokens.
        Auto = "auto",
    }
}
