//! When it is time to compact, and when another compaction would only burn money.

use super::settings::{CompressorSettings, Limits};
use crate::View;
use hermes_conversation::Trigger;

/// Compactions in one turn.
const MOST_PER_TURN: u32 = 3;
/// Compactions in a row that were no use, or that no model wrote a summary for.
pub(crate) const MOST_IN_VAIN: u32 = 2;
/// What must be new since the last compaction: so many tokens, or this share of the threshold.
const LEAST_GROWTH: u64 = 4_096;
const LEAST_GROWTH_SHARE: u64 = 20;
/// Nobody looks after shorter sessions.
const SHORTEST_FOR_HYGIENE: usize = 4;

/// Whether the history should shrink.
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

/// Why nothing good would come of compacting now.
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
    let growth = LEAST_GROWTH.max(limits.threshold_tokens / LEAST_GROWTH_SHARE);
    if let Some(left) = past.left
        && view.tokens().value() < left.saturating_add(growth)
    {
        return Some(format!(
            "the last compaction left {left} tokens and fewer than {growth} are new; raise \
             compression.threshold, or start afresh with /new"
        ));
    }
    // Inside a turn it is tools that talk; there the number of compactions is what is limited.
    let is_between_turns = matches!(view.trigger, Trigger::Preflight | Trigger::Hygiene);
    let is_silent = past.count > 0 && past.said_since < settings.min_user_tokens;
    (is_between_turns && is_silent)
        .then(|| "nobody said anything since the last compaction; /compress compacts all the same".to_owned())
}

#[cfg(test)]
#[path = "thrash_tests.rs"]
mod tests;
