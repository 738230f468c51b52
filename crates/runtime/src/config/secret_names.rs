//! Which names promise a secret value.

use super::telemetry::holds_headers;

const VARIABLE_ENDINGS: [&str; 5] = ["_API_KEY", "_TOKEN", "_SECRET", "_KEY", "_PASSWORD"];
/// Names that promise a secret without such an ending.
const VARIABLES: [&str; 1] = ["AWS_BEARER_TOKEN_BEDROCK"];
const LEAVES: [&str; 6] = ["api_key", "token", "secret", "password", "access_token", "authorization"];
const LEAF_ENDINGS: [&str; 4] = ["_api_key", "_token", "_secret", "_password"];

/// Whether an environment variable of this name holds a secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    VARIABLES.contains(&name) || VARIABLE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Whether the last part of a dotted key names a secret.
pub(crate) fn is_secret_key(key: &str) -> bool {
    if holds_headers(key) {
        return true;
    }
    let leaf = key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase();
    LEAVES.contains(&leaf.as_str()) || LEAF_ENDINGS.iter().any(|ending| leaf.ends_with(ending))
}

/// Whether `config set` keeps a value of this name in `.env`; gives the variable's name.
pub(crate) fn as_variable(key: &str) -> Option<String> {
    let upper = key.to_ascii_uppercase();
    let shouted = key.len() > 1 && key == upper && key.contains(|char: char| char.is_ascii_uppercase());
    let flat = !key.contains('.');
    (flat && (shouted || is_secret_variable(&upper))).then_some(upper)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_go_to_the_right_file() {
        for (key, want) in [
            ("OPENAI_API_KEY", Some("OPENAI_API_KEY")),
            ("openai_api_key", Some("OPENAI_API_KEY")),
            ("hf_token", Some("HF_TOKEN")),
            ("HERMES_MAX_ITERATIONS", Some("HERMES_MAX_ITERATIONS")),
            ("model.api_key", None),
            ("timezone", None),
            ("toolsets", None),
            ("_config_version", None),
        ] {
            assert_eq!(as_variable(key).as_deref(), want, "{key}");
        }
    }

    #[test]
    fn secret_leaves_are_recognised() {
        for (key, want) in [
            ("model.api_key", true),
            ("platforms.telegram.token", true),
            ("a.bot_token", true),
            ("model.max_tokens", false),
            ("api_key_env", false),
        ] {
            assert_eq!(is_secret_key(key), want, "{key}");
        }
    }
}
