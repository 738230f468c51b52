//! Settings of tools: commands, their output, approvals and the offered tools.

use super::agent::AutoSwitch;
use super::declare::{choice, section};
use super::types::{List, Text};
use crate::keys::Env::{Switch, Value};

section! {
    /// Scripts that call tools.
    CodeExecutionSettings in [code_execution] {
        /// place of scripts: project (working directory, virtual environment), strict (directory of their own)
        mode: CodeExecutionMode = Project;
        /// maximum seconds for a script
        timeout: u64 = 300;
        /// maximum tool calls of a script
        max_tool_calls: u64 = 50;
    }
}

choice! {
    /// Place and interpreter of scripts.
    CodeExecutionMode {
        /// The working directory, and the active virtual environment.
        Project = "project",
        /// A directory of their own, and the interpreter of the system.
        Strict = "strict",
    }
}

section! {
    /// Checkpoints of the files of a project.
    CheckpointSettings in [checkpoints] {
        /// save files before the agent changes them: auto (in projects of at most 50,000 files), true (everywhere), false
        enabled: AutoSwitch = Auto;
        /// maximum checkpoints of a project
        max_snapshots: u64 = 20;
        /// maximum size of all checkpoints in MB; 0 means no limit
        max_total_size_mb: u64 = 500;
        /// maximum size of a saved file in MB; 0 means no limit
        max_file_size_mb: u64 = 10;
        /// remove expired checkpoints
        auto_prune: bool = true;
        /// days after which the checkpoints of an unused project expire; 0 keeps them
        retention_days: u64 = 7;
        /// remove the checkpoints of projects that no longer exist
        delete_orphans: bool = true;
        /// minimum hours between two removals
        min_interval_hours: u64 = 24;
        /// maximum seconds for a run of git, from 10 to 60
        timeout: u64 = 30, env: &[Value("HERMES_CHECKPOINT_TIMEOUT")];
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
        /// approval of commands that are not harmless: manual (ask), smart (a model may approve, else ask), off (run)
        mode: ApprovalMode = Smart, env: &[Switch("HERMES_YOLO_MODE", "off")];
        /// seconds to wait for the answer to an approval request; 0 means no limit
        timeout: u64 = 60;
        /// commands that never run, as globs such as `git push*`; not skipped by --yolo
        deny: List = [];
        /// commands that need approval in runs without a user: deny, or sandboxed (run if the sandbox is enforced)
        unattended: Unattended = Deny;
    }
}

choice! {
    /// Commands that need approval in runs without a user.
    Unattended {
        Sandboxed = "sandboxed",
        Deny = "deny",
    }
}

section! {
    /// The kernel sandbox of commands.
    SandboxSettings in [sandbox] {
        /// confinement of commands: workspace (write only the project), read-only, full (no confinement)
        profile: SandboxProfile = Workspace, env: &[Value("HERMES_SANDBOX")];
        /// network of commands: on, off, or `allow: [hosts]` (a plain list means the same)
        network: List = ["on"];
        /// refuse to run commands if the kernel cannot enforce the whole profile
        require: bool = false;
        /// maximum processes of a command's user; 0 means no limit
        max_processes: u64 = 1024;
    }
}

choice! {
    /// Confinement of commands.
    SandboxProfile {
        Full = "full",
        ReadOnly = "read-only" | "readonly",
        Workspace = "workspace",
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

section! {
    /// Searching the web and reading pages.
    WebSettings in [web] {
        /// service that searches and reads pages: tavily, exa, parallel, firecrawl, searxng, brave-free, ddgs, or direct
        backend: Text;
        /// service that searches, if it is another one
        search_backend: Text;
        /// service that reads pages, if it is another one; direct needs none
        extract_backend: Text;
        /// maximum characters of a page in a tool result
        extract_char_limit: u64 = 15_000;
    }
}

section! {
    /// Addresses that tools may fetch.
    SecuritySettings in [security] {
        /// fetch pages at private addresses too
        allow_private_urls: bool = false;
    }
    sections {
        website_blocklist: BlocklistSettings,
    }
}

section! {
    /// Domains that are never fetched.
    BlocklistSettings in [security.website_blocklist] {
        /// refuse the domains of the blocklist
        enabled: bool = false;
        /// blocked domains, with everything below them
        domains: List = [];
        /// files with a blocked domain on each line; below the home directory unless absolute
        shared_files: List = [];
    }
}
