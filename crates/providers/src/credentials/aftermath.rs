//! What becomes of a credential after a fault. Pure.

use super::{Availability, Entry, moment};
use crate::catalogue::{self, Forbidden};
use hermes_wire::{Fault, FaultClass};

/// Refusals that say that a login is over for good.
const OVER: [&str; 6] = [
    "token_invalidated",
    "token_revoked",
    "invalid_token",
    "invalid_grant",
    "unauthorized_client",
    "refresh_token_reused",
];
/// A limit that another try will not get below.
const USED_UP: [&str; 2] = ["usage limit reached", "usage limit has been reached"];
const USED_UP_CODES: [&str; 2] = ["usage_limit_reached", "gousagelimit"];
/// xAI's words for a token that is stale, as opposed to an account that may not.
const STALE_TOKEN: [&str; 2] = ["[wke=unauthenticated:", "oauth2 access token could not be validated"];
const NO_LOGINS_HERE: &str = "oauth authentication is currently not allowed for this organization";

/// Renewals of one credential before another one is used.
const RENEWALS: u32 = 2;

/// What becomes of a credential.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aftermath {
    /// Once more with the same.
    RetrySame,
    /// Renew it and try again.
    Refresh,
    /// It rests until then (or for as long as such refusals usually last), and another is used.
    MarkAndRotate { until: Option<f64> },
    /// It is over for good; another is used.
    MarkDead,
    /// The fault is not the credential's, or resting would not help.
    LeaveAlone,
}

/// What is known about a fault and the credential that it befell.
pub struct Case<'a> {
    pub fault: &'a Fault,
    /// As it is stored now.
    pub entry: &'a Entry,
    pub now: f64,
    /// Limits that it ran into just before.
    pub strikes: u32,
    /// Renewals that were just made in vain.
    pub refreshes: u32,
    /// Other credentials that are ready.
    pub others: usize,
}

/// What becomes of the credential.
///
/// The last one that is ready rests only when the provider says until when: a guess would take away
/// the only key there is.
pub fn after(case: &Case<'_>) -> Aftermath {
    match case.fault.class {
        FaultClass::Billing => rest(case),
        FaultClass::RateLimited if is_for_good(case) => rest(case),
        FaultClass::RateLimited if case.others == 0 => Aftermath::LeaveAlone,
        FaultClass::RateLimited => Aftermath::RetrySame,
        FaultClass::Auth if is_about_the_account(case) => Aftermath::LeaveAlone,
        FaultClass::Auth if case.entry.can_be_renewed() && case.refreshes < RENEWALS => Aftermath::Refresh,
        FaultClass::Auth if is_over(case.fault) => Aftermath::MarkDead,
        FaultClass::Auth => rest(case),
        _ => Aftermath::LeaveAlone,
    }
}

/// Whether a reason says that a login is over for good.
pub(super) fn is_terminal(reason: &str) -> bool {
    OVER.contains(&reason.trim().to_ascii_lowercase().as_str())
}

fn rest(case: &Case<'_>) -> Aftermath {
    match resets_at(case.fault, case.now) {
        None if case.others == 0 => Aftermath::LeaveAlone,
        until => Aftermath::MarkAndRotate { until },
    }
}

/// When a limit ends, if the provider says so.
fn resets_at(fault: &Fault, now: f64) -> Option<f64> {
    let moment = fault.refusal.resets_at.as_deref().and_then(moment::of_text);
    let wait = || fault.retry_after.map(|wait| now + wait.as_secs_f64());
    moment.filter(|moment| *moment > now).or_else(wait)
}

/// Whether the limit is more than a moment's.
fn is_for_good(case: &Case<'_>) -> bool {
    let says = words(case.fault);
    let is_resting = matches!(case.entry.availability(case.now), Availability::Resting { .. });
    case.strikes > 0
        || is_resting
        || USED_UP.iter().any(|words| says.contains(words))
        || USED_UP_CODES.iter().any(|code| case.fault.refusal.code.contains(code))
}

fn is_over(fault: &Fault) -> bool {
    fault.refusal.status == Some(401) && is_terminal(&fault.refusal.code)
}

/// Whether a refusal is about what the account may do: another token of it would be told the same.
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
#[path = "aftermath_tests.rs"]
mod tests;
