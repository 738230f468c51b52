//! The text of the tree for the model: the newest part in full, older ones in a few lines, the oldest as
//! single lines, and if even that is too much, as ranges. No part is omitted silently.

use super::tree::Standing;
use crate::compaction::sections::{CRITICAL, GOAL, SNAPSHOT, Sections};
use crate::weights::text_tokens;

const HEADING: &str = "## Earlier Parts of This Conversation";
const HOW: &str = "Every message that was put away can be read again: context_outline lists the summaries, \
                   context_search finds messages by words, context_expand reads them word for word, by \
                   message id or by summary number.";
/// Characters of a line: of one of a few, alone, and where there is hardly room.
const FEW_LINES: usize = 240;
const LINE: usize = 260;
const SHORT_LINE: usize = 100;
/// Characters of each section of the newest part that are tried where it does not fit as it is.
const SECTION_CHARS: [usize; 4] = [1_000, 400, 160, 80];

/// The level of detail of a summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Detail {
    Lines,
    Line,
    ShortLine,
}

/// The newest part and the tree in at most so many estimated tokens, or as few as can be.
pub(crate) fn shown(leaf: &Sections, number: u32, older: &[Standing], room: u64) -> String {
    let newest = format!("### Summary {number}, the Newest Part");
    let frame = text_tokens(HEADING) + text_tokens(HOW) + text_tokens(&newest) + 6;
    let room = room.saturating_sub(frame);
    let details: Vec<Detail> = older.iter().map(most_detail).collect();
    let most = room.saturating_sub(tokens_of(&written(older, &details)));
    let leaf = fitted(leaf, most.max(room * 6 / 10));
    let older = earlier(older, details, room.saturating_sub(text_tokens(&leaf)));
    let older = if older.is_empty() { String::new() } else { format!("{}\n\n", older.join("\n")) };
    format!("{HEADING}\n{HOW}\n\n{older}{newest}\n\n{leaf}")
}

/// As much of the newest part as fits.
fn fitted(leaf: &Sections, room: u64) -> String {
    let whole = leaf.text();
    if text_tokens(&whole) <= room {
        return whole;
    }
    let shorter = SECTION_CHARS.iter().map(|most| leaf.each_cut(*most).text());
    let fits = { shorter }.find(|text| text_tokens(text) <= room);
    fits.unwrap_or_else(|| leaf.only(&[SNAPSHOT, GOAL, CRITICAL]).each_cut(80).text())
}

fn most_detail(node: &Standing) -> Detail {
    if node.level == 0 { Detail::Lines } else { Detail::Line }
}

/// Older summaries, oldest first; the oldest get shorter first, and where lines do not help they become a
/// range.
fn earlier(older: &[Standing], mut details: Vec<Detail>, room: u64) -> Vec<String> {
    let mut lines = written(older, &details);
    let mut tokens: Vec<u64> = lines.iter().map(|line| text_tokens(line) + 1).collect();
    let mut sum: u64 = tokens.iter().sum();
    for detail in [Detail::Line, Detail::ShortLine] {
        for place in 0..older.len() {
            if sum <= room {
                return lines;
            }
            if details[place] == detail {
                continue;
            }
            details[place] = detail;
            lines[place] = told(&older[place], detail);
            sum -= tokens[place];
            tokens[place] = text_tokens(&lines[place]) + 1;
            sum += tokens[place];
        }
    }
    let mut ranged = 0;
    let range = text_tokens(&range(older)) + 1;
    while sum + if ranged > 0 { range } else { 0 } > room && ranged < older.len() {
        sum -= tokens[ranged];
        ranged += 1;
    }
    if ranged == 0 {
        return lines;
    }
    let mut shown = vec![self::range(&older[..ranged])];
    shown.extend(lines.split_off(ranged));
    shown
}

fn written(older: &[Standing], details: &[Detail]) -> Vec<String> {
    older.iter().zip(details).map(|(node, detail)| told(node, *detail)).collect()
}

fn tokens_of(lines: &[String]) -> u64 {
    lines.iter().map(|line| text_tokens(line) + 1).sum()
}

fn told(node: &Standing, detail: Detail) -> String {
    let of = node.children.map(|(first, last)| format!("of {first} to {last}; ")).unwrap_or_default();
    let name = format!("- Summary {} ({of}messages {} to {}):", node.number, node.first.0, node.last.0);
    match detail {
        Detail::Lines => {
            let lines = node.lines(FEW_LINES);
            format!("{name}\n  {}", lines.join("\n  "))
        }
        Detail::Line => format!("{name} {}", node.gist(LINE)),
        Detail::ShortLine => format!("{name} {}", node.gist(SHORT_LINE)),
    }
}

fn range(nodes: &[Standing]) -> String {
    let least = nodes.iter().map(|node| node.least).min().unwrap_or_default();
    let most = nodes.iter().map(|node| node.number).max().unwrap_or_default();
    let first = nodes.iter().map(|node| node.first.0).min().unwrap_or_default();
    let last = nodes.iter().map(|node| node.last.0).max().unwrap_or_default();
    format!("- Summaries {least} to {most} (messages {first} to {last}): see context_outline")
}

#[cfg(test)]
#[path = "display_tests.rs"]
mod tests;
