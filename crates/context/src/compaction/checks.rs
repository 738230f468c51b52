//! Checks of a summary that a model wrote.
//!
//! The checks are mechanical: they find answers that are missing, cut, refused or far too long. Imitations
//! of the frame of a summary, of a message or of an instruction are removed or refused.

use super::marker::defused;
use super::mechanical::HEADING as MECHANICAL;
use super::sections::{CRITICAL, DONE, GOAL, Sections};
use crate::weights::text_tokens;

/// Sections that a usable summary has at least. The older description has seven.
const LEAST_SECTIONS: usize = 6;
/// Characters that it has at least beside its headings.
const LEAST_TEXT: usize = 60;
const REFUSALS: [&str; 10] = [
    "i can't",
    "i cannot",
    "i can not",
    "i'm sorry",
    "i am sorry",
    "sorry, ",
    "i'm unable",
    "i am unable",
    "as an ai",
    "i won't",
];
/// Beginnings of lines that talk to a model instead of recording something.
const ORDERS: [&str; 7] = [
    "ignore all previous",
    "ignore previous",
    "ignore the above",
    "ignore all prior",
    "disregard all",
    "disregard previous",
    "disregard the above",
];
const ROLES: [&str; 6] = ["user:", "human:", "system:", "assistant:", "developer:", "tool:"];

/// The sections of an answer, or the reason for its rejection. `most` is its maximum size, in estimated
/// tokens.
pub(crate) fn check(answer: &str, most: u64) -> Result<Sections, String> {
    let text = answer.trim();
    if text.is_empty() {
        return Err("the summary was empty".to_owned());
    }
    let sections = Sections::parse(&harmless(text));
    if sections.count() < LEAST_SECTIONS && is_refusal(text) {
        return Err("the model refused to write a summary".to_owned());
    }
    if text.lines().any(is_order) {
        return Err("the summary contained instructions instead of a record".to_owned());
    }
    let is_cut = sections.body(CRITICAL).is_none_or(str::is_empty);
    if sections.count() >= LEAST_SECTIONS / 2 && is_cut {
        return Err("the summary was cut off before its last section".to_owned());
    }
    let needed = [GOAL, DONE, CRITICAL].iter().all(|section| sections.body(*section).is_some());
    if sections.count() < LEAST_SECTIONS || !needed {
        return Err("the summary did not have the sections that were asked for".to_owned());
    }
    let said: usize = (0..=CRITICAL).filter_map(|section| sections.body(section)).map(str::len).sum();
    if said < LEAST_TEXT {
        return Err("the summary said nothing".to_owned());
    }
    let tokens = text_tokens(&sections.text());
    if tokens > most {
        return Err(format!("the summary was too long ({tokens} tokens, {most} were allowed)"));
    }
    Ok(sections)
}

/// The text without anything that imitates the frame of a summary or a message.
pub(crate) fn harmless(text: &str) -> String {
    let text = without_fence(text).replace("<|", "< |").replace("|>", "| >");
    let line = |line: &str| {
        let start = line.trim_start().to_ascii_lowercase();
        let is_ours = start.trim_end() == MECHANICAL.to_ascii_lowercase();
        match ROLES.iter().any(|role| start.trim_start_matches(['*', '[']).starts_with(role)) {
            true => format!("> {line}"),
            false if is_ours => "> (a heading)".to_owned(),
            false => line.to_owned(),
        }
    };
    defused(&text.lines().map(line).collect::<Vec<_>>().join("\n"))
}

/// Without the code fence that some models put around everything they write.
fn without_fence(text: &str) -> &str {
    let text = text.trim();
    let inner = text.strip_prefix("```").and_then(|rest| rest.strip_suffix("```"));
    inner.and_then(|inner| inner.split_once('\n')).map_or(text, |(_, inner)| inner)
}

fn is_refusal(text: &str) -> bool {
    let start: String = text.chars().take(120).collect::<String>().to_lowercase().replace('’', "'");
    REFUSALS.iter().any(|refusal| start.contains(refusal))
}

fn is_order(line: &str) -> bool {
    let bullet =
        |char: char| char.is_ascii_digit() || matches!(char, '-' | '*' | '.' | '>' | '#' | ' ' | '[');
    let start = line.trim_start_matches(bullet).to_ascii_lowercase();
    ORDERS.iter().any(|order| start.starts_with(order))
}

#[cfg(test)]
#[path = "checks_tests.rs"]
mod tests;
