//! The result of a login that a browser returns: a code, or the reason why there is none. Pure.

use super::answer::plain;
use super::pkce::is_same;
use secrecy::SecretString;
use url::{Url, form_urlencoded};

/// A result that belongs to this login.
pub(super) enum Redirected {
    Code(SecretString),
    Refused(String),
}

/// The reason why a request does not belong to this login.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RedirectMismatch {
    /// It has the state of another login, or an invented one.
    OtherState,
    /// It has no code.
    Incomplete,
    /// Another path, such as that of the page's icon.
    OtherPath,
}

impl RedirectMismatch {
    /// The message for a user who pasted it.
    pub(super) fn advice(self) -> &'static str {
        match self {
            Self::OtherState => "this belongs to another login; paste the address of the newest one",
            Self::Incomplete | Self::OtherPath => {
                "there is no code in this; paste the whole address that the browser ended at"
            }
        }
    }
}

/// Parses the target of a request: `/callback?code=…&state=…`.
pub(super) fn of_target(
    target: &str,
    path: &str,
    state: &SecretString,
) -> Result<Redirected, RedirectMismatch> {
    let (asked, query) = target.split_once('?').unwrap_or((target, ""));
    if asked != path {
        return Err(RedirectMismatch::OtherPath);
    }
    of_query(query, state)
}

/// Parses a paste: the whole address, its query, or `code#state`.
pub(super) fn of_pasted(text: &str, state: &SecretString) -> Result<Redirected, RedirectMismatch> {
    let text = text.trim();
    if let Ok(url) = Url::parse(text)
        && url.has_host()
    {
        return of_query(url.query().unwrap_or_default(), state);
    }
    match text.split_once('#') {
        Some((code, given)) if !code.contains('=') => checked(code, given, state),
        _ => of_query(text.trim_start_matches('?'), state),
    }
}

fn of_query(query: &str, state: &SecretString) -> Result<Redirected, RedirectMismatch> {
    let (mut code, mut given, mut error, mut why) = (None, None, None, None);
    for (name, value) in form_urlencoded::parse(query.as_bytes()) {
        let slot = match &*name {
            "code" => &mut code,
            "state" => &mut given,
            "error" => &mut error,
            "error_description" => &mut why,
            _ => continue,
        };
        // The first value of a name is used; a second one may be an attack.
        slot.get_or_insert(value);
    }
    let given = given.unwrap_or_default();
    if let Some(error) = error {
        if !is_same(state, &given) {
            return Err(RedirectMismatch::OtherState);
        }
        let all = why.map_or_else(|| error.to_string(), |why| format!("{error}: {why}"));
        return Ok(Redirected::Refused(plain(&all)));
    }
    checked(&code.unwrap_or_default(), &given, state)
}

fn checked(code: &str, given: &str, state: &SecretString) -> Result<Redirected, RedirectMismatch> {
    match code.trim() {
        "" => Err(RedirectMismatch::Incomplete),
        _ if !is_same(state, given.trim()) => Err(RedirectMismatch::OtherState),
        code => Ok(Redirected::Code(SecretString::from(code))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use secrecy::ExposeSecret;

    fn said(found: Result<Redirected, RedirectMismatch>) -> String {
        match found {
            Ok(Redirected::Code(code)) => format!("code {}", code.expose_secret()),
            Ok(Redirected::Refused(why)) => format!("refused {why}"),
            Err(why) => format!("{why:?}"),
        }
    }

    #[test]
    fn target_needs_the_path_and_the_state() {
        for (target, want) in [
            ("/callback?code=c%2F1&state=st", "code c/1"),
            ("/callback?state=st&code=c", "code c"),
            ("/callback?code=c&code=evil&state=st", "code c"),
            ("/callback?code=c&state=other", "OtherState"),
            ("/callback?code=c", "OtherState"),
            ("/callback?state=st", "Incomplete"),
            ("/callback?code=&state=st", "Incomplete"),
            ("/callback", "Incomplete"),
            ("/callback?error=access_denied&state=st", "refused access_denied"),
            (
                "/callback?error=access_denied&error_description=no%0Athanks&state=st",
                "refused access_denied: no thanks",
            ),
            ("/callback?error=access_denied", "OtherState"),
            ("/callback/?code=c&state=st", "OtherPath"),
            ("/favicon.ico", "OtherPath"),
            ("", "OtherPath"),
        ] {
            assert_eq!(said(of_target(target, "/callback", &"st".into())), want, "{target}");
        }
    }

    #[test]
    fn paste_may_be_an_address_a_query_or_a_code() {
        for (text, want) in [
            (" http://127.0.0.1:5/callback?code=c&state=st \n", "code c"),
            ("https://elsewhere.example/cb?code=c&state=st", "code c"),
            ("c#st", "code c"),
            ("?code=c&state=st", "code c"),
            ("code=c&state=st", "code c"),
            ("c#other", "OtherState"),
            ("c", "Incomplete"),
            ("http://127.0.0.1:5/callback", "Incomplete"),
            ("", "Incomplete"),
            ("#st", "Incomplete"),
        ] {
            assert_eq!(said(of_pasted(text, &"st".into())), want, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_taken_without_the_state(text in ".{0,200}") {
            let state = SecretString::from("0123456789abcdef0123456789abcdef0123456789");
            prop_assert!(of_target(&text, "/callback", &state).is_err());
            prop_assert!(of_pasted(&text, &state).is_err());
        }
    }
}
