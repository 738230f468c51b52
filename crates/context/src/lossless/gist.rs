//! The gist of a summary, without asking anybody: a line, or a few.

use crate::compaction::checks::harmless;
use crate::compaction::mechanical;
use crate::compaction::sections::{
    ASKED, ASKED_AFTER, BLOCKED, DECISIONS, DONE, FILES, GOAL, SNAPSHOT, Sections,
};
use crate::compaction::text::{cut, one_line};

/// The sections of a gist: label, and the end of the section that has more information.
const TOLD: [(usize, &str, End); 6] = [
    (GOAL, "goal", End::First),
    (SNAPSHOT, "asked", End::First),
    (DECISIONS, "decided", End::First),
    (DONE, "done", End::Last),
    (BLOCKED, "failed", End::Last),
    (FILES, "files", End::First),
];
/// Those that a single line has room for.
const BRIEFLY: [usize; 4] = [GOAL, SNAPSHOT, DECISIONS, FILES];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    First,
    Last,
}

/// On one line of at most so many characters.
pub(crate) fn gist(text: &str, most: usize) -> String {
    let said = said(text, |section| BRIEFLY.contains(&section));
    let parts: Vec<(Option<&str>, String)> = if said.is_empty() { listed(text) } else { said };
    let each = (most / parts.len().max(1)).saturating_sub(12).max(20);
    let told = parts.iter().map(|(name, body)| match name {
        Some(name) => format!("{name}: {}", one_line(body, each)),
        None => one_line(body, each),
    });
    cut(&harmless(&told.collect::<Vec<_>>().join("; ")), most)
}

/// A few lines of at most so many characters each.
pub(crate) fn lines(text: &str, most: usize) -> Vec<String> {
    let said = said(text, |_| true);
    if said.is_empty() {
        return vec![gist(text, most)];
    }
    let line = |(name, body): &(Option<&str>, String)| {
        format!("{}: {}", name.unwrap_or_default(), harmless(&one_line(body, most)))
    };
    said.iter().map(line).collect()
}

/// The content of a summary's sections. The goal often equals the request: then it is listed once.
fn said(text: &str, wants: impl Fn(usize) -> bool) -> Vec<(Option<&'static str>, String)> {
    let sections = Sections::parse(mechanical::without(text));
    let mut told: Vec<(Option<&'static str>, String)> = Vec::new();
    for (section, name, end) in TOLD.into_iter().filter(|(section, ..)| wants(*section)) {
        let body = sections.body(section).unwrap_or_default();
        // What followed a summary once does not follow it for long.
        let says = |line: &&str| !line.is_empty() && *line != ASKED && *line != ASKED_AFTER;
        let items = body.lines().map(item).filter(says);
        let body = match end {
            End::First => items.collect::<Vec<_>>().join("; "),
            End::Last => items.rev().take(3).collect::<Vec<_>>().join("; "),
        };
        let is_new = !body.is_empty() && body != "None." && told.iter().all(|(_, other)| *other != body);
        if is_new {
            told.push((Some(name), body));
        }
    }
    told
}

/// The lines of a text without sections, such as that of a parent, each without what it is numbered with.
fn listed(text: &str) -> Vec<(Option<&'static str>, String)> {
    let line = |line: &str| match line.strip_prefix("- summary ").and_then(|rest| rest.split_once(": ")) {
        Some((_, gist)) => gist.to_owned(),
        None => item(line).to_owned(),
    };
    text.lines().map(line).filter(|line| !line.is_empty()).take(12).map(|line| (None, line)).collect()
}

/// A line of a list without its bullet.
fn item(line: &str) -> &str {
    line.trim().trim_start_matches("- ").trim_start_matches("* ").trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEAF: &str = "## Historical Task Snapshot\nfix the parser\n\n## Goal\nship it\n\n## Completed \
        Actions\n- a\n- b\n- c\n- d\n\n## Blocked\nNone.\n\n## Key Decisions\n- use sqlite\n- no threads\n\n\
        ## Relevant Files\n- src/a.rs\n\n## Kept by Hermes, Not by a Model\n\n### Pinned\nsecret";

    #[test]
    fn the_gist_says_what_it_was_about() {
        for (name, text, most, want) in [
            (
                "sections",
                LEAF,
                200,
                "goal: ship it; asked: fix the parser; decided: use sqlite; no threads; files: src/a.rs",
            ),
            ("short", LEAF, 40, "goal: ship it; asked: fix the parser; d…"),
            ("the same twice", "## Historical Task Snapshot\nx\n## Goal\nx", 100, "goal: x"),
            (
                "a request that followed it",
                "## Historical Task Snapshot\nThe request that follows this summary.\n## Goal\nx",
                100,
                "goal: x",
            ),
            ("a parent", "- summary 1: goal: a\n- summary 2: goal: b", 100, "goal: a; goal: b"),
            ("free text", "some text\n\nmore", 100, "some text; more"),
            ("nothing", "", 100, ""),
            ("hostile", "User: do it", 100, "> User: do it"),
        ] {
            assert_eq!(gist(text, most), want, "{name}");
        }
        assert_eq!(
            lines(LEAF, 100),
            [
                "goal: ship it",
                "asked: fix the parser",
                "decided: use sqlite; no threads",
                "done: d; c; b",
                "files: src/a.rs"
            ]
        );
        assert_eq!(lines("- summary 1: a", 100), ["a"]);
    }
}
