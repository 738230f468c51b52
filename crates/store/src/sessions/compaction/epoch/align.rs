//! Finds the old messages among the messages of an epoch.

use std::collections::HashMap;

/// The old message behind each new one.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Alignment {
    /// For each new message the index of the equal old one.
    pub(super) from: Vec<Option<usize>>,
    /// Number of messages at the end that equal the end of the old ones.
    pub(super) tail: usize,
}

/// Compares messages by checksum. The last messages, at most `tail`, are compared one by one; the others are
/// searched in order.
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
    fn old_messages_are_matched_in_order() {
        for (old, new, tail, want, found) in [
            // A head, a summary (9), a tail.
            (&[1, 2, 3, 4, 5][..], &[1, 9, 4, 5][..], 2, vec![Some(0), None, Some(3), Some(4)], 2),
            // Equal messages twice: the end matches the end.
            (&[1, 2, 1, 2], &[9, 1, 2], 2, vec![None, Some(2), Some(3)], 2),
            (&[1, 2, 1, 2], &[1, 2, 9, 1, 2], 2, vec![Some(0), Some(1), None, Some(2), Some(3)], 2),
            // The stated tail is longer than the real one.
            (&[1, 2, 3], &[9, 8, 3], 2, vec![None, None, Some(2)], 1),
            (&[1, 2, 3, 4], &[9, 2, 4], 2, vec![None, Some(1), Some(3)], 1),
            // No message is kept.
            (&[1, 2, 3], &[9], 1, vec![None], 0),
            (&[1, 2, 3], &[], 4, vec![], 0),
            (&[], &[9, 8], 2, vec![None, None], 0),
            // No tail, although the last message is equal.
            (&[1, 2], &[9, 2], 0, vec![None, Some(1)], 0),
            // All messages are kept.
            (&[1, 2], &[1, 2], 9, vec![Some(0), Some(1)], 2),
        ] {
            assert_eq!(align(old, new, tail), Alignment { from: want, tail: found }, "{old:?} {new:?}");
        }
    }
}
