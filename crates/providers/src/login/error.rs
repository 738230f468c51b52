//! Errors of logging in and of renewing tokens. No variant has a token.

use hermes_wire::Failure;
use std::time::Duration;

/// An error of logging in.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error("the login was cancelled")]
    Cancelled,
    #[error("the login was not completed within {} seconds; start it again", .limit.as_secs())]
    TimedOut { limit: Duration },
    #[error("the code expired before it was entered; start the login again")]
    CodeExpired,
    #[error("the login was refused: {reason}")]
    Denied { reason: String },
    #[error("{origin} does not accept the login: {said}")]
    Refused { origin: String, said: String },
    #[error("{origin} gave an unexpected answer: {what}")]
    Unexpected { origin: String, what: String },
    #[error(
        "port {port} on this machine cannot be opened for the redirect of the browser; set another redirect_port"
    )]
    Port {
        port: u16,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Network(#[from] Failure),
}

/// An error of renewing a token.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefreshError {
    /// The refresh token is invalid.
    #[error("the login is no longer valid ({reason}); log in again")]
    Terminal { reason: String },
    /// The token may still be valid; a later attempt may succeed.
    #[error("the login could not be renewed now: {cause}")]
    Transient { cause: String, retry_after: Option<Duration> },
    /// The server does not accept such a request. The token may be valid.
    #[error("{origin} does not renew the login: {said}")]
    Refused { origin: String, said: String },
    /// The address of the login was changed after it was made.
    #[error("the login was made at {issued_by} and its token is not sent to {asked}; log in again")]
    OtherOrigin { issued_by: String, asked: String },
}
