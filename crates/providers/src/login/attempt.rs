//! The context of a login: messages to the user, cancellation and a time limit.

use crate::fetch::Fetcher;
use hermes_conversation::BoxFuture;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Shows the messages of a login. Texts come from the network: the implementation makes them printable.
pub trait LoginScreen: Send + Sync {
    /// Shows the page to open, the code to enter there if there is one, and its lifetime.
    fn show(&self, url: &Url, user_code: Option<&str>, expires_in: Duration);
    /// Shows a status line.
    fn status(&self, text: &str);
}

/// The wait between two requests of a login.
pub type Wait = dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync;

/// One attempt to log in.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    pub fetcher: &'a Fetcher,
    pub screen: &'a dyn LoginScreen,
    pub cancel: &'a CancellationToken,
    /// The time limit of the login.
    pub limit: Duration,
    pub wait: &'a Wait,
}

/// Waits by the clock.
pub fn wait_for_real(time: Duration) -> BoxFuture<'static, ()> {
    Box::pin(tokio::time::sleep(time))
}
