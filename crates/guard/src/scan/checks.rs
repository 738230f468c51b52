//! What must also be true of a phrase before it is a finding.

use std::ops::Range;

use super::local::is_local_address;
use super::rules::Check;
use super::view::View;

/// How far around a phrase is looked.
const NEAR: usize = 40;
/// How much of an element is looked at for words.
const INSIDE: usize = 400;
/// Fewer words than this are a label and not a text.
const WORDS_OF_A_TEXT: usize = 3;

pub(super) fn passes(check: Check, view: &View, phrase: Range<usize>) -> bool {
    match check {
        Check::Nothing => true,
        Check::NotNegated => !is_negated(view, phrase.start),
        Check::NotNegatedNorFollowedBy(words) => {
            !is_negated(view, phrase.start) && !words.contains(&word_after(view, phrase.end).as_str())
        }
        Check::RemoteAddress => {
            let address = following(view, phrase.end, NEAR);
            address.starts_with("://") && !is_local_address(&address)
        }
        Check::HidesText => hides_text(view, phrase.end),
    }
}

/// “Never ignore previous instructions” is the opposite of an attack.
fn is_negated(view: &View, start: usize) -> bool {
    let before: String = (start.saturating_sub(NEAR)..start).filter_map(|at| view.get(at)).collect();
    let Some(words) = before.strip_suffix(char::is_whitespace) else { return false };
    let last = words.trim_end().rsplit(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
    matches!(
        last,
        "not" | "never" | "t" | "cannot" | "dont" | "nicht" | "nie" | "niemals" | "jamais" | "nunca"
    )
}

fn word_after(view: &View, end: usize) -> String {
    let rest = following(view, end, NEAR);
    let word = rest.trim_start_matches(char::is_whitespace);
    word.chars().take_while(|char| char.is_alphanumeric()).collect()
}

fn following(view: &View, end: usize, count: usize) -> String {
    (end..end + count).map_while(|at| view.get(at)).collect()
}

/// Whether the tag that the phrase is in opens an element with words in it.
fn hides_text(view: &View, end: usize) -> bool {
    let rest = following(view, end, INSIDE);
    let inside = rest.split_once('>').map_or("", |(_, inside)| inside);
    let inside = inside.split('<').next().unwrap_or_default();
    inside.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() >= WORDS_OF_A_TEXT
        || inside.chars().filter(|char| super::scripts::has_no_blanks(*char)).count() > WORDS_OF_A_TEXT
}
