use super::super::Target;
use super::*;

fn id(number: u64) -> ChangeId {
    ChangeId { target: Target::Memory, number }
}

fn owned(entries: &str) -> Vec<String> {
    entries.split_whitespace().map(str::to_owned).collect()
}

fn change(number: u64, before: &str, after: &str, undoes: Option<u64>) -> Change {
    Change {
        id: id(number),
        at: 0.0,
        origin: Origin::Model,
        session: None,
        action: "add".to_owned(),
        undoes: undoes.map(id),
        before: owned(before),
        after: owned(after),
        outcome: ChangeOutcome::Made,
    }
}

#[test]
fn later_changes_stay() {
    for (current, before, after, want) in [
        ("a b", "a", "a b", Some("a")),
        ("a b c", "a", "a b", Some("a c")),
        ("a c", "a b", "a", Some("a b c")),
        ("z", "a b", "b", Some("a z")),
        ("b z", "a b", "b", Some("a b z")),
        ("a x", "a b", "a c", None),
        ("a c x", "a b", "a c", Some("a b x")),
        ("", "a b c", "", Some("a b c")),
    ] {
        let got = reversed(&owned(current), &change(1, before, after, None)).ok();
        // The entry that the change added is gone: nothing is guessed.
        let want = want.map(owned);
        assert_eq!(got, want, "{current:?} after {before:?} -> {after:?}");
    }
}

#[test]
fn second_undo_goes_back_further_and_an_undo_can_be_undone() {
    let mut history = vec![change(1, "", "a", None), change(2, "a", "a b", None)];
    assert_eq!(chosen(&history, None).unwrap().id, id(2));
    history.push(change(3, "a b", "a", Some(2)));
    assert_eq!(chosen(&history, None).unwrap().id, id(1));
    assert!(matches!(chosen(&history, Some(id(2))), Err(MemoryError::AlreadyUndone { .. })));
    assert_eq!(chosen(&history, Some(id(3))).unwrap().id, id(3));
    history.push(change(4, "a", "a b", Some(3)));
    assert_eq!(undone(&history), BTreeSet::from([id(3)]));
    assert_eq!(chosen(&history, None).unwrap().id, id(2));
    assert!(matches!(chosen(&history, Some(id(9))), Err(MemoryError::UnknownChange { .. })));
}

#[test]
fn unapplied_and_outside_changes_are_skipped() {
    let mut lost = change(2, "a", "a b", None);
    lost.outcome = ChangeOutcome::NotMade;
    let mut outside = change(3, "a", "a c", None);
    outside.origin = Origin::Outside;
    let history = [change(1, "", "a", None), lost, outside];
    assert_eq!(chosen(&history, None).unwrap().id, id(1));
    assert!(matches!(chosen(&history, Some(id(2))), Err(MemoryError::NeverMade { .. })));
    assert_eq!(chosen(&history, Some(id(3))).unwrap().id, id(3));
    assert!(matches!(chosen(&[], None), Err(MemoryError::NothingToUndo)));
}
