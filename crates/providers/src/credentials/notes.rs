//! The stored state of a refused credential, and the message when no key is available.

use super::choice::soonest;
use super::{Binding, Entry, LastError, Pool, RefreshError, Status, consequence};
use hermes_guard::{Secrets, redact};
use hermes_wire::{Failure, Fault, FaultClass};
use std::time::Duration;

/// Longer cooldowns are not waited for within a turn.
const WORTH_WAITING: Duration = Duration::from_secs(60);

/// The state after a refusal. The server's text may repeat the key.
pub(super) fn refusal(fault: &Fault, held: &Entry, now: f64, until: Option<f64>) -> LastError {
    let secrets = Secrets::new([(held.label.as_str(), held.key.clone())]);
    let code = fault.refusal.status.or(match fault.class {
        FaultClass::Billing => Some(402),
        FaultClass::RateLimited => Some(429),
        _ => None,
    });
    LastError {
        at: Some(now),
        code: code.map(i64::from),
        reason: Some(fault.refusal.code.clone()).filter(|code| !code.is_empty()),
        message: Some(redact(&secrets, &fault.detail).into_owned()),
        reset_at: until,
    }
}

/// The state after a failed renewal: disabled, or in cooldown.
pub(super) fn not_renewed(error: &RefreshError, now: f64) -> (Status, LastError) {
    let (status, reason) = match error {
        RefreshError::Over { reason } if consequence::is_terminal(reason) => (Status::Dead, Some(reason)),
        RefreshError::Over { reason } => (Status::Exhausted, Some(reason)),
        RefreshError::Failed { .. } => (Status::Exhausted, None),
    };
    let message = Some(error.to_string());
    let reason = reason.cloned();
    (status, LastError { at: Some(now), code: Some(401), reason, message, reset_at: None })
}

/// Returns the reason why no key of a pool is available, and the next step.
pub(super) fn nothing_ready(binding: &Binding, pool: &Pool, now: f64) -> Failure {
    let Binding { provider, origin, .. } = binding;
    let Some(until) = soonest(&pool.entries, now) else {
        let why = format!(
            "no stored key of {provider} can be used at {origin}; `hermes auth status {provider}` shows why, \
             `hermes auth add {provider}` adds one"
        );
        return Failure::NoKey { why, rests_for: None };
    };
    let wait = Duration::try_from_secs_f64(until - now).unwrap_or_default();
    let why = format!(
        "every stored key of {provider} is in cooldown, the first for another {}; `hermes auth status \
         {provider}` shows why, `hermes auth reset {provider}` clears it",
        duration_text(wait)
    );
    Failure::NoKey { why, rests_for: Some(wait).filter(|wait| *wait <= WORTH_WAITING) }
}

/// A duration in at most two units, for display.
fn duration_text(time: Duration) -> String {
    let seconds = time.as_secs().max(1);
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min", seconds.div_ceil(60)),
        _ => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}
