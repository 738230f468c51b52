//! Results that the model has not seen yet stay, as long as they fit.

use super::{Around, Weights};
use hermes_context::{Plan, View};
use hermes_conversation::{Message, Trigger};

/// Returns true if it was this rule that kept them: they are larger than the tail usually is.
pub(super) fn check(around: &Around, view: &View<'_>, plan: &Plan, seed: u64) -> bool {
    let history = view.history;
    let Some(group) = history.iter().rposition(|message| matches!(**message, Message::Assistant(_))) else {
        return false;
    };
    let has_results = history[group..].iter().any(|message| matches!(**message, Message::Tool(_)));
    if !has_results || view.trigger == Trigger::Overflow {
        return false;
    }
    // Replies in several pieces are never cut, so a group may begin earlier.
    let pieces = history[..group].iter().rev();
    let start = group - pieces.take_while(|message| matches!(***message, Message::Assistant(_))).count();
    let limits = around.compressor.limits(view);
    let estimated = |tokens: u64| (tokens as f64 / view.scale) as u64;
    let weights = Weights::of(history);
    let ask = history.iter().rposition(|message| matches!(**message, Message::User(_)));
    let repeated = ask.filter(|ask| *ask < start).map_or(0, |ask| weights.tokens(ask..ask + 1));
    let keep: usize = view.keep.pins.iter().chain(&view.keep.todos).map(|item| item.len() + 8).sum();
    let summary = estimated(limits.max_summary_tokens * 2);
    let whole = view.fixed + summary + keep as u64 + repeated + weights.tokens(start..history.len());
    let most = limits.threshold_tokens.max(view.window.tokens.unwrap() / 100 * 90);
    if whole + 2 > estimated(most) {
        return false;
    }
    assert!(plan.replace.end <= start, "seed {seed}: {start}.. is cut at {}", plan.replace.end);
    let group = weights.tokens(start..history.len());
    let usual = estimated(limits.threshold_tokens).saturating_sub(view.fixed) / 2;
    group > usual.max(estimated(limits.tail_tokens) * 3 / 2)
}
