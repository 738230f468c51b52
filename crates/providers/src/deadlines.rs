//! How long a model call may take, phase by phase.

use std::time::Duration;

/// The limits of one call, all in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    pub connect: Duration,
    /// From sending the request to the first byte of the reply.
    pub first_byte: Duration,
    /// Between two pieces of the reply.
    pub gap: Duration,
    pub total: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self {
            connect: Duration::from_secs(30),
            first_byte: Duration::from_secs(180),
            gap: Duration::from_secs(180),
            total: Duration::from_secs(1800),
        }
    }
}

impl Deadlines {
    /// A model on this machine may think for a long time before its first token.
    pub fn for_local(self) -> Self {
        let patient = Duration::from_secs(900);
        Self { first_byte: self.first_byte.max(patient), gap: self.gap.max(patient), ..self }
    }
}
