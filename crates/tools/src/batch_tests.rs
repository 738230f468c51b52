use super::*;
use crate::testing::Bench;
use hermes_conversation::CallId;
use serde_json::{Value, json};

#[test]
fn the_limit_is_a_share_of_the_window() {
    for (window, want) in [
        (None, 200_000),
        (Some(0), 4_000),
        (Some(4_096), 4_915),
        (Some(8_192), 9_830),
        (Some(32_768), 39_321),
        (Some(128_000), 153_600),
        (Some(200_000), 200_000),
        (Some(u64::MAX), 200_000),
    ] {
        assert_eq!(batch_limit(window), want, "{window:?}");
    }
}

#[test]
fn the_largest_go_first_and_pages_last() {
    let plain = |chars| Size { chars, kind: Kind::Plain };
    let paging = |chars| Size { chars, kind: Kind::Paging };
    let fixed = |chars| Size { chars, kind: Kind::Fixed };
    for (sizes, room, want) in [
        (vec![], 0, vec![]),
        (vec![plain(9_000), plain(7_000)], 16_000, vec![]),
        (vec![plain(9_000), plain(7_001)], 16_000, vec![0]),
        (vec![plain(7_000), plain(9_000), plain(8_000)], 16_000, vec![1, 2]),
        (vec![plain(9_000), plain(9_000)], 16_000, vec![0]),
        (vec![paging(90_000), plain(9_000)], 95_000, vec![1]),
        (vec![paging(90_000), plain(9_000)], 16_000, vec![1, 0]),
        // What would not get smaller stays.
        (vec![plain(2_500), plain(2_400)], 1_000, vec![]),
        (vec![fixed(50_000), plain(3_000)], 1_000, vec![1]),
    ] {
        assert_eq!(to_spill(&sizes, room), want, "{sizes:?} {room}");
    }
}

fn result(name: &str, chars: usize) -> ToolMessage {
    ToolMessage::new(CallId::new("c"), name, json!({ "output": "x".repeat(chars) }).to_string())
}

#[test]
fn what_went_to_a_file_can_be_found_and_the_rest_stays() {
    let bench = Bench::new();
    let mut messages = [result("terminal", 5_000), result("read_file", 9_000), result("web_search", 8_000)];
    untrusted::mark(&mut messages[2], &bench.cx);
    let before = messages.clone();
    assert_eq!(fit_batch(messages.iter_mut(), 30_000, &bench.cx), 22_039);
    assert_eq!(messages, before);

    let total = fit_batch(messages.iter_mut(), 17_000, &bench.cx);
    assert!(total <= 17_000, "{total}");
    assert_eq!(messages[..2], before[..2]);
    let value: Value = serde_json::from_str(messages[2].content.as_text()).unwrap();
    let path = bench.result_file();
    assert!(path.to_str().unwrap().ends_with(".untrusted.txt"), "{path:?}");
    let block = value["output"].as_str().unwrap();
    assert!(block.starts_with("<persisted-output>") && block.contains(path.to_str().unwrap()), "{block}");
    // It still comes from outside.
    assert!(messages[2].api_content.as_ref().unwrap().starts_with("<untrusted_tool_result"));
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert_eq!(saved.to_string(), before[2].content.as_text());
    // Once is enough.
    let once = messages.clone();
    fit_batch(messages.iter_mut(), 17_000, &bench.cx);
    assert_eq!(messages, once);
}

#[test]
fn a_failure_stays_one() {
    let bench = Bench::new();
    let text = json!({ "error": "x".repeat(5_000) }).to_string();
    let mut message = ToolMessage::new(CallId::new("c"), "terminal", text);
    fit_batch(std::iter::once(&mut message), 0, &bench.cx);
    let value: Value = serde_json::from_str(message.content.as_text()).unwrap();
    assert!(value["error"].as_str().unwrap().starts_with("<persisted-output>"));
}
