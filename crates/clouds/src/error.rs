//! Errors of cloud services.

/// The reason why a sandbox cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CloudError {
    #[error("{variable} is missing; save it with `hermes config set {variable} KEY`")]
    NoKey { variable: &'static str },
    #[error(
        "{variable} is only in the environment of this process, which client programs do not get; save it with \
         `hermes config set {variable} KEY`"
    )]
    KeyNotSaved { variable: &'static str },
    #[error("{setting} is `{value}`, which cannot be used: {why}")]
    Invalid { setting: &'static str, value: String, why: &'static str },
    #[error("terminal.modal_mode is direct, which is not built in; set it to managed and {variable}")]
    NoDirectMode { variable: &'static str },
    #[error("{service} rejects the key (HTTP {status}); check {variable}")]
    Rejected { service: &'static str, status: u16, variable: &'static str },
    #[error("{service} has no such sandbox")]
    Gone { service: &'static str },
    #[error("{service} already has a sandbox of this name")]
    Taken { service: &'static str },
    #[error("{service} refuses the request (HTTP {status}): {said}")]
    Refused { service: &'static str, status: u16, said: String },
    /// The request may have arrived.
    #[error("{service} does not answer: {cause}")]
    NoAnswer { service: &'static str, cause: String },
    #[error("{service} sent an answer that cannot be used: {what}")]
    Garbled { service: &'static str, what: String },
    #[error("the sandbox {name} is {state}: {reason}")]
    Broken { name: String, state: String, reason: String },
    #[error("the sandbox needs `{program}`; choose another image")]
    NoProgram { program: String },
    #[error("the sandbox could not be recorded in {file}: {cause}")]
    Record { file: String, cause: String },
    #[error("invalid arguments of the client program: {0}")]
    Arguments(String),
    #[error("{0}")]
    Settings(String),
}
