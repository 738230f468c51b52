//! Additional conditions of a phrase match.

use std::ops::Range;

use super::local_address::is_local_address;
use super::normal_form::NormalForm;
use super::rules::Check;

/// Characters around a phrase that are examined.
const NEAR: usize = 40;
/// Characters of an element that are examined for text.
const INSIDE: usize = 400;
/// The minimum number of words of a text; fewer are a label.
const MIN_WORDS: usize = 3;

pub(super) fn passes(check: Check, view: &NormalForm, phrase: Range<usize>) -> bool {
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

/// Returns true for a negated phrase: "never ignore previous instructions" is not an attack.
fn is_negated(view: &NormalForm, start: usize) -> bool {
    let before: String = (start.saturating_sub(NEAR)..start).filter_map(|at| view.get(at)).collect();
    let Some(words) = before.strip_suffix(char::is_whitespace) else { return false };
    let last = words.trim_end().rsplit(|char: char| !char.is_alphanumeric()).next().unwrap_or_default();
    matches!(
        last,
        "not" | "never" | "t" | "cannot" | "dont" | "nicht" | "nie" | "niemals" | "jamais" | "nunca"
    )
}

fn word_after(view: &NormalForm, end: usize) -> String {
    let rest = following(view, end, NEAR);
    let word = rest.trim_start_matches(char::is_whitespace);
    word.chars().take_while(|char| char.is_alphanumeric()).collect()
}

fn following(view: &NormalForm, end: usize, count: usize) -> String {
    (end..end + count).map_while(|at| view.get(at)).collect()
}

/// Returns true if the tag around the phrase opens an element with text.
fn hides_text(view: &NormalForm, end: usize) -> bool {
    let rest = following(view, end, INSIDE);
    let inside = rest.split_once('>').map_or("", |(_, inside)| inside);
    let inside = inside.split('<').next().unwrap_or_default();
    inside.split_whitespace().filter(|word| word.contains(char::is_alphabetic)).count() >= MIN_WORDS
        || inside.chars().filter(|char| super::char_classes::has_no_blanks(*char)).count() > MIN_WORDS
}
