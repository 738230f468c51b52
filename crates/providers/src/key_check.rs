//! Checks a key with a request to its provider that calls no model.

use crate::address::below;
use crate::catalogue::KeyProof;
use crate::fetch::Fetcher;
use crate::{Place, list_models};
use hermes_wire::Failure;

/// The result of checking a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeyCheck {
    Accepted,
    Refused {
        status: u16,
    },
    /// The request does not exist, or was not answered.
    Unknown {
        why: String,
    },
}

/// Sends one request with the key of a place.
pub async fn check_key(place: &Place, fetcher: &Fetcher) -> KeyCheck {
    let answer = match place.provider.key_proof {
        KeyProof::None => {
            let why = format!("{} has no request that checks a key", place.label());
            return KeyCheck::Unknown { why };
        }
        KeyProof::Path(path) => fetcher.get(below(&place.base_url, path), place.key.as_ref()).await.map(drop),
        KeyProof::Models => list_models(place, fetcher).await.map(drop),
    };
    verdict(answer)
}

fn verdict(answer: Result<(), Failure>) -> KeyCheck {
    match answer {
        Ok(()) => KeyCheck::Accepted,
        Err(Failure::Http { status: status @ (401 | 403), .. }) => KeyCheck::Refused { status },
        Err(failure) => KeyCheck::Unknown { why: failure.to_string() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_refusal_of_the_key_counts_against_it() {
        let http = |status| Err(Failure::Http { status, retry_after: None, body: "no".to_owned() });
        assert_eq!(verdict(Ok(())), KeyCheck::Accepted);
        for status in [401, 403] {
            assert_eq!(verdict(http(status)), KeyCheck::Refused { status });
        }
        for status in [404, 429, 500] {
            assert!(matches!(verdict(http(status)), KeyCheck::Unknown { .. }), "{status}");
        }
    }
}
