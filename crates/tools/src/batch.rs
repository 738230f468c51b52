//! The size limit for the results of one reply's calls together.
//!
//! Each result keeps to a limit of its own; many of them at once would still fill the context window. The
//! largest go to files first, and results that page themselves last: the model would only page again.

use crate::{Origin, ToolContext, limits, untrusted};
use hermes_conversation::{Content, ToolMessage};

const LEAST: usize = 4_000;
const MOST: usize = 200_000;
/// About what is left of a result that went to a file. Smaller ones are not worth it.
const SPILLED: usize = 2_500;
/// Tools whose results are pages already.
const PAGING: [&str; 1] = ["read_file"];

/// Characters that the results of one reply may have, by the model's window in tokens.
pub fn batch_limit(window: Option<u64>) -> usize {
    limits::share(window, 30, LEAST, MOST)
}

/// Writes the largest results to files until all together have at most `room` characters, and says how
/// many they have then. Where that cannot be reached, as near as it goes.
pub fn fit_batch<'a>(
    messages: impl Iterator<Item = &'a mut ToolMessage>,
    room: usize,
    cx: &ToolContext,
) -> usize {
    let mut messages: Vec<&mut ToolMessage> = messages.collect();
    let sizes: Vec<Size> = messages.iter().map(|message| Size::of(message)).collect();
    for place in to_spill(&sizes, room) {
        spill(messages[place], cx);
    }
    messages.iter().map(|message| Size::of(message).chars).sum()
}

/// A result, as far as its length matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Size {
    chars: usize,
    kind: Kind,
}

/// In the order in which results go.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Plain,
    Paging,
    /// Not a text; there is no file to write.
    Fixed,
}

impl Size {
    fn of(message: &ToolMessage) -> Self {
        let (text, kind) = match &message.content {
            Content::Text(text) if PAGING.contains(&message.tool_name.as_str()) => {
                (text.as_str(), Kind::Paging)
            }
            Content::Text(text) => (text.as_str(), Kind::Plain),
            Content::Parts(_) => ("", Kind::Fixed),
        };
        Self { chars: text.chars().count(), kind }
    }
}

/// Returns the results to spill, in order.
fn to_spill(sizes: &[Size], room: usize) -> Vec<usize> {
    let mut total: usize = sizes.iter().map(|size| size.chars).sum();
    let may_go = |&place: &usize| sizes[place].kind != Kind::Fixed && sizes[place].chars > SPILLED;
    let mut candidates: Vec<usize> = (0..sizes.len()).filter(may_go).collect();
    candidates.sort_by_key(|&place| (sizes[place].kind, std::cmp::Reverse(sizes[place].chars)));
    let mut gone = Vec::new();
    for place in candidates {
        if total <= room {
            break;
        }
        total -= sizes[place].chars - SPILLED;
        gone.push(place);
    }
    gone
}

fn spill(message: &mut ToolMessage, cx: &ToolContext) {
    let Content::Text(text) = &message.content else { return };
    // Only words from outside are sent otherwise than they are stored, so far.
    let origin = match message.api_content.take() {
        Some(_) => Origin::Outside,
        None => Origin::Here,
    };
    message.content = Content::Text(limits::persisted_text(text, origin, cx));
    if origin == Origin::Outside {
        untrusted::mark(message, cx);
    }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
