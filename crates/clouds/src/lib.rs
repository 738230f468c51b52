//! Sandboxes of cloud services as places for commands: Daytona, and Modal behind its gateway.
//!
//! [`place_client`] is a client program as ssh is one: it runs a program in a sandbox, with streams and an exit code. The
//! services run a short command and return its text; `far_process` makes a long one with streams of many short ones, in
//! the same way for every service. The key is read here, by the client: it is in no argument and no environment.

mod api;
mod client;
mod daytona;
mod error;
mod far_process;
mod modal;
mod record;
mod service;
mod settings;

pub use client::place_client;
pub use error::CloudError;
pub use settings::{CloudSettings, Service, Timing};

/// The argument that makes Hermes this client program. Users do not type it.
pub const CLIENT: &str = "__place-client";
