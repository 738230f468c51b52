//! `hermes model set`: saves a choice as a whole or not at all.

use super::parse_choice::{Choice, Known, parse_choice};
use crate::commands::config::{failure, read};
use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use hermes_config::{self, Config, SetReport};
use hermes_runtime::{
    CustomProvider, ResolveError, RuntimeError, custom_name, custom_provider, find_provider, is_custom_id,
    model_choice, parse_base_url,
};
use hermes_terminal::{print, term};
use serde_json::{Value, json};

pub(super) fn run(argument: &str, yes: bool, common: &Common) -> Result<Exit, Failure> {
    // The flags are the choice to save, not an override.
    let settings = read(&common.without_model())?;
    let named = settings.named_providers().map_err(failure)?;
    let known = current(&settings, &named.entries);
    let choice = match &common.model.provider {
        Some(name) => {
            let unknown = || RuntimeError::from(ResolveError::UnknownProvider { name: name.clone() });
            let provider = known.provider(name).ok_or_else(unknown);
            let provider = provider.map_err(|error| launch::blame_flags(error, common))?;
            Choice { provider: Some(provider), model: Some(argument.trim().to_owned()), base_url: None }
        }
        None => parse_choice(argument, &known).map_err(Failure::usage)?,
    };
    save(&settings, &choice, yes, common)
}

/// The current provider. A configured one counts even if its key is missing.
fn current<'a>(settings: &Config, entries: &'a [CustomProvider]) -> Known<'a> {
    let nothing = Known { current: None, label: String::new(), entries };
    let name = settings.text("model.provider").ok().flatten().filter(|name| name != "auto");
    let named = name.and_then(|name| nothing.provider(&name));
    let label = named.or_else(|| Some(model_choice::place(settings, None).ok()?.label()));
    match label {
        Some(label) => {
            let current = match custom_name(&label) {
                Some(_) => Some(custom_provider()),
                None => find_provider(&label),
            };
            Known { current, label, entries }
        }
        None => nothing,
    }
}

/// Checks a choice, writes it, and reports what is still missing.
pub(super) fn save(settings: &Config, choice: &Choice, yes: bool, common: &Common) -> Result<Exit, Failure> {
    check(settings, choice)?;
    let dropped = dropped(settings, choice);
    if dropped.contains(&"model.api_key")
        && !yes
        && !confirm(
            "model.api_key belongs to the old address. Remove it from config.yaml?",
            "model.api_key belongs to the old address; add --yes to remove it from config.yaml",
        )?
    {
        term::complain("No change.");
        return Ok(Exit::FailedTurn);
    }
    let mut changes: Vec<(&str, Option<&str>)> = Vec::new();
    changes.extend(choice.provider.as_deref().map(|provider| ("model.provider", Some(provider))));
    changes.extend(choice.model.as_deref().map(|model| ("model.default", Some(model))));
    changes.extend(choice.base_url.as_deref().map(|url| ("model.base_url", Some(url))));
    changes.extend(dropped.iter().map(|key| (*key, None)));
    let reports = hermes_config::change(&launch::home()?, &changes).map_err(failure)?;
    let plain = common.without_model();
    let problem = model_choice::endpoint(&read(&plain)?).err().map(|error| error.to_string());
    report(&reports, problem.as_deref(), common);
    let is_new = reports.iter().any(|done| done.key == "model.provider" && done.changed);
    if let (true, None, Some(old)) = (is_new, &choice.model, settings.layers().file.get("model.default")) {
        print::notice(&format!(
            "model.default is still {old}; `hermes model list {}` lists the models",
            choice.provider.as_deref().unwrap_or_default()
        ));
    }
    Ok(Exit::Answered)
}

/// Rejects a provider that cannot be used and an invalid address.
fn check(settings: &Config, choice: &Choice) -> Result<(), Failure> {
    let bad = |line: String| Failure::new(Exit::Usage, line);
    let Some(name) = &choice.provider else { return Ok(()) };
    if let Some(why) = find_provider(name).and_then(|provider| provider.not_yet()) {
        return Err(bad(format!("{name} cannot be used yet: {why}; nothing was changed")));
    }
    if let Some(url) = &choice.base_url {
        return match parse_base_url(url) {
            Ok(_) => Ok(()),
            Err(error) => Err(bad(format!("{error}; nothing was changed"))),
        };
    }
    match model_choice::place(settings, Some(name)) {
        // A key or a login can follow; everything else must be valid.
        Ok(_) => Ok(()),
        Err(RuntimeError::Resolve(
            ResolveError::NoKey { .. } | ResolveError::NoEntryKey { .. } | ResolveError::NoLogin { .. },
        )) => Ok(()),
        Err(error) => Err(bad(format!("{error}; nothing was changed"))),
    }
}

/// The keys in config.yaml that belong to the previous provider or model.
fn dropped(settings: &Config, choice: &Choice) -> Vec<&'static str> {
    let file = &settings.layers().file;
    let written = |key: &str| file.get(key).filter(|value| !value.is_null()).and_then(|value| value.as_str());
    let entries = settings.named_providers().map(|named| named.entries).unwrap_or_default();
    let known = Known { current: None, label: String::new(), entries: &entries };
    let old = written("model.provider").filter(|name| !name.trim().is_empty() && *name != "auto");
    // An unknown name is replaced, too.
    let old = old.map(|name| known.provider(name).unwrap_or_else(|| name.to_owned()));
    let stays = match (&choice.provider, &old) {
        (None, _) => true,
        (Some(new), Some(old)) => new == old,
        // An address without a provider belongs to a custom endpoint.
        (Some(new), None) => is_custom_id(new),
    };
    let is_other_address =
        choice.base_url.as_deref().is_some_and(|url| written("model.base_url").is_some_and(|old| old != url));
    let other_model = choice.model.as_deref().is_some_and(|model| written("model.default") != Some(model));
    let mut keys = Vec::new();
    if !stays && choice.base_url.is_none() {
        keys.push("model.base_url");
    }
    if !stays || is_other_address {
        keys.extend(["model.api_key", "model.api_mode"]);
    }
    if !stays || is_other_address || other_model {
        keys.extend(["model.context_length", "model.ollama_num_ctx"]);
    }
    keys.retain(|key| file.get(key).is_some());
    keys
}

fn report(reports: &[SetReport], problem: Option<&str>, common: &Common) {
    if common.json {
        let row = |done: &SetReport| json!({ "key": done.key, "value": done.shown, "changed": done.changed });
        let rows: Vec<Value> = reports.iter().map(row).collect();
        print::json(&json!({ "changes": rows, "problem": problem }));
        return;
    }
    for done in reports {
        let path = done.path.display();
        let line = match &done.shown {
            Some(value) => format!("✓ Set {} = {value} in {path}", done.key),
            None => format!("✓ Removed {} from {path}", done.key),
        };
        term::print_line(&term::printable(&line));
    }
    if let Some(problem) = problem {
        print::notice(&format!("still missing: {problem}"));
    }
}
