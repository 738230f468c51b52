//! The front matter of a `SKILL.md`: name, description, and conditions of the skill.
//!
//! Other programs write these files, too, so everything but the name and the description may be
//! missing or of another type; a malformed field is ignored.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Maximum characters of a name, a description and a whole `SKILL.md`.
pub const MAX_NAME: usize = 64;
pub const MAX_DESCRIPTION: usize = 1024;
pub const MAX_SKILL_CHARS: usize = 100_000;

/// The parsed front matter of a skill.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FrontMatter {
    pub name: String,
    /// The description on one line.
    pub description: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compatibility: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub related_skills: Vec<String>,
    /// Required environment variables, from either of the two fields that list them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub env_vars: Vec<String>,
    /// Required programs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<String>,
    /// Settings of the skill, with defaults.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<ConfigValue>,
    #[serde(skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
}

/// Conditions for listing a skill in the index. Loading it by name always works.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Conditions {
    /// `linux`, `macos` or `windows`; empty means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub platforms: Vec<String>,
    /// `kanban`, `docker` or `s6`; empty means all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub environments: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires_tools: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub requires_toolsets: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback_for_tools: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fallback_for_toolsets: Vec<String>,
}

impl Conditions {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A setting of a skill, read from `skills.config` of config.yaml.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConfigValue {
    pub key: String,
    pub description: String,
    pub default: Option<String>,
}

/// Parses a whole `SKILL.md`. The error is a message for the user.
pub(super) fn parse(text: &str) -> Result<FrontMatter, String> {
    let chars = text.chars().count();
    if chars > MAX_SKILL_CHARS {
        return Err(format!("{chars} characters, the limit is {MAX_SKILL_CHARS}"));
    }
    let (head, body) = split(text)?;
    if body.trim().is_empty() {
        return Err("no instructions after the frontmatter".to_owned());
    }
    let fields = fields(head)?;
    let front_matter = FrontMatter::from_fields(&fields);
    check_name(&front_matter.name)?;
    check_description(&front_matter.description)?;
    Ok(front_matter)
}

/// Returns the text without its front matter, or the whole text if it has none.
pub fn body(text: &str) -> &str {
    split(text).map_or(text, |(_, body)| body).trim_start_matches(['\r', '\n'])
}

/// Returns the description in the front matter of any text.
pub(super) fn description_in(text: &str) -> Option<String> {
    let fields = fields(split(text).ok()?.0).ok()?;
    text_of(fields.get("description")).map(|description| one_line(&description))
}

/// Checks the name of a skill, which is also the name of its folder.
pub(super) fn check_name(name: &str) -> Result<(), String> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '.' | '_' | '-');
    let begins = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    match name.chars().next() {
        None => Err("`name` is missing in the frontmatter".to_owned()),
        Some(_) if name.len() > MAX_NAME => {
            Err(format!("the name has {} characters, the limit is {MAX_NAME}", name.len()))
        }
        Some(first) if begins(first) && name.chars().all(fits) => Ok(()),
        Some(_) => Err(format!(
            "invalid skill name `{name}`: use lower-case letters, digits, dots, dashes and underscores, beginning \
             with a letter or digit"
        )),
    }
}

fn check_description(text: &str) -> Result<(), String> {
    match text.chars().count() {
        0 => Err("`description` is missing in the frontmatter".to_owned()),
        chars if chars > MAX_DESCRIPTION => {
            Err(format!("the description has {chars} characters, the limit is {MAX_DESCRIPTION}"))
        }
        _ => Ok(()),
    }
}

/// Splits a text into front matter and body.
fn split(text: &str) -> Result<(&str, &str), String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let missing = || "no frontmatter at the beginning (a line `---`, fields, a line `---`)".to_owned();
    let rest = text.strip_prefix("---").ok_or_else(missing)?;
    let rest = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')).ok_or_else(missing)?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Ok((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    Err("unterminated frontmatter: the second line `---` is missing".to_owned())
}

/// Parses the fields of the front matter. Descriptions with a bare colon are common and invalid YAML;
/// then the plain `key: value` lines are read.
fn fields(head: &str) -> Result<Map<String, Value>, String> {
    match serde_saphyr::from_str::<Value>(head) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("the frontmatter has no fields".to_owned()),
        Err(error) => {
            let plain = plain_lines(head);
            if plain.contains_key("name") && plain.contains_key("description") {
                return Ok(plain);
            }
            let first = error.to_string();
            let first = first.lines().next().unwrap_or("unreadable").to_owned();
            Err(format!("invalid YAML in the frontmatter ({first}); quote values with special characters"))
        }
    }
}

fn plain_lines(head: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    for line in head.lines().filter(|line| !line.starts_with([' ', '\t', '#', '-'])) {
        if let Some((key, value)) = line.split_once(':') {
            let value = value.trim().trim_matches(['"', '\'']);
            if !value.is_empty() {
                fields.insert(key.trim().to_owned(), Value::from(value));
            }
        }
    }
    fields
}

impl FrontMatter {
    fn from_fields(fields: &Map<String, Value>) -> Self {
        let hermes = fields.get("metadata").and_then(|metadata| metadata.get("hermes"));
        // Some authors write these fields at the top.
        let own = |name: &str| hermes.and_then(|fields| fields.get(name)).or_else(|| fields.get(name));
        let prerequisites = fields.get("prerequisites");
        let needs = |name: &str| names(prerequisites.and_then(|all| all.get(name)));
        let mut env_vars = needs("env_vars");
        env_vars.extend(names(fields.get("required_environment_variables")));
        env_vars.dedup();
        Self {
            name: text_of(fields.get("name")).unwrap_or_default(),
            description: one_line(&text_of(fields.get("description")).unwrap_or_default()),
            version: text_of(fields.get("version")),
            license: text_of(fields.get("license")),
            author: text_of(fields.get("author")),
            compatibility: text_of(fields.get("compatibility")),
            tags: names(own("tags")),
            related_skills: names(own("related_skills")),
            env_vars,
            commands: needs("commands"),
            config: config_values(own("config")),
            conditions: Conditions {
                platforms: names(fields.get("platforms")).iter().map(|name| name.to_lowercase()).collect(),
                environments: names(fields.get("environments")),
                requires_tools: names(own("requires_tools")),
                requires_toolsets: names(own("requires_toolsets")),
                fallback_for_tools: names(own("fallback_for_tools")),
                fallback_for_toolsets: names(own("fallback_for_toolsets")),
            },
        }
    }
}

fn text_of(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(value) => Some(value.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Reads a list, a comma-separated text, or a list of objects with a `name`.
fn names(value: Option<&Value>) -> Vec<String> {
    let named = |item: &Value| text_of(Some(item)).or_else(|| text_of(item.get("name")));
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(named).collect(),
        Some(Value::String(list)) => {
            let list = list.trim().trim_start_matches('[').trim_end_matches(']');
            list.split(',').map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
        }
        _ => Vec::new(),
    }
}

fn config_values(value: Option<&Value>) -> Vec<ConfigValue> {
    let items = value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let read = |item: &Value| {
        Some(ConfigValue {
            key: text_of(item.get("key"))?,
            description: text_of(item.get("description")).unwrap_or_default(),
            default: text_of(item.get("default")),
        })
    };
    items.iter().filter_map(read).collect()
}

/// Replaces every run of white space by one blank.
pub(super) fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
#[path = "front_matter_tests.rs"]
mod tests;
