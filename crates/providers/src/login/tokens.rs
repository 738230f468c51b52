//! What a login gives: an access token and, mostly, a token to get the next one with.

use super::flow::TokenEndpoint;
use super::jwt;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::fmt;
use std::time::{Duration, SystemTime};

/// Tokens are asked for anew so long before they expire: clocks differ and requests take time.
pub const RENEW_BEFORE: Duration = Duration::from_secs(120);

/// What a login gave.
#[derive(Clone)]
pub struct Tokens {
    pub access: SecretString,
    pub refresh: Option<RefreshToken>,
    /// Unknown when neither the answer nor the token says.
    pub expires_at: Option<SystemTime>,
    pub scope: Option<String>,
    /// Whatever else the answer held. It comes from the network: an address in it is no address
    /// that a token may be sent to.
    pub extra: Map<String, Value>,
}

/// A token to get the next access token with. It remembers who issued it and goes nowhere else.
#[derive(Clone)]
pub struct RefreshToken {
    secret: SecretString,
    issued_by: String,
}

impl RefreshToken {
    /// `issued_by` is the origin of the token endpoint, as it was stored beside the token.
    pub fn new(secret: SecretString, issued_by: String) -> Self {
        Self { secret, issued_by }
    }

    /// The origin that it came from.
    pub fn issued_by(&self) -> &str {
        &self.issued_by
    }

    /// For the store. Requests get it through [`super::refresh`], which looks at the origin.
    pub fn secret(&self) -> &SecretString {
        &self.secret
    }
}

impl Tokens {
    /// Reads the answer of a token endpoint; the error names what is missing.
    pub(crate) fn read(body: &Value, from: &TokenEndpoint, now: SystemTime) -> Result<Self, &'static str> {
        let mut extra = body.as_object().cloned().ok_or("an object")?;
        let mut taken = |name: &str| extra.shift_remove(name);
        let secret = |value: Option<Value>| {
            value.and_then(|value| Some(value.as_str()?.trim().to_owned())).filter(|text| !text.is_empty())
        };
        let access = secret(taken("access_token")).ok_or("access_token")?;
        let refresh = secret(taken("refresh_token"))
            .map(|text| RefreshToken::new(SecretString::from(text), from.origin()));
        let expires_at = taken("expires_in")
            .and_then(|value| lifetime(&value))
            .and_then(|life| now.checked_add(life))
            .or_else(|| jwt::expiry(&access));
        let scope = secret(taken("scope"));
        Ok(Self { access: SecretString::from(access), refresh, expires_at, scope, extra })
    }

    /// Whether it is time for the next access token. One that says nothing is used until refused.
    pub fn is_due(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|at| now.checked_add(RENEW_BEFORE).is_none_or(|soon| soon >= at))
    }

    /// A provider that gives no new refresh token means the old one to be used again.
    pub(crate) fn keeping(mut self, old: &RefreshToken) -> Self {
        self.refresh.get_or_insert_with(|| old.clone());
        self
    }
}

/// Some servers send the number as text.
fn lifetime(value: &Value) -> Option<Duration> {
    let seconds = value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())?;
    Duration::try_from_secs_f64(seconds).ok().filter(|life| !life.is_zero())
}

impl fmt::Debug for RefreshToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RefreshToken(issued by {})", self.issued_by)
    }
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // What else there is may be a token, too: only the names are shown.
        let extra: Vec<&String> = self.extra.keys().collect();
        f.debug_struct("Tokens")
            .field("refresh", &self.refresh)
            .field("expires_at", &self.expires_at)
            .field("scope", &self.scope)
            .field("extra", &extra)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn endpoint() -> TokenEndpoint {
        TokenEndpoint {
            url: "https://a.example/oauth/token".parse().unwrap(),
            client_id: "me".into(),
            scope: String::new(),
            refresh_header: None,
        }
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn the_expiry_comes_from_the_answer_or_the_token() {
        let jwt = jwt::token_with(&json!({"exp": 5000}));
        for (body, want) in [
            (json!({"access_token": "opaque", "expires_in": 60}), Some(at(1060))),
            (json!({"access_token": "opaque", "expires_in": "60"}), Some(at(1060))),
            (json!({"access_token": jwt, "expires_in": 60}), Some(at(1060))),
            (json!({"access_token": jwt}), Some(at(5000))),
            (json!({"access_token": jwt, "expires_in": 0}), Some(at(5000))),
            (json!({"access_token": "opaque"}), None),
            (json!({"access_token": "opaque", "expires_in": -1}), None),
            (json!({"access_token": "opaque", "expires_in": 1e30}), None),
        ] {
            let tokens = Tokens::read(&body, &endpoint(), at(1000)).unwrap();
            assert_eq!(tokens.expires_at, want, "{body}");
        }
        for (body, missing) in [
            (json!([]), "an object"),
            (json!({}), "access_token"),
            (json!({"access_token": " "}), "access_token"),
            (json!({"access_token": 7}), "access_token"),
        ] {
            assert_eq!(Tokens::read(&body, &endpoint(), at(1000)).unwrap_err(), missing, "{body}");
        }
    }

    #[test]
    fn tokens_are_due_a_little_before_they_expire() {
        let body = json!({"access_token": "opaque", "expires_in": 3600});
        let tokens = Tokens::read(&body, &endpoint(), at(0)).unwrap();
        for (now, want) in [(0, false), (3479, false), (3480, true), (9999, true)] {
            assert_eq!(tokens.is_due(at(now)), want, "{now}");
        }
        let forever = Tokens { expires_at: None, ..tokens };
        assert!(!forever.is_due(at(u64::from(u32::MAX))));
    }

    #[test]
    fn nothing_secret_is_in_the_debug_text() {
        let body = json!({
            "access_token": "acc-secret", "refresh_token": "ref-secret", "id_token": "id-secret", "expires_in": 60
        });
        let tokens = Tokens::read(&body, &endpoint(), at(0)).unwrap();
        let shown = format!("{tokens:?} {tokens:#?}");
        assert!(!shown.contains("-secret"), "{shown}");
        assert_eq!(tokens.refresh.unwrap().issued_by(), "https://a.example");
    }
}
