use super::*;

fn message(id: i64) -> PastMessage {
    let role = if id % 2 == 0 { "assistant" } else { "user" };
    PastMessage {
        id,
        role: role.into(),
        content: format!("message {id}"),
        at: id as f64,
        tool_name: None,
        calls: Vec::new(),
    }
}

#[test]
fn views_stay_in_the_session() {
    let messages: Vec<_> = (1..=10).map(message).collect();
    for (at, window, ids, before, after) in
        [(0, 2, 1..=3, 0, 7), (4, 2, 3..=7, 2, 3), (9, 3, 7..=10, 6, 0), (5, 20, 1..=10, 0, 0)]
    {
        let view = View::around(&messages, at, window);
        let found: Vec<i64> = view.messages.iter().map(|message| message.id).collect();
        assert_eq!((found, view.before, view.after), (ids.collect(), before, after), "{at} {window}");
    }
    assert_eq!(View::around(&[], 0, 5).after, 0);
}

#[test]
fn long_messages_are_cut() {
    assert_eq!(cut("short"), "short");
    let long = "ä".repeat(MOST + 7);
    assert!(cut(&long).ends_with("ä [7 more characters]"));
}

#[test]
fn times_are_readable() {
    assert_eq!(when(0.0), "January 01, 1970 at 00:00 UTC");
    assert_eq!(when(f64::MAX), "unknown");
}
