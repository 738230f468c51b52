//! Settings: their names and types, the files they are read from, and edits of these files.
//!
//! [`Settings`] has a field for each known setting, read from four layers: flags, `.env`, the shell's environment
//! and `config.yaml`. [`KEYS`] is the table of these fields. [`set`] and [`unset`] change the files of the user, so
//! they touch exactly the named key, keep comments and unknown keys, and check the result before it is written.

mod addresses;
mod auxiliary;
pub mod clock;
mod coerce;
mod command;
mod custom_providers;
mod edit;
mod env_file;
mod error;
mod expand;
mod explain;
mod fallback_providers;
mod file;
pub mod home;
mod hooks;
mod keys;
mod layers;
mod login_overrides;
mod loop_limits;
mod personality;
mod platform_toolsets;
mod pool_strategies;
mod prompting;
mod provider_keys;
mod request_extras;
mod resolve;
mod secret_names;
pub mod settings;
mod skills;
mod stop_checks;
mod suggest;
mod telemetry;
#[cfg(test)]
mod testing;
mod unsupported_safety;
mod unused;
mod value;
mod yaml_text;

pub use auxiliary::{AuxProvider, AuxSettings, AuxiliarySettings};
pub use command::{SetReport, Target, change, change_list, set, set_list, unset};
pub use custom_providers::NamedProviders;
pub use env_file::{EnvFile, EnvNotice};
pub use error::{ConfigError, Origin, Problem};
pub use explain::Explanation;
pub use fallback_providers::{FallbackEntries, FallbackEntry};
pub use file::ConfigFile;
pub use hooks::{HookEntries, HookEntry, Matcher};
pub use keys::{Env, Fallback, KEYS, Key, Kind, Order};
pub use layers::{Config, Layers, Source, shell_variables};
pub use personality::{Personality, all_personalities};
pub use platform_toolsets::{ChosenBy, ChosenToolsets, PlatformToolsets, platform_toolsets_key};
pub use pool_strategies::PoolStrategies;
pub use prompting::Personalities;
pub use secret_names::is_hidden_variable;
pub use settings::{Setting, Settings};
pub use skills::platform_disabled_key;
pub use suggest::distance;
pub use telemetry::OtlpSettings;
pub use unsupported_safety::{BACKENDS, Refused, UnsupportedSafety};
pub use unused::{UnusedKey, unused_by_section, unused_summary};
