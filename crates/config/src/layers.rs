//! The layers of a setting in order of precedence: flags, `.env`, the shell, `config.yaml` or the default.
//!
//! Nothing is computed ahead: a setting is resolved when it is asked for, so a wrong value is an
//! error for the one who needs it and not for everybody at start-up. [`Config::check`] asks for all.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hermes_conversation::{AuxTask, Money};
use hermes_guard::Secrets;
use hermes_providers::credentials::{Credentials, Outside};
use hermes_providers::providers;
use secrecy::SecretString;
use serde_json::Value;

use super::env_file::EnvFile;
use super::error::{ConfigError, Origin};
use super::expand::expand;
use super::file::ConfigFile;
use super::keys::{Env, Key, Order};
use super::secret_names::{is_secret_key, is_secret_variable};
use super::telemetry::holds_headers;
use super::value::{Setting, boolean, found, wanted};
use super::{KEYS, Kind};
use crate::home::Home;

/// The source of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    Flag,
    DotEnv,
    Shell,
    File,
    Default,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Source::Flag => "flag",
            Source::DotEnv => ".env",
            Source::Shell => "shell",
            Source::File => "config.yaml",
            Source::Default => "default",
        })
    }
}

impl Order {
    /// The layers to ask, first one first. This is the whole precedence rule.
    pub fn sources(self) -> &'static [Source] {
        use Source::{Default, DotEnv, File, Flag, Shell};
        match self {
            Order::EnvFirst => &[Flag, DotEnv, Shell, File, Default],
            Order::FileFirst => &[Flag, File, DotEnv, Shell, Default],
            Order::EnvOnly => &[Flag, DotEnv, Shell, Default],
        }
    }
}

/// Everything settings are read from.
#[derive(Default)]
pub struct Layers {
    /// Dotted keys and their text, as given by command-line flags.
    pub flags: Vec<(String, String)>,
    pub dotenv: EnvFile,
    /// The environment this process was started with.
    pub shell: BTreeMap<String, String>,
    pub file: ConfigFile,
    /// The content of `auth.json`. Not settings, but keys are looked up together with them.
    pub credentials: Arc<Credentials>,
}

/// The settings in force.
pub struct Config(Layers);

/// A value and where it was found.
pub(crate) struct Resolved {
    pub(crate) value: Setting,
    pub(crate) source: Source,
    pub(crate) origin: Origin,
}

impl Config {
    pub fn new(layers: Layers) -> Self {
        Self(layers)
    }

    /// Parses the text of a `config.yaml`; the other layers are empty.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let file = ConfigFile::parse(Path::new("config.yaml"), text.to_owned())?;
        Ok(Self(Layers { file, ..Layers::default() }))
    }

    /// Reads `config.yaml`, `.env` and `auth.json` of a home under the given flags and shell variables.
    pub fn load(
        home: &Home,
        flags: Vec<(String, String)>,
        shell: BTreeMap<String, String>,
        outside: Outside,
    ) -> Result<Self, ConfigError> {
        let dotenv = EnvFile::load(&home.env_file())?;
        let file = ConfigFile::load(&home.config_file())?;
        let credentials = Arc::new(Credentials::load(home.auth_file(), outside));
        Ok(Self(Layers { flags, dotenv, shell, file, credentials }))
    }

    pub fn layers(&self) -> &Layers {
        &self.0
    }

    /// A setting as text, whatever its type; `None` if it is not set and has no default.
    pub fn text(&self, key: &str) -> Result<Option<String>, ConfigError> {
        Ok(self.resolve(key)?.map(|found| found.value.shown()))
    }

    pub fn integer(&self, key: &str) -> Result<Option<i64>, ConfigError> {
        self.typed(key, Kind::Integer, |value| match value {
            Setting::Integer(number) => Some(number),
            _ => None,
        })
    }

    pub fn dollars(&self, key: &str) -> Result<Option<Money>, ConfigError> {
        self.typed(key, Kind::Dollars, |value| match value {
            Setting::Dollars(digits) => Money::parse(&digits),
            _ => None,
        })
    }

    /// A number from 0 to 1.
    pub fn share(&self, key: &str) -> Result<Option<f64>, ConfigError> {
        self.typed(key, Kind::Share, |value| match value {
            Setting::Share(digits) => digits.parse().ok(),
            _ => None,
        })
    }

    /// A boolean setting; false if it is not set and has no default.
    pub fn boolean(&self, key: &str) -> Result<bool, ConfigError> {
        let on = self.typed(key, Kind::Boolean, |value| match value {
            Setting::Boolean(on) => Some(on),
            _ => None,
        })?;
        Ok(on.unwrap_or(false))
    }

    pub fn list(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        let items = self.typed(key, Kind::List, |value| match value {
            Setting::List(items) => Some(items),
            _ => None,
        })?;
        Ok(items.unwrap_or_default())
    }

    /// A setting that must not be printed, such as `model.api_key` or `OPENAI_API_KEY`.
    pub fn secret(&self, key: &str) -> Result<Option<SecretString>, ConfigError> {
        Ok(self.text(key)?.filter(|text| !text.is_empty()).map(SecretString::from))
    }

    /// An environment variable, `.env` before the shell; an empty one counts as not set.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.variable_in(Source::DotEnv, name).or_else(|| self.variable_in(Source::Shell, name))
    }

    /// Everything that is wrong with known settings.
    pub fn check(&self) -> Vec<ConfigError> {
        let of_keys = KEYS.iter().filter_map(|key| self.resolve(key.name).err());
        let of_tasks = AuxTask::ALL.iter().filter_map(|task| self.auxiliary(*task).err());
        let of_logins = providers().find_map(|provider| self.login_overrides(provider.id).err());
        of_keys.chain(self.named_providers().err()).chain(of_tasks).chain(of_logins).collect()
    }

    /// Every value that must never be shown: from `.env`, the shell, `config.yaml` and `auth.json`.
    pub fn secrets(&self) -> Secrets {
        let variables =
            self.0.dotenv.iter().chain(self.0.shell.iter().map(|(name, value)| (&**name, &**value)));
        let named = variables.filter(|(name, _)| is_secret_variable(name));
        let mut all: Vec<(String, SecretString)> =
            named.map(|(name, value)| (name.to_owned(), value.into())).collect();
        let lookup = self.lookup();
        for (key, value) in self.0.file.leaves() {
            secret_texts(&key, value, &mut |key, text| {
                all.push((key.to_owned(), expand(text, &lookup).into_owned().into()));
            });
        }
        let named = self.key_variables().into_iter().chain(self.fallback_key_variables());
        for name in named.chain(self.auxiliary_key_variables()) {
            all.extend(self.variable(&name).map(|value| (name.clone(), SecretString::from(value))));
        }
        all.extend(
            self.0
                .flags
                .iter()
                .filter(|(key, _)| is_secret_key(key))
                .map(|(k, v)| (k.clone(), v.clone().into())),
        );
        all.extend(self.0.credentials.secrets());
        Secrets::new(all)
    }

    /// Finds the layer that decides `key`. A key that is not in the table is looked up in flags and
    /// `config.yaml` only.
    pub(crate) fn resolve(&self, key: &str) -> Result<Option<Resolved>, ConfigError> {
        let Some(known) = Key::find(key) else {
            return Ok(self.unknown(key));
        };
        for source in known.order.sources() {
            let resolved = match source {
                Source::Flag => self.in_flag(known)?,
                Source::DotEnv | Source::Shell => self.in_variable(known, *source)?,
                Source::File => self.in_file(known)?,
                Source::Default => from_default(known),
            };
            if resolved.is_some() {
                return Ok(resolved);
            }
        }
        Ok(None)
    }

    fn typed<T>(
        &self,
        key: &str,
        kind: Kind,
        pick: impl Fn(Setting) -> Option<T>,
    ) -> Result<Option<T>, ConfigError> {
        let Some(found) = self.resolve(key)? else {
            return Ok(None);
        };
        let (origin, text) = (found.origin, found.value.shown());
        match pick(found.value).or_else(|| Setting::of_text(kind, &text).and_then(&pick)) {
            Some(value) => Ok(Some(value)),
            None => Err(wrong_type(origin, key, &text.into(), kind)),
        }
    }

    fn in_flag(&self, key: &Key) -> Result<Option<Resolved>, ConfigError> {
        let alias = |name: &str| Key::find(name).is_some_and(|known| known.name == key.name);
        let Some((_, text)) = self.0.flags.iter().rev().find(|(name, _)| alias(name)) else {
            return Ok(None);
        };
        parsed(key, text, Source::Flag, Origin::Flag)
    }

    fn in_variable(&self, key: &Key, source: Source) -> Result<Option<Resolved>, ConfigError> {
        for variable in key.env {
            let Some(text) = self.variable_in(source, variable.name()) else {
                continue;
            };
            let text = match variable {
                Env::Value(_) => text,
                Env::Switch(_, meaning) if boolean(text.trim()) == Some(true) => meaning,
                Env::Switch(..) => continue,
            };
            let place = if source == Source::DotEnv { ".env" } else { "the environment" };
            let origin = Origin::Variable { name: variable.name().to_owned(), place };
            return parsed(key, text, source, origin);
        }
        Ok(None)
    }

    fn in_file(&self, key: &Key) -> Result<Option<Resolved>, ConfigError> {
        let Some(value) = self.0.file.get(key.name) else {
            return Ok(None);
        };
        if let Some(variable) = Setting::unset_variable(value, &self.lookup()) {
            let (origin, key) = (self.file_origin(key.name), key.name.to_owned());
            return Err(ConfigError::UnsetVariable { origin, key, variable });
        }
        match Setting::of_tree(key.kind, value, &self.lookup()) {
            Some(setting) => {
                let origin = Origin::File { path: self.0.file.path().to_owned(), line: None };
                Ok(setting.map(|value| Resolved { value, source: Source::File, origin }))
            }
            None => Err(wrong_type(self.file_origin(key.name), key.name, value, key.kind)),
        }
    }

    fn unknown(&self, key: &str) -> Option<Resolved> {
        if let Some((_, text)) = self.0.flags.iter().rev().find(|(name, _)| name == key) {
            return Some(Resolved {
                value: Setting::Text(text.clone()),
                source: Source::Flag,
                origin: Origin::Flag,
            });
        }
        let value = match self.0.file.get(key)? {
            Value::Null => return None,
            Value::Bool(on) => Setting::Boolean(*on),
            Value::String(text) => Setting::Text(expand(text, &self.lookup()).into_owned()),
            list @ Value::Array(_) => Setting::of_tree(Kind::List, list, &self.lookup())
                .flatten()
                .unwrap_or_else(|| Setting::Text(list.to_string())),
            other => Setting::Text(other.to_string()),
        };
        Some(Resolved { value, source: Source::File, origin: self.file_origin(key) })
    }

    fn variable_in(&self, source: Source, name: &str) -> Option<&str> {
        let value = match source {
            Source::DotEnv => self.0.dotenv.get(name),
            _ => self.0.shell.get(name).map(String::as_str),
        };
        value.filter(|value| !value.trim().is_empty())
    }

    fn lookup(&self) -> impl Fn(&str) -> Option<String> {
        |name| self.variable(name).map(str::to_owned)
    }

    fn file_origin(&self, key: &str) -> Origin {
        Origin::File { path: self.0.file.path().to_owned(), line: self.0.file.line_of(key) }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Config({})", self.0.file.path().display())
    }
}

/// The variables that are text; others cannot set anything Hermes reads.
pub fn shell_variables(all: impl IntoIterator<Item = (OsString, OsString)>) -> BTreeMap<String, String> {
    all.into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
}

fn parsed(key: &Key, text: &str, source: Source, origin: Origin) -> Result<Option<Resolved>, ConfigError> {
    match Setting::of_text(key.kind, text) {
        Some(value) => Ok(Some(Resolved { value, source, origin })),
        None => Err(wrong_type(origin, key.name, &text.into(), key.kind)),
    }
}

fn from_default(key: &Key) -> Option<Resolved> {
    let value = Setting::of_default(key.default)?;
    Some(Resolved { value, source: Source::Default, origin: Origin::Default })
}

fn wrong_type(origin: Origin, key: &str, value: &Value, kind: Kind) -> ConfigError {
    let secret = is_secret_key(key) || is_secret_variable(key);
    ConfigError::WrongType { origin, key: key.to_owned(), found: found(value, secret), wanted: wanted(kind) }
}

/// Calls `keep` for each secret text at or below a leaf; lists may hold mappings with keys in them.
fn secret_texts(key: &str, value: &Value, keep: &mut dyn FnMut(&str, &str)) {
    match value {
        Value::String(text) if is_secret_key(key) => {
            keep(key, text);
            // `Bearer TOKEN`: the token is as secret without the word before it.
            if let Some((_, word)) = text.trim().rsplit_once(' ').filter(|_| holds_headers(key)) {
                keep(key, word);
            }
        }
        Value::Number(number) if is_secret_key(key) => keep(key, &number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| secret_texts(key, item, keep)),
        Value::Object(entries) => {
            entries.iter().for_each(|(name, value)| secret_texts(&format!("{key}.{name}"), value, keep));
        }
        _ => {}
    }
}

#[cfg(test)]
#[path = "layers_tests.rs"]
mod tests;
