//! Settings in `config.yaml` that have no effect in this version.
//!
//! A key that the Python release knows is named only where its value differs from the default there: a file
//! with all defaults written out promises nothing. The table of those defaults is read only when a file has
//! keys that this version does not use.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use serde_json::{Value, json};

use super::keys::{Key, Kind};
use super::layers::{Config, Layers};
use super::suggest::suggestion;

/// The leaf keys of the Python release 0.19 with their defaults.
const PYTHON_DEFAULTS: &str = include_str!("python_defaults.json");
/// Names in one line before the rest is only counted.
const NAMED: usize = 6;

/// A key in `config.yaml` that this version does not read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnusedKey {
    pub key: String,
    pub line: Option<usize>,
    /// The Python release has a setting of this name.
    pub is_known: bool,
    pub suggestion: Option<&'static str>,
}

impl fmt::Display for UnusedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not used by this version", self.key)?;
        self.suggestion.map_or(Ok(()), |name| write!(f, "; did you mean `{name}`?"))
    }
}

impl Config {
    /// Keys of `config.yaml` that this version does not read and that are not at their defaults.
    pub fn unused_keys(&self) -> Vec<UnusedKey> {
        let file = &self.layers().file;
        let layers = self.layers();
        let of_entries = layers
            .unused_entry_fields()
            .into_iter()
            .chain(layers.unused_fallback_fields())
            .chain(layers.unused_auxiliary_fields());
        let unread = file
            .leaves()
            .into_iter()
            .filter(|(key, value)| !is_read(key) || is_unsupported_choice(key, value));
        let all: Vec<(String, Option<&Value>)> = unread
            .map(|(key, value)| (key, Some(value)))
            .chain(of_entries.map(|key| (key.clone(), file.get(&key))))
            .collect();
        if all.is_empty() {
            return Vec::new();
        }
        let defaults = Defaults::read();
        let differs =
            |(key, value): &(String, Option<&Value>)| value.is_none_or(|value| !defaults.has(key, value));
        let unused = all.into_iter().filter(differs).map(|(key, _)| {
            let is_known = defaults.knows(&key);
            let suggestion = if is_known { None } else { suggestion(&key) };
            UnusedKey { line: file.line_of(&key), is_known, suggestion, key }
        });
        unused.collect()
    }
}

/// Returns true if this version reads a leaf of `config.yaml`.
fn is_read(key: &str) -> bool {
    Key::find(key).is_some()
        || key.starts_with('_')
        || key == "custom_providers"
        || Config::is_safety_key(key)
        || ["providers.", "credential_pool_strategies."].iter().any(|start| key.starts_with(start))
        || Layers::is_fallback_key(key)
        || Layers::is_hook_key(key)
        || Layers::is_docker_env_key(key)
        || Layers::is_platform_toolsets_key(key)
        || Layers::is_auxiliary_key(key)
        || Layers::is_login_key(key)
        || Config::is_otlp_header(key)
        || Layers::is_prompt_key(key)
        || Config::is_skill_key(key)
}

/// Returns true if a setting has an unsupported choice, such as a memory provider that is not built in.
fn is_unsupported_choice(key: &str, value: &Value) -> bool {
    let (Some(Kind::Choice(words)), Some(word)) = (Key::find(key).map(|known| known.kind), value.as_str())
    else {
        return false;
    };
    !word.contains("${") && !words.iter().any(|known| known.eq_ignore_ascii_case(word.trim()))
}

/// The defaults of the Python release.
pub(super) struct Defaults(HashMap<String, Value>);

impl Defaults {
    pub(super) fn read() -> Self {
        // The file is ours and tested; without it every key would count as set.
        Self(serde_json::from_str(PYTHON_DEFAULTS).unwrap_or_default())
    }

    fn knows(&self, key: &str) -> bool {
        self.0.contains_key(key) || also_default(key).is_some()
    }

    /// Returns true if `value` is the default of `key`, or null.
    pub(super) fn has(&self, key: &str, value: &Value) -> bool {
        let is = |default: &Value| same(value, default);
        is_empty(value) && self.0.get(key).is_none_or(is_empty)
            || value.is_null()
            || self.0.get(key).is_some_and(is)
            || also_default(key).as_ref().is_some_and(is)
    }
}

/// The interactive program of the Python release has a table of its own, which differs in these.
fn also_default(key: &str) -> Option<Value> {
    Some(match key {
        "display.streaming" => json!(true),
        "delegation.max_iterations" => json!(45),
        "clarify.timeout" => json!(120),
        "code_execution.timeout" | "terminal.lifetime_seconds" => json!(300),
        "code_execution.max_tool_calls" => json!(50),
        "terminal.env_type" => json!("local"),
        "agent.verbose" => json!(false),
        "agent.system_prompt" | "agent.prefill_messages_file" => json!(""),
        _ => return None,
    })
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(entries) => entries.is_empty(),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Equal, whether a whole number is written with a point or without.
fn same(value: &Value, default: &Value) -> bool {
    match (value, default) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        _ => value == default || is_empty(value) && is_empty(default),
    }
}

/// One line about all unused settings, for the start of a run.
pub fn unused_summary(unused: &[UnusedKey]) -> Option<String> {
    let names: Vec<String> = sections(unused).into_iter().map(|section| section.short()).collect();
    let verb = match unused.len() {
        0 => return None,
        1 => "1 setting in config.yaml is",
        count => return Some(format!("{count} settings in config.yaml are {}", not_used(&names))),
    };
    Some(format!("{verb} {}", not_used(&names)))
}

fn not_used(names: &[String]) -> String {
    format!("not used by this version: {} (`hermes doctor` lists them)", listed(names))
}

/// One line for each section of `config.yaml`, for a thorough look.
pub fn unused_by_section(unused: &[UnusedKey]) -> Vec<String> {
    sections(unused).into_iter().map(|section| section.long()).collect()
}

fn listed(names: &[String]) -> String {
    match names.len() {
        count if count > NAMED => format!("{} and {} more", names[..NAMED].join(", "), count - NAMED),
        _ => names.join(", "),
    }
}

/// The unused keys below one word at the left of `config.yaml`.
struct Section<'a> {
    name: &'a str,
    keys: Vec<&'a UnusedKey>,
}

impl Section<'_> {
    fn short(&self) -> String {
        match self.keys.as_slice() {
            [one] => with_suggestion(one),
            several => format!("{} ({} keys)", self.name, several.len()),
        }
    }

    fn long(&self) -> String {
        let names: Vec<String> = self.keys.iter().map(|key| with_suggestion(key)).collect();
        format!("not used by this version: {}", listed(&names))
    }
}

fn with_suggestion(unused: &UnusedKey) -> String {
    match unused.suggestion {
        Some(name) => format!("{} (did you mean {name}?)", unused.key),
        None => unused.key.clone(),
    }
}

fn sections(unused: &[UnusedKey]) -> Vec<Section<'_>> {
    let mut found: BTreeMap<&str, Vec<&UnusedKey>> = BTreeMap::new();
    for key in unused {
        let name = key.key.split(['.', '[']).next().unwrap_or(&key.key);
        found.entry(name).or_default().push(key);
    }
    found.into_iter().map(|(name, keys)| Section { name, keys }).collect()
}

#[cfg(test)]
#[path = "unused_tests.rs"]
mod tests;
