//! Runs commands elsewhere: on another machine over ssh, in a container, or in a cloud sandbox.
//!
//! A [`Place`] knows the client program and its arguments. [`FarBackend`] wraps a command into a client that another
//! [`Backend`](hermes_exec::Backend) runs on this machine, usually the supervisor: so the result survives a kill of
//! Hermes. What runs at the far end is in `far_script`; what runs here is in `client_script`. Scripts on files of the
//! place are in `exchange`.

mod backend;
mod checks;
mod client_script;
mod cloud;
mod container;
mod error;
mod exchange;
mod far_script;
mod isolation;
mod place;
mod private;
mod singularity;
mod ssh;

pub use backend::FarBackend;
pub use checks::{Check, Checked, run_checks};
pub use cloud::CloudSettings;
pub use container::{ContainerSettings, Engine};
pub use error::PlaceError;
pub use isolation::Isolation;
pub use place::{Place, PlaceSettings};
pub use singularity::SingularitySettings;
pub use ssh::SshSettings;

/// Quotes a word for a shell.
pub(crate) fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// Joins arguments to a line that a shell splits into the same arguments.
pub(crate) fn line(words: &[String]) -> String {
    words.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}
