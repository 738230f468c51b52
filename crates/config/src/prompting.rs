//! Settings of the system prompt that are more than one value.

use super::settings::free_form::{FreeForm, Section};
use super::{Layers, Problem};
use hermes_prompt::{HintChange, ToolUse};
use serde_json::Value;

/// The user's personalities: names and overlays.
pub type Personalities = Vec<(String, String)>;

const TOOL_USE: &str = "agent.tool_use_enforcement";
const HINTS: &str = "platform_hints";
const PERSONALITIES: [&str; 2] = ["personalities", "agent.personalities"];

impl FreeForm for Section<ToolUse> {
    fn read(layers: &Layers) -> Self {
        Section(layers.tool_use())
    }
}

impl FreeForm for Section<Personalities> {
    fn read(layers: &Layers) -> Self {
        Section(layers.personalities())
    }
}

impl Layers {
    /// The models that get an instruction to act: `auto`, true, false, or a list of names.
    fn tool_use(&self) -> Result<ToolUse, Problem> {
        let wrong = |value: &Value| self.wrong(TOOL_USE, value, "auto, true, false or a list of model names");
        Ok(match self.file.get(TOOL_USE) {
            None | Some(Value::Null) => ToolUse::Auto,
            Some(Value::Bool(true)) => ToolUse::Always,
            Some(Value::Bool(false)) => ToolUse::Never,
            Some(Value::String(word)) => match word.trim().to_ascii_lowercase().as_str() {
                "auto" | "" => ToolUse::Auto,
                "true" | "always" | "on" | "yes" => ToolUse::Always,
                "false" | "never" | "off" | "no" => ToolUse::Never,
                _ => return Err(wrong(&Value::String(word.clone()))),
            },
            Some(Value::Array(names)) => {
                let names =
                    names.iter().map(|name| name.as_str().map(str::to_owned).ok_or_else(|| wrong(name)));
                ToolUse::Models(names.collect::<Result<_, _>>()?)
            }
            Some(other) => return Err(wrong(other)),
        })
    }

    /// The change of a platform's hint: a text is added to it; `replace` and `append` are explicit.
    pub(crate) fn platform_hint(&self, platform: &str) -> Result<HintChange, Problem> {
        let key = format!("{HINTS}.{platform}");
        let text = |value: Option<&Value>, key: &str| match value {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.clone())),
            Some(other) => Err(self.wrong(key, other, "a text")),
        };
        match self.file.get(HINTS).and_then(|hints| hints.get(platform)) {
            None | Some(Value::Null) => Ok(HintChange::default()),
            Some(Value::String(append)) => Ok(HintChange { replace: None, append: Some(append.clone()) }),
            Some(Value::Object(fields)) => Ok(HintChange {
                replace: text(fields.get("replace"), &format!("{key}.replace"))?,
                append: text(fields.get("append"), &format!("{key}.append"))?,
            }),
            Some(other) => Err(self.wrong(&key, other, "a text, or `replace` and `append`")),
        }
    }

    /// The user's personalities with their overlays: a text, or `system_prompt` with `tone` and `style`.
    fn personalities(&self) -> Result<Personalities, Problem> {
        let mut all = Personalities::new();
        for place in PERSONALITIES {
            let Some(Value::Object(found)) = self.file.get(place) else { continue };
            for (name, value) in found {
                let (key, name) = (format!("{place}.{name}"), name.trim().to_lowercase());
                let overlay =
                    overlay(value).ok_or_else(|| self.wrong(&key, value, "a text, or `system_prompt`"))?;
                if !all.iter().any(|(known, _)| *known == name) {
                    all.push((name, overlay));
                }
            }
        }
        Ok(all)
    }

    /// Returns true if a key of the file is read here.
    pub(super) fn is_prompt_key(key: &str) -> bool {
        key == TOOL_USE
            || key.starts_with("agent.tool_use_enforcement[")
            || key.starts_with("platform_hints.")
            || PERSONALITIES.iter().any(|place| key.starts_with(&format!("{place}.")))
    }
}

/// The overlay of one personality.
fn overlay(value: &Value) -> Option<String> {
    let text =
        |name: &str| value.get(name).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    match value {
        Value::String(text) => Some(text.trim().to_owned()),
        Value::Object(_) => {
            let tone = text("tone").map(|tone| format!(" Tone: {tone}."));
            let style = text("style").map(|style| format!(" Style: {style}."));
            Some(format!(
                "{}{}{}",
                text("system_prompt")?,
                tone.unwrap_or_default(),
                style.unwrap_or_default()
            ))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::config_of;
    use super::*;

    #[test]
    fn tool_use_is_a_word_a_switch_or_a_list() {
        let models = ToolUse::Models(vec!["glm".into(), "opus".into()]);
        for (text, want) in [
            ("", Some(ToolUse::Auto)),
            ("agent: {tool_use_enforcement: auto}", Some(ToolUse::Auto)),
            ("agent: {tool_use_enforcement: true}", Some(ToolUse::Always)),
            ("agent: {tool_use_enforcement: \"off\"}", Some(ToolUse::Never)),
            ("agent: {tool_use_enforcement: [glm, opus]}", Some(models)),
            ("agent: {tool_use_enforcement: 7}", None),
            ("agent: {tool_use_enforcement: perhaps}", None),
        ] {
            assert_eq!(config_of(text).settings.tool_use.get().ok().cloned(), want, "{text}");
        }
    }

    #[test]
    fn a_hint_is_added_to_or_replaced() {
        let change = |replace: Option<&str>, append: Option<&str>| {
            Some(HintChange { replace: replace.map(str::to_owned), append: append.map(str::to_owned) })
        };
        for (text, want) in [
            ("", change(None, None)),
            ("platform_hints: {cli: No emoji.}", change(None, Some("No emoji."))),
            ("platform_hints: {cli: {replace: Shout.}}", change(Some("Shout."), None)),
            ("platform_hints: {cli: {replace: A, append: B}}", change(Some("A"), Some("B"))),
            ("platform_hints: {sms: x}", change(None, None)),
            ("platform_hints: {cli: [1]}", None),
        ] {
            assert_eq!(config_of(text).platform_hint("cli").ok(), want, "{text}");
        }
        let unused = config_of("platform_hints: {cli: x}\nagent: {tool_use_enforcement: [a]}").unused_keys();
        assert!(unused.is_empty(), "{unused:?}");
    }
}
