//! Switching to another model, provider or session within a conversation.

use crate::process;
use crate::pty::Terminal;
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::Value;

struct World {
    home: TempHome,
    folder: tempfile::TempDir,
    one: FakeProvider,
    two: FakeProvider,
}

impl World {
    /// Two endpoints of different formats. Each lists one model, `fake`.
    async fn new() -> Self {
        let (home, folder) = (TempHome::new(), tempfile::tempdir().unwrap());
        let (one, two) = (FakeProvider::start().await, FakeProvider::start().await);
        home.write_config(&format!(
            "model: {{provider: one, default: fake}}\n\
             auxiliary: {{title_generation: {{enabled: false}}}}\n\
             custom_providers:\n\
             - {{name: one, base_url: '{}', api_key: key-of-one, api_mode: chat_completions}}\n\
             - {{name: two, base_url: '{}', api_key: key-of-two, api_mode: anthropic_messages}}\n",
            one.base_url(),
            two.base_url()
        ));
        Self { home, folder, one, two }
    }

    async fn open(&self, args: &[&str]) -> Terminal {
        let mut screen = Terminal::start(self.home.path(), self.folder.path(), args);
        screen.expect("❯").await;
        screen
    }

    /// The ids of all sessions, the newest first.
    async fn sessions(&self) -> Vec<String> {
        let args = ["sessions", "list", "--json"];
        let out = process::finished(process::hermes(self.home.path(), self.folder.path(), &args)).await;
        let rows: Vec<Value> = serde_json::from_slice(&out.stdout).unwrap();
        rows.iter().map(|row| row["id"].as_str().unwrap().to_owned()).collect()
    }
}

/// Commands wait until a turn is over, so tests wait for the prompt.
trait Replied {
    async fn replied(&mut self, text: &str);
}

impl Replied for Terminal {
    async fn replied(&mut self, text: &str) {
        self.expect(text).await;
        self.expect("❯").await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn switched_provider_uses_its_format_and_key() {
    let world = World::new().await;
    world.one.reply(ReplyScript::text("From one."));
    world.two.replies([ReplyScript::text("From two."), ReplyScript::text("Two again.")]);
    let mut screen = world.open(&[]).await;
    screen.type_keys("hello\r");
    screen.replied("From one.").await;
    screen.type_keys("/model fake --provider two\r");
    screen.expect("fake at custom:two answers").await;
    screen.type_keys("hello again\r");
    screen.replied("From two.").await;
    screen.type_keys("/model one:fake\r");
    screen.expect("fake at custom:one answers").await;
    screen.type_keys("/model two:fake\r");
    screen.expect("fake at custom:two answers").await;
    screen.type_keys("and again\r");
    screen.replied("Two again.").await;
    screen.type_keys("/quit\r");
    assert_eq!(screen.ended().await, 0);
    let asked: Vec<_> = world.two.requests().into_iter().filter(|request| request.method == "POST").collect();
    assert_eq!(asked.len(), 2);
    for request in asked {
        assert_eq!(
            (request.path.as_str(), request.header("x-api-key")),
            ("/v1/messages", Some("key-of-two"))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn unlisted_model_is_refused_unless_forced() {
    let world = World::new().await;
    world.one.reply(ReplyScript::text("Forced."));
    let mut screen = world.open(&[]).await;
    screen.type_keys("/model fakke\r");
    screen.expect("`fakke` is not a model of custom:one; close matches: fake").await;
    screen.type_keys("/model --loud\r");
    screen.expect("usage: /model NAME").await;
    screen.type_keys("/model fakke --force\r");
    screen.expect("fakke at custom:one answers").await;
    screen.type_keys("hello\r");
    screen.replied("Forced.").await;
    let bodies = world.one.bodies();
    assert_eq!(bodies.last().unwrap()["model"], "fakke");
}

#[tokio::test(flavor = "multi_thread")]
async fn provider_prefix_works_on_the_command_line() {
    let world = World::new().await;
    world.two.reply(ReplyScript::text("From two."));
    let args = ["-m", "two:fake", "-z", "hello"];
    let out = process::finished(process::hermes(world.home.path(), world.folder.path(), &args)).await;
    assert_eq!(process::stdout(&out).trim(), "From two.", "{}", process::stderr(&out));
    assert_eq!(world.two.bodies()[0]["model"], "fake");
    assert!(world.one.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_without_a_name_lists_other_sessions_only() {
    let world = World::new().await;
    world.one.replies([ReplyScript::text("Earlier."), ReplyScript::text("Now.")]);
    let args = ["-z", "an earlier question"];
    process::finished(process::hermes(world.home.path(), world.folder.path(), &args)).await;
    let earlier = world.sessions().await;
    let mut screen = world.open(&[]).await;
    screen.type_keys("/resume\r");
    screen.expect(&earlier[0]).await;
    screen.type_keys("a question of now\r");
    screen.replied("Now.").await;
    let open = world.sessions().await.into_iter().find(|id| *id != earlier[0]).unwrap();
    screen.type_keys("/resume\r");
    screen.expect("other sessions, the newest first").await;
    screen.expect(&earlier[0]).await;
    screen.type_keys(&format!("/resume {open}\r"));
    screen.expect("this session is already open").await;
    screen.type_keys(&format!("/resume {}\r", earlier[0]));
    screen.expect("an earlier question").await;
}
