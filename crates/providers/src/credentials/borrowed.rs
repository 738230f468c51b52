//! The origin of secrets: those that `auth.json` holds, and those that are borrowed from elsewhere.
//!
//! A key from a variable, from `config.yaml` or from another program's file stays there. Its entry in
//! `auth.json` holds its state, its use and a fingerprint, never the key.

use crate::catalogue;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Returns true if the user gave this credential to Hermes.
pub(super) fn is_manual(source: &str) -> bool {
    let source = source.trim().to_ascii_lowercase();
    source == "manual" || source.starts_with("manual:")
}

/// Returns true if the secret is stored elsewhere. This holds for unknown sources too, so that none is copied.
pub(super) fn is_borrowed(provider: &str, source: &str) -> bool {
    let source = source.trim().to_ascii_lowercase();
    let kept = catalogue::find(provider).and_then(|row| row.quirks.login.kept_source);
    let is_owned = kept == Some(source.as_str());
    !source.is_empty() && !is_manual(&source) && !is_owned
}

/// Returns a fingerprint that distinguishes keys without revealing them.
pub(super) fn fingerprint(key: &SecretString) -> String {
    format!("sha256:{}", hex(key.expose_secret(), 16))
}

/// The first digits of a text's hash.
pub(super) fn hex(text: &str, digits: usize) -> String {
    let mut out = String::with_capacity(64);
    for byte in Sha256::digest(text.as_bytes()) {
        // Writing to a string cannot fail.
        let _ = write!(out, "{byte:02x}");
    }
    out.truncate(digits);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_owned_or_borrowed() {
        for (provider, source, want) in [
            ("openrouter", "manual", false),
            ("openai-codex", "manual:device_code", false),
            ("openai-codex", "device_code", false),
            ("openrouter", "device_code", true),
            ("anthropic", "hermes_pkce", false),
            ("anthropic", "claude_code", true),
            ("openrouter", "env:OPENROUTER_API_KEY", true),
            ("custom:box", "config:Box", true),
            ("custom:box", "some_later_source", true),
            ("openrouter", "", false),
        ] {
            assert_eq!(is_borrowed(provider, source), want, "{provider} {source}");
        }
    }

    #[test]
    fn a_fingerprint_is_the_one_of_the_python_release() {
        assert_eq!(fingerprint(&SecretString::from("abc")), "sha256:ba7816bf8f01cfea");
    }
}
