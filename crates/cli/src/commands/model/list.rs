//! `hermes model list`: the providers, and their state.

use super::{key_json, key_text};
use crate::commands::config::{failure, read};
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_config::Config;
use hermes_runtime::{
    KeySource, ModelsError, Provider, ResolveError, custom_label, model_choice, providers, shown_url,
};
use hermes_terminal::{print, term};
use serde_json::{Value, json};

/// A provider or named endpoint, with its state under these settings.
pub(super) struct Row {
    /// The name for `--provider`.
    pub(super) id: String,
    pub(super) name: String,
    pub(super) aliases: &'static [&'static str],
    pub(super) auth: &'static str,
    pub(super) mode: String,
    pub(super) base_url: String,
    pub(super) variables: Vec<String>,
    pub(super) state: State,
}

pub(super) enum State {
    /// Can be used now.
    Ready(KeySource),
    /// Needs configuration; the next step.
    Needs(String),
    /// Not supported by this version; the reason.
    NotYet(String),
}

pub(super) fn run(all: bool, common: &Common) -> Result<Exit, Failure> {
    let mut rows = rows(&read(common)?)?;
    let hidden = rows.iter().filter(|row| matches!(row.state, State::NotYet(_))).count();
    if !all {
        rows.retain(|row| !matches!(row.state, State::NotYet(_)));
    }
    if common.json {
        let rows: Vec<Value> = rows.iter().map(as_json).collect();
        print::json(&json!(rows));
        return Ok(Exit::Answered);
    }
    let is_open = print::lines(lines(&rows).iter().map(|line| term::printable(line)));
    if !all && is_open {
        term::print_line(&format!("{hidden} more cannot be used yet; see `hermes model list --all`."));
    }
    Ok(Exit::Answered)
}

/// All rows; usable ones first, unsupported ones last.
pub(super) fn rows(config: &Config) -> Result<Vec<Row>, Failure> {
    let entries = &config.settings.providers.get().map_err(failure)?.entries;
    let named = entries.iter().map(|entry| Row {
        id: custom_label(&entry.name),
        name: entry.name.clone(),
        aliases: &[],
        auth: "optional_key",
        mode: entry.api_mode.map_or("by address", |mode| mode.as_str()).to_owned(),
        base_url: String::new(),
        variables: entry.key_env.iter().cloned().collect(),
        state: State::Needs(String::new()),
    });
    let mut rows: Vec<Row> = named.chain(providers().map(of_provider)).collect();
    for row in &mut rows {
        fill_in(row, config);
    }
    rows.sort_by_key(|row| match row.state {
        State::Ready(_) => 0,
        State::Needs(_) => 1,
        State::NotYet(_) => 2,
    });
    Ok(rows)
}

fn of_provider(provider: &Provider) -> Row {
    let state = match provider.not_yet() {
        Some(why) => State::NotYet(why.to_owned()),
        None => State::Needs(String::new()),
    };
    Row {
        id: provider.id.to_owned(),
        name: provider.name.to_owned(),
        aliases: provider.aliases,
        auth: provider.auth.as_str(),
        mode: provider.mode_label().to_owned(),
        base_url: provider.base_url.to_owned(),
        variables: provider.key_env.iter().map(|name| (*name).to_owned()).collect(),
        state,
    }
}

/// Its address and key under these settings.
fn fill_in(row: &mut Row, config: &Config) {
    if matches!(row.state, State::NotYet(_)) {
        return;
    }
    row.state = match model_choice::place(config, Some(&row.id)) {
        Ok(place) => {
            row.base_url = shown_url(&place.base_url);
            State::Ready(place.key_source)
        }
        Err(ModelsError::Resolve(ResolveError::NoKey { variable, .. })) => {
            State::Needs(format!("set {variable}"))
        }
        Err(ModelsError::Resolve(ResolveError::NoBaseUrl { .. })) => {
            State::Needs("set model.base_url".to_owned())
        }
        Err(ModelsError::Resolve(ResolveError::NoEntryKey { variable, .. })) => {
            State::Needs(format!("set {variable}"))
        }
        Err(ModelsError::Resolve(ResolveError::NoLogin { why, .. })) => State::Needs(why),
        Err(error) => State::Needs(error.to_string()),
    };
}

fn lines(rows: &[Row]) -> Vec<String> {
    let width = |part: fn(&Row) -> &str| rows.iter().map(|row| part(row).chars().count()).max().unwrap_or(0);
    let (ids, modes, urls) = (width(|row| &row.id), width(|row| &row.mode), width(|row| &row.base_url));
    let line = |row: &Row| {
        let (mark, text) = match &row.state {
            State::Ready(source) => ("✓", key_text(source)),
            State::Needs(what) => (" ", what.clone()),
            State::NotYet(why) => ("✗", format!("not yet: {why}")),
        };
        let text = if text == "none" { "no key needed".to_owned() } else { text };
        format!("{mark} {:ids$}  {:modes$}  {:urls$}  {text}", row.id, row.mode, row.base_url)
    };
    rows.iter().map(line).collect()
}

fn as_json(row: &Row) -> Value {
    let (status, key, reason) = match &row.state {
        State::Ready(source) => ("ready", key_json(source), None),
        State::Needs(what) => ("needs", key_json(&KeySource::None), Some(what)),
        State::NotYet(why) => ("not_yet", key_json(&KeySource::None), Some(why)),
    };
    json!({
        "id": row.id,
        "name": row.name,
        "aliases": row.aliases,
        "auth": row.auth,
        "api_mode": row.mode,
        "base_url": row.base_url,
        "variables": row.variables,
        "status": status,
        "reason": reason,
        "key": key,
    })
}
