//! Which endpoint, which key, which API mode, and the HTTP call itself.
//!
//! [`resolve`] decides from values; [`HttpModel`] sends. A key is bound to one origin when it
//! is resolved and travels nowhere else: clients follow no redirects.

mod catalogue;
mod client;
mod deadlines;
mod http_model;
mod local;
mod receive;
mod resolve;

pub use catalogue::{PROVIDERS, Provider, find as find_provider};
pub use client::{HttpClients, HttpSettings, install_tls};
pub use deadlines::Deadlines;
pub use http_model::HttpModel;
pub use local::{LocalServer, find_local_servers};
pub use resolve::{Endpoint, KeySource, ResolveError, Wanted, resolve};
