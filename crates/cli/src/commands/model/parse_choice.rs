//! Parses the argument of `hermes model set`. Pure.

use hermes_runtime::{
    CustomProvider, Prefixes, Provider, custom_label, find_provider, is_custom_id, split_provider,
};

/// The choice to save.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Choice {
    /// The provider as written to the file: an id, or `custom:NAME`.
    pub(super) provider: Option<String>,
    pub(super) model: Option<String>,
    pub(super) base_url: Option<String>,
}

/// The current choice, and the named endpoints.
pub(super) struct Known<'a> {
    pub(super) current: Option<&'static Provider>,
    /// The name of the current provider: an id, or `custom:NAME`.
    pub(super) label: String,
    pub(super) entries: &'a [CustomProvider],
}

impl Known<'_> {
    /// The provider with this name, as written to the file.
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
            // An alias such as `local`: an entry of that name comes first.
            Some(provider) if provider.is_custom() && !is_custom_id(word) => {
                entry(word).or(Some(provider.id.to_owned()))
            }
            Some(provider) => Some(provider.id.to_owned()),
            None => entry(word),
        }
    }
}

/// Parses `PROVIDER`, `PROVIDER:MODEL`, `PROVIDER/MODEL` or `MODEL`. An error names both readings.
pub(super) fn parse_choice(argument: &str, known: &Known<'_>) -> Result<Choice, String> {
    let argument = argument.trim();
    if argument.is_empty() {
        return Err("missing model: use `hermes model set PROVIDER/MODEL`".to_owned());
    }
    let model = |name: &str| Choice { model: Some(name.to_owned()), ..Choice::default() };
    // `deepseek-chat` is an alias of a provider, and one of its models.
    let is_model_here = known.current.is_some_and(|current| {
        current.id != argument && find_provider(argument).is_some_and(|found| found.id == current.id)
    });
    if is_model_here && known.current.is_some_and(|current| !current.is_custom()) {
        return Ok(model(argument));
    }
    if let Some(provider) = known.provider(argument) {
        return Ok(Choice { provider: Some(provider), ..Choice::default() });
    }
    let by_colon = || match split_provider(argument, known.entries, Prefixes::beside(known.current)) {
        Some((provider, model)) => Choice { provider: Some(provider), model: Some(model), base_url: None },
        None => model(argument),
    };
    let Some((first, rest)) = argument.split_once('/').filter(|(_, rest)| !rest.is_empty()) else {
        return Ok(by_colon());
    };
    let Some(provider) = known.provider(first) else {
        return Ok(by_colon());
    };
    let has_slashes = |current: &&Provider| current.routes || !current.needs_key();
    match known.current.filter(has_slashes).filter(|_| known.label != provider) {
        Some(_) => Err(format!(
            "`{argument}` may be a model of {}, or the model `{rest}` of {provider}: use \
             `hermes model set --provider {} {argument}` or `hermes model set --provider {provider} {rest}`",
            known.label, known.label
        )),
        None => Ok(Choice { provider: Some(provider), model: Some(rest.to_owned()), base_url: None }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn argument_is_a_provider_a_model_or_both() {
        let entry = |name: &str| CustomProvider { name: name.into(), ..CustomProvider::default() };
        let entries = [entry("box"), entry("local"), entry("openrouter")];
        for (current, argument, want) in [
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
            ("", "  ", Err("missing model")),
        ] {
            let found = match current.starts_with("custom:") {
                true => find_provider("custom"),
                false => find_provider(current),
            };
            let known = Known { current: found, label: current.to_owned(), entries: &entries };
            match (parse_choice(argument, &known), want) {
                (Ok(choice), Ok((provider, model))) => {
                    let got = (choice.provider.as_deref(), choice.model.as_deref());
                    assert_eq!(got, (provider, model), "{argument} after {current}");
                }
                (Err(error), Err(part)) => assert!(error.contains(part), "{error}"),
                (got, _) => panic!("{argument} after {current}: {got:?}"),
            }
        }
    }
}
