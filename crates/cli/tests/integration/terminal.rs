//! A conversation in a real terminal: input and screen.

use crate::process;
use crate::pty::Terminal;
use hermes_scripted::Listener;
use hermes_scripted::http::{Connection, whole};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::json;
use std::time::Duration;

fn terminal(command: &str) -> ReplyScript {
    ReplyScript::call("terminal", json!({ "command": command }))
}

#[tokio::test(flavor = "multi_thread")]
async fn conversation_in_a_terminal() {
    let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
    let provider = FakeProvider::start().await;
    let settings = format!("{}approvals: {{mode: manual}}\n", process::custom_model(&provider.base_url()));
    home.write_config(&settings);
    let mut screen = Terminal::start(home.path(), folder.path(), &[]);
    screen.expect("Hermes").await;

    // Streaming: the pieces arrive as one text.
    provider
        .reply(ReplyScript::text("Nice to meet you.").streamed_in(6).with_delay(Duration::from_millis(2)));
    screen.expect("❯").await;
    screen.type_keys("hello\r");
    screen.expect("Nice to meet you.").await;

    // A command is asked about and denied.
    provider.reply(terminal("rm -rf old; touch denied")).reply(ReplyScript::text("As you wish."));
    screen.expect("❯").await;
    screen.type_keys("make it\r");
    screen.expect("touch denied").await;
    screen.expect("• ").await;
    screen.expect("Run it? ").await;
    screen.type_keys("n\r");
    screen.expect("[not run]").await;
    screen.expect("As you wish.").await;
    assert!(!folder.path().join("denied").exists());

    // What was typed before the question was seen is no answer to it.
    let slow = terminal("rm -rf old; touch early").with_text("Let me think about it.").streamed_in(5);
    provider.reply(slow.with_delay(Duration::from_millis(40))).reply(ReplyScript::text("Right."));
    screen.expect("❯").await;
    screen.type_keys("go on\r");
    screen.expect("Let").await;
    screen.type_keys("y");
    screen.expect("Run it? ").await;
    // An empty line and a text that is no answer ask again.
    screen.type_keys("\rmaybe\r");
    screen.expect("Ctrl-C stops the turn").await;
    screen.expect("Run it? ").await;
    screen.type_keys("d\r");
    screen.expect("[not run]").await;
    screen.expect("Right.").await;
    assert!(!folder.path().join("early").exists());
    // It is still there, at the next prompt.
    screen.expect("❯ y").await;
    screen.type_keys("\x15");

    // Another one is allowed, and its line says what was done.
    provider.reply(terminal("rm -rf old; echo made > allowed")).reply(ReplyScript::text("Made."));
    screen.type_keys("make another\r");
    screen.expect("Run it? ").await;
    screen.type_keys("y\r");
    screen.expect("┊ 💻 $         rm -rf old; echo made > allowed").await;
    screen.expect("Made.").await;
    assert!(folder.path().join("allowed").exists());

    // Ctrl-C stops a running tool and not the program.
    provider.reply(terminal("rm -rf old; touch begun; sleep 600"));
    screen.expect("❯").await;
    screen.type_keys("wait\r");
    screen.expect("Run it? ").await;
    screen.type_keys("y\r");
    let begun = folder.path().join("begun");
    while !begun.exists() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    screen.type_keys("\x03");
    screen.expect("[exit 130]").await;
    screen.expect("interrupted").await;

    // A paste of several lines is one message.
    provider.reply(ReplyScript::text("Two lines."));
    screen.expect("❯").await;
    screen.type_keys("\x1b[200~first\nsecond\x1b[201~\r");
    screen.expect("Two lines.").await;
    let asked = provider.requests().pop().unwrap();
    assert_eq!(asked.messages().last().unwrap()["content"], "first\nsecond");

    // Ctrl-C at the prompt warns, a second one leaves.
    screen.expect("❯").await;
    screen.type_keys("\x03");
    screen.expect("Ctrl-C again").await;
    screen.type_keys("\x03");
    screen.expect("hermes --resume").await;
    assert_eq!(screen.ended().await, 0);

    // And on, in a new process.
    let mut again = Terminal::start(home.path(), folder.path(), &["--continue"]);
    again.expect("Resuming").await;
    again.expect("Two lines.").await;
    provider.reply(ReplyScript::text("Welcome back."));
    again.expect("❯").await;
    again.type_keys("me again\r");
    again.expect("Welcome back.").await;
    again.expect("❯").await;
    again.type_keys("/quit\r");
    assert_eq!(again.ended().await, 0);
    let roles: Vec<_> =
        provider.requests().pop().unwrap().messages().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles.len(), 1 + 2 + 4 + 4 + 4 + 4 + 2 + 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn title_is_generated_while_the_chat_continues() {
    let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
    let provider = FakeProvider::start().await;
    home.write_config(
        &process::custom_model(&provider.base_url()).replace("enabled: false", "enabled: true"),
    );
    provider.answer_with(|request| {
        match request["messages"][0]["content"].to_string().contains("Name the conversation") {
            true => ReplyScript::text("\"A walrus at sea.\"\n"),
            false => ReplyScript::text("There is a walrus in it."),
        }
    });
    let mut screen = Terminal::start(home.path(), folder.path(), &[]);
    screen.expect("❯").await;
    screen.type_keys("tell me of the sea\r");
    screen.expect("There is a walrus in it.").await;
    screen.expect("❯").await;
    let listed = async || process::json_of(home.path(), &["sessions", "list"]).await[0]["title"].clone();
    while listed().await.is_null() {}
    assert_eq!(listed().await, "A walrus at sea");
    screen.type_keys("/title\r");
    screen.expect("A walrus at sea").await;
    // It is asked once, without tools, and counted by itself.
    screen.expect("❯").await;
    screen.type_keys("and more\r");
    screen.expect("There is a walrus in it.").await;
    screen.expect("❯").await;
    screen.type_keys("\u{4}");
    assert_eq!(screen.ended().await, 0);
    let bodies: Vec<_> = provider.requests().iter().map(|request| request.json.clone()).collect();
    let naming: Vec<_> = bodies.iter().filter(|body| body.get("tools").is_none()).collect();
    assert_eq!((bodies.len(), naming.len()), (3, 1));
    let budget = process::json_of(home.path(), &["budget"]).await;
    let tasks: Vec<_> =
        budget["rows"].as_array().unwrap().iter().map(|row| (&row["task"], &row["calls"])).collect();
    assert!(tasks.contains(&(&json!("title_generation"), &json!(1))), "{budget}");
}

/// Serves one reply whose reasoning and text alternate, in one write.
async fn alternating(mut connection: Connection) {
    while let Ok(Some(_)) = connection.next_request().await {
        let piece = |number: usize| match number % 2 {
            0 => json!({ "reasoning_content": format!("r{number} ") }),
            _ => json!({ "content": format!("t{number} ") }),
        };
        let event = |delta, finish: Option<&str>| {
            let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
            format!("data: {}\n\n", json!({ "id": "x", "choices": [choice] }))
        };
        let pieces: String = (0..PIECES).map(|number| event(piece(number), None)).collect();
        let body = format!("{pieces}{}data: [DONE]\n\n", event(json!({}), Some("stop")));
        let answer = whole(200, &[("content-type", "text/event-stream")], body.as_bytes());
        if connection.send(&answer).await.is_err() {
            return;
        }
    }
}

/// More than an observer may leave unread.
const PIECES: usize = 12_000;

#[tokio::test(flavor = "multi_thread")]
async fn whole_reply_is_shown_however_fast_it_arrives() {
    let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
    let server = Listener::start(alternating).await.unwrap();
    home.write_config(&process::custom_model(&server.base_url()));
    let mut screen = Terminal::start(home.path(), folder.path(), &["chat", "-q", "hi"]);
    for number in (1..PIECES).step_by(2) {
        screen.expect(&format!("t{number} ")).await;
    }
    assert_eq!(screen.ended().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn tab_completes_a_slash_command() {
    let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
    let provider = FakeProvider::start().await;
    home.write_config(&process::custom_model(&provider.base_url()));
    let mut screen = Terminal::start(home.path(), folder.path(), &[]);
    screen.expect("❯").await;
    screen.type_keys("/qui\t");
    screen.expect("/quit").await;
    screen.type_keys("\r");
    assert_eq!(screen.ended().await, 0);
}
