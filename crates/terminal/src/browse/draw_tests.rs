use super::super::fullscreen::Size;
use super::super::state::{Entry, Event, Hit, SearchResult};
use super::*;
use crate::keys::Key;
use hermes_conversation::SessionId;

fn entry(id: &str, name: &str) -> Entry {
    Entry {
        id: SessionId::new(id),
        name: name.into(),
        source: "telegram".into(),
        messages: 12,
        when: "3h ago".into(),
        haystack: name.to_lowercase(),
    }
}

fn picker(columns: usize, lines: usize) -> Picker {
    let entries = vec![
        entry("a", "Fix the parser"),
        entry("b", "中文搜索和一个很长的标题，绝对放不进四十列的终端里 🎉🎉"),
        entry("c", "evil \x1b[2J title\nin two lines"),
    ];
    Picker::new(entries, Size { columns, lines })
}

/// A line of the screen, in which wide characters take two columns.
fn text(line: &[Span]) -> String {
    let mut out = String::new();
    let mut spans: Vec<_> = line.iter().collect();
    spans.sort_by_key(|span| span.column);
    for span in spans {
        assert!(out.width() <= span.column, "{span:?} covers {out:?}");
        out.push_str(&" ".repeat(span.column - out.width()));
        out.push_str(&span.text);
    }
    out
}

fn screen(picker: &Picker) -> Vec<String> {
    frame(picker).lines.iter().map(|line| text(line)).collect()
}

fn searched(columns: usize, lines: usize) -> Picker {
    let mut picker = picker(columns, lines);
    picker.apply(Event::Key(Key::Text("pars".into())));
    let hit = Hit {
        id: SessionId::new("b"),
        name: String::new(),
        role: "assistant".into(),
        snippet: "the >>>parser<<< is\nfixed".into(),
        when: "2d ago".into(),
    };
    let found = SearchResult { hits: vec![hit], remark: None };
    picker.apply(Event::Searched { query: "pars".into(), found });
    picker
}

#[test]
fn wide_screen_shows_all_columns() {
    assert_eq!(
        screen(&picker(80, 7)),
        [
            "Sessions  3",
            "❯ type to search",
            "❯ Fix the parser                                       telegram    12     3h ago",
            "  中文搜索和一个很长的标题，绝对放不进四十列的终端…    telegram    12     3h ago",
            "  evil \\u{1b}[2J title in two lines                    telegram    12     3h ago",
            "",
            "Enter resume  Esc leave  Tab preview  ↑↓ PgUp PgDn move  Ctrl-C leave",
        ]
    );
    assert_eq!(frame(&picker(80, 7)).cursor, (1, 2));
}

#[test]
fn narrow_screen_leaves_columns_out() {
    assert_eq!(
        screen(&picker(40, 7)),
        [
            "Sessions  3",
            "❯ type to search",
            "❯ Fix the parser                  3h ago",
            "  中文搜索和一个很长的标题…       3h ago",
            "  evil \\u{1b}[2J title in t…      3h ago",
            "",
            "Enter resume  Esc leave  Tab preview",
        ]
    );
}

#[test]
fn hits_are_listed_below_with_matches_marked() {
    let picker = searched(100, 6);
    assert_eq!(
        screen(&picker)[..4],
        [
            "Sessions  1 of 3, 1 in messages",
            "❯ pars",
            "❯ Fix the parser                                                           telegram    12     3h ago",
            "  中文搜索和一个很长的标题，…  hermes: the parser is fixed                                    2d ago",
        ]
    );
    let marked: Vec<_> = frame(&picker).lines[3]
        .iter()
        .filter(|span| span.look == Look::Marked)
        .map(|span| span.text.clone())
        .collect();
    assert_eq!(marked, ["parser"]);
    assert_eq!(screen(&searched(40, 6))[3], "  hermes: the parser is fixed");
}

#[test]
fn drawing_stays_inside_the_screen() {
    for (columns, lines) in
        [(1, 1), (5, 2), (12, 4), (29, 5), (30, 5), (40, 12), (79, 24), (80, 24), (200, 60)]
    {
        for keys in [vec![], vec![Key::Tab], vec![Key::Text("a very long query ".repeat(20))]] {
            let mut picker = searched(columns, lines);
            for key in keys {
                picker.apply(Event::Key(key));
            }
            let said = vec![PreviewMessage { who: "you", text: "看看 this\n".repeat(50) }];
            picker.apply(Event::Tail { id: SessionId::new("a"), said });
            let frame = frame(&picker);
            assert_eq!(frame.lines.len(), lines);
            for line in &frame.lines {
                for span in line {
                    let end = span.column + span.text.width();
                    assert!(end <= columns.max(12), "{columns}x{lines}: {span:?}");
                    assert!(!span.text.contains(char::is_control), "{span:?}");
                }
            }
        }
    }
}

#[test]
fn preview_shows_the_last_messages() {
    let said: Vec<_> =
        (1..=9).map(|number| PreviewMessage { who: "you", text: format!("line {number}") }).collect();
    let mut narrow = picker(40, 12);
    narrow.apply(Event::Key(Key::Tab));
    assert_eq!(screen(&narrow)[6], "Reading…");
    narrow.apply(Event::Tail { id: SessionId::new("a"), said: said.clone() });
    assert_eq!(
        screen(&narrow)[4..11],
        [
            "  evil \\u{1b}[2J title in t…      3h ago",
            &"─".repeat(40),
            "line 7",
            "you:",
            "line 8",
            "you:",
            "line 9"
        ]
    );
    let mut wide = picker(80, 6);
    wide.apply(Event::Key(Key::Tab));
    wide.apply(Event::Tail { id: SessionId::new("a"), said });
    assert_eq!(screen(&wide)[2], "❯ Fix the parser                 3h ago │ line 8");
    wide.apply(Event::Key(Key::Text("no such thing".into())));
    assert_eq!(screen(&wide)[2], "  No title matches; looking into the m… │");
}
