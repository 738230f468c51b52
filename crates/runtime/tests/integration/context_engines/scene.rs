//! A home with an engine, a provider that answers everything, and a conversation.

use hermes_context::SUMMARY_SECTIONS;
use hermes_conversation::{TurnEvent, Usage, UserMessage, events};
use hermes_runtime::{Home, Launch, Runtime, Session};
use hermes_testkit::{CallScript, FakeProvider, ReplyScript, TempHome};
use serde_json::Value;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use tokio_util::sync::CancellationToken;

pub(crate) const KEY: &str = "sk-box-0123456789";
pub(crate) struct Scene {
    pub(crate) home: TempHome,
    pub(crate) provider: FakeProvider,
}

/// The example of the docs, which must work.
pub(crate) fn example() -> &'static str {
    let docs = include_str!("../../../../../docs/context-engines.md");
    let (_, rest) = docs.split_once("```python\n").unwrap();
    rest.split_once("```").unwrap().0
}

/// The same engine with added misbehaviour.
fn mischief() -> String {
    let (functions, _) = example().split_once("\nfor line in sys.stdin").unwrap();
    format!("{functions}\n{}", include_str!("mischief.py"))
}

impl Scene {
    /// With the unchanged example.
    pub(crate) async fn good() -> Self {
        let scene = Self::new("mine").await;
        scene.home.write("plugins/context_engine/mine/engine.py", example());
        scene.home.write("plugins/context_engine/mine/engine.yaml", "command: [python3, engine.py]\n");
        scene
    }

    /// With an engine that misbehaves in one way.
    pub(crate) async fn with_mischief(mode: &str, more: &str) -> Self {
        let scene = Self::new("mine").await;
        scene.home.write("plugins/context_engine/mine/engine.py", &mischief());
        let manifest = format!("command: [python3, engine.py, '{mode}']\n{more}");
        scene.home.write("plugins/context_engine/mine/engine.yaml", &manifest);
        scene
    }

    pub(crate) async fn new(engine: &str) -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        provider.answer_with(answer);
        home.write_config(&format!(
            "model: {{provider: box, default: claude-m, max_tokens: 1000, context_length: 30000}}\n\
             custom_providers:\n- {{name: box, base_url: '{}', api_key: {KEY}, api_mode: chat_completions}}\n\
             auxiliary: {{title_generation: {{enabled: false}}}}\n\
             context: {{engine: '{engine}'}}\ncompression:\n  threshold: 0.5\n",
            provider.base_url(),
        ));
        Self { home, provider }
    }

    /// With more settings.
    pub(crate) fn set(&self, line: &str) {
        let path = self.home.path().join("config.yaml");
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::write(path, format!("{text}{line}\n")).unwrap();
    }

    pub(crate) fn runtime(&self) -> Runtime {
        let shell =
            [("PATH", "/usr/bin:/bin"), ("OPENAI_API_KEY", "sk-secret-9876543210"), ("LANG", "C.UTF-8")];
        Runtime::open(Launch {
            home: Home::at(self.home.path()),
            flags: Vec::new(),
            shell: BTreeMap::from(shell.map(|(name, value)| (name.to_owned(), value.to_owned()))),
            cwd: self.home.path().to_owned(),
            source: "cli".to_owned(),
            supervisor: None,
        })
        .unwrap()
    }

    /// The lines of this kind in the engine's log.
    pub(crate) fn noted(&self, kind: &str) -> Vec<Value> {
        let path = self.home.path().join("plugins/context_engine/mine/log.jsonl");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.filter(|line| !line[kind].is_null()).collect()
    }

    /// Waits until no process of the engine runs.
    pub(crate) fn wait_until_over(&self) {
        let deadline = Instant::now() + Duration::from_secs(10);
        let all = self.noted("pid");
        assert!(!all.is_empty(), "it never ran");
        for id in all.iter().map(|line| line["pid"].as_u64().unwrap()) {
            while is_alive(id) {
                assert!(Instant::now() < deadline, "{id} is still there");
                std::thread::yield_now();
            }
        }
    }
}

pub(crate) fn is_alive(id: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with(['Z', 'X']))
}

/// Runs a turn and returns the notices, in lines.
pub(crate) async fn turn(session: &mut Session, number: usize) -> Vec<String> {
    let (sink, mut stream) = events();
    let words = format!("Question {number}: {}", "what about this and that? ".repeat(100));
    let reading = tokio::spawn(async move {
        let mut told = Vec::new();
        while let Some(event) = stream.next().await {
            if let TurnEvent::Status(line) = event {
                told.push(line);
            }
        }
        told
    });
    let report = session.submit(UserMessage::text(words), &CancellationToken::new(), sink).await.unwrap();
    assert!(report.completed, "turn {number}: {:?}", report.error);
    reading.await.unwrap()
}

/// The lines that are about the engine.
pub(crate) fn about_engine(told: &[String]) -> Vec<&String> {
    told.iter().filter(|line| line.contains("context engine `mine`")).collect()
}

/// Every question leads to a call, every call to text; a summary has its sections.
fn answer(body: &Value) -> ReplyScript {
    let has_tools = body["tools"].as_array().is_some_and(|tools| !tools.is_empty());
    let is_asked =
        body["messages"].as_array().and_then(|all| all.last()).is_some_and(|last| last["role"] == "user");
    let reply = match (has_tools, is_asked) {
        (false, _) => {
            let section = |name: &&str| format!("## {name}\n- all the notes about it, in a few lines\n");
            ReplyScript::text(SUMMARY_SECTIONS.iter().map(section).collect::<String>())
        }
        (true, true) => call("todo", "{}"),
        (true, false) => ReplyScript::text("So it is. ".repeat(100)),
    };
    let input = body.to_string().len() as u64 / 4;
    ReplyScript { usage: Some(Usage { input, output: 300, ..Usage::default() }), ..reply }
}

pub(crate) fn call(name: &str, arguments: &str) -> ReplyScript {
    let call = CallScript { id: None, name: name.to_owned(), arguments: arguments.to_owned() };
    ReplyScript::default().and_raw_call(call)
}
