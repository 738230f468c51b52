//! Names of secret values.

use super::telemetry::holds_headers;
use hermes_guard::{Secrets, redact};
use std::borrow::Cow;

const VARIABLE_ENDINGS: [&str; 5] = ["_API_KEY", "_TOKEN", "_SECRET", "_KEY", "_PASSWORD"];
/// Names of secrets without such an ending.
const VARIABLES: [&str; 1] = ["AWS_BEARER_TOKEN_BEDROCK"];
const LEAVES: [&str; 6] = ["api_key", "token", "secret", "password", "access_token", "authorization"];
const LEAF_ENDINGS: [&str; 4] = ["_api_key", "_token", "_secret", "_password"];

/// Returns true if an environment variable of this name holds a secret.
pub(crate) fn is_secret_variable(name: &str) -> bool {
    VARIABLES.contains(&name) || VARIABLE_ENDINGS.iter().any(|ending| name.ends_with(ending))
}

/// Parts of names of secrets, for variables that no setting knows.
const VARIABLE_PARTS: [&str; 13] = [
    "API_KEY",
    "APIKEY",
    "ACCESS_KEY",
    "PRIVATE_KEY",
    "SECRET",
    "TOKEN",
    "PASSWORD",
    "PASSWD",
    "PASSPHRASE",
    "CRED",
    "_AUTH",
    "_HEADERS",
    "WEBHOOK_URL",
];
/// Last parts of names that do.
const VARIABLE_LAST: [&str; 6] = ["KEY", "PASS", "PAT", "PWD", "DSN", "AUTH"];
/// Names that sound like secrets and hold a number, a path or a switch.
const VARIABLES_OPEN: [&str; 8] = [
    "PWD",
    "OLDPWD",
    "SSH_AUTH_SOCK",
    "XAUTHORITY",
    "SSH_ASKPASS",
    "SUDO_ASKPASS",
    "GIT_ASKPASS",
    "HERMES_REDACT_SECRETS",
];

/// Returns true if a variable of the process is kept from other processes: by its name, or because its value
/// looks like a credential.
pub fn is_hidden_variable(name: &str, value: &str) -> bool {
    if value.is_empty() || VARIABLES_OPEN.contains(&name) {
        return false;
    }
    let upper = name.to_ascii_uppercase();
    let last = upper.rsplit('_').next().unwrap_or_default();
    is_secret_variable(&upper)
        || VARIABLE_PARTS.iter().any(|part| upper.contains(part))
        || VARIABLE_LAST.contains(&last)
        || matches!(upper.as_str(), "PGPASSWORD" | "MYSQL_PWD")
        || matches!(redact(&Secrets::default(), value), Cow::Owned(_))
}

/// Returns true if the last part of a dotted key names a secret.
pub(crate) fn is_secret_key(key: &str) -> bool {
    if holds_headers(key) {
        return true;
    }
    let leaf = key.rsplit('.').next().unwrap_or(key).to_ascii_lowercase();
    LEAVES.contains(&leaf.as_str()) || LEAF_ENDINGS.iter().any(|ending| leaf.ends_with(ending))
}

/// The variable in `.env` under which `config set` stores a value of this name, if it is a secret.
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
    fn variables_that_other_processes_must_not_see() {
        for (name, value, want) in [
            ("OPENAI_API_KEY", "x", true),
            ("AWS_SECRET_ACCESS_KEY", "x", true),
            ("AWS_BEARER_TOKEN_BEDROCK", "x", true),
            ("GITHUB_PAT", "x", true),
            ("PGPASSWORD", "x", true),
            ("MYSQL_PWD", "x", true),
            ("BOX_CRED", "x", true),
            ("SENTRY_DSN", "x", true),
            ("OTEL_EXPORTER_OTLP_HEADERS", "a=b", true),
            ("db_pass", "x", true),
            ("ANYTHING", "sk-abcdefghijklmnop1234", true),
            ("HTTPS_PROXY", "http://me:s3cret@proxy:1", true),
            ("HTTPS_PROXY", "http://proxy:1", false),
            ("PWD", "/home/me", false),
            ("SSH_AUTH_SOCK", "/run/x", false),
            ("PATH", "/usr/bin", false),
            ("LS_COLORS", "rs=0:di=01;34", false),
            ("XDG_SESSION_ID", "3", false),
            ("DBUS_SESSION_BUS_ADDRESS", "unix:path=/run/user/0/bus", false),
            ("HERMES_HOME", "/h", false),
            ("OPENAI_BASE_URL", "http://127.0.0.1:9/v1", false),
            ("OPENAI_API_KEY", "", false),
        ] {
            assert_eq!(is_hidden_variable(name, value), want, "{name}={value}");
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
