//! The claims of a JSON web token, read without checking its signature: the server checks it, and only the expiry is
//! used here.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// The largest token; real ones take a few kilobytes.
const LONGEST: usize = 64 * 1024;

/// The claims of a token, if it is of this kind.
pub(crate) fn claims(token: &str) -> Option<Value> {
    let mut parts = token.split('.');
    let (Some(_), Some(payload), Some(_), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    if payload.len() > LONGEST {
        return None;
    }
    let bytes = URL_SAFE_NO_PAD.decode(payload.trim_end_matches('=')).ok()?;
    serde_json::from_slice::<Value>(&bytes).ok().filter(Value::is_object)
}

/// Returns the expiry of a token, if it has one.
pub(crate) fn expiry(token: &str) -> Option<SystemTime> {
    moment(claims(token)?.get("exp")?.as_f64()?)
}

/// A time from seconds since 1970; `None` for numbers out of range.
pub(crate) fn moment(seconds: f64) -> Option<SystemTime> {
    let since = Duration::try_from_secs_f64(seconds).ok()?;
    SystemTime::UNIX_EPOCH.checked_add(since)
}

#[cfg(test)]
pub(crate) fn token_with(claims: &Value) -> String {
    format!("eyJhbGciOiJub25lIn0.{}.c2ln", URL_SAFE_NO_PAD.encode(claims.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_expiry_is_read_and_nonsense_has_none() {
        let at = |seconds| SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
        let odd = |payload: &str| format!("a.{}.c", URL_SAFE_NO_PAD.encode(payload));
        for (token, want) in [
            (token_with(&json!({"exp": 1_900_000_000})), at(1_900_000_000)),
            (token_with(&json!({"exp": 1_900_000_000.0})), at(1_900_000_000)),
            (token_with(&json!({"exp": "soon"})), None),
            (token_with(&json!({"exp": -5})), None),
            (token_with(&json!({"exp": 1e300})), None),
            (token_with(&json!({})), None),
            (odd("[1]"), None),
            (odd("{"), None),
            ("a.b".into(), None),
            ("a.!.c".into(), None),
            ("a.b.c.d".into(), None),
            (String::new(), None),
        ] {
            assert_eq!(expiry(&token), want, "{token}");
        }
    }
}
