//! Exit codes and failures.

use hermes_recording::RecordingError;
use hermes_runtime::auth::CredentialError;
pub(crate) use hermes_runtime::with_causes;
use hermes_runtime::{AuthError, FaultClass, ModelsError, RuntimeError, TurnReport};
use hermes_store::StoreError;
use hermes_terminal::browse::BrowseError;
use hermes_terminal::signals::INTERRUPTED;
use std::fmt;

/// The exit code of the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Answered = 0,
    FailedTurn = 1,
    Usage = 2,
    Denied = 3,
    Unreachable = 69,
    Internal = 70,
    Permission = 77,
    Config = 78,
    Interrupted = INTERRUPTED as isize,
}

impl Exit {
    pub(crate) const ALL: [Self; 9] = [
        Self::Answered,
        Self::FailedTurn,
        Self::Usage,
        Self::Denied,
        Self::Unreachable,
        Self::Internal,
        Self::Permission,
        Self::Config,
        Self::Interrupted,
    ];

    /// The meaning, for the documentation.
    pub(crate) fn meaning(self) -> &'static str {
        match self {
            Self::Answered => "success",
            Self::FailedTurn => {
                "the turn failed, or ended without a complete reply (maximum of model calls, reply cut off); \
                 `doctor` found a problem; `replay` found a difference"
            }
            Self::Usage => "wrong usage; `approvals check`: the command needs approval",
            Self::Denied => "`approvals check`: the command never runs",
            Self::Unreachable => "the provider cannot be reached",
            Self::Internal => "internal error, for example a session store that cannot be read",
            Self::Permission => {
                "no permission; a command was denied because no one was available to approve it (the reply is printed)"
            }
            Self::Config => "wrong or missing settings",
            Self::Interrupted => "interrupted",
        }
    }
}

impl From<Exit> for std::process::ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// A failure that ends the program: its message and its exit code.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) line: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line)
    }
}

impl Failure {
    pub(crate) fn new(exit: Exit, line: impl Into<String>) -> Self {
        Self { exit, line: line.into() }
    }

    pub(crate) fn usage(line: impl Into<String>) -> Self {
        Self::new(Exit::Usage, line)
    }
}

impl From<RuntimeError> for Failure {
    fn from(error: RuntimeError) -> Self {
        let exit = match &error {
            RuntimeError::Config(_)
            | RuntimeError::Resolve(_)
            | RuntimeError::Toolsets(_)
            | RuntimeError::SubAgentModel(_)
            | RuntimeError::Hooks(_)
            | RuntimeError::UnsupportedSafety { .. }
            | RuntimeError::Backend { .. }
            | RuntimeError::Prefill { .. } => Exit::Config,
            RuntimeError::UnlistedModel(_) => Exit::Usage,
            RuntimeError::NoAnswer(_)
            | RuntimeError::SessionClosed
            | RuntimeError::NoProcess(_)
            | RuntimeError::UnknownSkills(_)
            | RuntimeError::Skill(_) => Exit::FailedTurn,
            RuntimeError::Home(_) => Exit::Permission,
            RuntimeError::Processes(_) => Exit::Internal,
            RuntimeError::Store(error) => of_store(error),
            RuntimeError::Credentials(error) => of_credentials(error),
            RuntimeError::Image(_) => Exit::FailedTurn,
            RuntimeError::Recording(error) => of_recording(error),
        };
        Self::new(exit, error.explained())
    }
}

impl From<ModelsError> for Failure {
    fn from(error: ModelsError) -> Self {
        RuntimeError::from(error).into()
    }
}

fn of_store(error: &StoreError) -> Exit {
    match error {
        StoreError::UnknownSession { .. }
        | StoreError::AmbiguousSession { .. }
        | StoreError::TitleTaken { .. }
        | StoreError::TitleTooLong { .. } => Exit::Usage,
        StoreError::Busy { .. } | StoreError::Fenced { .. } => Exit::FailedTurn,
        error if error.is_read_only() => Exit::Permission,
        _ => Exit::Internal,
    }
}

fn of_recording(error: &RecordingError) -> Exit {
    match error {
        RecordingError::Exists { .. } | RecordingError::NoSuchStep { .. } => Exit::Usage,
        RecordingError::Create { .. } | RecordingError::Read { .. } => Exit::Permission,
        RecordingError::Line { .. } | RecordingError::DiffersBefore { .. } => Exit::FailedTurn,
        RecordingError::Setup { .. } => Exit::Internal,
    }
}

fn of_credentials(error: &CredentialError) -> Exit {
    match error {
        CredentialError::File(AuthError::Io { .. }) => Exit::Permission,
        CredentialError::File(AuthError::Malformed { .. } | AuthError::Unexpected { .. }) => Exit::Config,
        CredentialError::File(AuthError::Busy { .. }) => Exit::FailedTurn,
        CredentialError::Flow(_) => Exit::Config,
        CredentialError::NoSuchEntry(_)
        | CredentialError::NoAddress
        | CredentialError::NoApiKey { .. }
        | CredentialError::EmptyKey
        | CredentialError::NotOneWord => Exit::Usage,
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        RuntimeError::from(error).into()
    }
}

impl From<BrowseError> for Failure {
    fn from(error: BrowseError) -> Self {
        match error {
            BrowseError::Terminal(error) => error.into(),
            BrowseError::Store(error) => error.into(),
        }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        let exit = match error.kind() {
            std::io::ErrorKind::PermissionDenied => Exit::Permission,
            _ => Exit::Internal,
        };
        Self::new(exit, error.to_string())
    }
}

/// The exit code of a finished turn.
pub(crate) fn of_turn(report: &TurnReport) -> Exit {
    if report.interrupted {
        return Exit::Interrupted;
    }
    if report.store_failed {
        return Exit::Internal;
    }
    match report.fault {
        Some(FaultClass::Unreachable) => Exit::Unreachable,
        Some(_) => Exit::FailedTurn,
        None if report.completed => Exit::Answered,
        None => Exit::FailedTurn,
    }
}
