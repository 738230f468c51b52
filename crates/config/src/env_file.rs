//! `.env` in the home: read without touching the process environment, edited line by line.
//!
//! dotenvy understands the values. The lines are split here, one definition at a time, so that a
//! bad line has a number, costs no other line, and an edit knows what to replace.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::error::ConfigError;
use super::expand::is_name;
use super::file::read_settings;
use super::secret_names::is_secret_variable;

/// A quoted value may go over this many lines: enough for any private key.
const LONGEST_VALUE: usize = 128;

/// A loaded `.env`. A missing file is an empty one.
#[derive(Clone, Default)]
pub struct EnvFile {
    path: PathBuf,
    text: String,
    entries: Vec<Entry>,
    notices: Vec<EnvNotice>,
}

#[derive(Clone)]
struct Entry {
    name: String,
    value: String,
    lines: Range<usize>,
}

/// A notice about `.env` for the user; never contains a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EnvNotice {
    /// The line was skipped.
    BadLine { line: usize },
    /// Characters that cannot be part of a key were left out, as pasting from a web page adds them.
    NonAscii { name: String },
}

impl fmt::Display for EnvNotice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BadLine { line } => write!(f, ".env line {line} is not NAME=value and was skipped"),
            Self::NonAscii { name } => write!(f, "{name} had non-ASCII characters, which were left out"),
        }
    }
}

impl EnvFile {
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        Ok(Self::parse(path, read_settings(path)?.unwrap_or_default()))
    }

    /// Like [`EnvFile::load`], for text that is already here.
    pub fn parse(path: &Path, text: String) -> Self {
        let mut file = Self { path: path.to_owned(), text: String::new(), entries: vec![], notices: vec![] };
        let lines: Vec<&str> = text.trim_start_matches('\u{feff}').lines().collect();
        let mut at = 0;
        while at < lines.len() {
            let line = lines[at].trim();
            let taken = if line.is_empty() || line.starts_with('#') { 1 } else { file.read(&lines, at) };
            at += taken;
        }
        file.text = text;
        file
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    /// The lines that were skipped or cleaned while reading.
    pub fn notices(&self) -> &[EnvNotice] {
        &self.notices
    }

    /// The value of a variable; the last definition counts.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.entries.iter().rev().find(|entry| entry.name == name).map(|entry| entry.value.as_str())
    }

    /// All definitions in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|entry| (entry.name.as_str(), entry.value.as_str()))
    }

    /// This file with `name` set: its last definition is replaced in place, earlier ones go.
    pub fn with(&self, name: &str, value: &str) -> Result<Self, ConfigError> {
        if !is_name(name) {
            return Err(ConfigError::BadVariable { name: name.to_owned() });
        }
        let (value, cleaned) = clean(name, value);
        if value.contains(|char: char| char.is_control() && char != '\n' && char != '\t') {
            return Err(ConfigError::BadVariableValue { name: name.to_owned() });
        }
        let mut changed = self.rewritten(name, Some(&format!("{name}={}", quoted(&value))));
        if changed.get(name) != Some(value.as_str()) || changed.others(name) != self.others(name) {
            let reason = "the result would read differently".to_owned();
            return Err(ConfigError::CannotEdit { path: self.path.clone(), key: name.to_owned(), reason });
        }
        changed.notices.extend(cleaned);
        Ok(changed)
    }

    /// This file without `name`; `None` when it was not there.
    pub fn without(&self, name: &str) -> Option<Self> {
        self.get(name).is_some().then(|| self.rewritten(name, None))
    }

    fn others(&self, name: &str) -> Vec<(&str, &str)> {
        self.iter().filter(|(other, _)| *other != name).collect()
    }

    /// The file with the last definition of `name` replaced (or `line` added) and the others dropped.
    fn rewritten(&self, name: &str, line: Option<&str>) -> Self {
        let mine: Vec<&Range<usize>> =
            self.entries.iter().filter(|entry| entry.name == name).map(|entry| &entry.lines).collect();
        let last = mine.last().map(|lines| lines.start);
        let mut out = String::with_capacity(self.text.len() + 64);
        for (at, old) in self.text.lines().enumerate() {
            match (mine.iter().any(|lines| lines.contains(&at)), line) {
                (false, _) => push_line(&mut out, old, ""),
                (true, Some(line)) if last == Some(at) => push_line(&mut out, line, trailing_comment(old)),
                (true, _) => {}
            }
        }
        if let (None, Some(line)) = (last, line) {
            push_line(&mut out, line, "");
        }
        Self::parse(&self.path, out)
    }

    /// Reads the definition that starts on line `at`; answers how many lines it takes.
    fn read(&mut self, lines: &[&str], at: usize) -> usize {
        let most = if opens_quote(lines[at]) { LONGEST_VALUE.min(lines.len() - at) } else { 1 };
        for count in 1..=most {
            let chunk = lines[at..at + count].join("\n");
            if let Some((name, value)) = self.understand(&chunk) {
                let (value, notice) = clean(&name, &value);
                self.notices.extend(notice);
                self.entries.push(Entry { name, value, lines: at..at + count });
                return count;
            }
        }
        match unquoted(lines[at]) {
            Some((name, value)) => {
                let (value, notice) = clean(name, value);
                self.notices.extend(notice);
                self.entries.push(Entry { name: name.to_owned(), value, lines: at..at + 1 });
            }
            None => self.notices.push(EnvNotice::BadLine { line: at + 1 }),
        }
        1
    }

    fn understand(&self, chunk: &str) -> Option<(String, String)> {
        let mut text = String::new();
        if chunk.contains("${") {
            // Earlier variables, for substitution.
            for entry in &self.entries {
                text.push_str(&format!("{}={}\n", entry.name, quoted(&entry.value)));
            }
        }
        text.push_str(&protected(chunk));
        text.push('\n');
        let items: Vec<_> = dotenvy::from_read_iter(text.as_bytes()).collect();
        let whole = if chunk.contains("${") { self.entries.len() + 1 } else { 1 };
        (items.len() == whole).then(|| items.into_iter().next_back()).flatten()?.ok()
    }
}

impl fmt::Debug for EnvFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "EnvFile({}, {} variables)", self.path.display(), self.entries.len())
    }
}

/// Leaves non-ASCII characters out of secrets and says so.
fn clean(name: &str, value: &str) -> (String, Option<EnvNotice>) {
    if is_secret_variable(name) && !value.is_ascii() {
        let notice = EnvNotice::NonAscii { name: name.to_owned() };
        return (value.chars().filter(char::is_ascii).collect(), Some(notice));
    }
    (value.to_owned(), None)
}

/// Escapes a `$` that starts no `${…}`: dotenvy would take the rest of a password for a name.
fn protected(chunk: &str) -> String {
    let value = chunk.split_once('=').map_or("", |(_, value)| value.trim_start());
    if value.starts_with('\'') {
        return chunk.to_owned();
    }
    let mut out = String::with_capacity(chunk.len());
    let mut chars = chunk.chars().peekable();
    let mut before = ' ';
    while let Some(char) = chars.next() {
        if char == '$' && before != '\\' && chars.peek() != Some(&'{') {
            out.push('\\');
        }
        out.push(char);
        before = char;
    }
    out
}

/// `NAME=some words`: not strict dotenv, but common and plain in meaning.
fn unquoted(line: &str) -> Option<(&str, &str)> {
    let line = line.trim();
    let line = line.strip_prefix("export ").unwrap_or(line);
    let (name, value) = line.split_once('=')?;
    let value = value.split(" #").next().unwrap_or(value).trim();
    (is_name(name.trim()) && !value.starts_with(['"', '\''])).then_some((name.trim(), value))
}

fn opens_quote(line: &str) -> bool {
    line.split_once('=').is_some_and(|(_, value)| value.trim_start().starts_with(['"', '\'']))
}

fn quoted(value: &str) -> String {
    let plain = |char: char| char.is_ascii_alphanumeric() || "_-./:@%+,=".contains(char);
    if value.chars().all(plain) {
        return value.to_owned();
    }
    if !value.contains(['\'', '\\', '\n']) {
        return format!("'{value}'");
    }
    let escaped = value.replace('\\', "\\\\").replace('"', "\\\"").replace('$', "\\$").replace('\n', "\\n");
    format!("\"{escaped}\"")
}

fn trailing_comment(line: &str) -> &str {
    match line.find(" #") {
        Some(at) if !opens_quote(line) => &line[at..],
        _ => "",
    }
}

fn push_line(out: &mut String, line: &str, tail: &str) {
    out.push_str(line);
    out.push_str(tail);
    out.push('\n');
}

#[cfg(test)]
#[path = "env_file_tests.rs"]
mod tests;
