use super::*;

/// The version in the checkpoint, the current one, the noted changes, and the author.
type Case = (&'static str, &'static str, &'static [(&'static str, &'static str)], Author);

fn version(name: &str) -> Option<Version> {
    (name != "-").then(|| Version::new("100644", name))
}

#[test]
fn edits_by_hand_are_distinguished_from_changes_of_the_agent() {
    let cases: [Case; 14] = [
        ("a", "b", &[("a", "b")], Author::Agent),
        ("a", "c", &[("a", "b"), ("b", "c")], Author::Agent),
        ("-", "b", &[("-", "b")], Author::Agent),
        ("a", "-", &[("a", "-")], Author::Agent),
        ("a", "b", &[], Author::Hand),
        ("a", "h", &[("a", "b"), ("b", "a")], Author::Hand),
        // Undone by hand, then changed again by the agent.
        ("a", "c", &[("a", "b"), ("a", "c")], Author::Agent),
        // By hand before, between and after.
        ("a", "b", &[("h", "b")], Author::Both),
        ("a", "c", &[("a", "b"), ("h", "c")], Author::Both),
        ("a", "h", &[("a", "b")], Author::Both),
        ("-", "h", &[("-", "b")], Author::Both),
        ("a", "-", &[("a", "b")], Author::Both),
        // Noted twice, by a command and by the tool that ran beside it.
        ("a", "b", &[("a", "b"), ("a", "b")], Author::Agent),
        ("a", "c", &[("a", "b"), ("a", "b"), ("b", "c")], Author::Agent),
    ];
    for (target, current, changes, want) in cases {
        let changes: Vec<_> =
            changes.iter().map(|(before, after)| (version(before), version(after))).collect();
        let found = author(version(target).as_ref(), version(current).as_ref(), &changes);
        assert_eq!(found, want, "{target} {current} {changes:?}");
    }
}

fn checkpoint(tree: &str) -> Entry {
    Entry::Checkpoint { tree: tree.to_owned() }
}

fn change(path: &str) -> Entry {
    Entry::Change { path: path.to_owned(), before: None, after: version("x") }
}

#[test]
fn checkpoints_are_found_by_their_trees_from_the_newest() {
    let entries = [checkpoint("a"), change("1"), checkpoint("b"), change("2"), checkpoint("a"), change("3")];
    for (trees, want) in [
        (vec!["a"], Some(vec!["3"])),
        (vec!["a", "b"], Some(vec!["2", "3"])),
        (vec!["a", "b", "a"], Some(vec!["1", "2", "3"])),
        (vec!["b"], Some(vec!["2", "3"])),
        (vec!["other"], None),
        (vec!["a", "other"], None),
        (vec!["a", "b", "a", "a"], None),
    ] {
        let trees: Vec<String> = trees.into_iter().map(str::to_owned).collect();
        let changes = changes_since(&entries, &trees).map(|changes| {
            let mut paths: Vec<String> = changes.into_keys().collect();
            paths.sort();
            paths
        });
        let want = want.map(|paths| paths.into_iter().map(str::to_owned).collect::<Vec<_>>());
        assert_eq!(changes, want, "{trees:?}");
    }
}

#[test]
fn journal_survives_a_cut_line_and_is_shortened() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("changes/key.jsonl");
    append(&file, &[checkpoint("a"), change("1"), checkpoint("b")]).unwrap();
    let mut text = std::fs::read_to_string(&file).unwrap();
    text.push_str("\n{\"change\":{\"pa");
    std::fs::write(&file, text).unwrap();
    append(&file, &[change("2"), checkpoint("c")]).unwrap();
    assert_eq!(read(&file), [checkpoint("a"), change("1"), checkpoint("b"), change("2"), checkpoint("c")]);
    shorten(&file, 3).unwrap();
    assert_eq!(read(&file).len(), 5);
    shorten(&file, 2).unwrap();
    assert_eq!(read(&file), [checkpoint("b"), change("2"), checkpoint("c")]);
    assert_eq!(read(&dir.path().join("none")), []);
}
