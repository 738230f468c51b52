//! `session_search`: the model looks into past sessions.

use crate::process::{code, custom_model, hermes, stderr};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};

struct World {
    home: TempHome,
    provider: FakeProvider,
}

impl World {
    async fn new() -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        home.write_config(&custom_model(&provider.base_url()));
        Self { home, provider }
    }

    fn run(&self, args: &[&str]) {
        let out = hermes(self.home.path(), self.home.path(), args).output().unwrap();
        assert_eq!(code(&out), 0, "{args:?}: {}", stderr(&out));
    }

    /// A session with one turn.
    fn say(&self, prompt: &str, reply: &str) {
        self.provider.reply(ReplyScript::text(reply));
        self.run(&["-z", prompt]);
    }

    /// The result of a call in a new session.
    fn call(&self, arguments: Value) -> Value {
        self.provider
            .reply(ReplyScript::call("session_search", arguments))
            .reply(ReplyScript::text("Found."));
        self.run(&["-z", "look into the swordfish matter"]);
        let body = self.provider.bodies().pop().unwrap();
        let result = body["messages"].as_array().unwrap().last().unwrap()["content"].clone();
        serde_json::from_str(result.as_str().unwrap()).unwrap()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn past_sessions_are_browsed_found_read_and_scrolled() {
    let world = World::new().await;
    world.say("The swordfish password is changed on Mondays.", "Noted.");
    world.say("What is the weather?", "Rain.");

    let newest = world.call(json!({}));
    assert_eq!((&newest["mode"], &newest["success"]), (&json!("browse"), &json!(true)));
    assert_eq!(newest["results"][0]["preview"], "What is the weather?", "{newest}");
    assert_eq!(newest["count"], 2, "the asking session is not among them: {newest}");

    let found = world.call(json!({ "query": "password" }));
    assert_eq!((&found["mode"], &found["count"]), (&json!("discover"), &json!(1)), "{found}");
    let hit = &found["results"][0];
    assert_eq!(hit["matched_role"], "user");
    assert!(hit["snippet"].as_str().unwrap().contains(">>>password<<<"), "{hit}");
    let texts: Vec<&str> =
        hit["messages"].as_array().unwrap().iter().map(|m| m["content"].as_str().unwrap()).collect();
    assert_eq!(texts, ["The swordfish password is changed on Mondays.", "Noted."]);
    assert_eq!(hit["messages"][0]["anchor"], true);
    let only_replies = world.call(json!({ "query": "Mondays", "role_filter": "assistant" }));
    assert_eq!((&only_replies["count"], &only_replies["results"]), (&json!(0), &json!([])));

    let id = hit["session_id"].as_str().unwrap();
    let read = world.call(json!({ "session_id": id }));
    assert_eq!(
        (&read["mode"], &read["message_count"], &read["truncated"]),
        (&json!("read"), &json!(2), &json!(false))
    );
    let around = hit["match_message_id"].clone();
    let scrolled = world.call(json!({ "session_id": id, "around_message_id": around, "window": 1 }));
    assert_eq!((&scrolled["mode"], &scrolled["messages_after"]), (&json!("scroll"), &json!(0)), "{scrolled}");

    for (arguments, want) in [
        (json!({ "session_id": "19990101_000000_ffffff" }), "19990101"),
        (json!({ "session_id": id, "around_message_id": 99_999 }), "has no message 99999"),
        (json!({ "around_message_id": 1 }), "needs a session_id"),
        (json!({ "profile": "work" }), "not built in"),
    ] {
        let refused = world.call(arguments.clone());
        assert!(refused["error"].as_str().unwrap().contains(want), "{arguments}: {refused}");
    }
}
