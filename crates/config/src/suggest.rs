//! "Did you mean": the known key closest to a mistyped one.

use super::keys::KEYS;

/// A known key that `key` is probably a misspelling of.
pub(crate) fn suggestion(key: &str) -> Option<&'static str> {
    let by_leaf = || {
        // `max_turns` for `agent.max_turns`: the right leaf without its section.
        let mut hits = KEYS.iter().filter(|known| known.name.rsplit('.').next() == Some(key));
        hits.next().filter(|_| hits.next().is_none()).map(|known| known.name)
    };
    let most = (key.len() / 4).clamp(1, 3);
    let close = KEYS.iter().map(|known| (distance(key, known.name), known.name)).min();
    close.filter(|(far, _)| (1..=most).contains(far)).map(|(_, name)| name).or_else(by_leaf)
}

/// The edit distance of two names, a swap of neighbours counting as one.
pub fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![(0..=b.len()).collect::<Vec<_>>()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let change = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = change.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misspellings_find_their_key() {
        for (key, want) in [
            ("agent.max_turn", Some("agent.max_turns")),
            ("agnet.max_turns", Some("agent.max_turns")),
            ("model.defualt", Some("model.default")),
            ("max_turns", Some("agent.max_turns")),
            ("display.show_reasonning", Some("display.show_reasoning")),
            ("OPENAI_API_KEYS", Some("OPENAI_API_KEY")),
            ("agent.max_turns", None),
            ("compression.threshold", None),
            ("x", None),
        ] {
            assert_eq!(suggestion(key), want, "{key}");
        }
    }
}
