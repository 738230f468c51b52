//! The login of a provider as data: the catalogue's row, overridden by the user's settings.

use crate::address::{is_loopback, origin};
use crate::catalogue::login_row;
use url::Url;

/// The settings of a login: `auth.<provider>.*` in `config.yaml`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoginOverrides {
    pub client_id: Option<String>,
    pub device_url: Option<String>,
    pub authorize_url: Option<String>,
    pub token_url: Option<String>,
    pub scope: Option<String>,
    /// The address that exchanges a token of another service.
    pub exchange_url: Option<String>,
    /// The port that the browser is redirected to; by default any free one.
    pub redirect_port: Option<u16>,
}

/// A login flow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flow {
    Device(DeviceFlow),
    Browser(BrowserFlow),
}

/// A code is shown here and entered elsewhere (RFC 8628).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceFlow {
    pub device_url: Url,
    pub token: TokenEndpoint,
}

/// A browser is redirected to this machine with a code (RFC 6749 with RFC 7636).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserFlow {
    pub authorize_url: Url,
    pub redirect: Redirect,
    pub token: TokenEndpoint,
}

/// The redirect address, always on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redirect {
    /// 0 means any free port.
    pub port: u16,
    pub path: &'static str,
}

/// The endpoint that exchanges codes and refresh tokens. They are sent nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenEndpoint {
    pub url: Url,
    pub client_id: String,
    /// Empty if none is requested.
    pub scope: String,
    /// A header that carries the refresh token instead of the form.
    pub refresh_header: Option<&'static str>,
}

/// An error of finding a login flow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FlowError {
    #[error(
        "no login is known for provider {provider}: set auth.{provider}.device_url (or authorize_url), token_url and client_id"
    )]
    Unknown { provider: String },
    #[error(
        "the login of provider {provider} needs a {field}: `hermes config set auth.{provider}.{field} ...`{why}"
    )]
    Missing { provider: String, field: &'static str, why: &'static str },
    #[error("auth.{provider}.{field} is not a valid login address: {cause}")]
    BadAddress { provider: String, field: &'static str, cause: String },
}

impl TokenEndpoint {
    /// The origin that a refresh token is bound to.
    pub fn origin(&self) -> String {
        origin(&self.url)
    }
}

impl Flow {
    pub fn token(&self) -> &TokenEndpoint {
        match self {
            Self::Device(flow) => &flow.token,
            Self::Browser(flow) => &flow.token,
        }
    }
}

/// Returns the login flow of a provider. An overriding `authorize_url` alone selects the browser; otherwise a code
/// that is entered elsewhere is preferred, because it works on every machine.
pub fn login_flow(provider: &str, own: &LoginOverrides) -> Result<Flow, FlowError> {
    let row = login_row(provider);
    let reading = Reading { provider };
    let device = text(&own.device_url, row.device_url);
    let authorize = text(&own.authorize_url, row.authorize_url);
    if device.is_empty() && authorize.is_empty() {
        return Err(FlowError::Unknown { provider: provider.to_owned() });
    }
    let is_browser = device.is_empty() || (own.authorize_url.is_some() && own.device_url.is_none());
    let token = TokenEndpoint {
        url: reading.address("token_url", text(&own.token_url, row.token_url))?,
        client_id: reading.client_id(text(&own.client_id, row.client_id))?,
        scope: text(&own.scope, row.scope).to_owned(),
        refresh_header: row.refresh_header,
    };
    if is_browser {
        let redirect = Redirect { port: own.redirect_port.unwrap_or(0), path: "/callback" };
        let authorize_url = reading.address("authorize_url", authorize)?;
        return Ok(Flow::Browser(BrowserFlow { authorize_url, redirect, token }));
    }
    Ok(Flow::Device(DeviceFlow { device_url: reading.address("device_url", device)?, token }))
}

fn text<'a>(own: &'a Option<String>, built_in: &'a str) -> &'a str {
    own.as_deref().map(str::trim).filter(|own| !own.is_empty()).unwrap_or(built_in)
}

struct Reading<'a> {
    provider: &'a str,
}

impl Reading<'_> {
    fn client_id(&self, text: &str) -> Result<String, FlowError> {
        match text {
            "" => Err(self.missing(
                "client_id",
                " (the vendor has issued none to Hermes, and Hermes does not use another program's)",
            )),
            text => Ok(text.to_owned()),
        }
    }

    fn address(&self, field: &'static str, text: &str) -> Result<Url, FlowError> {
        if text.is_empty() {
            return Err(self.missing(field, ""));
        }
        let bad = |cause: &str| FlowError::BadAddress {
            provider: self.provider.to_owned(),
            field,
            cause: cause.to_owned(),
        };
        let mut url = Url::parse(text).map_err(|error| bad(&error.to_string()))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(bad("it carries a user name or password"));
        }
        let is_safe = url.scheme() == "https" || (url.scheme() == "http" && is_loopback(&url));
        if !is_safe {
            return Err(bad("it must begin with https://, or be on this machine"));
        }
        url.set_fragment(None);
        Ok(url)
    }

    fn missing(&self, field: &'static str, why: &'static str) -> FlowError {
        FlowError::Missing { provider: self.provider.to_owned(), field, why }
    }
}

#[cfg(test)]
#[path = "flow_tests.rs"]
mod tests;
