//! Tool calls that the output limit cut, through the binary: nothing of them is run or stored, and a
//! recording of it all is replayed byte for byte.

use crate::process::{assert_identical, code, custom_model, exported, json_lines, run, stderr, stdout};
use hermes_conversation::FinishReason;
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};

/// A call that would leave a trace, had it been run.
fn cut() -> ReplyScript {
    ReplyScript::call("terminal", json!({"command": "touch ran"}))
        .with_text("I begin.")
        .with_finish(FinishReason::Length)
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_calls_are_retried_with_a_higher_limit_and_replayed() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    provider.reply(cut());
    provider.reply(cut());
    // The endpoint has an opinion about so much room.
    provider.fault(Fault::Status {
        code: 400,
        headers: Vec::new(),
        body: r#"{"error":{"message":"max_tokens is too large"}}"#.into(),
    });
    provider.reply(cut());
    provider.reply(ReplyScript::call("terminal", json!({"command": "touch whole"})));
    provider.reply(ReplyScript::text("Done."));
    let out = run(home.path(), &["--record", "tape", "--yolo", "--json", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}{}", stdout(&out), stderr(&out));
    let caps: Vec<Value> = provider.bodies().iter().map(|body| body["max_tokens"].clone()).collect();
    // Nothing is set, so the default goes out; what was written tells where the endpoint cut.
    let usual = caps[0].clone();
    assert!(usual.as_u64().is_some_and(|cap| cap > 16_384), "{usual}");
    assert_eq!(
        caps,
        [usual.clone(), json!(8_192), json!(16_384), usual.clone(), usual.clone(), usual],
        "the cap is raised twice, refused and taken back"
    );
    assert!(home.path().join("whole").exists() && !home.path().join("ran").exists());
    let lines = json_lines(&out);
    assert_eq!(lines.iter().filter(|line| line["type"] == "retracted").count(), 2);
    assert_eq!(lines.last().unwrap()["api_calls"], 6);
    // The third was told of; the first two are nowhere.
    let session = &exported(home.path()).await[0];
    let messages = session["messages"].as_array().unwrap();
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "tool", "assistant"]);
    assert!(messages[2]["content"].as_str().unwrap().contains("cut off"), "{}", messages[2]);
    drop(provider);
    let again = run(home.path(), &["replay", "tape"]).await;
    assert_identical(&again, 6);
}
