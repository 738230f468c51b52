//! `hermes skills enable` and `disable`, in config.yaml.

use super::{Place, failure};
use crate::commands::config;
use crate::exit::{Exit, Failure};
use serde_json::json;

pub(super) fn run(place: &Place, name: &str, platform: Option<&str>, on: bool) -> Result<Exit, Failure> {
    let known = place.shelf()?.find(name).map(|skill| skill.name().to_owned());
    let name = match known {
        Ok(name) => name,
        // The name of a deleted skill can be removed from the list.
        Err(_) if on && place.config.platform_disabled_skills().values().flatten().any(|off| off == name) => {
            name.to_owned()
        }
        Err(_)
            if on
                && place
                    .config
                    .settings
                    .skills
                    .disabled
                    .get()
                    .is_ok_and(|off| off.iter().any(|off| off == name)) =>
        {
            name.to_owned()
        }
        Err(error) => return Err(failure(error)),
    };
    let key = match platform {
        None => hermes_config::settings::SkillSettings::disabled.name.to_owned(),
        Some(platform) => hermes_config::platform_disabled_key(checked(platform)?),
    };
    let edit = |list: Vec<String>| edited(list, &name, on);
    let changed = hermes_config::change_list(&place.home, &key, edit).map_err(config::failure)?;
    let state = if on { "enabled" } else { "disabled" };
    let where_ = platform.map_or(String::new(), |platform| format!(" on {platform}"));
    let already = if changed { "" } else { " already" };
    let text = format!("{name} is{already} {state}{where_}; the change applies to new sessions");
    let value = json!({ "name": name, "enabled": on, "platform": platform, "changed": changed });
    place.answer(&text, &value);
    Ok(Exit::Answered)
}

/// The disabled names after a change of one.
fn edited(mut list: Vec<String>, name: &str, on: bool) -> Vec<String> {
    if on {
        list.retain(|off| off != name);
    } else if !list.iter().any(|off| off == name) {
        list.push(name.to_owned());
    }
    list
}

/// A platform's name, which becomes part of a key.
fn checked(platform: &str) -> Result<&str, Failure> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if !platform.is_empty() && platform.chars().all(is_name) {
        return Ok(platform);
    }
    Err(Failure::usage(format!("unknown platform `{platform}`; use cli, telegram, discord or another one")))
}
