//! The addresses of logins, as far as they are known.
//!
//! An empty text is something that only the user can supply: it is unknown, or the only client id belongs to
//! another vendor's program, which Hermes does not impersonate.

/// The endpoints and the client of one provider's login.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LoginRow {
    pub(crate) provider: &'static str,
    pub(crate) device_url: &'static str,
    pub(crate) authorize_url: &'static str,
    pub(crate) token_url: &'static str,
    pub(crate) client_id: &'static str,
    pub(crate) scope: &'static str,
    /// A header that carries the refresh token, for a provider that wants it there.
    pub(crate) refresh_header: Option<&'static str>,
}

impl LoginRow {
    /// A provider whose login is unknown.
    pub(crate) const NOTHING: Self = Self {
        provider: "",
        device_url: "",
        authorize_url: "",
        token_url: "",
        client_id: "",
        scope: "",
        refresh_header: None,
    };
}

static ROWS: &[LoginRow] = &[
    LoginRow {
        provider: "nous",
        device_url: "https://portal.nousresearch.com/api/oauth/device/code",
        token_url: "https://portal.nousresearch.com/api/oauth/token",
        // Issued to Hermes itself.
        client_id: "hermes-cli",
        scope: "inference:invoke",
        refresh_header: Some("x-nous-refresh-token"),
        ..LoginRow::NOTHING
    },
    LoginRow {
        provider: "xai-oauth",
        device_url: "https://auth.x.ai/oauth2/device/code",
        scope: "openid profile email offline_access api:access",
        ..LoginRow::NOTHING
    },
    LoginRow {
        provider: "copilot",
        device_url: "https://github.com/login/device/code",
        token_url: "https://github.com/login/oauth/access_token",
        scope: "read:user",
        ..LoginRow::NOTHING
    },
];

/// Returns the login of a provider.
pub(crate) fn login_row(provider: &str) -> &'static LoginRow {
    ROWS.iter().find(|row| row.provider == provider).unwrap_or(&LoginRow::NOTHING)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::find;

    #[test]
    fn every_login_row_has_a_provider() {
        for row in ROWS {
            assert!(find(row.provider).is_some_and(|found| found.id == row.provider), "{}", row.provider);
            for address in [row.device_url, row.authorize_url, row.token_url] {
                assert!(address.is_empty() || address.starts_with("https://"), "{address}");
            }
        }
        let whole: Vec<_> =
            ROWS.iter().filter(|row| !row.client_id.is_empty()).map(|row| row.provider).collect();
        assert_eq!(whole, ["nous"]);
    }
}
