//! The tokens of a login: an access token and usually a refresh token.

use super::flow::TokenEndpoint;
use super::jwt;
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::fmt;
use std::time::{Duration, SystemTime};

/// Tokens are renewed this long before they expire: clocks differ and requests take time.
pub const RENEW_BEFORE: Duration = Duration::from_secs(120);

/// The tokens of a login.
#[derive(Clone)]
pub struct Tokens {
    pub access: SecretString,
    pub refresh: Option<RefreshToken>,
    /// `None` if neither the answer nor the token states it.
    pub expires_at: Option<SystemTime>,
    pub scope: Option<String>,
    /// The other fields of the answer. They come from the network: no token is sent to an address among them.
    pub extra: Map<String, Value>,
}

/// A refresh token. It has its issuer and is sent nowhere else.
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

    /// The origin that issued it.
    pub fn issued_by(&self) -> &str {
        &self.issued_by
    }

    /// For the store. Requests get it through [`super::refresh`], which checks the origin.
    pub fn secret(&self) -> &SecretString {
        &self.secret
    }
}

impl Tokens {
    /// Parses the answer of a token endpoint; the error names a missing field.
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

    /// Returns true if it is time for the next access token. One without an expiry is used until it is refused.
    pub fn is_due(&self, now: SystemTime) -> bool {
        self.expires_at.is_some_and(|at| now.checked_add(RENEW_BEFORE).is_none_or(|soon| soon >= at))
    }

    /// Keeps the old refresh token if the answer has no new one.
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
        // Other fields may be secret as well: only their names are shown.
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
