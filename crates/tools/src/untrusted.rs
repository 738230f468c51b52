//! Untrusted results: from the web and from servers of third parties.
//!
//! They are sent to the model as a marked block of data; the displayed and stored result is unchanged.
//! Those that go to a file have a name by which they are recognised when they are read back, by any session
//! and process. Their content is not inspected here.

use crate::{Origin, ToolContext};
use hermes_conversation::{Content, ToolMessage};
use hermes_guard::fence;
use std::path::Path;

/// Tools whose results come from outside, by name.
const NAMES: [&str; 2] = ["web_search", "web_extract"];
const PREFIXES: [&str; 2] = ["browser_", "mcp_"];
/// Characters below which there is no room for anything but a plain answer.
const SHORTEST: usize = 32;

/// The ending of the names of files with untrusted text. `store` knows it too.
pub(crate) const ENDING: &str = ".untrusted.txt";

/// The origin of a file's text, by its name; also in a copy of it elsewhere.
pub(crate) fn origin_of(path: &Path) -> Origin {
    let name = path.file_name().and_then(|name| name.to_str());
    match name.is_some_and(|name| name.ends_with(ENDING)) {
        true => Origin::Outside,
        false => Origin::Here,
    }
}

/// The origin of a list of matches in files. It names the files; in doubt the list is marked.
pub(crate) fn origin_of_list(found: &str) -> Origin {
    if found.contains(ENDING) { Origin::Outside } else { Origin::Here }
}

/// Returns true if a tool of this name returns untrusted text.
pub(crate) fn is_named(name: &str) -> bool {
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Marks what is sent of a result as data.
pub(crate) fn mark(message: &mut ToolMessage, cx: &ToolContext) {
    let Content::Text(text) = &message.content else { return };
    if text.chars().nth(SHORTEST - 1).is_some() {
        message.api_content = Some(fence(&cx.fence_key(), &message.tool_name, text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Bench;
    use hermes_conversation::CallId;

    #[test]
    fn untrusted_tools_are_recognised_by_name() {
        for (name, want) in [
            ("web_search", true),
            ("web_extract", true),
            ("web_searching", false),
            ("browser_click", true),
            ("mcp_github_list", true),
            ("mcp", false),
            ("read_file", false),
            ("my_browser_x", false),
        ] {
            assert_eq!(is_named(name), want, "{name}");
        }
    }

    #[test]
    fn short_answers_are_left_and_the_result_stays_clean() {
        let bench = Bench::new();
        for (text, is_marked) in [("ü".repeat(31), false), ("ü".repeat(32), true)] {
            let mut message = ToolMessage::new(CallId::new("c"), "web_search", text.clone());
            mark(&mut message, &bench.cx);
            assert_eq!(message.content, Content::Text(text.clone()));
            let sent = message.api_content.clone().unwrap_or_default();
            assert_eq!(sent.starts_with("<untrusted_tool_result source=\"web_search\""), is_marked, "{sent}");
            // The same words give the same bytes.
            let once = message.clone();
            mark(&mut message, &bench.cx);
            assert_eq!(message, once);
        }
    }
}
