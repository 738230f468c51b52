//! `hermes config`: read and change settings.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::{environment, launch};
use clap::Subcommand;
use hermes_config::{Config, ConfigError, Explanation, SetReport};
use hermes_runtime::{RuntimeError, load_config};
use hermes_terminal::{print, term};
use serde_json::{Value, json};

/// Read and change settings
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes config show
  hermes config set agent.max_turns 50
  hermes config set OPENAI_API_KEY sk-...
  hermes config explain model.default")]
pub(crate) enum ConfigCommand {
    /// Print the value of a setting
    Get {
        /// Setting, such as model.default
        key: String,
    },
    /// Change a setting; names such as OPENAI_API_KEY go to .env
    Set {
        /// Setting, such as model.default, or variable
        key: String,
        /// New value
        value: String,
    },
    /// Reset a setting to its default
    Unset {
        /// Setting, such as model.default, or variable
        key: String,
    },
    /// Show settings that differ from the defaults
    Show {
        /// Show every setting
        #[arg(long)]
        all: bool,
    },
    /// Print the path of config.yaml
    Path,
    /// Show the value of a setting, its source and its default
    Explain {
        /// Setting, such as model.default
        key: String,
    },
}

pub(crate) fn run(command: ConfigCommand, common: &Common) -> Result<Exit, Failure> {
    let home = launch::home()?;
    match command {
        ConfigCommand::Path => {
            term::print_line(&home.config_file().display().to_string());
            Ok(Exit::Answered)
        }
        ConfigCommand::Set { key, value } => {
            report(&hermes_config::set(&home, &key, &value).map_err(failure)?, common);
            Ok(Exit::Answered)
        }
        ConfigCommand::Unset { key } => {
            report(&hermes_config::unset(&home, &key).map_err(failure)?, common);
            Ok(Exit::Answered)
        }
        ConfigCommand::Get { key } => get(&read(common)?, &key, common),
        ConfigCommand::Explain { key } => explain(&read(common)?, &key, common),
        ConfigCommand::Show { all } => show(&read(common)?, all, common),
    }
}

/// The settings in effect. Unlike opening a session, reading them creates no files.
pub(crate) fn read(common: &Common) -> Result<Config, Failure> {
    let shell = hermes_config::shell_variables(environment::variables());
    load_config(&launch::home()?, launch::flags(common), shell).map_err(failure)
}

pub(crate) fn failure(error: ConfigError) -> Failure {
    RuntimeError::from(error).into()
}

fn get(config: &Config, key: &str, common: &Common) -> Result<Exit, Failure> {
    let found = config.explain(key).map_err(failure)?;
    match found.value {
        Some(value) if common.json => print::json(&json!(value)),
        Some(value) => term::print_line(&term::printable(&value)),
        None => {
            return Err(Failure::new(Exit::FailedTurn, format!("`{key}` is not set and has no default")));
        }
    };
    Ok(Exit::Answered)
}

fn explain(config: &Config, key: &str, common: &Common) -> Result<Exit, Failure> {
    let found = config.explain(key).map_err(failure)?;
    if common.json {
        print::json(&as_json(&found));
        return Ok(Exit::Answered);
    }
    let or_none = |value: &Option<String>| value.as_deref().unwrap_or("(none)").to_owned();
    let env = if found.env.is_empty() { "(none)".to_owned() } else { found.env.join(", ") };
    let rows = [
        ("key", found.key.clone()),
        ("value", or_none(&found.value)),
        ("source", source(&found)),
        ("default", or_none(&found.default)),
        ("variable", env),
        ("meaning", found.description.to_owned()),
    ];
    print::fields(rows);
    Ok(Exit::Answered)
}

fn source(found: &Explanation) -> String {
    match (&found.value, &found.default) {
        (None, None) => "not set".to_owned(),
        _ => format!("{} ({})", found.source, found.origin),
    }
}

fn show(config: &Config, all: bool, common: &Common) -> Result<Exit, Failure> {
    let found = if all { config.all() } else { config.show() };
    if common.json {
        let list: Vec<Value> = found.iter().map(as_json).collect();
        print::json(&json!(list));
    } else {
        let width = found.iter().map(|row| row.key.len()).max().unwrap_or(0);
        let shown = print::lines(found.iter().map(|row| {
            let value = term::printable(row.value.as_deref().unwrap_or("(none)"));
            format!("{:width$}  {value}  ({})", row.key, row.source)
        }));
        if !shown {
            return Ok(Exit::Answered);
        }
        if found.is_empty() {
            term::print_line("All settings have their defaults; `hermes config show --all` lists them.");
        }
    }
    for problem in config.check() {
        print::notice(&problem.to_string());
    }
    for unused in config.unused_keys() {
        let hint = unused.suggestion.map(|key| format!(" (did you mean `{key}`?)")).unwrap_or_default();
        print::notice(&format!("`{}` in config.yaml is not used by this version{hint}", unused.key));
    }
    Ok(Exit::Answered)
}

pub(crate) fn as_json(found: &Explanation) -> Value {
    json!({
        "key": found.key,
        "value": found.value,
        "source": found.source.to_string(),
        "origin": found.origin.to_string(),
        "default": found.default,
        "env": found.env,
        "description": found.description,
    })
}

fn report(done: &SetReport, common: &Common) {
    for notice in &done.notices {
        print::notice(&notice.to_string());
    }
    if common.json {
        let line =
            json!({ "key": done.key, "path": done.path, "changed": done.changed, "value": done.shown });
        print::json(&line);
        return;
    }
    let path = done.path.display();
    let line = match (&done.shown, done.changed) {
        (Some(value), _) => format!("✓ Set {} = {value} in {path}", done.key),
        (None, true) => format!("✓ Removed {} from {path}", done.key),
        (None, false) => format!("{} was not set in {path}", done.key),
    };
    term::print_line(&term::printable(&line));
}
