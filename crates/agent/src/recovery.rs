//! Decides the remedy for a fault, as a pure function.

use crate::StopChecks;
use crate::loop_guard::LoopLimits;
use hermes_conversation::{Quirk, Quirks};
use hermes_wire::{Fault, FaultClass, Reply};
use std::time::Duration;

/// The limits of one turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Model calls that may follow tool results.
    pub max_iterations: u32,
    /// Attempts per model call, the first one included.
    pub attempts: u32,
    /// Times that another key is looked for, per model call. The keys run out before this does.
    pub keys: u32,
    /// Continuations of truncated replies, and repeated requests for truncated calls, with a larger cap.
    pub continuations: u32,
    pub empty_retries: u32,
    /// Compactions after a refusal for length.
    pub compactions: u32,
    /// Consecutive replies with truncated tool calls that were reported to the model.
    pub cut_calls: u32,
    /// The first wait after a fault other than a rate limit; it doubles from there. With the longest jitter the
    /// first retry comes within 0.5 s.
    pub backoff: Duration,
    /// Repeated tool calls that get a warning or end the turn.
    pub loops: LoopLimits,
    /// Checks that an answer has to pass.
    pub stop_checks: StopChecks,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_iterations: 90,
            attempts: 3,
            keys: 32,
            continuations: 4,
            empty_retries: 3,
            compactions: 3,
            cut_calls: 4,
            backoff: Duration::from_millis(300),
            loops: LoopLimits::default(),
            stop_checks: StopChecks::default(),
        }
    }
}

/// The attempts spent on the current model. A fallback starts at zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Spent {
    /// Failed attempts at the current model call.
    pub attempts: u32,
    /// Quirks that were applied to make a request acceptable.
    pub repaired: Quirks,
    /// Times that another key was looked for at the current model call.
    pub keys: u32,
    /// There is no other key for now.
    pub keys_spent: bool,
    /// Models that could be asked instead.
    pub fallbacks_left: u32,
    /// Times that cut calls were asked for again with a larger output cap.
    pub raises: u32,
    /// Compactions so far.
    pub compactions: u32,
    pub cap: OutputCap,
}

/// The state of the output cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OutputCap {
    #[default]
    MayGrow,
    /// It is as large as it gets.
    Full,
    /// A larger one was refused.
    Refused,
}

impl Spent {
    /// Returns true if truncated calls may be requested again with a larger cap.
    pub fn can_raise_cap(&self, limits: &Limits) -> bool {
        self.cap == OutputCap::MayGrow && self.raises < limits.continuations
    }
}

/// Something that may turn a failure into another try.
#[derive(Debug, Clone, PartialEq)]
pub enum Remedy {
    /// Wait, with jitter on top, and send the same request again.
    Wait { delay: Duration, why: String },
    /// Leave out of requests what this model does not take; kept with the session.
    Mend { quirk: Quirk, why: String },
    /// Look for another key of the same provider, or renew this one.
    NextKey(Fault),
    /// Go on with the next model of the route.
    NextModel { class: FaultClass, why: String },
    /// The model said nothing to the results of its calls: ask what it makes of them.
    AskAboutResults(Box<Reply>),
    /// Keep the answer and ask the model to check the code that it changed; the files, for a sentence.
    AskToVerify(Box<Reply>, String),
    /// Keep the promise and ask the model to act on it.
    AskToAct(Box<Reply>),
    /// Keep the cut reply and ask for the rest.
    AskToContinue(Box<Reply>),
    /// Drop the reply, whose arguments could not be read, and send the same request again.
    Resend(Box<Reply>),
    /// Forget the reply, whose calls were cut, and ask again with a larger output cap.
    RaiseCap(Box<Reply>),
    /// The larger output cap was refused: go back to the first one.
    RestoreCap { why: String },
    /// The request was too long: make the history shorter.
    Compact(Fault),
    /// The budget is spent: ask for a last answer without tools.
    AskForSummary,
}

/// A provider may ask for patience; past this we do not believe it.
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Attempts at a model that is busy or does not answer, before the next one is asked.
const PATIENCE: u32 = 2;

/// Chooses a remedy, or none when nothing helps.
///
/// A raised output cap is taken back first. Then the request is changed, then another credential is tried,
/// then a fallback, then the same model again. Each has a budget of its own.
pub fn decide(fault: &Fault, spent: &Spent, limits: &Limits) -> Option<Remedy> {
    if spent.raises > 0 && spent.cap != OutputCap::Refused && may_be_about_the_cap(fault.class) {
        return Some(Remedy::RestoreCap { why: fault.detail.clone() });
    }
    if is_too_long(fault.class) && spent.compactions < limits.compactions {
        return Some(Remedy::Compact(fault.clone()));
    }
    if let Some(quirk) = repairs(fault.class).iter().find(|quirk| !spent.repaired.has(**quirk)) {
        return Some(Remedy::Mend { quirk: *quirk, why: fault.detail.clone() });
    }
    if is_about_the_key(fault.class) && !spent.keys_spent && spent.keys < limits.keys {
        return Some(Remedy::NextKey(fault.clone()));
    }
    let again = wait(fault, spent, limits);
    if spent.fallbacks_left > 0 && moves_on(fault, spent, again.is_none()) {
        return Some(Remedy::NextModel { class: fault.class, why: fault.detail.clone() });
    }
    again
}

/// The cooldown of the first model after a fallback for this fault, which lasts into later turns.
pub fn cooldown_after(class: FaultClass) -> Option<Duration> {
    use FaultClass::*;
    matches!(class, RateLimited | UpstreamRateLimited | Billing).then_some(Duration::from_secs(60))
}

/// The time during which the last model of the route is kept after all have failed.
pub const LAST_MODEL_HOLD: Duration = Duration::from_secs(5);

/// Returns true if another credential may help. The credential pool decides on the individual refusal: some
/// are about the account and not about the credential.
pub(crate) fn is_about_the_key(class: FaultClass) -> bool {
    use FaultClass::*;
    matches!(class, Auth | Billing | RateLimited)
}

/// Returns true if compaction helps.
pub(crate) fn is_too_long(class: FaultClass) -> bool {
    use FaultClass::*;
    matches!(class, ContextOverflow | PayloadTooLarge | LongContextTier)
}

/// Returns true if a larger output cap may be the cause: the endpoint rejects it, it does not fit beside
/// the prompt, or it could exceed the budget.
fn may_be_about_the_cap(class: FaultClass) -> bool {
    use FaultClass::*;
    matches!(class, Format | ContextOverflow | Budget)
}

/// The changes of the request that help once each, in the order in which they are tried.
fn repairs(class: FaultClass) -> &'static [Quirk] {
    use FaultClass::*;
    match class {
        StreamingUnsupported => &[Quirk::NoStreaming],
        ThinkingSignature | EncryptedContent => &[Quirk::NoReasoningReplay],
        SchemaKeywords => &[Quirk::PlainSchemas],
        ToolImages => &[Quirk::TextResults],
        ImageTooLarge => &[Quirk::SmallImages, Quirk::NoImages],
        RateLimited | UpstreamRateLimited | Overloaded | Server | Timeout | StreamCut | Garbled | Unknown
        | Unreachable | Auth | Billing | Certificate | ContextOverflow | PayloadTooLarge
        | LongContextTier | LongContextBeta | ModelNotFound | ContentPolicy | ProviderPolicy | Budget
        | Format => &[],
    }
}

/// The same request again, after a while.
fn wait(fault: &Fault, spent: &Spent, limits: &Limits) -> Option<Remedy> {
    use FaultClass::*;
    let base = match fault.class {
        // A limit does not pass as quickly as a hiccup: 2 s where the others have 0.3 s.
        RateLimited | UpstreamRateLimited => limits.backoff.saturating_mul(20) / 3,
        Overloaded | Server | Timeout | StreamCut | Garbled | Unknown | Unreachable => limits.backoff,
        StreamingUnsupported | ThinkingSignature | EncryptedContent | Auth | Billing | Certificate
        | ContextOverflow | PayloadTooLarge | LongContextTier | LongContextBeta | ImageTooLarge
        | ToolImages | SchemaKeywords | ModelNotFound | ContentPolicy | ProviderPolicy | Budget | Format => {
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

/// Returns true if the fault calls for a fallback, if there is one. `is_last` says that no other remedy is
/// left for this model.
fn moves_on(fault: &Fault, spent: &Spent, is_last: bool) -> bool {
    use FaultClass::*;
    match fault.class {
        // What is too long here wants to be shortened, and the account's and the user's own rules
        // are obeyed.
        ContextOverflow | PayloadTooLarge | LongContextTier | ProviderPolicy | Budget => false,
        // What makes no sense here may make sense elsewhere.
        Certificate | Garbled => true,
        Overloaded | Timeout | Unreachable | StreamCut => is_last || spent.attempts >= PATIENCE,
        Auth | Billing | RateLimited | UpstreamRateLimited | ModelNotFound | ContentPolicy | Format
        | Server | Unknown | LongContextBeta | ImageTooLarge | ToolImages | ThinkingSignature
        | EncryptedContent | SchemaKeywords | StreamingUnsupported => {
            fault.flags.fallback || (fault.flags.retry && is_last)
        }
    }
}

/// The base doubled for every failure after the first, at most a minute.
fn backoff(base: Duration, failures: u32) -> Duration {
    let factor = 2u32.saturating_pow(failures.saturating_sub(1));
    base.saturating_mul(factor).min(Duration::from_secs(60))
}

#[cfg(test)]
#[path = "recovery_tests.rs"]
mod tests;
