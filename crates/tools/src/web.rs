//! Access to the web.
//!
//! The tools have no HTTP client: the code that assembles a session passes one in. It judges every address itself.

use hermes_conversation::BoxFuture;

/// A result of a search.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebHit {
    pub title: String,
    pub url: String,
    pub description: String,
}

/// A page as Markdown, or the reason why there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WebPage {
    /// The address as it was asked for.
    pub url: String,
    pub title: String,
    /// The whole text, up to a limit of the implementation.
    pub content: Result<String, String>,
}

/// The web. Texts are untrusted; errors are sentences for the model.
pub trait Web: Send + Sync {
    /// Returns the reason why an address is never fetched, without looking it up.
    fn refusal(&self, url: &str) -> Option<String>;

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<WebHit>, String>>;

    /// Fetches pages. The result has one entry for each address, in their order.
    fn extract<'a>(&'a self, urls: &'a [String]) -> BoxFuture<'a, Vec<WebPage>>;

    /// Fetches the bytes of a file; one with more than `most` is an error.
    fn file<'a>(&'a self, url: &'a str, most: usize) -> BoxFuture<'a, Result<Vec<u8>, String>>;
}
