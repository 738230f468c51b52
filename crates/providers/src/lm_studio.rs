//! The reasoning efforts that an LM Studio server takes for a model.
//!
//! It refuses a level that the model does not advertise, so the server is asked first.

use crate::address::below;
use crate::fetch::Fetcher;
use hermes_wire::Effort;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

/// Asks a server for the options of a model; empty if it has none or does not answer.
pub async fn lm_studio_efforts(
    base_url: &Url,
    model: &str,
    key: Option<&SecretString>,
    fetcher: &Fetcher,
) -> Vec<String> {
    let mut root = base_url.clone();
    let path = base_url.path().trim_end_matches('/').trim_end_matches("/v1").to_owned();
    root.set_path(&path);
    match fetcher.get(below(&root, "api/v1/models"), key).await {
        Ok(answer) => options(&answer, model),
        Err(_) => Vec::new(),
    }
}

/// `capabilities.reasoning.allowed_options` of the model.
fn options(answer: &Value, model: &str) -> Vec<String> {
    let rows = [answer.get("models"), answer.get("data"), Some(answer)];
    let rows = rows.into_iter().flatten().find_map(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let own = rows.iter().find(|row| row["key"] == model || row["id"] == model);
    let options = own.and_then(|row| row["capabilities"]["reasoning"]["allowed_options"].as_array());
    let words = options.map(Vec::as_slice).unwrap_or_default().iter().filter_map(Value::as_str);
    words.map(|word| word.trim().to_ascii_lowercase()).collect()
}

/// Returns the level to send; `None` if the model advertises none, or not this one.
pub(crate) fn advertised_effort(effort: Option<Effort>, advertised: &[String]) -> Option<Effort> {
    // Models with a switch only advertise `off` and `on`.
    let plain = |option: &String| match option.as_str() {
        "off" => Some(Effort::None),
        "on" => Some(Effort::Medium),
        word => Effort::parse(word),
    };
    let thinks = advertised.iter().any(|option| option != "off");
    let wanted = effort.unwrap_or(Effort::Medium).min(Effort::Xhigh);
    advertised.iter().filter(|_| thinks).filter_map(plain).find(|option| *option == wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_level_is_sent_only_where_the_model_advertises_it() {
        for (options, effort, want) in [
            (&["off", "on"][..], "", Some(Effort::Medium)),
            (&["off", "on"], "none", Some(Effort::None)),
            (&["off", "on"], "high", None),
            (&["off", "minimal", "low"], "low", Some(Effort::Low)),
            (&["off", "minimal", "low"], "", None),
            (&["low", "medium", "high", "xhigh"], "ultra", Some(Effort::Xhigh)),
            (&["off"], "none", None),
            (&[], "high", None),
        ] {
            let options: Vec<_> = options.iter().map(|option| (*option).to_owned()).collect();
            assert_eq!(advertised_effort(Effort::parse(effort), &options), want, "{options:?} {effort}");
        }
    }

    #[test]
    fn options_are_found_by_key_or_id() {
        let row = |name: &str| json!({name: "m", "capabilities": {"reasoning": {"allowed_options": ["Off", "on"]}}});
        for answer in [json!({"models": [row("key")]}), json!({"data": [row("id")]})] {
            assert_eq!(options(&answer, "m"), ["off", "on"], "{answer}");
            assert!(options(&answer, "other").is_empty());
        }
        assert!(options(&json!({"models": [{"key": "m"}]}), "m").is_empty());
    }
}
