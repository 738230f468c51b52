//! Gets the next access token with a refresh token.
//!
//! Most refresh tokens are for one use. A refusal that ends a login asks for a new login; one that does not concern
//! the token asks for a later attempt.

use super::answer::{Form, Reply};
use super::device::is_passing;
use super::error::RefreshError;
use super::flow::TokenEndpoint;
use super::tokens::{RefreshToken, Tokens};
use crate::fetch::Fetcher;
use hermes_wire::Failure;
use std::time::SystemTime;

/// Reasons that end a login.
const TERMINAL: [&str; 7] = [
    "invalid_grant",
    "invalid_token",
    "token_revoked",
    "token_invalidated",
    "token_expired",
    "refresh_token_reused",
    "unauthorized_client",
];

/// Requests the next tokens. The refresh token is sent only to the origin that issued it.
pub async fn refresh(
    fetcher: &Fetcher,
    endpoint: &TokenEndpoint,
    token: &RefreshToken,
) -> Result<Tokens, RefreshError> {
    let asked = endpoint.origin();
    if asked != token.issued_by() {
        return Err(RefreshError::OtherOrigin { issued_by: token.issued_by().to_owned(), asked });
    }
    let form = Form::default().field("grant_type", "refresh_token").field("client_id", &endpoint.client_id);
    let form = match endpoint.refresh_header {
        Some(name) => form.secret_header(name, token.secret()),
        None => form.secret("refresh_token", token.secret()),
    };
    let reply = form.post(fetcher, &endpoint.url).await.map_err(|failure| of_failure(&asked, &failure))?;
    if !reply.is_success() {
        return Err(of_refusal(&reply, fetcher));
    }
    let tokens = Tokens::read(&reply.body, endpoint, SystemTime::now());
    // An answer that was cut or garbled may be complete the next time.
    let unexpected = |what| RefreshError::Transient {
        cause: format!("{what} is missing in the answer"),
        retry_after: None,
    };
    Ok(tokens.map_err(unexpected)?.keeping(token))
}

fn of_failure(origin: &str, failure: &Failure) -> RefreshError {
    match is_passing(failure) {
        true => RefreshError::Transient { cause: failure.to_string(), retry_after: None },
        false => RefreshError::Refused { origin: origin.to_owned(), said: failure.to_string() },
    }
}

fn of_refusal(reply: &Reply, fetcher: &Fetcher) -> RefreshError {
    match reply.error() {
        Some(code) if TERMINAL.contains(&code) => RefreshError::Terminal { reason: code.to_owned() },
        _ if reply.status == 429 || reply.status >= 500 => {
            RefreshError::Transient { cause: reply.words(fetcher), retry_after: reply.retry_after }
        }
        // With a reason of its own, a 401 is about the token.
        Some(_) if reply.status == 401 => RefreshError::Terminal { reason: reply.reason(fetcher) },
        _ => RefreshError::Refused { origin: reply.origin.clone(), said: reply.words(fetcher) },
    }
}
