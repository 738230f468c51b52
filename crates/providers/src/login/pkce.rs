//! Proof that the program that redeems a code is the one that asked for it (RFC 7636, method S256).

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};

/// The secrets of one login.
pub(super) struct Pkce {
    pub(super) verifier: SecretString,
    pub(super) challenge: String,
    pub(super) state: SecretString,
}

impl Pkce {
    pub(super) fn random() -> Self {
        let verifier = URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
        let challenge = challenge(&verifier);
        let state = URL_SAFE_NO_PAD.encode(rand::random::<[u8; 32]>());
        Self { verifier: verifier.into(), challenge, state: state.into() }
    }
}

/// The challenge of a verifier, which is sent first.
fn challenge(verifier: &str) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}

/// Compares two texts by their digests, so that the time does not depend on how much of a guess was right.
pub(super) fn is_same(expected: &SecretString, given: &str) -> bool {
    Sha256::digest(expected.expose_secret()) == Sha256::digest(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_challenge_is_that_of_the_standard() {
        // Appendix B of RFC 7636.
        assert_eq!(
            challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"),
            "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        );
    }

    #[test]
    fn secrets_are_long_plain_and_new_each_time() {
        let (one, two) = (Pkce::random(), Pkce::random());
        for secret in [&one.verifier, &one.state] {
            let text = secret.expose_secret();
            assert_eq!(text.len(), 43);
            assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_'), "{text}");
        }
        assert!(!is_same(&one.verifier, two.verifier.expose_secret()));
        assert!(is_same(&one.state, one.state.expose_secret()) && !is_same(&one.state, ""));
    }
}
