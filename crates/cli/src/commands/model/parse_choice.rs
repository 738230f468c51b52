//! What the words after `hermes model set` mean. Pure.

use hermes_runtime::{
    CustomProvider, Prefixes, Provider, custom_label, find_provider, is_custom_id, split_provider,
};

/// What is to be saved.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// As it is written to the file: an id, or `custom:NAME`.
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) base_url: Option<String>,
}

/// What is chosen now, and what there is to choose from.
pub(super) struct Known<'a> {
    pub(super) current: Option<&'static Provider>,
    /// How the current one is addressed: an id, or `custom:NAME`.
    pub(super) label: String,
    pub(super) entries: &'a [CustomProvider],
}

impl Known<'_> {
    /// The provider that a word names, as it is written to the file.
    pub(super) fn provider(&self, word: &str) -> Option<String> {
        let entry = |name: &str| {
            let plain = CustomProvider::plain_name(name);
            self.entries.iter().find(|entry| entry.name == plain).map(|entry| custom_label(&entry.name))
        };
        if let Some((prefix, rest)) = word.split_once(':')
            && is_custom_id(prefix)
        {
            return entry(rest);
        }
        match find_provider(word) {
            // Such as `local`: an entry of that name is meant, if there is one.
            Some(provider) if provider.is_custom() && !is_custom_id(word) => {
                entry(word).or(Some(provider.id.to_owned()))
            }
            Some(provider) => Some(provider.id.to_owned()),
            None => entry(word),
        }
    }
}

/// Reads `PROVIDER`, `PROVIDER:MODEL`, `PROVIDER/MODEL` or `MODEL`. An error names both readings.
pub(super) fn parse_choice(words: &str, known: &Known<'_>) -> Result<Choice, String> {
    let words = words.trim();
    if words.is_empty() {
        return Err("say which: `hermes model set PROVIDER/MODEL`".to_owned());
    }
    let model = |name: &str| Choice { model: Some(name.to_owned()), ..Choice::default() };
    // `deepseek-chat` is another name of a provider, and a model of it.
    let is_model_here = known.current.is_some_and(|current| {
        current.id != words && find_provider(words).is_some_and(|found| found.id == current.id)
    });
    if is_model_here && known.current.is_some_and(|current| !current.is_custom()) {
        return Ok(model(words));
    }
    if let Some(provider) = known.provider(words) {
        return Ok(Choice { provider: Some(provider), ..Choice::default() });
    }
    let by_colon = || match split_provider(words, known.entries, Prefixes::beside(known.current)) {
        Some((provider, model)) => Choice { provider: Some(provider), model: Some(model), base_url: None },
        None => model(words),
    };
    let Some((first, rest)) = words.split_once('/').filter(|(_, rest)| !rest.is_empty()) else {
        return Ok(by_colon());
    };
    let Some(provider) = known.provider(first) else {
        return Ok(by_colon());
    };
    let has_slashes = |current: &&Provider| current.routes || !current.needs_key();
    match known.current.filter(has_slashes).filter(|_| known.label != provider) {
        Some(_) => Err(format!(
            "`{words}` may be a model of {}, or the model `{rest}` of {provider}: write \
             `hermes model set --provider {} {words}` or `hermes model set --provider {provider} {rest}`",
            known.label, known.label
        )),
        None => Ok(Choice { provider: Some(provider), model: Some(rest.to_owned()), base_url: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_a_provider_a_model_or_both() {
        let entry = |name: &str| CustomProvider { name: name.into(), ..CustomProvider::default() };
        let entries = [entry("box"), entry("local"), entry("openrouter")];
        for (current, words, want) in [
            ("", "deepseek", Ok((Some("deepseek"), None))),
            ("", "OR", Ok((Some("openrouter"), None))),
            ("", "openrouter/a/b", Ok((Some("openrouter"), Some("a/b")))),
            ("", "some-model", Ok((None, Some("some-model")))),
            ("", "qwen3:7b", Ok((None, Some("qwen3:7b")))),
            ("", "nobody/model", Ok((None, Some("nobody/model")))),
            ("", "box", Ok((Some("custom:box"), None))),
            ("", "Box/m", Ok((Some("custom:box"), Some("m")))),
            ("", "custom:box/m", Ok((Some("custom:box"), Some("m")))),
            ("", "custom:openrouter", Ok((Some("custom:openrouter"), None))),
            ("", "local", Ok((Some("custom:local"), None))),
            ("", "vllm/m", Ok((Some("custom"), Some("m")))),
            ("", "custom:nobody", Ok((Some("custom"), Some("nobody")))),
            ("", "openrouter:a/b", Ok((Some("openrouter"), Some("a/b")))),
            ("", "custom:box:m", Ok((Some("custom:box"), Some("m")))),
            ("custom", "solar:10.7b", Ok((None, Some("solar:10.7b")))),
            ("deepseek", "deepseek-chat", Ok((None, Some("deepseek-chat")))),
            ("openrouter", "deepseek-chat", Ok((Some("deepseek"), None))),
            ("deepseek", "openai/gpt", Ok((Some("openai-api"), Some("gpt")))),
            ("openrouter", "openrouter/openai/gpt", Ok((Some("openrouter"), Some("openai/gpt")))),
            ("openrouter", "meta-llama/x", Ok((None, Some("meta-llama/x")))),
            ("openrouter", "openai/gpt", Err("--provider openrouter openai/gpt")),
            ("custom", "qwen/qwen3", Err("--provider custom qwen/qwen3")),
            ("custom:box", "box/m", Ok((Some("custom:box"), Some("m")))),
            ("custom:box", "qwen/m", Err("--provider custom:box qwen/m")),
            ("", "  ", Err("say which")),
        ] {
            let found = match current.starts_with("custom:") {
                true => find_provider("custom"),
                false => find_provider(current),
            };
            let known = Known { current: found, label: current.to_owned(), entries: &entries };
            match (parse_choice(words, &known), want) {
                (Ok(choice), Ok((provider, model))) => {
                    let got = (choice.provider.as_deref(), choice.model.as_deref());
                    assert_eq!(got, (provider, model), "{words} after {current}");
                }
                (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
                (got, _) => panic!("{words} after {current}: {got:?}"),
            }
        }
    }
}
