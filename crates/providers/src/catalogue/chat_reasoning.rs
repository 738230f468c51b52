//! The reasoning effort of a chat-completions request, in the form that its provider takes.
//!
//! There is no common form: some take a level at the top of the body, some an object, some a switch. Each
//! provider's row in the catalogue names its rule; the rules are written out here.

use crate::lm_studio::advertised_effort;
use hermes_wire::Effort;
use serde_json::{Map, Value, json};

/// The form in which a provider takes an effort.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningRule {
    /// Nothing is sent.
    Silent,
    /// Top-level `reasoning_effort` as the user wrote it; off needs Ollama's switch as well.
    Plain,
    /// `reasoning: {enabled, effort}` for model families that are known to take it.
    OpenRouter,
    /// The same for every model; off is the absence of the field.
    Nous,
    /// A level or a switch, never both.
    Kimi,
    /// A switch on every request, and a level beside it.
    DeepSeek,
    /// A switch if the user set an effort; GLM-5.2 takes a level as well.
    Zai,
    /// `extra_body.google.thinking_config`.
    Gemini,
    /// `reasoning: {effort}` for models with known levels.
    GitHub,
    /// Top-level `reasoning_effort`, high by default.
    TokenHub,
    /// Top-level `reasoning_effort` among those of Ollama's cloud.
    OllamaCloud,
    /// Top-level `reasoning_effort`, medium by default.
    Upstage,
    /// A switch of MiniMax-M3.
    MiniMax,
    /// Each model as its vendor takes it.
    OpenCodeGo,
    /// Top-level `reasoning_effort` among those that the server advertises for the model.
    LmStudio,
}

/// Returns the members of a body that set the reasoning effort. `None` means that the user has not chosen; some
/// providers have a default for that. `advertised` are the levels that a custom server offers.
pub fn reasoning_fields(
    rule: ReasoningRule,
    model: &str,
    effort: Option<Effort>,
    advertised: &[String],
) -> Map<String, Value> {
    let model = model.trim().to_ascii_lowercase();
    let effort = match effort {
        Some(Effort::Ultra) if model.contains("gpt-5.6") => Some(Effort::Max),
        other => other,
    };
    let fields = match rule {
        ReasoningRule::Silent => Value::Null,
        ReasoningRule::Plain => plain(effort),
        ReasoningRule::OpenRouter => openrouter(&model, effort),
        ReasoningRule::Nous => nous(effort),
        ReasoningRule::Kimi => kimi(effort),
        ReasoningRule::DeepSeek if is_deepseek_thinker(&model) => deepseek(effort),
        ReasoningRule::DeepSeek => Value::Null,
        ReasoningRule::Zai => zai(&model, effort),
        ReasoningRule::Gemini => gemini(&model, effort),
        ReasoningRule::GitHub => github(&model, effort),
        ReasoningRule::TokenHub => token_hub(effort),
        ReasoningRule::OllamaCloud => ollama_cloud(effort),
        ReasoningRule::Upstage => upstage(&model, effort),
        ReasoningRule::MiniMax => minimax(&model, effort),
        ReasoningRule::OpenCodeGo => opencode_go(&model, effort),
        ReasoningRule::LmStudio => advertised_effort(effort, advertised).map_or(Value::Null, level),
    };
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

fn level(effort: Effort) -> Value {
    json!({"reasoning_effort": effort.as_str()})
}

fn switch(on: bool) -> Value {
    json!({"thinking": {"type": if on { "enabled" } else { "disabled" }}})
}

fn plain(effort: Option<Effort>) -> Value {
    match effort {
        None => Value::Null,
        Some(Effort::None) => json!({"reasoning_effort": "none", "think": false}),
        Some(effort) => level(effort),
    }
}

fn openrouter(model: &str, effort: Option<Effort>) -> Value {
    /// The vendors' servers behind it refuse the field for other models.
    const FAMILIES: [&str; 9] = [
        "deepseek/",
        "anthropic/",
        "openai/",
        "x-ai/",
        "google/gemini-2",
        "google/gemma-4",
        "qwen/qwen3",
        "tencent/hy3",
        "xiaomi/",
    ];
    if !FAMILIES.iter().any(|family| model.starts_with(family)) {
        return Value::Null;
    }
    match effort {
        Some(Effort::None) | None if always_thinks(model) => Value::Null,
        Some(effort) if always_thinks(model) => json!({"verbosity": effort.as_str()}),
        Some(Effort::None) => json!({"reasoning": {"enabled": false}}),
        other => unified(other),
    }
}

fn unified(effort: Option<Effort>) -> Value {
    json!({"reasoning": {"enabled": true, "effort": effort.unwrap_or(Effort::Medium).as_str()}})
}

/// Claude from 4.6 on cannot switch thinking off; an unknown Claude counts as a newer one.
fn always_thinks(model: &str) -> bool {
    const OLDER: [&str; 15] = [
        "claude-3",
        "claude-opus-4-0",
        "claude-opus-4.0",
        "claude-opus-4-1",
        "claude-opus-4.1",
        "claude-sonnet-4-0",
        "claude-sonnet-4.0",
        "claude-opus-4-2025",
        "claude-sonnet-4-2025",
        "claude-opus-4-5",
        "claude-opus-4.5",
        "claude-sonnet-4-5",
        "claude-sonnet-4.5",
        "claude-haiku-4-5",
        "claude-haiku-4.5",
    ];
    let is_claude = model.starts_with("anthropic/") || model.contains("claude");
    is_claude && !OLDER.iter().any(|part| model.contains(part))
}

fn nous(effort: Option<Effort>) -> Value {
    match effort {
        Some(Effort::None) => Value::Null,
        other => unified(other),
    }
}

fn kimi(effort: Option<Effort>) -> Value {
    match effort {
        Some(Effort::None) => switch(false),
        Some(effort @ (Effort::Low | Effort::Medium | Effort::High)) => level(effort),
        Some(_) | None => switch(true),
    }
}

/// V3 has no thinking mode and refuses the fields.
fn is_deepseek_thinker(model: &str) -> bool {
    model == "deepseek-reasoner" || (model.starts_with("deepseek-v") && !model.starts_with("deepseek-v3"))
}

/// The levels of DeepSeek and of servers that pass them on.
fn deepseek_level(effort: Option<Effort>) -> Option<Effort> {
    match effort? {
        Effort::Xhigh | Effort::Max | Effort::Ultra => Some(Effort::Max),
        effort @ (Effort::Low | Effort::Medium | Effort::High) => Some(effort),
        Effort::None | Effort::Minimal => None,
    }
}

fn deepseek(effort: Option<Effort>) -> Value {
    let mut fields = switch(effort != Some(Effort::None));
    if let Some(effort) = deepseek_level(effort) {
        fields["reasoning_effort"] = effort.as_str().into();
    }
    fields
}

fn zai(model: &str, effort: Option<Effort>) -> Value {
    let is_newest = is_glm_5_2(model);
    let Some(effort) = effort.filter(|_| is_newest || thinks_as_glm(model)) else { return Value::Null };
    let mut fields = switch(effort != Effort::None);
    if is_newest && let Some(effort) = glm_level(effort) {
        fields["reasoning_effort"] = effort.as_str().into();
    }
    fields
}

/// GLM takes the switch from 4.5 on.
fn thinks_as_glm(model: &str) -> bool {
    let Some(version) = model.strip_prefix("glm-") else { return false };
    let digits = |text: &str| -> String { text.chars().take_while(char::is_ascii_digit).collect() };
    let major = digits(version);
    let minor = version[major.len()..].strip_prefix('.').map(digits).unwrap_or_default();
    let number = |text: &str| text.parse::<u32>().unwrap_or(0);
    !major.is_empty() && (number(&major), number(&minor)) >= (4, 5)
}

fn is_glm_5_2(model: &str) -> bool {
    ["glm-5.2", "glm-5-2", "glm-5p2"].iter().any(|name| model.contains(name))
}

/// GLM-5.2 has two levels.
fn glm_level(effort: Effort) -> Option<Effort> {
    match effort {
        Effort::None => None,
        Effort::Xhigh | Effort::Max | Effort::Ultra => Some(Effort::Max),
        Effort::Minimal | Effort::Low | Effort::Medium | Effort::High => Some(Effort::High),
    }
}

fn gemini(model: &str, effort: Option<Effort>) -> Value {
    let model = model.strip_prefix("google/").unwrap_or(model);
    // The same address serves Gemma, which refuses the field.
    let Some(effort) = effort.filter(|_| model.starts_with("gemini")) else { return Value::Null };
    let mut thinking = json!({"include_thoughts": effort != Effort::None});
    let is_third = model.starts_with("gemini-3");
    let level = match effort {
        Effort::None => None,
        Effort::Minimal | Effort::Low if is_third => Some("low"),
        Effort::Medium if is_third && model.contains("flash") => Some("medium"),
        Effort::Medium if is_third => Some("low"),
        _ if is_third => Some("high"),
        _ => None,
    };
    if let Some(level) = level.filter(|_| model.contains("flash") || model.contains("pro")) {
        thinking["thinking_level"] = level.into();
    }
    json!({"extra_body": {"google": {"thinking_config": thinking}}})
}

fn github(model: &str, effort: Option<Effort>) -> Value {
    let name = model.rsplit('/').next().unwrap_or_default();
    let weakest = match () {
        () if ["o1", "o3", "o4"].iter().any(|start| name.starts_with(start)) => Effort::Low,
        () if name.starts_with("gpt-5") => Effort::Minimal,
        () => return Value::Null,
    };
    let effort = match effort {
        Some(Effort::None) => return Value::Null,
        Some(Effort::Xhigh) => Effort::High,
        Some(effort) if effort <= Effort::High => effort.max(weakest),
        Some(_) | None => Effort::Medium,
    };
    json!({"reasoning": {"effort": effort.as_str()}})
}

fn token_hub(effort: Option<Effort>) -> Value {
    match effort {
        Some(Effort::None) => Value::Null,
        Some(effort @ (Effort::Low | Effort::Medium | Effort::High)) => level(effort),
        Some(_) | None => level(Effort::High),
    }
}

fn ollama_cloud(effort: Option<Effort>) -> Value {
    match effort {
        Some(Effort::None) => level(Effort::None),
        other => deepseek_level(other).map_or(Value::Null, level),
    }
}

fn upstage(model: &str, effort: Option<Effort>) -> Value {
    if model.contains("solar-mini") || model.contains("syn-pro") {
        return Value::Null;
    }
    match effort {
        None => level(Effort::Medium),
        Some(Effort::None | Effort::Minimal) => Value::Null,
        Some(effort) => level(effort.min(Effort::High)),
    }
}

fn minimax(model: &str, effort: Option<Effort>) -> Value {
    if !matches!(model, "minimax-m3" | "minimax/minimax-m3") {
        return Value::Null;
    }
    // Without the split the reasoning comes inside of the reply.
    match effort {
        None => json!({"reasoning_split": true}),
        Some(Effort::None) => json!({"reasoning_split": true, "thinking": {"type": "disabled"}}),
        Some(_) => json!({"reasoning_split": true, "thinking": {"type": "adaptive"}}),
    }
}

fn opencode_go(model: &str, effort: Option<Effort>) -> Value {
    let name = model.rsplit('/').next().unwrap_or_default();
    let is_kimi = name.starts_with("kimi-k2");
    if is_glm_5_2(name) {
        return effort.and_then(glm_level).map_or(Value::Null, level);
    }
    // The level and the switch exclude each other here.
    match (effort, deepseek_level(effort)) {
        (None, _) if is_kimi => Value::Null,
        _ if !is_kimi && !is_deepseek_thinker(name) => Value::Null,
        (Some(Effort::None), _) => switch(false),
        (_, Some(effort)) if is_kimi => level(effort.min(Effort::High)),
        (_, Some(effort)) => level(effort),
        (_, None) => switch(true),
    }
}

#[cfg(test)]
#[path = "chat_reasoning_tests.rs"]
mod tests;
