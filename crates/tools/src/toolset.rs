//! Names for groups of tools.
//!
//! The table knows every toolset of Hermes, also those whose tools are not built in yet: a
//! configuration that names them is right and simply gets fewer tools.

use crate::AnyTool;
use std::collections::BTreeSet;

/// The toolset a built-in tool belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Toolset {
    Terminal,
    File,
    Todo,
    Clarify,
    CodeExecution,
    Delegation,
    Memory,
    SessionSearch,
    Skills,
    Web,
    Vision,
    /// Looking at what is no longer sent.
    ContextEngine,
    /// Tools that stand in for others.
    Catalogue,
}

impl Toolset {
    /// The preset with the tools that every platform shares.
    pub const CORE: &'static str = "hermes-cli";

    /// Every toolset that has built-in tools.
    pub const ALL: [Self; 13] = [
        Self::Terminal,
        Self::File,
        Self::Todo,
        Self::Clarify,
        Self::CodeExecution,
        Self::Delegation,
        Self::Memory,
        Self::SessionSearch,
        Self::Skills,
        Self::Web,
        Self::Vision,
        Self::ContextEngine,
        Self::Catalogue,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::File => "file",
            Self::Todo => "todo",
            Self::Clarify => "clarify",
            Self::CodeExecution => "code_execution",
            Self::Delegation => "delegation",
            Self::Memory => "memory",
            Self::SessionSearch => "session_search",
            Self::Skills => "skills",
            Self::Web => "web",
            Self::Vision => "vision",
            Self::ContextEngine => "context_engine",
            Self::Catalogue => "catalogue",
        }
    }
}

/// An invalid choice of tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolsetError {
    #[error("no toolset is called `{name}`; known toolsets: {known}")]
    Unknown { name: String, known: String },
    #[error("tool `{tool}` of toolset `{toolset}` is already provided by toolset `{owner}`")]
    Taken { tool: String, toolset: String, owner: String },
}

/// The tools that a name selects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Selection {
    Everything,
    /// Tools by name, and whole toolsets. A tool that is built in need not be in the table: it names its toolset.
    Listed {
        tools: BTreeSet<&'static str>,
        toolsets: Vec<String>,
    },
}

impl Selection {
    pub(crate) fn has(&self, tool: &dyn AnyTool) -> bool {
        match self {
            Self::Everything => true,
            Self::Listed { tools, toolsets } => {
                tools.contains(tool.name()) || toolsets.iter().any(|name| name == tool.toolset())
            }
        }
    }
}

/// Finds a toolset by its name or by one of its older names.
pub(crate) fn resolve(name: &str) -> Option<Selection> {
    if matches!(name, "all" | "*") {
        return Some(Selection::Everything);
    }
    let name = LEGACY.iter().find(|(old, _)| *old == name).map_or(name, |(_, new)| new);
    let (mut tools, mut toolsets) = (BTreeSet::new(), Vec::new());
    collect(name, &mut tools, &mut toolsets)?;
    Some(Selection::Listed { tools, toolsets })
}

/// Returns true if a toolset or preset has this name, also an older one.
pub fn is_toolset(name: &str) -> bool {
    resolve(name).is_some()
}

/// The tools of a toolset by name, also those that are not built in.
pub fn tools_of(toolset: &str) -> Vec<&'static str> {
    match resolve(toolset) {
        Some(Selection::Listed { tools, .. }) => tools.into_iter().collect(),
        Some(Selection::Everything) | None => Vec::new(),
    }
}

/// Tools for the terminal of a desktop program. A toolset need not list them to have all of another one.
const OF_A_DESKTOP: [&str; 2] = ["close_terminal", "read_terminal"];

/// Returns true if a toolset or preset has all tools of another one.
pub fn toolset_has(name: &str, other: &str) -> bool {
    match resolve(name) {
        Some(Selection::Everything) => true,
        Some(Selection::Listed { tools, .. }) => {
            tools_of(other).iter().all(|tool| tools.contains(tool) || OF_A_DESKTOP.contains(tool))
        }
        None => false,
    }
}

/// Bundles overlap with everything, so taking one away must not take the core tools with it.
pub(crate) fn is_bundle(name: &str) -> bool {
    name.starts_with("hermes-") || name == "coding"
}

/// The tools every bundle shares.
pub(crate) fn core_tools() -> Selection {
    resolve(Toolset::CORE).unwrap_or(Selection::Everything)
}

/// The names to list for the user: older ones are omitted, and so are the presets of platforms, which are
/// all alike.
pub(crate) fn known() -> impl Iterator<Item = &'static str> {
    let names = TABLE.iter().map(|row| row.0);
    names.filter(|name| !name.starts_with("hermes-") || *name == "hermes-cli").chain(["all"])
}

fn collect(name: &str, tools: &mut BTreeSet<&'static str>, visited: &mut Vec<String>) -> Option<()> {
    if visited.iter().any(|seen| seen == name) {
        return Some(());
    }
    visited.push(name.to_owned());
    if MESSAGING.contains(&name) {
        return collect("hermes-cli", tools, visited);
    }
    let (_, own, includes) = TABLE.iter().find(|row| row.0 == name)?;
    tools.extend(own.iter().copied());
    for include in *includes {
        collect(include, tools, visited)?;
    }
    Some(())
}

const LEGACY: [(&str, &str); 9] = [
    ("web_tools", "web"),
    ("terminal_tools", "terminal"),
    ("vision_tools", "vision"),
    ("image_tools", "image_gen"),
    ("skills_tools", "skills"),
    ("browser_tools", "browser"),
    ("cronjob_tools", "cronjob"),
    ("file_tools", "file"),
    ("tts_tools", "tts"),
];

/// Presets that are the core list and nothing else.
const MESSAGING: [&str; 16] = [
    "hermes-cron",
    "hermes-telegram",
    "hermes-whatsapp",
    "hermes-slack",
    "hermes-signal",
    "hermes-bluebubbles",
    "hermes-homeassistant",
    "hermes-email",
    "hermes-mattermost",
    "hermes-matrix",
    "hermes-dingtalk",
    "hermes-weixin",
    "hermes-qqbot",
    "hermes-wecom",
    "hermes-wecom-callback",
    "hermes-sms",
];

/// Name, own tools, included toolsets.
type Row = (&'static str, &'static [&'static str], &'static [&'static str]);

#[rustfmt::skip]
const TABLE: &[Row] = &[
    ("browser", &["browser_back", "browser_cdp", "browser_click", "browser_console", "browser_dialog",
        "browser_get_images", "browser_navigate", "browser_press", "browser_scroll", "browser_snapshot",
        "browser_type", "browser_vision"], &["search"]),
    ("clarify", &["clarify"], &[]),
    ("code_execution", &["execute_code"], &[]),
    ("coding", &[], &["terminal", "file", "web", "skills", "browser", "vision", "todo", "memory",
        "session_search", "clarify", "code_execution", "delegation"]),
    ("computer_use", &["computer_use"], &[]),
    ("context_engine", &[], &[]),
    ("cronjob", &["cronjob"], &[]),
    ("debugging", &["terminal", "process"], &["web", "file"]),
    ("delegation", &["delegate_task"], &[]),
    ("discord", &["discord"], &[]),
    ("discord_admin", &["discord_admin"], &[]),
    ("feishu_doc", &["feishu_doc_read"], &[]),
    ("feishu_drive", &["feishu_drive_add_comment", "feishu_drive_list_comment_replies",
        "feishu_drive_list_comments", "feishu_drive_reply_comment"], &[]),
    ("file", &["patch", "read_file", "search_files", "write_file"], &[]),
    ("hermes-acp", &["process", "terminal"], &["file", "web", "skills", "browser", "vision", "todo", "memory",
        "session_search", "code_execution", "delegation"]),
    ("hermes-api-server", &["process", "terminal"], &["file", "web", "skills", "browser", "vision", "image_gen",
        "todo", "memory", "session_search", "code_execution", "delegation", "cronjob", "homeassistant"]),
    ("hermes-cli", &[], &["coding", "image_gen", "tts", "cronjob", "homeassistant", "kanban", "computer_use"]),
    ("hermes-discord", &[], &["hermes-cli", "discord", "discord_admin"]),
    ("hermes-feishu", &[], &["hermes-cli", "feishu_doc", "feishu_drive"]),
    ("hermes-gateway", &[], &["hermes-discord", "hermes-feishu", "hermes-yuanbao", "hermes-webhook"]),
    ("hermes-webhook", &[], &["web", "vision", "clarify"]),
    ("hermes-yuanbao", &[], &["hermes-cli", "yuanbao"]),
    ("homeassistant", &["ha_call_service", "ha_get_state", "ha_list_entities", "ha_list_services"], &[]),
    ("image_gen", &["image_generate"], &[]),
    ("kanban", &["kanban_attach", "kanban_attach_url", "kanban_attachments", "kanban_block", "kanban_comment",
        "kanban_complete", "kanban_create", "kanban_heartbeat", "kanban_link", "kanban_list", "kanban_show",
        "kanban_unblock"], &[]),
    ("memory", &["memory"], &[]),
    ("project", &["project_create", "project_list", "project_switch"], &[]),
    ("safe", &[], &["web", "vision", "image_gen"]),
    ("search", &["web_search"], &[]),
    ("session_search", &["session_search"], &[]),
    ("skills", &["skill_manage", "skill_view", "skills_list"], &[]),
    ("spotify", &["spotify_albums", "spotify_devices", "spotify_library", "spotify_playback",
        "spotify_playlists", "spotify_queue", "spotify_search"], &[]),
    ("terminal", &["close_terminal", "process", "read_terminal", "terminal"], &[]),
    ("todo", &["todo"], &[]),
    ("tts", &["text_to_speech"], &[]),
    ("video", &["video_analyze"], &[]),
    ("video_gen", &["video_generate", "xai_video_edit", "xai_video_extend"], &[]),
    ("vision", &["vision_analyze"], &[]),
    ("web", &["web_extract", "web_search"], &[]),
    ("x_search", &["x_search"], &[]),
    ("yuanbao", &["yb_query_group_info", "yb_query_group_members", "yb_search_sticker", "yb_send_dm",
        "yb_send_sticker"], &[]),
];

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Deserialize)]
    struct Case {
        #[serde(rename = "in")]
        name: String,
        out: BTreeSet<String>,
    }

    #[test]
    fn toolsets_hold_what_the_python_release_says() {
        for line in include_str!("../tests/cases/toolsets.jsonl").lines() {
            let case: Case = serde_json::from_str(line).unwrap();
            let Some(Selection::Listed { tools, .. }) = resolve(&case.name) else {
                panic!("{} is unknown", case.name);
            };
            let tools: BTreeSet<String> = tools.into_iter().map(str::to_owned).collect();
            assert_eq!(tools, case.out, "{}", case.name);
        }
    }

    #[test]
    fn older_names_and_everything_are_understood() {
        for (old, new) in LEGACY {
            assert_eq!(resolve(old), resolve(new), "{old}");
        }
        assert_eq!(resolve("*"), Some(Selection::Everything));
        assert_eq!(resolve("nonsense"), None);
    }
}
