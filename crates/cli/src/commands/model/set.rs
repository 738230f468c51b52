//! `hermes model set`: saves a choice as a whole or not at all.

use super::parse_choice::{Choice, Known, parse_choice};
use crate::commands::config::{failure, read};
use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use hermes_config::settings::ModelSettings;
use hermes_config::{self, Config, Key, SetReport};
use hermes_runtime::{
    CustomProvider, ModelsError, ResolveError, custom_name, custom_provider, find_provider, is_custom_id,
    model_choice, parse_base_url,
};
use hermes_terminal::{print, term};
use serde_json::{Value, json};

pub(super) fn run(argument: &str, yes: bool, common: &Common) -> Result<Exit, Failure> {
    // The flags are the choice to save, not an override.
    let settings = read(&common.without_model())?;
    let named = settings.settings.providers.get().map_err(failure)?;
    let known = current(&settings, &named.entries);
    let choice = match &common.model.provider {
        Some(name) => {
            let unknown = || ModelsError::from(ResolveError::UnknownProvider { name: name.clone() });
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
    let name = settings.settings.model.provider.get().ok().filter(|name| **name != "auto");
    let named = name.and_then(|name| nothing.provider(name));
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
    if dropped.contains(&ModelSettings::api_key.name)
        && !yes
        && !confirm(
            "model.api_key belongs to the old address. Remove it from config.yaml?",
            "model.api_key belongs to the old address; add --yes to remove it from config.yaml",
        )?
    {
        term::print_error("No change.");
        return Ok(Exit::FailedTurn);
    }
    let mut changes: Vec<(&str, Option<&str>)> = Vec::new();
    changes.extend(choice.provider.as_deref().map(|provider| (ModelSettings::provider.name, Some(provider))));
    changes.extend(choice.model.as_deref().map(|model| (ModelSettings::default.name, Some(model))));
    changes.extend(choice.base_url.as_deref().map(|url| (ModelSettings::base_url.name, Some(url))));
    changes.extend(dropped.iter().map(|key| (*key, None)));
    let reports = hermes_config::change(&launch::home()?, &changes).map_err(failure)?;
    let plain = common.without_model();
    let problem = model_choice::endpoint(&read(&plain)?).err().map(|error| error.to_string());
    report(&reports, problem.as_deref(), common);
    let is_new = reports.iter().any(|done| done.key == ModelSettings::provider.name && done.changed);
    let old = settings.layers().file.get(ModelSettings::default.name);
    if let (true, None, Some(old)) = (is_new, &choice.model, old) {
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
        Err(ModelsError::Resolve(
            ResolveError::NoKey { .. } | ResolveError::NoEntryKey { .. } | ResolveError::NoLogin { .. },
        )) => Ok(()),
        Err(error) => Err(bad(format!("{error}; nothing was changed"))),
    }
}

/// The keys in config.yaml that belong to the previous provider or model.
fn dropped(settings: &Config, choice: &Choice) -> Vec<&'static str> {
    let file = &settings.layers().file;
    let written =
        |key: Key| file.get(key.name).filter(|value| !value.is_null()).and_then(|value| value.as_str());
    let entries = settings.settings.providers.get().map_or(&[][..], |named| &named.entries);
    let known = Known { current: None, label: String::new(), entries };
    let old = written(ModelSettings::provider).filter(|name| !name.trim().is_empty() && *name != "auto");
    // An unknown name is replaced, too.
    let old = old.map(|name| known.provider(name).unwrap_or_else(|| name.to_owned()));
    let stays = match (&choice.provider, &old) {
        (None, _) => true,
        (Some(new), Some(old)) => new == old,
        // An address without a provider belongs to a custom endpoint.
        (Some(new), None) => is_custom_id(new),
    };
    let is_other_address = choice
        .base_url
        .as_deref()
        .is_some_and(|url| written(ModelSettings::base_url).is_some_and(|old| old != url));
    let other_model =
        choice.model.as_deref().is_some_and(|model| written(ModelSettings::default) != Some(model));
    let mut keys = Vec::new();
    if !stays && choice.base_url.is_none() {
        keys.push(ModelSettings::base_url.name);
    }
    if !stays || is_other_address {
        keys.extend([ModelSettings::api_key.name, ModelSettings::api_mode.name]);
    }
    if !stays || is_other_address || other_model {
        keys.extend([ModelSettings::context_length.name, ModelSettings::ollama_num_ctx.name]);
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
