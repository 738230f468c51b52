//! Turns over real HTTP and a real store, with faults on the line and limits in milliseconds.

use hermes_agent::recovery::Limits;
use hermes_agent::{Ports, Session, TurnReport, run_turn};
use hermes_context::{NeverCompact, NoSummaries, here};
use hermes_conversation::{Content, History, Message, NoHooks, NoMail, Quirks, UserMessage, events};
use hermes_exec::Local;
use hermes_guard::Secrets;
use hermes_providers::{Deadlines, HttpClients, HttpModel, Wanted, resolve};
use hermes_store::{NewSession, SessionDb, this_process};
use hermes_testkit::{FakeProvider, Fault, ReplyScript};
use hermes_tools::{ApprovalMode, FenceKey, NoUser, Registry, Safety, ToolContext, ToolSettings, ToolSetup};
use hermes_wire::SingleModel;
use serde_json::json;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

struct World {
    folder: TempDir,
    store: SessionDb,
    ports: Ports,
    session: Session,
}

impl World {
    async fn new(provider: &FakeProvider) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionDb::open(&folder.path().join("state.db"), Arc::new(|| 1.0)).unwrap();
        let new = NewSession {
            id: hermes_conversation::SessionId::new("s"),
            source: "test".into(),
            model: "m".into(),
            provider: "custom".into(),
            base_url: provider.base_url(),
            system_prompt: "Be brief.".into(),
            cwd: None,
            parent: None,
            delegating_call: None,
            model_config: serde_json::Map::new(),
        };
        let lease = store.acquire(new, this_process()).await.unwrap().lease;
        let limits = Limits { backoff: Duration::from_millis(2), ..Limits::default() };
        let session = Session::new(lease, "Be brief.".into(), History::default(), Quirks::default(), limits);
        let ports = ports(&folder, &store, provider);
        Self { folder, store, ports, session }
    }

    async fn say(&mut self, text: &str) -> TurnReport {
        let input = UserMessage { content: Content::text(text), api_content: None };
        run_turn(&mut self.session, input, &self.ports, &CancellationToken::new()).await
    }

    async fn stored(&self) -> Vec<Message> {
        self.store.load(&self.session.lease.session).await.unwrap().messages
    }
}

fn ports(folder: &TempDir, store: &SessionDb, provider: &FakeProvider) -> Ports {
    let wanted = Wanted {
        provider: Some("custom".into()),
        model: Some("m".into()),
        base_url: Some(provider.base_url()),
        ..Wanted::default()
    };
    let endpoint = resolve(&wanted, &|_| None).unwrap();
    let limits = Deadlines {
        first_byte: Duration::from_millis(400),
        gap: Duration::from_millis(400),
        ..Deadlines::default()
    };
    let model = HttpModel::new(&endpoint, HttpClients::default(), Secrets::default()).with_deadlines(limits);
    let context = ToolContext::new(ToolSetup {
        session: "s".to_owned(),
        delegate: None,
        memory: None,
        skills: None,
        record: None,
        library: None,
        checkpoints: None,
        processes: None,
        web: None,
        vision: None,
        cwd: folder.path().to_owned(),
        home: folder.path().join("home"),
        user_home: None,
        scratch: folder.path().join("scratch"),
        backend: Arc::new(Local),
        child_env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        secrets: Arc::default(),
        fence_key: Arc::new(|| FenceKey::new([7; 32])),
        settings: ToolSettings::with_approvals(ApprovalMode::Off),
        locks: Arc::default(),
        safety: Safety::default(),
    });
    let (sink, stream) = events();
    drop(stream);
    Ports {
        route: Arc::new(SingleModel(Arc::new(model))),
        tools: Arc::new(Registry::builtin()),
        tool_context: Arc::new(context),
        ask: Arc::new(NoUser),
        transcript: Arc::new(store.clone()),
        mailbox: Arc::new(NoMail),
        hooks: Arc::new(NoHooks),
        engine: here(NeverCompact),
        summaries: Arc::new(NoSummaries),
        jitter: Arc::new(|| 0.0),
        pause: hermes_agent::sleep(),
        for_scripts: None,
        events: sink,
    }
}

fn status(code: u16) -> Fault {
    Fault::status(code, "not now")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_connection_fault_is_survived() {
    for (fault, spoils) in [
        (status(429), false),
        (status(500), false),
        (status(503), false),
        (Fault::HangUp, false),
        (Fault::NoAnswer, false),
        (Fault::Garbage("data: {\"choices\": oops\n\n".into()), false),
        (Fault::DropAtByte(200), true),
        (Fault::StallAfterByte(200), true),
        (Fault::ErrorInStream(json!({"error": {"message": "overloaded", "code": 503}})), true),
    ] {
        let name = format!("{fault:?}");
        let provider = FakeProvider::start().await;
        let mut world = World::new(&provider).await;
        provider.reply(ReplyScript::call("terminal", json!({"command": "echo once >> log"})));
        provider.fault(fault);
        if spoils {
            provider.reply(
                ReplyScript::call("terminal", json!({"command": "echo lost >> log"})).with_text("Half."),
            );
        }
        provider.reply(ReplyScript::text("Whole."));
        let report = world.say("go").await;
        assert_eq!(report.final_response.as_deref(), Some("Whole."), "{name}: {:?}", report.error);
        assert_eq!(std::fs::read_to_string(world.folder.path().join("log")).unwrap(), "once\n", "{name}");
        let roles: Vec<_> = world.stored().await.iter().map(Message::role).collect();
        assert_eq!(roles, ["user", "assistant", "tool", "assistant"], "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn whole_replies_are_requested_from_servers_without_streams() {
    let provider = FakeProvider::start().await;
    let mut world = World::new(&provider).await;
    provider.fault(Fault::status(400, "stream is not supported for this model"));
    provider.reply(ReplyScript::text("Whole."));
    assert_eq!(world.say("go").await.final_response.as_deref(), Some("Whole."));
    assert!(world.session.quirks.no_streaming);
    let bodies = provider.bodies();
    assert_eq!((bodies[0]["stream"].as_bool(), bodies[1]["stream"].as_bool()), (Some(true), None));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_call_costs_two_full_commits_and_a_turn_one_connection() {
    let provider = FakeProvider::start().await;
    let mut world = World::new(&provider).await;
    for _ in 0..5 {
        provider.reply(ReplyScript::call("terminal", json!({"command": "true"})));
    }
    provider.reply(ReplyScript::text("ok"));
    let before = world.store.stats().full_commits;
    world.say("go").await;
    assert_eq!(world.store.stats().full_commits - before, 1 + 5 * 2 + 1);
    assert_eq!(provider.connections(), 1);
}
