//! `hermes auth list` and `hermes auth status`: credentials and their state.

use crate::commands::config::read;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use hermes_runtime::Availability;
use hermes_runtime::auth::{self, EntryView, PoolView};
use hermes_runtime::clock::local_zone;
use hermes_terminal::{print, term};
use jiff::Timestamp;
use serde_json::{Value, json};

pub(super) fn list(provider: Option<&str>, common: &Common) -> Result<Exit, Failure> {
    print(provider, common, |pool| {
        let head = format!("{} ({})", pool.provider, pool.strategy);
        std::iter::once(head).chain(lines(&pool.entries)).collect()
    })
}

pub(super) fn status(provider: Option<&str>, common: &Common) -> Result<Exit, Failure> {
    print(provider, common, |pool| {
        let next = pool.entries.iter().find(|entry| entry.is_next);
        let head = match next {
            Some(next) => format!("{}: `{}` ({}) is used next", pool.provider, next.label, next.key),
            None => format!("{}: no credential is available now", pool.provider),
        };
        let others = pool.entries.iter().filter(|entry| entry.availability != Availability::Ready);
        std::iter::once(head)
            .chain(others.map(|entry| format!("  `{}` {}", entry.label, why(entry))))
            .collect()
    })
}

fn print(
    provider: Option<&str>,
    common: &Common,
    shown: impl Fn(&PoolView) -> Vec<String>,
) -> Result<Exit, Failure> {
    let pools = auth::list(&read(common)?, provider).map_err(launch::blame_argument)?;
    if common.json {
        print::json(&json!(pools.iter().map(as_json).collect::<Vec<_>>()));
        return Ok(Exit::Answered);
    }
    let shown = pools.iter().filter(|pool| !pool.entries.is_empty()).flat_map(shown);
    print::lines(shown.map(|line| term::printable(&line).into_owned()));
    if pools.iter().all(|pool| pool.entries.is_empty()) {
        let whose = provider.map(|name| format!(" for {name}")).unwrap_or_default();
        let line = format!("No credentials{whose}; `hermes auth add PROVIDER` stores a key.");
        term::print_line(&term::printable(&line));
    }
    Ok(Exit::Answered)
}

fn lines(entries: &[EntryView]) -> Vec<String> {
    let width = |field: fn(&EntryView) -> &str| {
        entries.iter().map(|entry| field(entry).chars().count()).max().unwrap_or(0)
    };
    let (labels, keys) = (width(|entry| &entry.label), width(|entry| &entry.key));
    let sources = width(|entry| &entry.source);
    let line = |entry: &EntryView| {
        let mark = if entry.is_next { "→" } else { " " };
        let EntryView { number, id, label, auth_type, key, source, .. } = entry;
        let state = state(entry);
        format!(
            "{mark} {number}  {id}  {label:labels$}  {auth_type:7}  {key:keys$}  {source:sources$}  {state}"
        )
    };
    entries.iter().map(line).collect()
}

fn state(entry: &EntryView) -> String {
    match entry.availability {
        Availability::Ready => "ready".to_owned(),
        Availability::CoolingDown { until } => format!("in cooldown until {}", local(until)),
        Availability::Dead => "rejected by the provider".to_owned(),
        Availability::NoKey => "not set here".to_owned(),
    }
}

/// The state and its reason.
fn why(entry: &EntryView) -> String {
    let error = &entry.last_error;
    let said = error.message.clone().or_else(|| error.reason.clone());
    let said = said.or_else(|| error.code.map(|code| format!("HTTP {code}")));
    match (&entry.availability, said) {
        (Availability::NoKey, _) | (_, None) => state(entry),
        (_, Some(said)) => format!("{}: {said}", state(entry)),
    }
}

fn local(moment: f64) -> String {
    let time = Timestamp::from_microsecond((moment * 1e6) as i64).unwrap_or_default();
    time.to_zoned(local_zone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
}

fn as_json(pool: &PoolView) -> Value {
    let entry = |entry: &EntryView| {
        let (state, until) = match entry.availability {
            Availability::Ready => ("ready", None),
            Availability::CoolingDown { until } => ("resting", Some(until)),
            Availability::Dead => ("dead", None),
            Availability::NoKey => ("no_key", None),
        };
        let error = &entry.last_error;
        json!({
            "number": entry.number,
            "id": entry.id,
            "label": entry.label,
            "auth_type": entry.auth_type,
            "source": entry.source,
            "key": entry.key,
            "base_url": entry.base_url,
            "state": state,
            "until": until,
            "next": entry.is_next,
            "request_count": entry.request_count,
            "last_error": {
                "at": error.at,
                "code": error.code,
                "reason": error.reason,
                "message": error.message,
            },
        })
    };
    json!({
        "provider": pool.provider,
        "strategy": pool.strategy,
        "credentials": pool.entries.iter().map(entry).collect::<Vec<_>>(),
    })
}
