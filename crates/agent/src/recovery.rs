//! What to do about a fault, as a pure function.

use hermes_wire::{Fault, FaultClass, Reply};
use std::time::Duration;

/// What may be spent on one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Model calls that may follow tool results.
    pub max_iterations: u32,
    /// Attempts per model call, the first one included.
    pub attempts: u32,
    pub continuations: u32,
    pub empty_retries: u32,
    /// Replies in a row whose tool calls were cut short.
    pub cut_calls: u32,
    /// The first wait after a fault; it doubles from there.
    pub backoff: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_iterations: 90,
            attempts: 3,
            continuations: 4,
            empty_retries: 3,
            cut_calls: 4,
            backoff: Duration::from_secs(2),
        }
    }
}

/// What has been spent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Failed attempts at the current model call.
    pub attempts: u32,
    pub streaming_dropped: bool,
    pub replay_dropped: bool,
}

/// Something that may turn a failure into another try.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    /// Wait, with jitter on top, and send the same request again.
    Wait { delay: Duration, why: String },
    /// Ask for whole replies from now on; kept with the session.
    StopStreaming,
    /// Send no earlier reasoning back from now on; kept with the session.
    StopReplay,
    /// Keep the cut reply and ask for the rest.
    AskToContinue(Box<Reply>),
    /// The budget is spent: ask for a last answer without tools.
    AskForSummary,
}

/// A provider may ask for patience; past this we do not believe it.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Chooses a remedy, or none when nothing helps.
pub fn decide(fault: &Fault, spent: &Spent, limits: &Limits) -> Option<Remedy> {
    use FaultClass::*;
    let base = match fault.class {
        RateLimited | UpstreamRateLimited | Overloaded | Server | Timeout | StreamCut | Garbled | Unknown => {
            limits.backoff
        }
        Unreachable => limits.backoff / 2,
        StreamingUnsupported if !spent.streaming_dropped => return Some(Remedy::StopStreaming),
        ThinkingSignature | EncryptedContent if !spent.replay_dropped => return Some(Remedy::StopReplay),
        StreamingUnsupported | ThinkingSignature | EncryptedContent | Auth | Billing | Certificate
        | ContextOverflow | PayloadTooLarge | LongContextTier | LongContextBeta | ImageTooLarge
        | ToolImages | SchemaKeywords | ModelNotFound | ContentPolicy | ProviderPolicy | Format => {
            return None;
        }
    };
    if spent.attempts >= limits.attempts.max(1) {
        return None;
    }
    let delay = match fault.retry_after {
        Some(asked) => asked.min(LONGEST_WAIT),
        None => backoff(base, spent.attempts),
    };
    Some(Remedy::Wait { delay, why: fault.detail.clone() })
}

/// The base doubled for every failure after the first, at most a minute.
fn backoff(base: Duration, failures: u32) -> Duration {
    let factor = 2u32.saturating_pow(failures.saturating_sub(1));
    base.saturating_mul(factor).min(Duration::from_secs(60))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(class: FaultClass, retry_after: Option<u64>) -> Fault {
        Fault { retry_after: retry_after.map(Duration::from_secs), ..Fault::new(class, "x") }
    }

    fn wait(seconds: u64) -> Option<Remedy> {
        Some(Remedy::Wait { delay: Duration::from_secs(seconds), why: "x".into() })
    }

    #[test]
    fn the_remedy_fits_the_fault_and_what_was_spent() {
        use FaultClass::*;
        for (class, asked, failures, want) in [
            (RateLimited, Some(7), 1, wait(7)),
            (RateLimited, Some(9_999), 1, wait(600)),
            (RateLimited, None, 1, wait(2)),
            (Overloaded, None, 2, wait(4)),
            (Server, None, 1, wait(2)),
            (Timeout, None, 2, wait(4)),
            (StreamCut, None, 1, wait(2)),
            (Garbled, None, 1, wait(2)),
            (Unknown, None, 1, wait(2)),
            (Unreachable, None, 1, wait(1)),
            (Unreachable, None, 2, wait(2)),
            (Server, None, 3, None),
            (RateLimited, Some(1), 3, None),
            (UpstreamRateLimited, None, 1, wait(2)),
            (StreamingUnsupported, None, 1, Some(Remedy::StopStreaming)),
            (ThinkingSignature, None, 1, Some(Remedy::StopReplay)),
            (EncryptedContent, None, 1, Some(Remedy::StopReplay)),
            (Certificate, None, 1, None),
            (ProviderPolicy, None, 1, None),
            (Auth, None, 1, None),
            (Billing, None, 1, None),
            (ContextOverflow, None, 1, None),
            (PayloadTooLarge, None, 1, None),
            (ModelNotFound, None, 1, None),
            (ContentPolicy, None, 1, None),
            (Format, None, 1, None),
        ] {
            let spent = Spent { attempts: failures, ..Spent::default() };
            assert_eq!(
                decide(&fault(class, asked), &spent, &Limits::default()),
                want,
                "{class:?} {failures}"
            );
        }
        let spent = Spent { attempts: 1, streaming_dropped: true, replay_dropped: true };
        for class in [StreamingUnsupported, ThinkingSignature, EncryptedContent] {
            assert_eq!(decide(&fault(class, None), &spent, &Limits::default()), None, "{class:?}");
        }
    }

    #[test]
    fn waits_grow_to_a_minute_and_no_further() {
        for (failures, want) in [(1, 2), (2, 4), (5, 32), (6, 60), (40, 60)] {
            assert_eq!(backoff(Duration::from_secs(2), failures), Duration::from_secs(want), "{failures}");
        }
    }
}
