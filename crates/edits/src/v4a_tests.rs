use super::hunks::{HunkError, apply};
use super::*;
use proptest::prelude::*;
use serde::Deserialize;

/// Intended differences from the Python release: the text, and the reason.
const DIFFERENCES: [(&str, &str); 2] = [
    ("", "an invalid patch is an error, not an empty one"),
    ("*** Begin Patch\n\n*** End Patch", "a patch needs at least one change"),
];

#[derive(Deserialize)]
struct Case {
    #[serde(rename = "in")]
    text: String,
    out: Out,
}

#[derive(Deserialize, Debug, PartialEq, Default)]
struct Out {
    refused: bool,
    ops: Vec<Op>,
}

#[derive(Deserialize, Debug, PartialEq, Default)]
struct Op {
    op: String,
    file: String,
    to: Option<String>,
    hunks: Vec<OpHunk>,
}

#[derive(Deserialize, Debug, PartialEq)]
struct OpHunk {
    hint: Option<String>,
    lines: Vec<(String, String)>,
}

fn shown(operation: &Operation) -> Op {
    match operation {
        Operation::Update { file, hunks } => {
            let hunks = hunks.iter().map(|hunk| {
                let lines = hunk.lines.iter().map(|line| match line {
                    HunkLine::Context(text) => (" ".to_owned(), text.clone()),
                    HunkLine::Removed(text) => ("-".to_owned(), text.clone()),
                    HunkLine::Added(text) => ("+".to_owned(), text.clone()),
                });
                OpHunk { hint: hunk.hint.clone(), lines: lines.collect() }
            });
            Op { op: "update".into(), file: file.clone(), hunks: hunks.collect(), ..Op::default() }
        }
        Operation::Add { file, lines } => {
            let lines: Vec<_> = lines.iter().map(|line| ("+".to_owned(), line.clone())).collect();
            let hunk = (!lines.is_empty()).then_some(OpHunk { hint: None, lines });
            Op { op: "add".into(), file: file.clone(), hunks: hunk.into_iter().collect(), ..Op::default() }
        }
        Operation::Delete { file } => Op { op: "delete".into(), file: file.clone(), ..Op::default() },
        Operation::Move { from, to } => {
            Op { op: "move".into(), file: from.clone(), to: Some(to.clone()), ..Op::default() }
        }
    }
}

#[test]
fn patches_are_parsed_as_in_the_python_release() {
    for line in include_str!("../tests/cases/v4a_parse.jsonl").lines() {
        let Case { text, mut out } = serde_json::from_str(line).unwrap();
        if let Some((_, why)) = DIFFERENCES.iter().find(|(other, _)| *other == text) {
            assert!(!out.refused, "no longer a difference: {why}");
            out = Out { refused: true, ops: Vec::new() };
        }
        let parsed = match parse(&text) {
            Ok(operations) => Out { refused: false, ops: operations.iter().map(shown).collect() },
            Err(_) => Out { refused: true, ops: Vec::new() },
        };
        assert_eq!(parsed, out, "{line}");
    }
}

#[test]
fn invalid_patches_are_explained() {
    let inside = |body: &str| format!("*** Begin Patch\n{body}\n*** End Patch");
    for (text, want) in [
        ("*** Update File: a\n-x\n*** End Patch".to_owned(), "no line `*** Begin Patch`"),
        ("*** Begin Patch\n*** Delete File: a".to_owned(), "a part of it may be missing"),
        (inside("*** Rename File: a"), "line 2 (`*** Rename File: a`)"),
        (inside("*** Update File:\n-x"), "line 2 names no file"),
        (inside("*** Move File: a"), "line 2 names no file"),
        (inside("*** Move File: -> b"), "line 2 names no file"),
        (inside("*** Add File: a\nx"), "line 3: lines of a new file begin with +"),
        (inside("*** Update File: a\n x\n"), "the update of a changes nothing"),
        (inside("*** Delete File: a\n-x"), "line 3 (`-x`)"),
        (inside("x"), "line 2 (`x`)"),
    ] {
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(want), "{text}: {error}");
    }
}

fn updated(content: &str, body: &str) -> Result<String, HunkError> {
    let text = format!("*** Begin Patch\n*** Update File: a\n{body}\n*** End Patch");
    let parsed = parse(&text).unwrap();
    let [Operation::Update { hunks, .. }] = parsed.as_slice() else { panic!("{text}") };
    apply(content, hunks, &|| false)
}

#[test]
fn hunks_change_whole_lines() {
    for (content, body, want) in [
        ("a\nb\nc\n", " a\n-b\n+B\n c", "a\nB\nc\n"),
        ("a\nb", "-b\n+c", "a\nc"),
        ("a\nb\n", "-b", "a\n"),
        ("my\ny\n", "-y\n+z", "my\nz\n"),
        ("a\n", "+b", "a\nb\n"),
        ("", "+b", "b\n"),
        ("one\ntwo\nthree\n", "@@ one @@\n+1.5", "one\n1.5\ntwo\nthree\n"),
        ("fn a\n x\nfn b\n x\n", "@@ fn b @@\n- x\n+ y", "fn a\n x\nfn b\n y\n"),
        ("fn a\n x\nfn b\n x\n", "@@ fn a\n- x\n+ y", "fn a\n y\nfn b\n x\n"),
        ("    if x:\n        y\n", " if x:\n-    y\n+    z", "    if x:\n        z\n"),
        ("a\n\nb\n", " a\n\n-b\n+c", "a\n\nc\n"),
        ("1\n2\n3\n4\n", "@@\n-1\n+one\n@@\n-4\n+four", "one\n2\n3\nfour\n"),
        ("say “hi”\n", "-say \"hi\"\n+say \"ho\"", "say \"ho\"\n"),
    ] {
        assert_eq!(updated(content, body).as_deref(), Ok(want), "{body}");
    }
}

#[test]
fn hunks_that_do_not_fit_are_explained() {
    for (content, body, want) in [
        ("a\n", "-nothing like it at all\n+b", "hunk 1: the lines marked"),
        ("x\nx\n", "-x\n+y", "found 2 times"),
        ("x\nx\n", "@@ none @@\n-x\n+y", "`none` after @@ is found 0 times"),
        ("h\nx\nh\nx\n", "@@ h @@\n-x\n+y", "`h` after @@ is found 2 times"),
        ("my\n", "-y\n+z", "hunk 1: the lines marked"),
    ] {
        let error = updated(content, body).unwrap_err().to_string();
        assert!(error.contains(want), "{body}: {error}");
    }
}

proptest! {
    #[test]
    fn any_text_is_survived(text in "(\\*\\*\\* (Begin|End) Patch\n|\\*\\*\\* (Update|Add|Delete|Move) File: [a>-]{0,4}\n|[@+ a☃\r-]{0,5}\n){0,12}") {
        let _ = parse(&text);
    }

    #[test]
    fn hunks_keep_what_they_do_not_name(
        before in proptest::collection::vec("[a-c]{1,3}", 0..6),
        after in proptest::collection::vec("[d-f]{1,3}", 0..6),
        new in proptest::collection::vec("[ -~]{0,6}", 1..4),
    ) {
        let content: String = before.iter().chain([&"target line".to_owned()]).chain(&after).map(|line| format!("{line}\n")).collect();
        let body: String = ["-target line".to_owned()].into_iter().chain(new.iter().map(|line| format!("+{line}"))).collect::<Vec<_>>().join("\n");
        let want: String = before.iter().chain(&new).chain(&after).map(|line| format!("{line}\n")).collect();
        prop_assert_eq!(updated(&content, &body).unwrap(), want);
    }
}
