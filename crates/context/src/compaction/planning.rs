//! Decides whether to compact a history, and the range to replace.

use super::boundaries::{self, Room};
use super::reading::{Reading, read};
use super::settings::{CompressorSettings, Limits, UNKNOWN_WINDOW, limits};
use super::{estimated, scale, thrash, weighed};
use crate::weights::text_tokens;
use crate::{Decision, Plan, Question, View, weigh};
use hermes_conversation::{Message, Trigger};
use std::ops::Range;

/// By itself nothing is compacted that brings less than this share of the threshold.
const LEAST_GAIN_SHARE: u64 = 20;
/// The percentage of the context window that results which the model has not seen may fill.
const UNSEEN_PERCENT: u64 = 90;

const TOO_LITTLE: &str = "there is too little to summarise: new messages stay as they are, and the rest is short; \
     start afresh with /new, or use a model with a larger window";
const NEWEST_IS_TOO_LARGE: &str = "the newest message alone is larger than the model's window; say it in parts, \
     or put it into a file";

/// The differences between the summarising engines.
pub(crate) trait Manner {
    fn settings(&self) -> &CompressorSettings;

    /// Messages at the beginning that the first compaction keeps.
    fn head_messages(&self) -> usize;

    /// The maximum size of the summary message, as the model counts.
    fn summary_tokens(&self, limits: &Limits) -> u64;

    /// The estimated minimum size of the summary message besides pins and task list.
    fn lightest(&self) -> u64;

    fn question(
        &self,
        view: &View<'_>,
        reading: &Reading,
        limits: &Limits,
        range: Range<usize>,
    ) -> Option<Question>;
}

/// The numbers for a session. A request that was refused is larger than the window, whatever is thought of
/// it.
pub(crate) fn limits_for(settings: &CompressorSettings, view: &View<'_>) -> Limits {
    let mut window = view.window;
    if view.trigger == Trigger::Overflow {
        window.tokens = Some(known_window(view).min(view.tokens().value()).max(1));
    }
    limits(settings, window)
}

fn known_window(view: &View<'_>) -> u64 {
    view.window.tokens.filter(|tokens| *tokens > 0).unwrap_or(UNKNOWN_WINDOW)
}

/// See [`crate::ContextEngine::plan`].
pub(crate) fn decide(manner: &impl Manner, view: &View<'_>) -> Decision {
    let limits = limits_for(manner.settings(), view);
    if !thrash::is_due(manner.settings(), &limits, view) {
        return Decision::Leave;
    }
    weighed(view, |view| shrink(manner, view, &limits))
}

fn shrink(manner: &impl Manner, view: &View<'_>, limits: &Limits) -> Decision {
    if let Some(why) = thrash::objection(manner.settings(), limits, view) {
        return Decision::Stuck(why);
    }
    let reading = read(view.history);
    let filled = newest_fills(view, &reading);
    // A refusal says that less must be sent; only where that is impossible for certain is nothing tried.
    let is_hopeless = match view.trigger {
        Trigger::Manual => false,
        Trigger::Overflow => filled > 125,
        Trigger::Preflight | Trigger::Loop | Trigger::Hygiene => filled > 100,
    };
    if is_hopeless {
        return Decision::Stuck(NEWEST_IS_TOO_LARGE.to_owned());
    }
    let room = room(manner, view, limits);
    // After a refusal something must go, and if need be results that nobody has seen.
    let rooms = [Some(room), room.is_refused.then_some(Room { unseen: 0, ..room })];
    let stretches = rooms
        .into_iter()
        .flatten()
        .filter_map(|room| boundaries::stretch(view.history, view.weights, &reading, room));
    let Some(replace) = { stretches }.find(|range| is_gain(manner, view, limits, &reading, range)) else {
        return Decision::Stuck(if filled > 100 { NEWEST_IS_TOO_LARGE } else { TOO_LITTLE }.to_owned());
    };
    let question = manner.question(view, &reading, limits, replace.clone());
    Decision::Shrink(Plan { replace, question, before: view.tokens() })
}

/// The percentage of the window that what was asked last fills, which always stays: beyond a hundred no summary
/// of the rest makes the request fit.
fn newest_fills(view: &View<'_>, reading: &Reading) -> u64 {
    let said = reading.newest_user.and_then(|newest| reading.said(view.history, newest));
    let (Some(said), Some(window)) = (said, view.window.tokens.filter(|tokens| *tokens > 0)) else {
        return 0;
    };
    let tokens = view.fixed + u64::from(weigh(&Message::User(said)).tokens);
    tokens * 100 / estimated(view, window).max(1)
}

/// The limits of the kept parts, in estimated tokens.
fn room(manner: &impl Manner, view: &View<'_>, limits: &Limits) -> Room {
    let all = view.weights.tokens(0..view.history.len());
    let share = limits.tail_tokens as f64 / limits.threshold_tokens.max(1) as f64;
    // Where the whole is light, as when a person asks, the end is light in proportion.
    let tail = estimated(view, limits.tail_tokens).min((all as f64 * share) as u64);
    let beside = view.fixed + estimated(view, manner.summary_tokens(limits));
    let below = |tokens: u64| estimated(view, tokens).saturating_sub(beside);
    let below_threshold = below(limits.threshold_tokens).max(tail);
    // If more than half stayed, the next compaction would be near.
    let newest = (below_threshold / 2).min(all / 2).max(tail);
    let tail_messages_tokens = match manner.settings().protect_last_n {
        Some(_) => below_threshold.min(all / 4 * 3).max(newest),
        None => newest,
    };
    let is_refused = view.trigger == Trigger::Overflow;
    // What was refused is no window to fill again.
    let unseen = match is_refused {
        true => limits.threshold_tokens,
        false => limits.threshold_tokens.max(known_window(view) / 100 * UNSEEN_PERCENT),
    };
    Room {
        tail,
        tail_messages: limits.tail_messages,
        tail_messages_tokens,
        newest,
        unseen: below(unseen).saturating_sub(kept_tokens(view)),
        head_messages: if view.past.count == 0 { manner.head_messages() } else { 0 },
        head: tail / 2,
        is_refused,
    }
}

/// Returns true if the range is larger than its replacement, and large enough for a model call.
fn is_gain(
    manner: &impl Manner,
    view: &View<'_>,
    limits: &Limits,
    reading: &Reading,
    range: &Range<usize>,
) -> bool {
    let repeated = reading.newest_user.filter(|newest| range.contains(newest));
    let repeated = repeated.map_or(0, |newest| view.weights.tokens(newest..newest + 1));
    let gone = view.weights.tokens(range.clone()).saturating_sub(repeated);
    let least = match view.trigger {
        Trigger::Manual | Trigger::Overflow => 0,
        Trigger::Preflight | Trigger::Loop | Trigger::Hygiene => {
            (limits.threshold_tokens as f64 / scale(view)) as u64 / LEAST_GAIN_SHARE
        }
    };
    gone > manner.lightest() + kept_tokens(view) + least
}

/// The estimated tokens of pins and task list.
pub(crate) fn kept_tokens(view: &View<'_>) -> u64 {
    view.keep.pins.iter().chain(&view.keep.todos).map(|item| text_tokens(item) + 2).sum()
}
