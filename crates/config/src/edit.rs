//! Changes one key in the text of `config.yaml` and leaves the rest as it was written.
//!
//! yaml-edit does the cutting, so comments, blank lines, order and unknown keys stay. The result
//! is then read again by the parser that reads settings, and must differ from before in exactly
//! the intended way; otherwise nothing is written. A syntax tree that lost a line is worse than an
//! error.

use std::path::Path;
use std::str::FromStr;

use serde_json::{Map, Value};
use yaml_edit::Document;
use yaml_edit::path::YamlPath;

use super::error::ConfigError;
use super::file::{ConfigFile, parse_tree};
use super::yaml_text::yaml_text;

impl ConfigFile {
    /// This file with `key` set to `value`; missing sections are created.
    pub fn with(&self, key: &str, value: Value) -> Result<ConfigFile, ConfigError> {
        let (key, value) = self.in_its_spelling(key, value)?;
        let segments = segments(&key)?;
        let mut wanted = self.tree().clone();
        put(&mut wanted, &segments, value.clone()).map_err(|depth| ConfigError::NotASection {
            path: self.path().to_owned(),
            section: segments[..depth].join("."),
            key: key.clone(),
        })?;
        let edit = Edit { path: self.path(), key: &key };
        let text = edit.set(self, &value)?;
        edit.checked(text, wanted)
    }

    /// This file without `key`, and without sections that are empty because of it. `None` when the
    /// key was not there.
    pub fn without(&self, key: &str) -> Result<Option<ConfigFile>, ConfigError> {
        if self.get(key).is_none() {
            return Ok(None);
        }
        let bare_model = key == "model.default" && self.tree().get("model").is_some_and(Value::is_string);
        let key = if bare_model { "model" } else { key };
        let mut segments = segments(key)?;
        while let Some((_, parent)) = segments.split_last()
            && !parent.is_empty()
            && self
                .get(&parent.join("."))
                .and_then(Value::as_object)
                .is_some_and(|section| section.len() == 1)
        {
            segments.pop();
        }
        let mut wanted = self.tree().clone();
        take(&mut wanted, &segments);
        let edit = Edit { path: self.path(), key };
        let text = edit.remove(self.text(), &segments.join("."), &wanted)?;
        edit.checked(text, wanted).map(Some)
    }

    /// `model` is a name or a section. Whichever the file has, a change keeps what the other
    /// spelling would have said.
    fn in_its_spelling(&self, key: &str, value: Value) -> Result<(String, Value), ConfigError> {
        let model = self.tree().get("model");
        let rest = key.strip_prefix("model.");
        Ok(match (model, rest) {
            (Some(Value::String(_)), Some("default")) => ("model".into(), value),
            (Some(Value::String(name)), Some(rest)) => {
                let mut section = Value::Object(Map::new());
                if !name.is_empty() {
                    section["default"] = name.as_str().into();
                }
                let inner = segments(rest)?;
                let _ = put(&mut section, &inner, value);
                ("model".into(), section)
            }
            (None | Some(Value::Object(_)), None) if key == "model" && value.is_string() => {
                ("model.default".into(), value)
            }
            _ => (key.into(), value),
        })
    }
}

struct Edit<'a> {
    path: &'a Path,
    key: &'a str,
}

impl Edit<'_> {
    fn set(&self, file: &ConfigFile, value: &Value) -> Result<String, ConfigError> {
        if file.tree().as_object().is_none_or(Map::is_empty) {
            return Ok(self.first_key(file.text(), value));
        }
        let document = self.document(file.text())?;
        // A section is written over several lines, everything else on one.
        let text = match value {
            Value::Object(_) if self.key == "model" => block("", value),
            _ => format!("{}\n", yaml_text(value)),
        };
        let new = self.document(&text)?;
        let done = match (new.as_mapping(), new.as_sequence(), new.as_scalar()) {
            (Some(mapping), _, _) => document.try_set_path(self.key, mapping),
            (_, Some(sequence), _) => document.try_set_path(self.key, sequence),
            (_, _, Some(scalar)) => document.try_set_path(self.key, scalar),
            (None, None, None) => return Err(self.refused("the value could not be written as YAML")),
        };
        done.map_err(|error| self.refused(error))?;
        Ok(document.to_string())
    }

    /// A file without any key may still have comments, which yaml-edit takes for no document.
    fn first_key(&self, text: &str, value: &Value) -> String {
        let mut kept: String = text.lines().filter(|line| !matches!(line.trim(), "{}" | "null" | "~")).fold(
            String::new(),
            |mut kept, line| {
                kept.push_str(line);
                kept.push('\n');
                kept
            },
        );
        let segments: Vec<&str> = self.key.split('.').collect();
        for (depth, segment) in segments.iter().enumerate() {
            kept.push_str(&"  ".repeat(depth));
            kept.push_str(&yaml_text(&(*segment).into()));
            kept.push(':');
            kept.push_str(if depth + 1 < segments.len() { "\n" } else { " " });
        }
        kept.push_str(&yaml_text(value));
        kept.push('\n');
        kept
    }

    fn remove(&self, text: &str, key: &str, wanted: &Value) -> Result<String, ConfigError> {
        let document = self.document(text)?;
        document.try_remove_path(key).map_err(|error| self.refused(error))?;
        let text = document.to_string();
        if wanted.as_object().is_some_and(Map::is_empty) {
            // What is left of the last key is an empty pair of braces.
            return Ok(text.split_inclusive('\n').filter(|line| line.trim() != "{}").collect());
        }
        Ok(text)
    }

    fn document(&self, text: &str) -> Result<Document, ConfigError> {
        Document::from_str(text).map_err(|error| self.refused(error))
    }

    fn checked(&self, mut text: String, wanted: Value) -> Result<ConfigFile, ConfigError> {
        if !text.is_empty() && !text.ends_with('\n') {
            text.push('\n');
        }
        let unreadable = |_| self.refused("the result would not be valid YAML");
        let tree = parse_tree(self.path, &text).map_err(unreadable)?;
        if tree != wanted {
            return Err(self.refused("the result would change other keys as well"));
        }
        ConfigFile::parse(self.path, text)
    }

    fn refused(&self, reason: impl ToString) -> ConfigError {
        ConfigError::CannotEdit {
            path: self.path.to_owned(),
            key: self.key.to_owned(),
            reason: reason.to_string(),
        }
    }
}

/// The parts of a dotted key, each of them safe to hand to yaml-edit's path syntax.
fn segments(key: &str) -> Result<Vec<&str>, ConfigError> {
    let plain = |char: char| char.is_alphanumeric() || "_-/:@+".contains(char);
    let segments: Vec<&str> = key.split('.').collect();
    let good = segments.iter().all(|segment| !segment.is_empty() && segment.chars().all(plain));
    if good { Ok(segments) } else { Err(ConfigError::BadKey { key: key.to_owned() }) }
}

fn block(indent: &str, section: &Value) -> String {
    let Value::Object(entries) = section else {
        return String::new();
    };
    let line = |(key, value): (&String, &Value)| match value {
        Value::Object(inner) if !inner.is_empty() => {
            format!("{indent}{key}:\n{}", block(&format!("{indent}  "), value))
        }
        _ => format!("{indent}{key}: {}\n", yaml_text(value)),
    };
    entries.iter().map(line).collect()
}

/// Sets a value in a tree. Fails with the number of segments that lead to something in the way.
fn put(tree: &mut Value, segments: &[&str], value: Value) -> Result<(), usize> {
    let mut at = tree;
    for (depth, segment) in segments.iter().enumerate() {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(entries) = at else {
            return Err(depth);
        };
        at = entries.entry(*segment).or_insert(Value::Null);
    }
    *at = value;
    Ok(())
}

fn take(tree: &mut Value, segments: &[&str]) {
    let Some((last, parents)) = segments.split_last() else {
        return;
    };
    let section = parents.iter().try_fold(tree, |at, segment| at.get_mut(*segment));
    if let Some(Value::Object(entries)) = section {
        entries.shift_remove(*last);
    }
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
