use super::*;
use hermes_conversation::SessionId;

const NOW: f64 = 100.0 * DAY;

/// A file of 100 bytes, used `days` ago.
fn file(name: &str, kind: FileKind, days: f64, session: Option<&str>) -> StoredFile {
    let sessions = session.map(SessionId::new).into_iter().collect();
    StoredFile { name: name.to_owned(), kind, bytes: 100, used_at: NOW - days * DAY, sessions }
}

fn files() -> Vec<StoredFile> {
    vec![
        file("theirs", FileKind::Other, 50.0, None),
        file("dead", FileKind::Growing, 41.0, None),
        file("old", FileKind::Content, 40.0, Some("a")),
        file("orphan", FileKind::Content, 10.0, None),
        file("mine", FileKind::Content, 5.0, Some("a")),
        file("young", FileKind::Growing, 0.1, None),
        file("new", FileKind::Content, 0.0, None),
    ]
}

fn outcome(rule: FileRule, in_use_since: Option<f64>) -> String {
    let to_prune = to_prune(files(), rule, PruneContext { now: NOW, in_use_since });
    let lines: Vec<_> = to_prune
        .iter()
        .map(|to_prune| format!("{} {}", to_prune.file.name, to_prune.reason.as_str()))
        .collect();
    lines.join(", ")
}

#[test]
fn rules_select_files_to_prune() {
    let rule = |older_than_days, max_bytes, orphans| FileRule { older_than_days, max_bytes, orphans };
    let since = Some(NOW - 7.0 * DAY);
    for (given, since, want) in [
        (rule(None, None, false), None, "dead leftover"),
        (rule(Some(30), None, false), None, "theirs old, dead leftover, old old"),
        (rule(None, None, true), None, "dead leftover, orphan orphan, new orphan"),
        (rule(None, None, true), since, "dead leftover, orphan orphan"),
        (rule(None, Some(600), false), None, "dead leftover"),
        (rule(None, Some(450), false), None, "dead leftover, theirs room, old room"),
        (rule(None, Some(0), false), since, "dead leftover, theirs room, old room, orphan room"),
        (
            rule(Some(0), Some(0), true),
            None,
            "theirs old, dead leftover, old old, orphan old, mine old, new orphan",
        ),
    ] {
        assert_eq!(outcome(given, since), want, "{given:?} {since:?}");
    }
}
