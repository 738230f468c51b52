//! Settings of the context: compaction, context engines, memory and skills.

use super::declare::{choice, section};
use super::types::{List, Share, Text};

section! {
    /// Compaction.
    CompressionSettings in [compression] {
        /// compact older messages when a conversation approaches the context window
        enabled: bool = true;
        /// share of the context window that triggers compaction; default 0.75 (0.5 for very large windows)
        threshold: Share;
        /// share of the threshold kept for the newest messages; default 0.2
        target_ratio: Share;
        /// minimum number of newest messages kept unchanged; default 3 to 8
        protect_last_n: u64;
        /// first messages that the first compaction keeps unchanged
        protect_first_n: u64 = 3;
        /// number of messages at which an unattended session is compacted, whatever its size
        hygiene_hard_message_limit: u64 = 5000;
        /// do not compact when no summary could be written, instead of using excerpts
        abort_on_summary_failure: bool = false;
        /// raise the threshold for models that handle a full context window well
        codex_gpt55_autoraise: bool = true;
        /// continue in the same session after a compaction; otherwise start a new one
        in_place: bool = true;
    }
}

section! {
    /// Context engines.
    ContextSettings in [context] {
        /// context engine: compressor, lossless, or the name of a plugin
        engine: Text = "compressor";
    }
    sections {
        lossless: LosslessSettings,
    }
}

section! {
    /// The context engine `lossless`.
    LosslessSettings in [context.lossless] {
        /// let the lossless engine use excerpts as summaries, without model calls
        extractive: bool = false;
        /// number of summaries of one level that the lossless engine merges into one
        fan_out: u64 = 6;
    }
}

section! {
    /// Memory.
    MemorySettings in [memory] {
        /// ask before the model changes the memory; without a user, changes wait in pending/memory
        write_approval: bool = false;
        /// let the model keep notes across sessions (memories/MEMORY.md)
        memory_enabled: bool = true;
        /// let the model keep a profile of the user (memories/USER.md)
        user_profile_enabled: bool = true;
        /// maximum characters of memories/MEMORY.md
        memory_char_limit: u64 = 2200;
        /// maximum characters of memories/USER.md
        user_char_limit: u64 = 1375;
        /// source of recalled context for each message: sessions (earlier sessions on this machine) or none
        provider: RecallSource = None;
        /// turns between memory reviews by an auxiliary model; 0 means never
        nudge_interval: u64 = 0;
    }
}

choice! {
    /// Source of context that is recalled for each message.
    RecallSource {
        /// Earlier sessions on this machine.
        Sessions = "sessions",
        None = "none",
    }
}

section! {
    /// Skills.
    SkillSettings in [skills] {
        /// skills that are never offered to the model
        disabled: List = [];
        /// additional directories with skills, read-only
        external_dirs: List = [];
        /// replace ${HERMES_SKILL_DIR} and ${HERMES_SESSION_ID} in skills
        template_vars: bool = true;
        /// also reject suspicious findings of the scan in skills that the agent writes
        guard_agent_created: bool = false;
    }
}
