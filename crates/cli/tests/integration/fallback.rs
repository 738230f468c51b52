//! Models that step in for one another, through the binary and against providers on loopback.

use crate::command_log::{CommandLog, masked};
use crate::process::{self, hermes, json_lines, stderr, stdout};
use hermes_testkit::{FakeProvider, Fault, ReplyScript, TempHome, refused_base_url};
use serde_json::Value;
use std::process::Output;

const FIRST: &str = "first-key-0123456789";
const SECOND: &str = "second-key-0123456789";
const THIRD: &str = "third-key-0123456789";

/// A home and three providers, each with a key of its own.
struct World {
    home: TempHome,
    first: FakeProvider,
    second: FakeProvider,
    third: FakeProvider,
}

impl World {
    async fn new() -> Self {
        let [first, second, third] =
            [FakeProvider::start().await, FakeProvider::start().await, FakeProvider::start().await];
        Self { home: TempHome::new(), first, second, third }
    }

    /// The first provider as the session's own model, at this address.
    fn configure(&self, own: &str, more: &str) {
        self.home.write_config(&format!(
            "model: {{provider: custom, base_url: '{own}', default: one, api_key: {FIRST}}}\n{more}"
        ));
    }

    /// The other two as its fallbacks; the last one is asked in another format.
    fn chain(&self) -> String {
        let (second, third) = (self.second.base_url(), self.third.base_url());
        format!(
            "custom_providers:\n- {{name: three, base_url: '{third}', api_mode: anthropic_messages}}\n\
             fallback_providers:\n\
             - {{provider: custom, model: two, base_url: '{second}', api_key: {SECOND}}}\n\
             - {{provider: three, model: claude-3, key_env: THIRD_CRED}}\n"
        )
    }

    async fn run(&self, args: &[&str]) -> Output {
        let mut command = hermes(self.home.path(), self.home.path(), args);
        command.env("THIRD_CRED", THIRD);
        process::finished(command).await
    }

    /// Runs with `--json` and gives the last line and the texts of all notices.
    async fn ask(&self, args: &[&str]) -> (Value, Vec<String>) {
        let out = self.run(&[&["--json"], args].concat()).await;
        let lines = json_lines(&out);
        let notices = lines.iter().filter(|line| line["type"] == "status");
        let notices = notices.map(|line| line["text"].as_str().unwrap().to_owned()).collect();
        (lines.last().unwrap().clone(), notices)
    }

    async fn exported(&self) -> Value {
        process::exported(self.home.path()).await.swap_remove(0)
    }
}

/// The keys that a provider was sent.
fn keys(provider: &FakeProvider) -> Vec<String> {
    let key = |name: &str, request: &hermes_testkit::RecordedRequest| request.header(name).map(str::to_owned);
    let mut all: Vec<_> = provider
        .requests()
        .iter()
        .filter_map(|request| key("authorization", request).or_else(|| key("x-api-key", request)))
        .map(|text| text.trim_start_matches("Bearer ").to_owned())
        .collect();
    all.dedup();
    all
}

#[tokio::test(flavor = "multi_thread")]
async fn third_model_answers_and_the_first_returns() {
    let world = World::new().await;
    world.configure(&refused_base_url(), &world.chain());
    world.second.fault(Fault::status(401, "wrong key"));
    world.third.replies([ReplyScript::text("Here.")]);
    let (result, notices) = world.ask(&["-z", "Anyone?"]).await;
    assert_eq!(result["final_response"], "Here.", "{result} {notices:?}");
    assert_eq!((&result["model"], &result["provider"]), (&"claude-3".into(), &"custom:three".into()));
    assert_eq!(result["base_url"], world.third.base_url());
    insta::assert_snapshot!("moves", masked(&notices.join("\n")));

    // The next turn, and the first provider is back.
    world.configure(&world.first.base_url(), &world.chain());
    world.first.reply(ReplyScript::text("I am back."));
    let (result, notices) = world.ask(&["--continue", "-z", "And now?"]).await;
    assert_eq!((&result["final_response"], &result["model"]), (&"I am back.".into(), &"one".into()));
    assert_eq!(notices, [""; 0]);
    let asked = world.first.bodies().pop().unwrap();
    assert!(asked.to_string().contains("Here."), "it gets the messages of the other models");
    assert!(asked["messages"][0].to_string().contains("Model: one"), "{asked}");

    assert_eq!((keys(&world.first), keys(&world.second)), (vec![FIRST.into()], vec![SECOND.into()]));
    assert_eq!(keys(&world.third), [THIRD]);
    let stored = world.exported().await;
    assert_eq!(stored["model"], "one", "the session keeps its own model");
    assert!(stored["system_prompt"].as_str().unwrap().contains("Model: one\nProvider: custom"));
    world.first.finish();
    world.second.finish();
    world.third.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn fallback_within_a_turn_runs_tools_once() {
    let world = World::new().await;
    world.configure(&world.first.base_url(), &format!("{}approvals: {{mode: off}}\n", world.chain()));
    let call = serde_json::json!({"command": "echo x >> ran"});
    world.first.reply(ReplyScript::call("terminal", call));
    world.first.fault(Fault::status(402, "no credit left"));
    world.second.reply(ReplyScript::text("Done."));
    let (result, notices) = world.ask(&["-z", "go"]).await;
    assert_eq!(result["final_response"], "Done.", "{result} {notices:?}");
    assert_eq!(world.home.read("ran"), "x\n");
    let asked = world.second.bodies().pop().unwrap().to_string();
    assert!(asked.contains("echo x >> ran") && asked.contains("Model: two"), "{asked}");
    let insights = process::json_of(world.home.path(), &["insights"]).await;
    let mut models: Vec<_> =
        insights["models"].as_array().unwrap().iter().map(|row| row["model"].as_str().unwrap()).collect();
    models.sort_unstable();
    assert_eq!(models, ["one", "two"], "each reply is counted as its own model's: {insights}");
    let stored = world.exported().await.to_string();
    assert!(!stored.contains("Model: two"), "what one request said stays out of the record");
    world.first.finish();
    world.second.finish();
    world.third.finish();
}

/// One turn goes through a chat server, a Messages server and a Responses server. Each gets the messages of the
/// others in its own format, and only its own reasoning.
#[tokio::test(flavor = "multi_thread")]
async fn one_chain_goes_through_all_three_formats() {
    let world = World::new().await;
    let (second, third) = (world.second.base_url(), world.third.base_url());
    world.configure(
        &world.first.base_url(),
        &format!(
            "custom_providers:\n\
             - {{name: two, base_url: '{second}', api_mode: anthropic_messages, api_key: {SECOND}}}\n\
             - {{name: three, base_url: '{third}', api_mode: codex_responses, api_key: {THIRD}}}\n\
             fallback_providers:\n- {{provider: two, model: claude-2}}\n- {{provider: three, model: gpt-5}}\n\
             approvals: {{mode: off}}\n"
        ),
    );
    let call = |word: &str| {
        let command = serde_json::json!({ "command": format!("echo {word} >> ran") });
        ReplyScript::call("terminal", command).with_reasoning("Let me see.")
    };
    world.first.reply(call("one")).fault(Fault::status(401, "wrong key"));
    world.second.reply(call("two")).fault(Fault::status(402, "no credit left"));
    world.third.replies([call("three"), ReplyScript::text("Here.").with_reasoning("Now.")]);
    let (result, notices) = world.ask(&["-z", "Go."]).await;
    assert_eq!(
        (&result["final_response"], &result["model"]),
        (&"Here.".into(), &"gpt-5".into()),
        "{notices:?}"
    );
    assert_eq!((world.home.read("ran").as_str(), &result["api_calls"]), ("one\ntwo\nthree\n", &6.into()));

    // The second time the first two are dead from the start.
    world.first.fault(Fault::status(401, "wrong key"));
    world.second.fault(Fault::status(402, "no credit left"));
    world.third.reply(ReplyScript::text("Still here."));
    let (result, notices) = world.ask(&["--continue", "-z", "And you?"]).await;
    assert_eq!(result["final_response"], "Still here.", "{notices:?}");
    for (provider, own, others) in [
        (&world.first, None, ["\"signature\":", "\"encrypted_content\":"]),
        (&world.second, Some("\"signature\":"), ["\"encrypted_content\":", "reasoning_content"]),
        (&world.third, Some("\"encrypted_content\":"), ["\"signature\":", "reasoning_content"]),
    ] {
        let heard = provider.bodies().pop().unwrap().to_string();
        for word in ["Go.", "echo one", "echo two", "echo three", "Here.", "And you?"] {
            assert_eq!(heard.matches(word).count(), 1, "{word} in {heard}");
        }
        assert!(own.is_none_or(|word| heard.contains(word)), "{heard}");
        assert!(others.iter().all(|word| !heard.contains(word)), "{heard}");
    }

    // And then the first one is back.
    world.first.reply(ReplyScript::text("I am back."));
    let (result, notices) = world.ask(&["--continue", "-z", "Anyone?"]).await;
    assert_eq!((&result["final_response"], &result["model"]), (&"I am back.".into(), &"one".into()));
    assert_eq!(notices, [""; 0]);
    let roles = world.exported().await["messages"].clone();
    let roles: Vec<_> =
        roles.as_array().unwrap().iter().map(|it| it["role"].as_str().unwrap().to_owned()).collect();
    let used = ["assistant", "tool"].repeat(3);
    let asked = ["assistant", "user"].repeat(2);
    assert_eq!(roles, [&["user"][..], &used, &asked, &["assistant"]].concat());
    world.first.finish();
    world.second.finish();
    world.third.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn older_fallback_setting_works() {
    let world = World::new().await;
    let second = world.second.base_url();
    world.configure(
        &world.first.base_url(),
        &format!("fallback_model: {{provider: custom, model: two, base_url: '{second}'}}\n"),
    );
    world.first.fault(Fault::status(429, "slow down"));
    world.second.reply(ReplyScript::text("Quick."));
    let out = world.run(&["chat", "-q", "hi"]).await;
    assert!(out.status.success() && stdout(&out).contains("Quick."), "{}{}", stdout(&out), stderr(&out));
    assert!(
        !keys(&world.second).contains(&FIRST.to_owned()),
        "the first one's key is sent to the first only"
    );
    world.first.finish();
    world.second.finish();
    world.third.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_fallback_entries_are_reported() {
    let world = World::new().await;
    world.configure(
        &world.first.base_url(),
        &format!(
            "fallback_providers:\n- {{provider: custom}}\n- {{provider: nowhere, model: m}}\n\
             - {{provider: custom, model: one, base_url: '{}'}}\n",
            world.first.base_url()
        ),
    );
    world.first.replies(["One.", "Two."].map(ReplyScript::text));
    let out = world.run(&["chat", "-q", "hi"]).await;
    assert!(out.status.success(), "{}", stderr(&out));
    let mut log = CommandLog::default();
    log.text("a question", &stderr(&out));
    let (result, notices) = world.ask(&["--continue", "-z", "hi"]).await;
    assert_eq!((&result["final_response"], notices.len()), (&"Two.".into(), 2), "{notices:?}");
    let doctor = world.run(&["doctor"]).await;
    let page = stdout(&doctor) + &stderr(&doctor);
    let named: Vec<_> = page.lines().filter(|line| line.contains("fallback")).collect();
    log.text("doctor", &named.join("\n"));
    insta::assert_snapshot!("bad_entries", log);
    world.first.finish();
    world.second.finish();
    world.third.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn failure_of_all_models_names_the_last_reason() {
    let world = World::new().await;
    world.configure(&world.first.base_url(), &world.chain());
    for provider in [&world.first, &world.second, &world.third] {
        provider.fault(Fault::status(401, "wrong key"));
    }
    let out = world.run(&["-z", "hi"]).await;
    assert!(!out.status.success());
    let said = stderr(&out);
    insta::assert_snapshot!("no_model_answers", masked(&said));
    for key in [FIRST, SECOND, THIRD] {
        assert!(!said.contains(key), "{said}");
    }
    world.first.finish();
    world.second.finish();
    world.third.finish();
}
