//! The layers of the system prompt, in the order in which they are joined.
//!
//! What changes least comes first, so that sessions of one day share the longest prefix.

use crate::steering;

/// What the system prompt is made from. Gathered once, when a session starts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Layers {
    /// Who the assistant is; our own default when absent.
    pub identity: Option<String>,
    /// Names of the tools on offer.
    pub tools: Vec<String>,
    /// Operating system, as `uname -s` would say it.
    pub os: String,
    pub cwd: String,
    /// Where the words will be read: `cli`, or the name of a chat platform.
    pub platform: String,
    /// Text from whoever embeds Hermes.
    pub system_message: Option<String>,
    /// The day the conversation started: a date, never a time, because bytes are a promise.
    pub date: String,
    pub model: String,
    pub provider: String,
}

/// The assembled prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemPrompt(String);

const IDENTITY: &str = "You are Hermes, an assistant that runs on the user's own machine. Be direct and useful. \
Say what you know, say when you are unsure, and prefer the shortest path that really solves the problem.";

const FINISH_THE_WORK: &str = "Carry a task through to a result that you have checked. Use your tools to look, \
change and verify; report only what you have seen. If something stops you, say what it is and what would help.";

const CALL_TOGETHER: &str =
    "When several tool calls do not depend on each other, make them in one reply; they run side by side.";

const TERMINAL: &str = "The terminal keeps its working directory between calls. Prefer commands that end by \
themselves and ask no questions.";

const FILES: &str = "Read a file before you change it. Change existing files with `patch`; use `write_file` for \
new files and complete rewrites. Find things with `search_files`.";

const TODO: &str = "For work of three or more steps keep a list with `todo`.";

const TERMINAL_READER: &str =
    "Your words are shown in a terminal: plain text or light Markdown, no tables wider than 80 columns.";

impl SystemPrompt {
    /// Joins the layers. The same layers give the same bytes.
    pub fn assemble(layers: &Layers) -> Self {
        let parts = [stable(layers), context(layers), volatile(layers)].concat();
        Self(parts.join("\n\n"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn into_string(self) -> String {
        self.0
    }

    /// A stored prompt with the lines that name the model naming another one; `None` for a prompt
    /// without such lines. They are in the last layer, so the last ones that look like them count.
    pub fn renamed(prompt: &str, model: &str, provider: &str) -> Option<String> {
        let lines: Vec<&str> = prompt.split('\n').collect();
        let names = |pair: &[&str]| pair[0].starts_with("Model: ") && pair[1].starts_with("Provider: ");
        let at = lines.windows(2).rposition(names)?;
        let (model, provider) = (format!("Model: {model}"), format!("Provider: {provider}"));
        let new = [&lines[..at], &[&model, &provider], &lines[at + 2..]].concat();
        Some(new.join("\n"))
    }
}

fn stable(layers: &Layers) -> Vec<String> {
    let has = |name: &str| layers.tools.iter().any(|tool| tool == name);
    let mut parts = vec![layers.identity.clone().unwrap_or_else(|| IDENTITY.to_owned())];
    if !layers.tools.is_empty() {
        parts.push(FINISH_THE_WORK.to_owned());
        parts.push(CALL_TOGETHER.to_owned());
    }
    let guidance: Vec<&str> = [
        (has("terminal"), TERMINAL),
        (has("patch") && has("write_file") && has("search_files"), FILES),
        (has("todo"), TODO),
    ]
    .into_iter()
    .filter_map(|(present, text)| present.then_some(text))
    .collect();
    if !guidance.is_empty() {
        parts.push(guidance.join(" "));
    }
    if !layers.tools.is_empty() {
        parts.push(steering::NOTE.to_owned());
    }
    parts.push(format!("Operating system: {}. Working directory at the start: {}.", layers.os, layers.cwd));
    if layers.platform == "cli" {
        parts.push(TERMINAL_READER.to_owned());
    }
    parts
}

fn context(layers: &Layers) -> Vec<String> {
    layers.system_message.clone().into_iter().collect()
}

fn volatile(layers: &Layers) -> Vec<String> {
    vec![format!(
        "Conversation started: {}\nModel: {}\nProvider: {}",
        layers.date, layers.model, layers.provider
    )]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layers() -> Layers {
        Layers {
            tools: ["patch", "read_file", "search_files", "terminal", "todo", "write_file"]
                .map(str::to_owned)
                .into(),
            os: "Linux".into(),
            cwd: "/work".into(),
            platform: "cli".into(),
            date: "Sunday, November 15, 2026".into(),
            model: "m".into(),
            provider: "custom".into(),
            ..Layers::default()
        }
    }

    #[test]
    fn the_whole_prompt() {
        insta::assert_snapshot!(SystemPrompt::assemble(&layers()).as_str());
    }

    #[test]
    fn guidance_is_only_for_tools_that_are_there() {
        let bare = Layers { tools: vec![], identity: Some("You are a test.".into()), ..layers() };
        let prompt = SystemPrompt::assemble(&bare).into_string();
        assert!(prompt.starts_with("You are a test.\n\nOperating system"), "{prompt}");
        assert!(!prompt.contains("tool"), "{prompt}");
    }

    #[test]
    fn a_prompt_is_told_of_another_model_and_of_nothing_else() {
        let prompt = SystemPrompt::assemble(&Layers {
            system_message: Some("Model: T\nProvider: Ford".into()),
            ..layers()
        });
        let other = Layers {
            system_message: Some("Model: T\nProvider: Ford".into()),
            model: "x".into(),
            provider: "custom:y".into(),
            ..layers()
        };
        let renamed = SystemPrompt::renamed(prompt.as_str(), "x", "custom:y");
        assert_eq!(renamed, Some(SystemPrompt::assemble(&other).into_string()));
        assert_eq!(SystemPrompt::renamed("Be brief.\nModel: m", "x", "y"), None);
    }
}
