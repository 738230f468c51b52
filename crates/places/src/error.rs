//! Errors of places.

/// The reason why a place cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlaceError {
    #[error("{key} is missing: set it in config.yaml or {variable} in the environment")]
    Missing { key: &'static str, variable: &'static str },
    #[error("{key} is `{value}`, which cannot be used: {why}")]
    Invalid { key: &'static str, value: String, why: &'static str },
    #[error("`{program}` cannot be run: {cause}; install it, or set terminal.backend to local")]
    NoProgram { program: String, cause: String },
    #[error("`{program}` cannot use {place}: {said}; {advice}")]
    Failed { program: String, place: String, said: String, advice: String },
}
