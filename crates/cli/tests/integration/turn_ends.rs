//! The end of a turn as programs see it: result fields, exit code, and the text of a reply that was stopped.

use crate::process::{self, code, custom_model, exported, hermes, json_lines, run, stderr, stdout};
use crate::pty::Terminal;
use hermes_conversation::FinishReason;
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};

/// Runs `-z` with these replies; returns the exit code and the result object.
async fn result_of(settings: &str, replies: impl IntoIterator<Item = ReplyScript>) -> (i32, Value) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&format!("{}{settings}", custom_model(&provider.base_url())));
    provider.replies(replies);
    let out = run(home.path(), &["--yolo", "--json", "-z", "go"]).await;
    let last = json_lines(&out).pop().unwrap_or_else(|| panic!("{}", stderr(&out)));
    (code(&out), last)
}

#[tokio::test(flavor = "multi_thread")]
async fn unfinished_turns_are_not_completed_and_exit_with_1() {
    let step = || ReplyScript::call("terminal", json!({"command": "true"}));
    let long = || ReplyScript::text("more ").with_finish(FinishReason::Length);
    let unknown = || ReplyScript::call("frobnicate_all", json!({}));
    for (name, settings, replies, want) in [
        (
            "budget",
            "agent: {max_turns: 2}\n",
            vec![step(), step(), ReplyScript::text("Two steps.")],
            (1, json!("max_iterations_reached(2/2)"), json!("Two steps.")),
        ),
        (
            "length",
            "",
            (0..5).map(|_| long()).collect(),
            (1, json!("text_response(finish_reason=length)"), json!("more more more more more ")),
        ),
        (
            "unknown tools",
            "",
            (0..3).map(|_| unknown()).collect(),
            (1, json!("all_retries_exhausted_no_response"), Value::Null),
        ),
        (
            "an answer",
            "agent: {max_turns: 2}\n",
            vec![step(), ReplyScript::text("Done.")],
            (0, json!("text_response(finish_reason=stop)"), json!("Done.")),
        ),
    ] {
        let (code, result) = result_of(settings, replies).await;
        let got = (code, result["turn_exit_reason"].clone(), result["final_response"].clone());
        assert_eq!(got, want, "{name}: {result}");
        assert_eq!(result["completed"], code == 0, "{name}");
        assert_eq!(result["error"].is_null(), code == 0, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_reply_is_stored_and_not_sent() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    let answer: String = (0..200).map(|n| format!("word{n} ")).collect();
    provider.fault(Fault::StallAfterByte(4_000)).reply(ReplyScript::text(answer).streamed_in(100));
    let mut child = hermes(home.path(), home.path(), &["--json", "-z", "go"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let pid = child.id().to_string();
    let out = child.stdout.take().unwrap();
    let code = tokio::task::spawn_blocking(move || {
        let mut out = BufReader::new(out);
        let mut line = String::new();
        while !line.contains(r#""type":"text""#) {
            line.clear();
            assert!(out.read_line(&mut line).unwrap() > 0, "the run ended before any text");
        }
        Command::new("kill").args(["-INT", &pid]).status().unwrap();
        out.read_to_string(&mut line).unwrap();
        child.wait().unwrap().code()
    })
    .await
    .unwrap();
    assert_eq!(code, Some(130));

    let shown = stdout(&run(home.path(), &["sessions", "show", "latest"]).await);
    assert!(shown.contains("(interrupted reply, not sent to the model)\nword0 word1"), "{shown}");
    let traced = stdout(&run(home.path(), &["trace"]).await);
    assert!(traced.contains("interrupted reply (not sent to the model)\nword0 word1"), "{traced}");
    let as_json: Value =
        serde_json::from_str(&stdout(&run(home.path(), &["trace", "--json"]).await)).unwrap();
    assert!(as_json["model_calls"][0]["partial"].as_str().unwrap().starts_with("word0 "), "{as_json}");

    provider.reply(ReplyScript::text("ok"));
    let out = run(home.path(), &["--resume", "latest", "-z", "more"]).await;
    assert_eq!(process::code(&out), 0, "{}", stderr(&out));
    assert!(!provider.bodies().pop().unwrap().to_string().contains("word0"));
    assert!(!exported(home.path()).await[0]["messages"].to_string().contains("word0"));
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupted_reply_is_shown_after_a_resume() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&custom_model(&provider.base_url()));
    let answer: String = (0..200).map(|n| format!("word{n} ")).collect();
    provider.fault(Fault::StallAfterByte(4_000)).reply(ReplyScript::text(answer).streamed_in(100));
    let mut screen = Terminal::start(home.path(), home.path(), &[]);
    screen.expect("❯").await;
    screen.type_keys("go\r");
    screen.expect("word3").await;
    screen.type_keys("\x03");
    screen.expect("(interrupted reply, not sent to the model)").await;
    screen.expect("interrupted; everything so far is saved").await;
    screen.expect("❯").await;
    screen.type_keys("/quit\r");
    assert_eq!(screen.ended().await, 0);

    let mut screen = Terminal::start(home.path(), home.path(), &["--continue"]);
    screen.expect("(interrupted reply, not sent to the model)").await;
    screen.expect("word3").await;
    screen.expect("❯").await;
    screen.type_keys("/quit\r");
    assert_eq!(screen.ended().await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn rejected_request_is_dumped_without_secrets() {
    let key = "sk-dumped-secret-0123456789";
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&format!("{}agent: {{api_max_retries: 1}}\n", custom_model(&provider.base_url())));
    home.write_env(&format!("MY_SERVICE_API_KEY={key}\n"));
    let dumps = || -> Vec<Value> {
        let files = std::fs::read_dir(home.path().join("sessions")).into_iter().flatten().flatten();
        let dumps = files.filter(|file| file.file_name().to_string_lossy().starts_with("request_dump_"));
        dumps.map(|file| serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap()).collect()
    };
    // Neither an answer nor a key that is refused says anything about the request.
    provider.reply(ReplyScript::text("ok")).fault(Fault::status(401, "wrong key"));
    run(home.path(), &["-z", "go"]).await;
    run(home.path(), &["-z", "go"]).await;
    assert!(dumps().is_empty(), "{:?}", dumps());
    provider.fault(Fault::status(400, &format!("unknown field near {key}")));
    let out = run(home.path(), &["-z", &format!("my key is {key}")]).await;
    assert_eq!(code(&out), 1, "{}", stderr(&out));
    let kept = dumps();
    assert_eq!(kept.len(), 1);
    assert_eq!((&kept[0]["reason"], &kept[0]["error"]["status_code"]), (&json!("format_error"), &json!(400)));
    assert_eq!(kept[0]["request"]["body"]["model"], "m");
    let text = kept[0].to_string();
    assert!(!text.contains(key) && text.contains("[redacted"), "{text}");
}
