//! Which of the new messages are old ones.

use std::collections::HashMap;

/// Where new messages come from.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alignment {
    /// For each new message the place of the old one that it equals.
    pub(super) from: Vec<Option<usize>>,
    /// How many messages at the end are the old ones without a gap.
    pub(super) tail: usize,
}

/// Messages are compared by their sums. The end is compared place by place, at most `tail` messages of it;
/// what stands before is looked for in order.
pub(super) fn align(old: &[i64], new: &[i64], tail: usize) -> Alignment {
    let ends = old.iter().rev().zip(new.iter().rev());
    let tail = ends.take(tail).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.len() - tail, new.len() - tail);
    let mut from = forward(&old[..old_rest], &new[..new_rest]);
    from.extend((old_rest..old.len()).map(Some));
    Alignment { from, tail }
}

fn forward(old: &[i64], new: &[i64]) -> Vec<Option<usize>> {
    let mut places: HashMap<i64, Vec<usize>> = HashMap::new();
    for (place, sum) in old.iter().enumerate() {
        places.entry(*sum).or_default().push(place);
    }
    let mut next = 0;
    let mut find = |sum: &i64| {
        let equal = places.get(sum)?;
        let place = *equal.get(equal.partition_point(|&place| place < next))?;
        next = place + 1;
        Some(place)
    };
    new.iter().map(&mut find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_messages_are_found_in_order() {
        for (old, new, tail, want, found) in [
            // A head, a summary (9), a tail.
            (&[1, 2, 3, 4, 5][..], &[1, 9, 4, 5][..], 2, vec![Some(0), None, Some(3), Some(4)], 2),
            // The same words twice: the end is the end.
            (&[1, 2, 1, 2], &[9, 1, 2], 2, vec![None, Some(2), Some(3)], 2),
            (&[1, 2, 1, 2], &[1, 2, 9, 1, 2], 2, vec![Some(0), Some(1), None, Some(2), Some(3)], 2),
            // A tail that was said to be longer than it is.
            (&[1, 2, 3], &[9, 8, 3], 2, vec![None, None, Some(2)], 1),
            (&[1, 2, 3, 4], &[9, 2, 4], 2, vec![None, Some(1), Some(3)], 1),
            // Nothing is as it was.
            (&[1, 2, 3], &[9], 1, vec![None], 0),
            (&[1, 2, 3], &[], 4, vec![], 0),
            (&[], &[9, 8], 2, vec![None, None], 0),
            // No tail, although the end is the same.
            (&[1, 2], &[9, 2], 0, vec![None, Some(1)], 0),
            // Everything stays.
            (&[1, 2], &[1, 2], 9, vec![Some(0), Some(1)], 2),
        ] {
            assert_eq!(align(old, new, tail), Alignment { from: want, tail: found }, "{old:?} {new:?}");
        }
    }
}
