//! `config.yaml` as it is: its text, and the tree of values in it.

use std::fmt;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::error::ConfigError;
use crate::home::HomeError;

/// The largest file of settings that is read: what people write is a thousandth of it.
const MOST_BYTES: u64 = 4 << 20;

/// The text of a file of settings; nothing where there is none.
pub(crate) fn read_settings(path: &Path) -> Result<Option<String>, ConfigError> {
    let failed = |error| ConfigError::from(HomeError::io("read", path)(error));
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(error)),
    };
    let size = file.metadata().map_err(failed)?.len();
    let mut bytes = Vec::with_capacity(usize::try_from(size.min(MOST_BYTES)).unwrap_or_default());
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > MOST_BYTES {
        let size = size.max(bytes.len() as u64);
        return Err(ConfigError::TooLarge { path: path.to_owned(), size, most: MOST_BYTES });
    }
    let text = String::from_utf8(bytes);
    text.map(Some).map_err(|_| ConfigError::NotText { path: path.to_owned() })
}

/// A loaded `config.yaml`. A missing file is an empty one.
#[derive(Clone, Default)]
pub struct ConfigFile {
    path: PathBuf,
    text: String,
    tree: Value,
}

impl ConfigFile {
    /// Reads the file; on malformed YAML the error names the place and the file stays as it is.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text = read_settings(path)?.unwrap_or_default();
        Self::parse(path, text)
    }

    /// Like [`ConfigFile::load`], for text that is already here.
    pub fn parse(path: &Path, text: String) -> Result<Self, ConfigError> {
        let mut tree = parse_tree(path, &text)?;
        if let Some(network) = tree.pointer_mut("/sandbox/network") {
            flatten_network(network);
        }
        Ok(Self { path: path.to_owned(), text, tree })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The text exactly as it stands in the file.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The whole file as one mapping.
    pub fn tree(&self) -> &Value {
        &self.tree
    }

    /// The raw value of a dotted key, `${…}` not filled in. `model.default` is also found in
    /// `model: NAME`.
    pub fn get(&self, key: &str) -> Option<&Value> {
        if let ("model.default", Some(name @ Value::String(_))) = (key, self.tree.get("model")) {
            return Some(name);
        }
        key.split('.').try_fold(&self.tree, |at, segment| at.get(segment))
    }

    /// The line a key stands on, as far as it is written one key per line.
    pub fn line_of(&self, key: &str) -> Option<usize> {
        let mut lines = self.text.lines().enumerate().map(|(at, line)| (at + 1, line));
        let mut outer = None;
        let mut found = None;
        for segment in key.split('.') {
            let hit = lines.find(|(_, line)| {
                let indent = line.len() - line.trim_start().len();
                outer.is_none_or(|outer| indent > outer) && named(line) == Some(segment)
            });
            let Some((number, line)) = hit else { break };
            outer = Some(line.len() - line.trim_start().len());
            found = Some(number);
        }
        found
    }

    /// Dotted keys of everything that is not a section, with their values.
    pub fn leaves(&self) -> Vec<(String, &Value)> {
        let mut found = Vec::new();
        collect("", &self.tree, &mut found);
        found
    }
}

impl fmt::Debug for ConfigFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ConfigFile({})", self.path.display())
    }
}

/// The values in `text`; an empty document is an empty mapping.
pub(crate) fn parse_tree(path: &Path, text: &str) -> Result<Value, ConfigError> {
    let malformed = |line: usize, reason: String| ConfigError::Malformed {
        path: path.to_owned(),
        line,
        key: text.lines().nth(line.saturating_sub(1)).and_then(named).map(str::to_owned),
        reason,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    match serde_saphyr::from_str::<Value>(text) {
        Ok(Value::Null) => Ok(Value::Object(Map::new())),
        Ok(tree @ Value::Object(_)) => Ok(tree),
        Ok(_) => Err(malformed(1, "the file must consist of `key: value` lines".into())),
        Err(error) => {
            // The snippet would show the neighbouring lines, and they may hold keys.
            let error = error.without_snippet();
            // An unfinished value is noticed after the last line.
            let line = error.location().map_or(1, |at| at.line() as usize).min(text.lines().count());
            Err(malformed(line, reason(&error.to_string())))
        }
    }
}

/// The first line of the parser's message, without the position we say ourselves.
fn reason(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    let line = line.split(" at line ").next().unwrap_or(line);
    line.trim_start_matches("error: ").trim_end_matches(['.', ':']).to_owned()
}

/// The key a line starts with.
fn named(line: &str) -> Option<&str> {
    let (key, _) = line.split_once(':')?;
    let key = key.trim().trim_matches(['"', '\'']);
    let plain = |char: char| char.is_ascii_alphanumeric() || "_-.".contains(char);
    (!key.is_empty() && key.chars().all(plain)).then_some(key)
}

fn collect<'a>(prefix: &str, value: &'a Value, found: &mut Vec<(String, &'a Value)>) {
    match value {
        Value::Object(entries) if !entries.is_empty() || prefix.is_empty() => {
            for (key, value) in entries {
                let key = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
                collect(&key, value, found);
            }
        }
        value => found.push((prefix.to_owned(), value)),
    }
}

/// Reads `sandbox.network` as the list that the setting is: `allow: [hosts]` is that list, and a bare `on` or `off`
/// may arrive as a boolean.
fn flatten_network(network: &mut Value) {
    match network {
        Value::Bool(is_on) => *network = Value::from(vec![if *is_on { "on" } else { "off" }]),
        Value::Object(forms) if forms.len() == 1 && forms.get("allow").is_some_and(Value::is_array) => {
            *network = forms.get_mut("allow").map(Value::take).unwrap_or_default();
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn parse(text: &str) -> Result<ConfigFile, ConfigError> {
        ConfigFile::parse(Path::new("/h/config.yaml"), text.to_owned())
    }

    #[test]
    fn network_has_one_form() {
        for (written, want) in [
            ("on", json!(["on"])),
            ("false", json!(["off"])),
            ("{allow: [a.org, b.org]}", json!(["a.org", "b.org"])),
            ("{allow: []}", json!([])),
            ("[a.org]", json!(["a.org"])),
            ("{deny: [a.org]}", json!({ "deny": ["a.org"] })),
        ] {
            let file = parse(&format!("sandbox: {{network: {written}}}\n")).unwrap();
            let found = file.get("sandbox.network").unwrap();
            let word = found.as_str().map(|word| json!([word]));
            assert_eq!(word.as_ref().unwrap_or(found), &want, "{written}");
        }
    }

    #[test]
    fn a_missing_or_empty_file_is_empty() {
        let dir = tempfile::tempdir().unwrap();
        let missing = ConfigFile::load(&dir.path().join("config.yaml")).unwrap();
        assert_eq!((missing.text(), missing.tree()), ("", &json!({})));
        for text in ["", "\n", "# only a comment\n", "---\n", "null\n", "{}\n"] {
            assert_eq!(parse(text).unwrap().tree(), &json!({}), "{text:?}");
        }
    }

    #[test]
    fn malformed_text_is_reported_with_its_place() {
        for (text, line, key) in [
            ("a: 1\nb: [1, 2\nc: 3\n", 3, Some("c")),
            ("a: 1\na: 2\n", 2, Some("a")),
            ("a: 1\n  b: 2\n", 2, Some("b")),
            ("a:\n\t- x\n", 2, None),
            ("key: \"open\n", 1, Some("key")),
            ("- a\n- b\n", 1, None),
            ("just text\n", 1, None),
        ] {
            match parse(text).map(|file| file.tree) {
                Err(ConfigError::Malformed { line: at, key: near, reason, .. }) => {
                    assert_eq!((at, near.as_deref()), (line, key), "{text:?}: {reason}");
                    assert!(!reason.is_empty() && !reason.contains("at line"), "{reason}");
                }
                other => panic!("{text:?}: {other:?}"),
            }
        }
    }

    #[test]
    fn errors_show_nothing_of_the_file() {
        let error = parse("model:\n  api_key: sk-hush-hush\n  base: [\n").unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hush"), "{error}");
    }

    #[test]
    fn keys_are_found_in_both_spellings_of_model() {
        let bare = parse("model: some/name\n").unwrap();
        assert_eq!(
            (bare.get("model.default"), bare.get("model.provider")),
            (Some(&json!("some/name")), None)
        );
        let full = parse("model: {default: name}\n").unwrap();
        assert_eq!(full.get("model.default"), Some(&json!("name")));
    }

    #[test]
    fn lines_are_found_for_block_keys() {
        let file = parse("# x\na:\n  b: 1\n\n  c:\n    b: 2\nb: 3\nd: {e: 1}\n").unwrap();
        for (key, line) in [("a", 2), ("a.b", 3), ("a.c.b", 6), ("d.e", 8)] {
            assert_eq!(file.line_of(key), Some(line), "{key}");
        }
        assert_eq!(file.line_of("nowhere"), None);
    }
}
