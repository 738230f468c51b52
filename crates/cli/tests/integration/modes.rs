//! The same conversation in all three formats, streamed and plain, through the binary.

use crate::process::{self, hermes, json_lines, stderr, stdout};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::process::Output;
use tempfile::TempDir;

const MODES: [&str; 3] = ["chat_completions", "codex_responses", "anthropic_messages"];

struct World {
    home: TempHome,
    folder: TempDir,
    provider: FakeProvider,
}

impl World {
    async fn new() -> Self {
        let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
        std::fs::write(folder.path().join("dot.png"), hermes_testkit::png(2, 2)).unwrap();
        Self { home, folder, provider: FakeProvider::start().await }
    }

    /// An entry for each format at the same server, all of one name of model.
    fn configure(&self, more: &str) {
        let base_url = self.provider.base_url();
        let entries: String = MODES
            .iter()
            .map(|mode| format!("  - name: {mode}\n    base_url: {base_url}\n    api_mode: {mode}\n"))
            .collect();
        self.home.write_config(&format!(
            "model:\n  default: claude-m\n  max_tokens: 4000\ncustom_providers:\n{entries}approvals:\n  mode: off\n{more}"
        ));
    }

    async fn run(&self, args: &[&str]) -> Output {
        process::finished(hermes(self.home.path(), self.folder.path(), args)).await
    }

    async fn answer(&self, args: &[&str]) -> String {
        let out = self.run(args).await;
        assert!(out.status.success(), "{args:?}: {}", stderr(&out));
        stdout(&out).trim().to_owned()
    }
}

/// The messages of a request, in whatever format. Cache marks move and do not count.
fn spoken(body: &Value) -> Vec<Value> {
    let mut messages = body["messages"].as_array().or(body["input"].as_array()).unwrap().clone();
    messages.iter_mut().for_each(unmark);
    messages
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.shift_remove("cache_control");
            object.values_mut().for_each(unmark);
        }
        Value::Array(items) => items.iter_mut().for_each(unmark),
        _ => {}
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn tool_calls_thinking_and_images_work_in_every_format() {
    for (mode, is_streamed) in MODES.iter().flat_map(|mode| [(*mode, true), (*mode, false)]) {
        let world = World::new().await;
        world.configure("");
        let thinking = |reply: ReplyScript| reply.with_reasoning("Let me see.");
        for reply in [
            thinking(ReplyScript::call("terminal", json!({"command": "echo seen"}))),
            thinking(ReplyScript::text("A dot.")),
            ReplyScript::text("Yes."),
        ] {
            if !is_streamed {
                world.provider.fault(Fault::JsonInsteadOfStream);
            }
            world.provider.reply(reply);
        }
        let provider = format!("custom:{mode}");
        let asked = ["--provider", &provider, "-z", "What is it?", "--image", "dot.png"];
        assert_eq!(world.answer(&asked).await, "A dot.", "{mode}");
        let again = ["--provider", &provider, "--continue", "-z", "Sure?"];
        assert_eq!(world.answer(&again).await, "Yes.", "{mode}");
        let bodies = world.provider.bodies();
        assert_eq!(bodies.len(), 3, "{mode}");
        let text = bodies[2].to_string();
        for word in [
            "What is it?",
            "iVBORw0KGgoAAAANSUhEUgAAAAIAAAACCAIAAAD91JpzAAAAGUl",
            "echo seen",
            "seen\\\\n",
            "A dot.",
            "Sure?",
        ] {
            assert!(
                text.contains(word) || text.contains(&word.replace("\\\\n", "")),
                "{mode}: {word} in {text}"
            );
        }
        // What was sent before is sent again, unchanged.
        for (earlier, later) in [(0, 1), (1, 2)] {
            let (earlier, later) = (spoken(&bodies[earlier]), spoken(&bodies[later]));
            let same = earlier.len() - usize::from(mode == "anthropic_messages" && earlier.len() > 1);
            assert_eq!(earlier[..same], later[..same], "{mode}");
        }
        world.provider.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reply_without_streaming_is_shown() {
    let world = World::new().await;
    world.configure("");
    for mode in MODES {
        let provider = format!("custom:{mode}");
        let whole = || {
            let reply = ReplyScript::text("A whole answer.").with_reasoning("Let me see.");
            world.provider.fault(Fault::JsonInsteadOfStream).reply(reply);
        };
        whole();
        let page = world.answer(&["--provider", &provider, "chat", "-q", "Well?"]).await;
        assert_eq!(page, "Let me see.\nA whole answer.", "{mode}");
        whole();
        let out = world.run(&["--provider", &provider, "--json", "-z", "Well?"]).await;
        let lines = json_lines(&out);
        for (kind, want) in [("reasoning", "Let me see."), ("text", "A whole answer.")] {
            let shown = lines.iter().filter(|line| line["type"] == kind).map(|line| &line["text"]);
            assert!(shown.eq([want]), "{mode}: {kind} in {lines:?}");
        }
    }
    world.provider.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn session_changes_formats_and_returns() {
    let world = World::new().await;
    world.configure("");
    let script = |text: &str| ReplyScript::text(text).with_reasoning("Hm.");
    world.provider.replies((0..6).map(|number| script(&number.to_string())));
    for (number, mode) in MODES.iter().chain(&MODES).enumerate() {
        let provider = format!("custom:{mode}");
        let question = format!("question {number}");
        let mut args = vec!["--provider", &provider, "-z", &question];
        if number > 0 {
            args.push("--continue");
        }
        assert_eq!(world.answer(&args).await, number.to_string(), "{mode}");
    }
    // Each got back what it had thought itself, and nothing of the others.
    let bodies = world.provider.bodies();
    let back = bodies[4].to_string();
    assert_eq!(back.matches("\"encrypted_content\":").count(), 1, "{back}");
    let back = bodies[5].to_string();
    assert_eq!(back.matches("\"signature\"").count(), 1, "{back}");
    world.provider.finish();
}
