use super::super::tree::standing;
use super::*;
use hermes_conversation::{MessageId, Node};

fn nodes(count: u32) -> Vec<Standing> {
    let node = |number: u32| Node {
        number,
        level: u32::from(number <= 2),
        children: if number <= 2 { vec![number * 100, number * 100 + 5] } else { vec![] },
        first: MessageId(i64::from(number) * 10),
        last: MessageId(i64::from(number) * 10 + 9),
        messages: 10,
        text: format!("## Goal\nreach goal {number}\n\n## Completed Actions\n- built {number}"),
    };
    standing(&(1..=count).map(node).collect::<Vec<_>>(), &[])
}

fn leaf() -> Sections {
    let mut leaf = Sections::default();
    leaf.set(SNAPSHOT, "what was asked");
    leaf.set(GOAL, "ship ".repeat(100));
    leaf.set(CRITICAL, "port 8080");
    leaf
}

#[test]
fn oldest_outlined_older_in_lines_newest_in_full() {
    let text = shown(&leaf(), 5, &nodes(4), 10_000);
    let ship = "ship ".repeat(100);
    assert_eq!(
        text,
        format!(
            "{HEADING}\n{HOW}\n\n\
             - Summary 1 (of 100 to 105; messages 10 to 19): goal: reach goal 1\n\
             - Summary 2 (of 200 to 205; messages 20 to 29): goal: reach goal 2\n\
             - Summary 3 (messages 30 to 39):\n  goal: reach goal 3\n  done: built 3\n\
             - Summary 4 (messages 40 to 49):\n  goal: reach goal 4\n  done: built 4\n\n\
             ### Summary 5, the Newest Part\n\n\
             ## Historical Task Snapshot\nwhat was asked\n\n## Goal\n{ship}\n\n## Critical Context\nport 8080"
        )
    );
    let first = shown(&leaf(), 1, &[], 10_000);
    assert!(first.contains(&format!("{HOW}\n\n### Summary 1, the Newest Part")), "{first}");
}

#[test]
fn where_there_is_no_room_the_oldest_get_shorter_and_then_a_range() {
    let older = nodes(40);
    let mut last = u64::MAX;
    for (room, want) in [
        (5_000, "- Summary 1 (of 100 to 105; messages 10 to 19): goal: reach goal 1\n"),
        (900, "- Summary 3 (messages 30 to 39): goal: reach goal 3\n"),
        (600, "- Summaries 1 to "),
        (300, "- Summaries 1 to "),
        (0, "- Summaries 1 to 40 (messages 10 to 409): see context_outline\n"),
    ] {
        let text = shown(&leaf(), 41, &older, room);
        assert!(text.contains(want), "{room}: {text}");
        assert!(text.contains("what was asked"), "{room}: {text}");
        let tokens = text_tokens(&text);
        assert!(tokens <= room.max(210), "{room}: {tokens}");
        assert!(tokens <= last);
        last = tokens;
        // The newest are told, or the range ends where telling begins.
        let covered: i64 = text
            .split("messages ")
            .skip(1)
            .filter_map(|rest| rest.split_once(')')?.0.split_once(" to "))
            .map(|(first, last)| last.parse::<i64>().unwrap() - first.parse::<i64>().unwrap() + 1)
            .sum();
        assert_eq!(covered, 400, "{room}: every message is in a summary that is named: {text}");
    }
}
