//! When it is time to compact, and when another compaction would only burn money.

use super::settings::{CompressorSettings, Limits};
use crate::View;
use hermes_conversation::Trigger;

/// Compactions in one turn.
const MOST_PER_TURN: u32 = 3;
/// Compactions in a row that were no use, or that no model wrote a summary for.
pub(crate) const MOST_IN_VAIN: u32 = 2;
/// The minimum growth since the last compaction: so many tokens, or this share of the threshold.
const LEAST_GROWTH: u64 = 4_096;
const LEAST_GROWTH_SHARE: u64 = 20;
/// In small windows that many tokens would never be new; this share of the threshold is enough.
const SMALL_GROWTH_SHARE: u64 = 8;
/// The percentage of the window from which on a request may be refused.
const FULL_PERCENT: u64 = 95;
/// The percentage of the window below which a threshold can be raised.
const LOW_PERCENT: u64 = 70;
/// Shorter sessions are not compacted unattended.
const SHORTEST_FOR_HYGIENE: usize = 4;

/// Returns true if compaction is due.
pub(crate) fn is_due(settings: &CompressorSettings, limits: &Limits, view: &View<'_>) -> bool {
    let tokens = || view.tokens().value();
    match view.trigger {
        Trigger::Manual | Trigger::Overflow => true,
        _ if !settings.enabled => false,
        Trigger::Preflight | Trigger::Loop => tokens() >= limits.threshold_tokens,
        Trigger::Hygiene => {
            let messages = view.history.len();
            messages >= SHORTEST_FOR_HYGIENE
                && (messages >= settings.hygiene_hard_message_limit || tokens() >= limits.hygiene_tokens)
        }
    }
}

/// The reason why a compaction would not help now.
pub(crate) fn objection(settings: &CompressorSettings, limits: &Limits, view: &View<'_>) -> Option<String> {
    let past = view.past;
    let is_asked = view.trigger == Trigger::Manual;
    let is_forced = is_asked || view.trigger == Trigger::Overflow;
    if past.in_this_turn >= MOST_PER_TURN {
        return Some(format!(
            "this turn was compacted {MOST_PER_TURN} times and is still too long; start a new session with \
             /new, or ask for less at once"
        ));
    }
    if !settings.enabled && !is_asked {
        return Some(
            "the conversation no longer fits and compaction is off; set compression.enabled to true, or \
             type /compress"
                .to_owned(),
        );
    }
    if !is_forced && let Some(why) = &past.resting {
        return Some(why.clone());
    }
    // A request that was refused fails for certain if nothing is done; the limit per turn holds for it.
    if !is_forced && past.ineffective >= MOST_IN_VAIN {
        return Some(format!(
            "the last {} compactions did not make the conversation small enough; /compress tries once more, \
             /new starts afresh",
            past.ineffective
        ));
    }
    if !is_forced && past.fallbacks >= MOST_IN_VAIN {
        return Some(format!(
            "no model could write the last {} summaries; check auxiliary.compression, then type /compress",
            past.fallbacks
        ));
    }
    if view.trigger != Trigger::Overflow && past.digest == Some(view.weights.digest()) {
        return Some(
            "nothing was said since the last compaction; go on, or start afresh with /new".to_owned(),
        );
    }
    if !is_forced { too_soon(settings, limits, view) } else { None }
}

fn too_soon(settings: &CompressorSettings, limits: &Limits, view: &View<'_>) -> Option<String> {
    let past = view.past;
    let tokens = view.tokens().value();
    let growth = least_growth(limits.threshold_tokens);
    // What no longer fits has to shrink, however soon that is.
    let fits = tokens < limits.window_tokens / 100 * FULL_PERCENT;
    if let Some(left) = past.left
        && fits
        && tokens < left.saturating_add(growth)
    {
        return Some(format!(
            "the last compaction left {left} tokens and fewer than {growth} are new; {}",
            advice(settings, limits)
        ));
    }
    // Inside a turn it is tools that talk; there the number of compactions is what is limited.
    let is_between_turns = matches!(view.trigger, Trigger::Preflight | Trigger::Hygiene);
    let is_silent = past.count > 0 && past.said_since < settings.min_user_tokens;
    (is_between_turns && is_silent).then(|| {
        "there are no new messages since the last compaction; /compress compacts all the same".to_owned()
    })
}

/// New tokens since the last compaction that make another one worth its price.
fn least_growth(threshold: u64) -> u64 {
    LEAST_GROWTH.min(threshold / SMALL_GROWTH_SHARE).max(threshold / LEAST_GROWTH_SHARE)
}

/// The advice where compactions come too often: a higher threshold helps only where it leaves room.
fn advice(settings: &CompressorSettings, limits: &Limits) -> &'static str {
    let is_low = limits.threshold_tokens < limits.window_tokens / 100 * LOW_PERCENT;
    match settings.threshold.is_some() && is_low {
        true => "raise compression.threshold, or start afresh with /new",
        false => "start afresh with /new, or use a model with a larger window",
    }
}

#[cfg(test)]
#[path = "thrash_tests.rs"]
mod tests;
