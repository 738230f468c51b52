//! Brace expansion: `{a,b}` and `{1..5}`.

use crate::limits::MAX_FIELDS;
use crate::syntax::Part;

/// Braces in one word, beyond which it is not expanded.
const MAX_BRACES: usize = 24;

/// The results of the braces of a word, or `None` if there are too many.
pub(crate) fn expand(parts: &[Part]) -> Option<Vec<Vec<Part>>> {
    if parts.iter().filter(|part| **part == Part::BraceOpen).count() > MAX_BRACES {
        return None;
    }
    let mut finished = Vec::new();
    // A stack, with the first word on top, keeps the order.
    let mut open = vec![parts.to_vec()];
    while let Some(mut word) = open.pop() {
        let Some(start) = word.iter().position(|part| *part == Part::BraceOpen) else {
            finished.push(word);
            continue;
        };
        match group(&word, start) {
            Some(Group { end, items }) => {
                for item in items.into_iter().rev() {
                    let before = word.iter().take(start).cloned();
                    let after = word.iter().skip(end + 1).cloned();
                    open.push(before.chain(item).chain(after).collect());
                }
            }
            None => {
                if let Some(part) = word.get_mut(start) {
                    *part = Part::Quoted("{".into());
                }
                open.push(word);
            }
        }
        if open.len() + finished.len() > MAX_FIELDS {
            return None;
        }
    }
    Some(finished)
}

struct Group {
    end: usize,
    items: Vec<Vec<Part>>,
}

fn group(word: &[Part], start: usize) -> Option<Group> {
    let mut depth = 0;
    let mut items = vec![Vec::new()];
    for (index, part) in word.iter().enumerate().skip(start) {
        match part {
            Part::BraceOpen => depth += 1,
            Part::BraceClose => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            if items.len() == 1 {
                items = sequence(items.first()?)?;
            }
            return Some(Group { end: index, items });
        }
        match part {
            Part::BraceComma if depth == 1 => items.push(Vec::new()),
            _ if index > start => items.last_mut()?.push(part.clone()),
            _ => {}
        }
    }
    None
}

/// The items of `1..5`, `a..e` and `1..9..2`.
fn sequence(item: &[Part]) -> Option<Vec<Vec<Part>>> {
    let [Part::Literal(text)] = item else { return None };
    let mut ends = text.split("..");
    let (first, last) = (ends.next()?, ends.next()?);
    let step = ends.next().map_or(Some(1), |step| step.parse::<i64>().ok())?.unsigned_abs().max(1) as usize;
    let number = |text: &str| text.parse::<i64>().ok().filter(|number| number.abs() < 1_000_000);
    let letter = |text: &str| match text.as_bytes() {
        [byte] if byte.is_ascii_alphabetic() => Some(i64::from(*byte)),
        _ => None,
    };
    let (from, to, is_letter) = match (number(first), number(last)) {
        (Some(from), Some(to)) => (from, to, false),
        _ => (letter(first)?, letter(last)?, true),
    };
    let show = |value: i64| {
        if is_letter {
            u8::try_from(value).map(|byte| char::from(byte).to_string()).unwrap_or_default()
        } else {
            value.to_string()
        }
    };
    let rising = (from.min(to)..=from.max(to)).step_by(step).take(MAX_FIELDS + 1);
    let mut values: Vec<String> = rising.map(show).collect();
    if from > to {
        values.reverse();
    }
    Some(values.into_iter().map(|value| vec![Part::Literal(value)]).collect())
}
