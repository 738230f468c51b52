//! Search on the web, and pages as Markdown.
//!
//! [`WebClient`] implements `tools::Web`. Services are rows of a table; without any, a page is fetched and read here,
//! and DuckDuckGo is searched. Every address is judged: by its text (`address_rules`), and by `providers` when the
//! connection is made, again for each redirect. What comes back is text of others, which `tools` marks as untrusted.

mod address_rules;
mod backends;
mod blocklist;
mod cache;
mod client;
mod decode;
mod dom;
mod markdown;
mod pace;
mod page;
mod readable;
mod settings;
mod xml;

pub use backends::{Variables, variables};
pub use client::{WebClient, WebPorts, search_problem};
pub use settings::{BlocklistSettings, Network, WebSettings};
