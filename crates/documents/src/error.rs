//! Reasons why a document has no text for us.

/// The reason why a document was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("it is not a {0} document")]
    OtherKind(&'static str),
    #[error("it is encrypted; a copy without a password is needed")]
    Encrypted,
    #[error("it is damaged: {0}")]
    Damaged(&'static str),
    #[error("it unpacks to more than {} MiB, which is not read", .0 / (1024 * 1024))]
    TooLarge(usize),
    #[error("it has no text, perhaps only scanned pages or images")]
    NoText,
}
