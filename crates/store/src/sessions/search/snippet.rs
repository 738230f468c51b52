//! Snippets: the text around a match, with matches marked.

use super::characters::folded;

const BEFORE_HIT: usize = 40;
const LENGTH: usize = 120;

/// Returns the text around the first match of any term; matches are between `>>>` and `<<<`.
pub(crate) fn snippet<'a>(text: &str, terms: impl Iterator<Item = &'a str>) -> String {
    let chars: Vec<char> = text.chars().collect();
    let mut marked = vec![false; chars.len()];
    for term in terms {
        let term: Vec<char> = folded(term).collect();
        mark(&chars, &term, &mut marked);
    }
    let first = marked.iter().position(|&is_marked| is_marked).unwrap_or_default();
    let from = first.saturating_sub(BEFORE_HIT);
    let to = (from + LENGTH).min(chars.len());
    let piece = with_marks(&chars[from..to], &marked[from..to]);
    let head = if from > 0 { "..." } else { "" };
    let tail = if to < chars.len() { "..." } else { "" };
    format!("{head}{}{tail}", piece.trim())
}

/// Marks the matches of a term. Characters are folded one by one, to keep positions; the few that fold to
/// several are compared by the first.
fn mark(text: &[char], term: &[char], marked: &mut [bool]) {
    if term.is_empty() || term.len() > text.len() {
        return;
    }
    let same = |a: &char, b: &char| *a == *b || a.to_lowercase().next() == Some(*b);
    let mut at = 0;
    while at + term.len() <= text.len() {
        if text[at..at + term.len()].iter().zip(term).all(|(a, b)| same(a, b)) {
            marked[at..at + term.len()].fill(true);
            at += term.len();
        } else {
            at += 1;
        }
    }
}

fn with_marks(chars: &[char], marked: &[bool]) -> String {
    let mut piece = String::new();
    let mut inside = false;
    for (&c, &is_marked) in chars.iter().zip(marked) {
        if is_marked != inside {
            piece.push_str(if is_marked { ">>>" } else { "<<<" });
            inside = is_marked;
        }
        piece.push(c);
    }
    if inside {
        piece.push_str("<<<");
    }
    piece
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn snippet_surrounds_the_match() {
        let long = format!("{}中文{}", "a".repeat(100), "b".repeat(200));
        let around = format!("...{}>>>中文<<<{}...", "a".repeat(40), "b".repeat(78));
        for (text, term, want) in [
            ("short 中文", "中文", "short >>>中文<<<"),
            (&long, "中文", around.as_str()),
            ("C# and c#", "c#", ">>>C#<<< and >>>c#<<<"),
            ("nothing here", "absent", "nothing here"),
            ("", "x", ""),
        ] {
            assert_eq!(snippet(text, std::iter::once(term)), want);
        }
    }
}
