//! Shell patterns: `*`, `?` and `[...]` against a text.

/// Returns true if the whole text matches the pattern.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let pattern: Vec<char> = pattern.chars().take(256).collect();
    let text: Vec<char> = text.chars().take(4_096).collect();
    let (mut at, mut seen) = (0, 0);
    // The last `*` and the position where its match ended, to go on from there.
    let mut star: Option<(usize, usize)> = None;
    while seen < text.len() {
        let step = match pattern.get(at) {
            Some('*') => {
                star = Some((at, seen));
                at += 1;
                continue;
            }
            Some('?') => Some(at + 1),
            Some('[') => bracket(&pattern, at, text.get(seen).copied().unwrap_or_default()),
            Some(expected) if Some(expected) == text.get(seen) => Some(at + 1),
            _ => None,
        };
        match (step, star) {
            (Some(next), _) => {
                at = next;
                seen += 1;
            }
            (None, Some((position, ended))) => {
                at = position + 1;
                seen = ended + 1;
                star = Some((position, ended + 1));
            }
            (None, None) => return false,
        }
    }
    pattern.iter().skip(at).all(|character| *character == '*')
}

/// The position after a bracket expression that matches `character`.
fn bracket(pattern: &[char], start: usize, character: char) -> Option<usize> {
    let mut at = start + 1;
    let is_negated = matches!(pattern.get(at), Some('!' | '^'));
    if is_negated {
        at += 1;
    }
    let first = at;
    let mut is_match = false;
    loop {
        match pattern.get(at)? {
            ']' if at > first => break,
            low => {
                let high =
                    pattern.get(at + 2).filter(|high| pattern.get(at + 1) == Some(&'-') && **high != ']');
                let (end, width) = high.map_or((low, 1), |high| (high, 3));
                is_match |= (*low..=*end).contains(&character);
                at += width;
            }
        }
    }
    (is_match != is_negated).then_some(at + 1)
}
