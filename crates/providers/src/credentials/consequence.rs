//! The consequence of a fault for a credential. Pure.

use super::{Availability, Entry, moment};
use crate::catalogue::{self, Forbidden};
use hermes_wire::{Fault, FaultClass};

/// Refusals that mean that a login has ended for good.
const OVER: [&str; 6] = [
    "token_invalidated",
    "token_revoked",
    "invalid_token",
    "invalid_grant",
    "unauthorized_client",
    "refresh_token_reused",
];
/// A limit that a retry does not get around.
const USED_UP: [&str; 2] = ["usage limit reached", "usage limit has been reached"];
const USED_UP_CODES: [&str; 2] = ["usage_limit_reached", "gousagelimit"];
/// Parts of xAI's message for a stale token, as opposed to a forbidden account.
const STALE_TOKEN: [&str; 2] = ["[wke=unauthenticated:", "oauth2 access token could not be validated"];
const NO_LOGINS_HERE: &str = "oauth authentication is currently not allowed for this organization";

/// The number of renewals of one credential before another one is used.
const RENEWALS: u32 = 2;

/// The consequence of a fault.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Consequence {
    /// Retry with the same credential.
    RetrySame,
    /// Renew it and retry.
    Refresh,
    /// Put it in cooldown until this time (or for the usual time), and use another one.
    MarkAndRotate { until: Option<f64> },
    /// Disable it for good, and use another one.
    MarkDead,
    /// The fault is not the credential's, or a cooldown would not help.
    LeaveAlone,
}

/// A fault and the credential that it happened to.
pub struct Case<'a> {
    pub fault: &'a Fault,
    /// The stored state.
    pub entry: &'a Entry,
    pub now: f64,
    /// The number of rate limits just before.
    pub strikes: u32,
    /// The number of renewals without effect just before.
    pub refreshes: u32,
    /// The number of other available credentials.
    pub others: usize,
}

/// Returns the consequence of a fault for a credential.
///
/// The last available credential gets a cooldown only if the provider states its end: a guess would disable the
/// only key.
pub fn after(case: &Case<'_>) -> Consequence {
    match case.fault.class {
        FaultClass::Billing => cooldown(case),
        FaultClass::RateLimited if is_for_good(case) => cooldown(case),
        FaultClass::RateLimited if case.others == 0 => Consequence::LeaveAlone,
        FaultClass::RateLimited => Consequence::RetrySame,
        FaultClass::Auth if is_about_the_account(case) => Consequence::LeaveAlone,
        FaultClass::Auth if case.entry.can_be_renewed() && case.refreshes < RENEWALS => Consequence::Refresh,
        FaultClass::Auth if is_over(case.fault) => Consequence::MarkDead,
        FaultClass::Auth => cooldown(case),
        _ => Consequence::LeaveAlone,
    }
}

/// Returns true if a reason means that a login has ended for good.
pub(super) fn is_terminal(reason: &str) -> bool {
    OVER.contains(&reason.trim().to_ascii_lowercase().as_str())
}

fn cooldown(case: &Case<'_>) -> Consequence {
    match resets_at(case.fault, case.now) {
        None if case.others == 0 => Consequence::LeaveAlone,
        until => Consequence::MarkAndRotate { until },
    }
}

/// Returns the end of a limit, if the provider states it.
fn resets_at(fault: &Fault, now: f64) -> Option<f64> {
    let moment = fault.refusal.resets_at.as_deref().and_then(moment::of_text);
    let wait = || fault.retry_after.map(|wait| now + wait.as_secs_f64());
    moment.filter(|moment| *moment > now).or_else(wait)
}

/// Returns true if the limit is more than a momentary one.
fn is_for_good(case: &Case<'_>) -> bool {
    let says = words(case.fault);
    let is_resting = matches!(case.entry.availability(case.now), Availability::CoolingDown { .. });
    case.strikes > 0
        || is_resting
        || USED_UP.iter().any(|words| says.contains(words))
        || USED_UP_CODES.iter().any(|code| case.fault.refusal.code.contains(code))
}

fn is_over(fault: &Fault) -> bool {
    fault.refusal.status == Some(401) && is_terminal(&fault.refusal.code)
}

/// Returns true if a refusal is about the account: another token of it would be refused as well.
fn is_about_the_account(case: &Case<'_>) -> bool {
    if case.fault.refusal.status != Some(403) {
        return false;
    }
    let says = words(case.fault);
    let row = catalogue::find(&case.entry.provider);
    match row.map_or(Forbidden::ByText, |row| row.quirks.login.forbidden) {
        Forbidden::Account => true,
        Forbidden::UnlessStale => !STALE_TOKEN.iter().any(|words| says.contains(words)),
        Forbidden::ByText => says.contains(NO_LOGINS_HERE),
    }
}

fn words(fault: &Fault) -> String {
    fault.detail.to_lowercase()
}

#[cfg(test)]
#[path = "consequence_tests.rs"]
mod tests;
