//! Asking a second model for a summary.

use crate::Question;
use hermes_conversation::{BoxFuture, SessionId};
use serde::{Deserialize, Serialize};

/// A second model that writes summaries.
pub trait Summarise: Send + Sync {
    /// The context window of the first model that is called; `None` if there is none.
    fn window(&self) -> Option<u64>;

    /// A compaction is near: an outside memory keeps what it has not kept yet, and may say what the summary
    /// should know.
    fn flush_memory<'a>(&'a self, _session: &'a SessionId) -> BoxFuture<'a, Option<String>> {
        Box::pin(async { None })
    }

    /// Calls models until one answers or none is left. Dropping the future abandons the question.
    fn ask<'a>(
        &'a self,
        session: &'a SessionId,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Summary, SummaryFailure>>;
}

/// The summary of a model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    pub model: String,
    pub text: String,
    /// It was cut by the output limit.
    pub was_cut: bool,
    /// Dollars, where that is known.
    pub cost_usd: Option<f64>,
    /// The reason why the preferred model did not write it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<String>,
}

/// The reason why there is no summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SummaryFailure {
    pub kind: SummaryFailureKind,
    /// A sentence for the user.
    pub why: String,
}

/// The kind of failure, which determines the cooldown of automatic compaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SummaryFailureKind {
    /// There is no model that could be asked.
    NoModel,
    Timeout,
    /// The reply could not be read, or stopped in the middle.
    Unreadable,
    /// The key, the account or the network.
    Unavailable,
    Other,
}

impl SummaryFailureKind {
    /// The cooldown of automatic compaction in seconds, after so many failures in a row.
    pub fn rest(self, in_a_row: u32) -> u64 {
        match (self, in_a_row) {
            (Self::NoModel, _) => 600,
            (Self::Timeout, 0 | 1) => 60,
            (Self::Timeout, 2) => 300,
            (Self::Timeout, _) => 900,
            (Self::Unreadable, _) => 30,
            (Self::Unavailable | Self::Other, _) => 60,
        }
    }
}

/// A summariser without models.
#[derive(Debug, Default)]
pub struct NoSummaries;

impl Summarise for NoSummaries {
    fn window(&self) -> Option<u64> {
        None
    }

    fn ask<'a>(
        &'a self,
        _: &'a SessionId,
        _: &'a Question,
    ) -> BoxFuture<'a, Result<Summary, SummaryFailure>> {
        let why = "no model can be asked for a summary; see `hermes model tasks`".to_owned();
        Box::pin(async { Err(SummaryFailure { kind: SummaryFailureKind::NoModel, why }) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rest_after_a_failure_depends_on_it() {
        use SummaryFailureKind::*;
        for (kind, in_a_row, want) in [
            (NoModel, 1, 600),
            (Timeout, 1, 60),
            (Timeout, 2, 300),
            (Timeout, 3, 900),
            (Timeout, 9, 900),
            (Unreadable, 1, 30),
            (Unavailable, 2, 60),
            (Other, 1, 60),
        ] {
            assert_eq!(kind.rest(in_a_row), want, "{kind:?} {in_a_row}");
        }
    }
}
