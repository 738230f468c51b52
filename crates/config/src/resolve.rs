//! The layer that decides a setting.

use super::error::{Origin, Problem};
use super::keys::{Env, Key};
use super::layers::{Layers, Source};
use super::secret_names::{is_secret_key, is_secret_variable};
use super::value::{Parsed, boolean, found, wanted};
use serde_json::Value;

/// A value and its layer.
pub(crate) struct Resolved {
    pub(crate) value: Parsed,
    pub(crate) source: Source,
    /// The variable that has the value.
    pub(crate) variable: Option<&'static str>,
}

impl Layers {
    /// Finds the first layer that has a value for `key`; `None` means the default. `in_file` is the value in
    /// `config.yaml`.
    pub(crate) fn resolve(&self, key: &Key, in_file: Option<&Value>) -> Result<Option<Resolved>, Problem> {
        for source in key.order.sources() {
            let resolved = match source {
                Source::Flag => self.in_flag(key)?,
                Source::DotEnv | Source::Shell => self.in_variable(key, *source)?,
                Source::File => self.in_file(key, in_file)?,
                Source::Default => None,
            };
            if resolved.is_some() {
                return Ok(resolved);
            }
        }
        Ok(None)
    }

    /// An environment variable, `.env` before the shell; an empty one counts as not set.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variable_in(Source::DotEnv, name).or_else(|| self.variable_in(Source::Shell, name))
    }

    /// The place of a value, for messages.
    pub(crate) fn origin(&self, source: Source, variable: Option<&'static str>) -> Origin {
        let name = variable.unwrap_or_default().to_owned();
        match source {
            Source::Flag => Origin::Flag,
            Source::DotEnv => Origin::Variable { name, place: ".env" },
            Source::Shell => Origin::Variable { name, place: "the environment" },
            Source::File => Origin::File { path: self.file.path().to_owned(), line: None },
            Source::Default => Origin::Default,
        }
    }

    fn in_flag(&self, key: &Key) -> Result<Option<Resolved>, Problem> {
        let Some((_, text)) = self.flags.iter().rev().find(|(name, _)| key.is_named(name)) else {
            return Ok(None);
        };
        self.parsed(key, text, Source::Flag, None)
    }

    fn in_variable(&self, key: &Key, source: Source) -> Result<Option<Resolved>, Problem> {
        for variable in key.env {
            let Some(text) = self.variable_in(source, variable.name()) else {
                continue;
            };
            let text = match variable {
                Env::Value(_) => text,
                Env::Switch(_, meaning) if boolean(text.trim()) == Some(true) => meaning,
                Env::Switch(..) => continue,
            };
            return self.parsed(key, text, source, Some(variable.name()));
        }
        Ok(None)
    }

    fn in_file(&self, key: &Key, value: Option<&Value>) -> Result<Option<Resolved>, Problem> {
        let Some(value) = value else {
            return Ok(None);
        };
        let lookup = |name: &str| self.variable(name).map(str::to_owned);
        let origin = || Origin::File { path: self.file.path().to_owned(), line: self.file.line_of(key.name) };
        if let Some(variable) = Parsed::unset_variable(value, &lookup) {
            return Err(Problem::UnsetVariable { origin: origin(), key: key.name.to_owned(), variable });
        }
        match Parsed::of_tree(key.kind, value, &lookup) {
            Some(parsed) => Ok(parsed.map(|value| Resolved { value, source: Source::File, variable: None })),
            None => Err(wrong_type(origin(), key, value)),
        }
    }

    fn parsed(
        &self,
        key: &Key,
        text: &str,
        source: Source,
        variable: Option<&'static str>,
    ) -> Result<Option<Resolved>, Problem> {
        match Parsed::of_text(key.kind, text) {
            Some(value) => Ok(Some(Resolved { value, source, variable })),
            None => Err(wrong_type(self.origin(source, variable), key, &text.into())),
        }
    }

    fn variable_in(&self, source: Source, name: &str) -> Option<&str> {
        let value = match source {
            Source::DotEnv => self.dotenv.get(name),
            _ => self.shell.get(name).map(String::as_str),
        };
        value.filter(|value| !value.trim().is_empty())
    }
}

fn wrong_type(origin: Origin, key: &Key, value: &Value) -> Problem {
    let secret = is_secret_key(key.name) || is_secret_variable(key.name);
    Problem::WrongType {
        origin,
        key: key.name.to_owned(),
        found: found(value, secret),
        wanted: wanted(key.kind),
    }
}
