//! What a login needs from whoever starts it: a screen, a way to stop, and patience.

use crate::fetch::Asker;
use hermes_conversation::BoxFuture;
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use url::Url;

/// Where a login speaks to the person. Texts come from the network: what prints them makes them
/// printable.
pub trait LoginScreen: Send + Sync {
    /// Where to go, the code to enter there if there is one, and how long it is good for.
    fn show(&self, url: &Url, user_code: Option<&str>, expires_in: Duration);
    /// How it goes, in a line.
    fn status(&self, text: &str);
}

/// How a login waits between two questions.
pub type Wait = dyn Fn(Duration) -> BoxFuture<'static, ()> + Send + Sync;

/// One attempt to log in.
#[derive(Clone, Copy)]
pub struct Attempt<'a> {
    pub asker: &'a Asker,
    pub screen: &'a dyn LoginScreen,
    pub cancel: &'a CancellationToken,
    /// For the whole of it.
    pub limit: Duration,
    pub wait: &'a Wait,
}

/// Waits by the clock.
pub fn wait_for_real(time: Duration) -> BoxFuture<'static, ()> {
    Box::pin(tokio::time::sleep(time))
}
