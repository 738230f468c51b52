//! The choice of the range that a summary replaces.

use super::reading::{Reading, cut_after, cut_before, may_cut};
use crate::{Weights, weigh};
use hermes_conversation::Message;
use std::ops::Range;
use std::sync::Arc;

/// A stretch is cut only out of more than the head and this many messages.
const LEAST_MESSAGES: usize = 4;

/// The limits of the kept parts, in estimated tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Room {
    /// The target size of the tail; one message may exceed it by half.
    pub(crate) tail: u64,
    /// Messages at the end that stay although they are heavier.
    pub(crate) tail_messages: usize,
    /// The maximum size of the tail with those.
    pub(crate) tail_messages_tokens: u64,
    /// The maximum size with the newest request and the newest reply.
    pub(crate) newest: u64,
    /// The maximum size with calls whose results the model has not seen, together with the request that is
    /// repeated before them.
    pub(crate) unseen: u64,
    /// Messages at the beginning that stay, and what they may weigh.
    pub(crate) head_messages: usize,
    pub(crate) head: u64,
    /// True if even a very short history is to be compacted, because it was refused as too long.
    pub(crate) is_refused: bool,
}

/// The stretch to replace; `None` if nothing is gained by it.
///
/// The newest request is behind the range, or in it: then one turn is so large that it must be cut, and the
/// assembling code repeats the request after the summary.
pub(crate) fn stretch(
    history: &[Arc<Message>],
    weights: &Weights,
    reading: &Reading,
    room: Room,
) -> Option<Range<usize>> {
    let tail = tail(history, weights, reading, room);
    let next_is_user = matches!(history.get(tail).map(|message| &**message), Some(Message::User(_)))
        || reading.newest_user.is_some_and(|newest| newest < tail);
    let head = head(history, weights, reading, room, tail, next_is_user);
    let is_worth_it = |range: &Range<usize>| is_worth_it(history, weights, reading, room, range);
    [head, 0].into_iter().map(|head| head..tail).find(is_worth_it)
}

/// The same stretch before the longest end that weighs at most so much, estimated.
pub(crate) fn before_longest_tail(
    history: &[Arc<Message>],
    weights: &Weights,
    reading: &Reading,
    range: Range<usize>,
    most: u64,
) -> Range<usize> {
    let is_user =
        |place: usize| matches!(history.get(place).map(|message| &**message), Some(Message::User(_)));
    let repeated =
        |place: usize| reading.newest_user.filter(|newest| range.start <= *newest && *newest < place);
    let weight = |place: usize| {
        let ask = repeated(place).map_or(0, |ask| weights.tokens(ask..ask + 1));
        weights.tokens(place..history.len()) + ask
    };
    // Between a request and a reply there is no role left for a summary.
    let is_after_user = range.start > 0 && is_user(range.start - 1);
    let has_role = |place: usize| !is_after_user || is_user(place) || repeated(place).is_some();
    let behind = reading.summaries.last().map_or(0, |last| last + 1);
    let fits = |place: &usize| may_cut(history, *place) && has_role(*place) && weight(*place) <= most;
    let end = (behind.max(range.start) + 1..range.end).find(fits).unwrap_or(range.end);
    range.start..end
}

fn is_worth_it(
    history: &[Arc<Message>],
    weights: &Weights,
    reading: &Reading,
    room: Room,
    range: &Range<usize>,
) -> bool {
    // What a person said beside a summary may be heavier than all the rest.
    let is_heavy = |place: usize| {
        let said =
            reading.said(history, place).map_or(0, |said| u64::from(weigh(&Message::User(said)).tokens));
        said * 2 > weights.tokens(place..place + 1)
    };
    // A summary alone, or the request that is going to be repeated, is nothing new to sum up.
    let is_new =
        |place: usize| reading.newest_user != Some(place) && (!reading.is_summary(place) || is_heavy(place));
    let is_long_enough = history.len() > range.start + LEAST_MESSAGES || room.is_refused;
    is_long_enough && range.clone().any(is_new)
}

fn tail(history: &[Arc<Message>], weights: &Weights, reading: &Reading, room: Room) -> usize {
    let end = history.len();
    let weight = |place: usize| weights.tokens(place..end);
    let mut cut = end;
    while cut > 0 {
        let next = cut_before(history, cut - 1);
        let fits = weight(next) <= room.tail
            || (weight(cut) < room.tail && weight(next) <= room.tail.saturating_mul(3) / 2);
        let is_owed = end - cut < room.tail_messages && weight(next) <= room.tail_messages_tokens;
        if !fits && !is_owed {
            break;
        }
        cut = next;
    }
    for newest in [reading.newest_user, reading.newest_reply].into_iter().flatten() {
        let place = cut_before(history, newest);
        if place < cut && weight(place) <= room.newest {
            cut = place;
        }
    }
    // The model would run again what it has no result of.
    if let Some(place) = reading.unseen.map(|unseen| cut_before(history, unseen)) {
        let ask = reading.newest_user.filter(|newest| *newest < place);
        let repeated = ask.map_or(0, |ask| weights.tokens(ask..ask + 1));
        if place < cut && weight(place) + repeated <= room.unseen {
            cut = place;
        }
    }
    // A reply that ends the history answers the newest request. Without it the request would look open, and
    // the person's next message would follow upon one of theirs.
    let ends_with_reply =
        matches!(history.last().map(|last| &**last), Some(Message::Assistant(last)) if last.calls.is_empty());
    if cut == end && ends_with_reply {
        cut = end - 1;
    }
    // A summary is always made anew: two of them would compete.
    let behind = reading.summaries.last().map_or(0, |last| cut_after(history, last + 1));
    cut.max(behind)
}

fn head(
    history: &[Arc<Message>],
    weights: &Weights,
    reading: &Reading,
    room: Room,
    tail: usize,
    next_is_user: bool,
) -> usize {
    let begins_with_user = matches!(history.first().map(|message| &**message), Some(Message::User(_)));
    if !reading.summaries.is_empty() || !begins_with_user {
        return 0;
    }
    let mut head = cut_after(history, room.head_messages.min(history.len())).min(tail);
    // The newest request is in one place only.
    head = head.min(reading.newest_user.unwrap_or(tail));
    while head > 0 && weights.tokens(0..head) > room.head {
        head = cut_before(history, head - 1);
    }
    // Between a request and a reply there is no role left for a summary.
    let ends_with_user = |head: usize| head > 0 && matches!(*history[head - 1], Message::User(_));
    if ends_with_user(head) && !next_is_user { head - 1 } else { head }
}

#[cfg(test)]
#[path = "boundaries_tests.rs"]
mod tests;
