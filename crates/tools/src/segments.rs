//! Groups the calls of one reply that run concurrently.

use crate::paths::overlap;
use crate::{Concurrency, Prepared, Verdict};
use std::ops::Range;
use std::path::PathBuf;

/// The most calls that run at once.
const MOST: usize = 8;

/// Cuts calls into runs of neighbours. The calls of one range may run at the same time; ranges
/// run one after the other, in order.
pub fn segments(prepared: &[Prepared]) -> Vec<Range<usize>> {
    let kinds = prepared.iter().map(|call| match call.verdict {
        // A person answers one question at a time.
        Verdict::Ask(_) => &Concurrency::Alone,
        Verdict::Run | Verdict::Refuse { .. } => &call.concurrency,
    });
    cut(&kinds.collect::<Vec<_>>())
}

fn cut(kinds: &[&Concurrency]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (index, kind) in kinds.iter().enumerate() {
        match ranges.last_mut() {
            Some(open) if open.len() < MOST && kinds[open.clone()].iter().all(|other| agree(other, kind)) => {
                open.end = index + 1;
            }
            _ => ranges.push(index..index + 1),
        }
    }
    ranges
}

fn agree(a: &Concurrency, b: &Concurrency) -> bool {
    use Concurrency::{Alone, Free, Kin, Reads, Writes};
    match (a, b) {
        (Kin, Kin) => true,
        (Alone | Kin, _) | (_, Alone | Kin) => false,
        (Free, _) | (_, Free) | (Reads(_), Reads(_)) => true,
        (Reads(a) | Writes(a), Reads(b) | Writes(b)) => !any_overlap(a, b),
    }
}

fn any_overlap(a: &[PathBuf], b: &[PathBuf]) -> bool {
    a.iter().any(|one| b.iter().any(|other| overlap(one, other)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(path: &str) -> Concurrency {
        Concurrency::Reads(vec![path.into()])
    }

    fn writes(path: &str) -> Concurrency {
        Concurrency::Writes(vec![path.into()])
    }

    #[test]
    #[expect(clippy::single_range_in_vec_init, reason = "a list of ranges is what is meant")]
    fn neighbours_run_together_unless_they_disagree() {
        use Concurrency::{Alone, Free, Kin};
        for (name, kinds, want) in [
            ("nothing", vec![], vec![]),
            ("reads join", vec![reads("/a"), reads("/a"), reads("/b")], vec![0..3]),
            ("writes to different files join", vec![writes("/a"), writes("/b")], vec![0..2]),
            ("writes to one file wait", vec![writes("/a"), writes("/a")], vec![0..1, 1..2]),
            ("an ancestor overlaps", vec![writes("/d/a"), reads("/d")], vec![0..1, 1..2]),
            ("a longer name does not", vec![writes("/d/a"), reads("/d/ab")], vec![0..2]),
            ("a read before a write waits", vec![reads("/a"), writes("/a"), reads("/b")], vec![0..1, 1..3]),
            ("alone is alone", vec![reads("/a"), Alone, Free], vec![0..1, 1..2, 2..3]),
            ("kin is with kin", vec![Kin, Kin, reads("/a"), Kin], vec![0..2, 2..3, 3..4]),
            ("eight at most", vec![Free; 10], vec![0..8, 8..10]),
        ] {
            assert_eq!(cut(&kinds.iter().collect::<Vec<_>>()), want, "{name}");
        }
    }
}
