use super::*;

fn record(change: u64, after: &str) -> Record {
    Record {
        change,
        at: 1.5,
        origin: Origin::Model,
        session: Some("s".to_owned()),
        action: "add".to_owned(),
        undoes: None,
        before: Vec::new(),
        after: vec![after.to_owned()],
    }
}

#[test]
fn lines_after_an_incomplete_one_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::of(dir.path(), Target::Memory);
    assert_eq!(journal.newest().unwrap().next(), 1);
    journal.begin(&record(1, "a")).unwrap();
    journal.settle(1, ChangeOutcome::Made).unwrap();
    OpenOptions::new().append(true).open(&journal.path).unwrap().write_all(b"{\"change\":2,\"at\"").unwrap();
    journal.begin(&record(2, "b")).unwrap();
    let known = journal.all().unwrap();
    assert_eq!(known.records, [record(1, "a"), record(2, "b")]);
    assert_eq!((known.outcome(1), known.outcome(2), known.next()), (Some(ChangeOutcome::Made), None, 3));
}

#[test]
fn long_history_is_read_from_its_end() {
    let dir = tempfile::tempdir().unwrap();
    let journal = Journal::of(dir.path(), Target::User);
    let long = "x".repeat(200_000);
    for change in 1..4 {
        journal.begin(&record(change, &long)).unwrap();
    }
    assert_eq!((journal.newest().unwrap().records.len(), journal.newest().unwrap().next()), (1, 4));
    journal.begin(&record(4, &"y".repeat(300_000))).unwrap();
    assert_eq!((journal.newest().unwrap().records.len(), journal.newest().unwrap().next()), (4, 5));
}

#[test]
fn outcome_is_inferred_from_the_file() {
    let made = record(1, "a");
    for (current, want) in
        [(&["a"][..], ChangeOutcome::Made), (&[], ChangeOutcome::NotMade), (&["b"], ChangeOutcome::Unclear)]
    {
        let current: Vec<String> = current.iter().map(|entry| (*entry).to_owned()).collect();
        assert_eq!(infer_outcome(&made, &current), want, "{current:?}");
    }
}
