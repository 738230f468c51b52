//! Why a login did not come about, and why a token was not renewed. No variant carries a token.

use hermes_wire::Failure;
use std::time::Duration;

/// Why a login did not come about.
#[derive(Debug, thiserror::Error)]
pub enum LoginError {
    #[error("the login was cancelled")]
    Cancelled,
    #[error("nobody finished the login within {} seconds; start it again", .limit.as_secs())]
    TimedOut { limit: Duration },
    #[error("the code expired before it was entered; start the login again")]
    CodeExpired,
    #[error("the login was refused: {reason}")]
    Denied { reason: String },
    #[error("{origin} does not accept the login: {said}")]
    Refused { origin: String, said: String },
    #[error("{origin} gave an answer that belongs to no login: {what}")]
    Odd { origin: String, what: String },
    #[error(
        "port {port} on this machine cannot be used for the way back from the browser; set another redirect_port"
    )]
    Port {
        port: u16,
        #[source]
        source: std::io::Error,
    },
    #[error(transparent)]
    Network(#[from] Failure),
}

/// Why a token was not renewed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefreshError {
    /// The refresh token is good for nothing any more.
    #[error("the login is no longer valid ({reason}); log in again")]
    Terminal { reason: String },
    /// The token may be as good as before; later is better.
    #[error("the login could not be renewed now: {cause}")]
    Transient { cause: String, retry_after: Option<Duration> },
    /// The server does not take such a request. Nothing says that the token is bad.
    #[error("{origin} does not renew the login: {said}")]
    Refused { origin: String, said: String },
    /// The address of the login was changed after it was made.
    #[error("the login was made at {issued_by} and its token is not sent to {asked}; log in again")]
    OtherOrigin { issued_by: String, asked: String },
}
