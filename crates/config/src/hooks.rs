//! Shell hooks: `hooks` of `config.yaml`.
//!
//! An invalid entry is reported and ignored: no session needs it.

use super::layers::Layers;
use super::settings::SandboxProfile;
use super::settings::free_form::FreeForm;
use hermes_conversation::HookEvent;
use regex::Regex;
use serde_json::{Map, Value};
use std::time::Duration;

/// The fields of an entry that this version reads.
const FIELDS: [&str; 4] = ["matcher", "command", "timeout", "sandbox"];
/// Seconds a hook may take: unless it says so, and at most.
const TIMEOUT: u64 = 60;
const MOST_TIMEOUT: u64 = 300;

/// A program to run at an event.
#[derive(Debug, Clone)]
pub struct HookEntry {
    /// The name of the entry in messages: `hooks.pre_tool_call[1]`.
    pub key: String,
    pub event: HookEvent,
    pub matcher: Matcher,
    /// The command as it is in the file; approvals are for this exact text.
    pub command: String,
    /// The same, split.
    pub argv: Vec<String>,
    pub timeout: Duration,
    /// Its confinement; without it, that of commands.
    pub sandbox: Option<SandboxProfile>,
}

/// The tools of a hook.
#[derive(Debug, Clone)]
pub enum Matcher {
    Everything,
    /// Those whose whole name fits.
    Pattern(Regex),
    /// A pattern that is none stands for itself.
    Name(String),
}

impl Matcher {
    /// The pattern as it was written.
    pub fn pattern(&self) -> Option<&str> {
        match self {
            Self::Everything => None,
            Self::Pattern(pattern) => {
                let text = pattern.as_str();
                Some(text.strip_prefix("^(?:").and_then(|text| text.strip_suffix(")$")).unwrap_or(text))
            }
            Self::Name(name) => Some(name),
        }
    }

    pub fn fits(&self, tool: &str) -> bool {
        match self {
            Self::Everything => true,
            Self::Pattern(pattern) => pattern.is_match(tool),
            Self::Name(name) => name == tool,
        }
    }
}

/// The entries that can be read, and a line for each thing that cannot.
#[derive(Debug, Clone, Default)]
pub struct HookEntries {
    pub entries: Vec<HookEntry>,
    pub warnings: Vec<String>,
}

impl FreeForm for HookEntries {
    /// Reads the hooks in the order of the file.
    fn read(layers: &Layers) -> Self {
        let mut all = HookEntries::default();
        let events = match layers.file.get("hooks") {
            None | Some(Value::Null) => return all,
            Some(Value::Object(events)) => events,
            Some(_) => {
                all.warnings
                    .push("hooks in config.yaml must have a list of hooks per event; no hook runs".into());
                return all;
            }
        };
        for (name, list) in events {
            all.read_event(name, list);
        }
        all
    }
}

impl Layers {
    /// Returns true if a key of the file belongs to hooks.
    pub(super) fn is_hook_key(key: &str) -> bool {
        key == "hooks" || key.starts_with("hooks.")
    }
}

impl HookEntries {
    fn warn(&mut self, key: &str, what: &str) {
        self.warnings.push(format!("{key} in config.yaml {what}"));
    }

    fn read_event(&mut self, name: &str, list: &Value) {
        let key = format!("hooks.{name}");
        let Some(event) = HookEvent::named(name) else {
            let known = HookEvent::ALL.map(HookEvent::as_str).join(", ");
            return self.warn(&key, &format!("is not a hook event and is ignored; known events: {known}"));
        };
        match list {
            Value::Null => {}
            Value::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    self.read_entry(format!("{key}[{}]", at + 1), event, item);
                }
            }
            _ => self.warn(&key, "must be a list of hooks and is ignored"),
        }
    }

    fn read_entry(&mut self, key: String, event: HookEvent, item: &Value) {
        let Some(fields) = item.as_object() else {
            return self.warn(&key, "must be a section with a command and is ignored");
        };
        let command = fields.get("command").and_then(Value::as_str).map_or("", str::trim);
        let argv = match split(command) {
            Ok(argv) => argv,
            Err(why) => return self.warn(&format!("{key}.command"), &format!("{why}; the hook is ignored")),
        };
        for name in fields.keys().filter(|name| !FIELDS.contains(&name.as_str())) {
            self.warn(&format!("{key}.{name}"), "is not known here and is ignored");
        }
        let matcher = self.read_matcher(&key, event, fields);
        let timeout = self.read_timeout(&key, fields.get("timeout"));
        let sandbox = self.read_sandbox(&key, fields.get("sandbox"));
        let command = command.to_owned();
        self.entries.push(HookEntry { key, event, matcher, command, argv, timeout, sandbox });
    }

    fn read_sandbox(&mut self, key: &str, value: Option<&Value>) -> Option<SandboxProfile> {
        match value {
            None | Some(Value::Null) => None,
            Some(Value::String(word)) if word == "workspace" => Some(SandboxProfile::Workspace),
            Some(Value::String(word)) if word == "read-only" => Some(SandboxProfile::ReadOnly),
            Some(Value::String(word)) if word == "full" => Some(SandboxProfile::Full),
            Some(_) => {
                let what = "must be workspace, read-only or full; read-only is used";
                self.warn(&format!("{key}.sandbox"), what);
                Some(SandboxProfile::ReadOnly)
            }
        }
    }

    fn read_matcher(&mut self, key: &str, event: HookEvent, fields: &Map<String, Value>) -> Matcher {
        let key = format!("{key}.matcher");
        let pattern = match fields.get("matcher") {
            None | Some(Value::Null) => return Matcher::Everything,
            Some(Value::String(text)) if text.trim().is_empty() => return Matcher::Everything,
            Some(Value::String(text)) => text.trim(),
            Some(_) => {
                self.warn(&key, "must be a text; the hook is for every tool");
                return Matcher::Everything;
            }
        };
        if !event.is_tool_event() {
            self.warn(&key, "means nothing at this event, which is about no tool");
            return Matcher::Everything;
        }
        Regex::new(&format!("^(?:{pattern})$")).map_or_else(
            |_| {
                self.warn(&key, "is not a valid regular expression; using it as the name of a tool");
                Matcher::Name(pattern.to_owned())
            },
            Matcher::Pattern,
        )
    }

    fn read_timeout(&mut self, key: &str, value: Option<&Value>) -> Duration {
        let key = format!("{key}.timeout");
        let seconds = match value {
            None | Some(Value::Null) => Some(TIMEOUT),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(value) => value.as_u64(),
        };
        let seconds = match seconds {
            Some(0) | None => {
                self.warn(&key, &format!("must be a number of seconds, at least 1; {TIMEOUT} is used"));
                TIMEOUT
            }
            Some(seconds) if seconds > MOST_TIMEOUT => {
                self.warn(&key, &format!("is more than {MOST_TIMEOUT} seconds; {MOST_TIMEOUT} is used"));
                MOST_TIMEOUT
            }
            Some(seconds) => seconds,
        };
        Duration::from_secs(seconds)
    }
}

/// The arguments of a command, split as a shell would.
fn split(command: &str) -> Result<Vec<String>, &'static str> {
    let argv = shlex::split(command).ok_or("has a quote that is not closed")?;
    match argv.first().map(String::as_str) {
        None | Some("") => Err("is missing"),
        Some(program) if program.starts_with(['/', '~']) || !program.contains('/') => Ok(argv),
        // It would be another program in each working directory, chosen by the author of that directory.
        Some(_) => Err("must name its program by a full path, by `~/…`, or by a name to be found in PATH"),
    }
}

#[cfg(test)]
#[path = "hooks_tests.rs"]
mod tests;
