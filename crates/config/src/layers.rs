//! The layers of a setting in order of precedence: flags, `.env`, the shell, `config.yaml` or the default.
//!
//! [`Config`] holds the layers and the [`Settings`] read from them. A wrong value is an error for the operation
//! that needs it and not for every command at start-up; [`Config::check`] lists all of them.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hermes_guard::Secrets;
use hermes_prompt::HintChange;
use hermes_providers::credentials::{ClockAndRandom, Credentials};
use hermes_providers::login::LoginOverrides;
use hermes_providers::{TimeLimits, providers};
use secrecy::SecretString;
use serde_json::Value;

use super::Kind;
use super::env_file::EnvFile;
use super::error::{ConfigError, Origin, Problem};
use super::expand::expand;
use super::file::ConfigFile;
use super::keys::{Key, Order};
use super::resolve::Resolved;
use super::secret_names::{is_secret_key, is_secret_variable};
use super::settings::{Setting, Settings};
use super::telemetry::holds_headers;
use super::value::Parsed;
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

/// The settings in force and the layers that they come from.
pub struct Config {
    layers: Layers,
    /// The declared settings, each with its source.
    pub settings: Settings,
    /// The values of declared settings that cannot be used.
    problems: Vec<Problem>,
}

/// A value and its place.
pub(crate) struct Found {
    pub(crate) value: Parsed,
    pub(crate) source: Source,
    pub(crate) origin: Origin,
}

impl Config {
    pub fn new(layers: Layers) -> Self {
        let (settings, problems) = Settings::load(&layers);
        Self { layers, settings, problems }
    }

    /// Parses the text of a `config.yaml`; the other layers are empty.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let file = ConfigFile::parse(Path::new("config.yaml"), text.to_owned())?;
        Ok(Self::new(Layers { file, ..Layers::default() }))
    }

    /// Reads `config.yaml`, `.env` and `auth.json` of a home under the given flags and shell variables.
    pub fn load(
        home: &Home,
        flags: Vec<(String, String)>,
        shell: BTreeMap<String, String>,
        outside: ClockAndRandom,
    ) -> Result<Self, ConfigError> {
        let dotenv = EnvFile::load(&home.env_file())?;
        let file = ConfigFile::load(&home.config_file())?;
        let credentials = Arc::new(Credentials::load(home.auth_file(), outside));
        Ok(Self::new(Layers { flags, dotenv, shell, file, credentials }))
    }

    pub fn layers(&self) -> &Layers {
        &self.layers
    }

    /// The timeouts of calls of a model in the entry of its provider; values of the model precede those of the
    /// provider.
    pub fn time_limits_with(&self, label: &str, model: &str) -> Result<TimeLimits, ConfigError> {
        Ok(self.layers.time_limits_with(label, model)?)
    }

    /// The login settings of a provider, under its id or an alias.
    pub fn login_overrides(&self, provider: &str) -> Result<LoginOverrides, ConfigError> {
        Ok(self.layers.login_overrides(provider)?)
    }

    /// The change of a platform's hint: a text is added to it; `replace` and `append` are explicit.
    pub fn platform_hint(&self, platform: &str) -> Result<HintChange, ConfigError> {
        Ok(self.layers.platform_hint(platform)?)
    }

    /// An environment variable, `.env` before the shell; an empty one counts as not set.
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.layers.variable(name)
    }

    /// Everything that is wrong with known settings.
    pub fn check(&self) -> Vec<ConfigError> {
        let of_keys = self.problems.iter().cloned().map(ConfigError::from);
        let of_tasks = self.settings.auxiliary.problems().cloned().map(ConfigError::from);
        let of_logins = providers().find_map(|provider| self.login_overrides(provider.id).err());
        of_keys.chain(self.settings.providers.get().err()).chain(of_tasks).chain(of_logins).collect()
    }

    /// Every value that must never be shown: from `.env`, the shell, `config.yaml` and `auth.json`.
    pub fn secrets(&self) -> Secrets {
        let variables = self
            .layers
            .dotenv
            .iter()
            .chain(self.layers.shell.iter().map(|(name, value)| (&**name, &**value)));
        let named = variables.filter(|(name, _)| is_secret_variable(name));
        let mut all: Vec<(String, SecretString)> =
            named.map(|(name, value)| (name.to_owned(), value.into())).collect();
        let lookup = self.lookup();
        for (key, value) in self.layers.file.leaves() {
            secret_texts(&key, value, &mut |key, text| {
                all.push((key.to_owned(), expand(text, &lookup).into_owned().into()));
            });
        }
        let named = self.layers.key_variables().into_iter().chain(self.layers.fallback_key_variables());
        for name in named.chain(self.layers.auxiliary_key_variables()) {
            all.extend(self.variable(&name).map(|value| (name.clone(), SecretString::from(value))));
        }
        all.extend(
            self.layers
                .flags
                .iter()
                .filter(|(key, _)| is_secret_key(key))
                .map(|(k, v)| (k.clone(), v.clone().into())),
        );
        all.extend(self.layers.credentials.secrets());
        Secrets::new(all)
    }

    /// The place of a setting's value, for messages.
    pub fn origin<T>(&self, setting: &Setting<T>) -> Origin {
        self.layers.origin(setting.source(), setting.variable())
    }

    /// Finds the value of a key that the user typed. A key that is not in the table is looked up in flags and
    /// `config.yaml` only.
    pub(crate) fn resolve(&self, key: &str) -> Result<Option<Found>, ConfigError> {
        let Some(known) = Key::find(key) else {
            return Ok(self.unknown(key));
        };
        let found = self.layers.resolve(known, self.layers.file.get(known.name))?;
        Ok(match found {
            Some(Resolved { value, source, variable }) => {
                Some(Found { value, source, origin: self.layers.origin(source, variable) })
            }
            None => Parsed::of_default(known.default).map(|value| Found {
                value,
                source: Source::Default,
                origin: Origin::Default,
            }),
        })
    }

    fn unknown(&self, key: &str) -> Option<Found> {
        if let Some((_, text)) = self.layers.flags.iter().rev().find(|(name, _)| name == key) {
            return Some(Found {
                value: Parsed::Text(text.clone()),
                source: Source::Flag,
                origin: Origin::Flag,
            });
        }
        let value = match self.layers.file.get(key)? {
            Value::Null => return None,
            Value::Bool(on) => Parsed::Boolean(*on),
            Value::String(text) => Parsed::Text(expand(text, &self.lookup()).into_owned()),
            list @ Value::Array(_) => Parsed::of_tree(Kind::List, list, &self.lookup())
                .flatten()
                .unwrap_or_else(|| Parsed::Text(list.to_string())),
            other => Parsed::Text(other.to_string()),
        };
        Some(Found { value, source: Source::File, origin: self.file_origin(key) })
    }

    fn lookup(&self) -> impl Fn(&str) -> Option<String> {
        |name| self.variable(name).map(str::to_owned)
    }

    fn file_origin(&self, key: &str) -> Origin {
        Origin::File { path: self.layers.file.path().to_owned(), line: self.layers.file.line_of(key) }
    }
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Config({})", self.layers.file.path().display())
    }
}

/// The variables that are text; others cannot set anything Hermes reads.
pub fn shell_variables(all: impl IntoIterator<Item = (OsString, OsString)>) -> BTreeMap<String, String> {
    all.into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
        .collect()
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
