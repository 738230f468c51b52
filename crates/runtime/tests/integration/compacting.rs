//! A session that is compacted a hundred times, also across processes: it never loops, costs one summary per
//! compaction, keeps its system prompt byte for byte, and keeps every original readable.

use crate::opened::opened;
use hermes_context::SUMMARY_SECTIONS;
use hermes_conversation::{CacheBreak, PrefixStatus, SessionId, SummaryBy, Usage, UserMessage, events};
use hermes_runtime::{Compacted, Parting, Resuming, Runtime, Session};
use hermes_store::OriginalRange;
use hermes_testkit::{CallScript, FakeProvider, Fault, ReplyScript, TempHome};
use hermes_tools::NoUser;
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tokio_util::sync::CancellationToken;

struct Scene {
    home: TempHome,
    provider: FakeProvider,
    question: String,
}

impl Scene {
    async fn new(mode: &str) -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        provider.answer_with(answer);
        home.write_config(&format!(
            "model: {{provider: box, default: claude-m, max_tokens: 1000, context_length: 20000}}\n\
             custom_providers:\n- {{name: box, base_url: '{}', api_key: sk-box-0123456789, api_mode: {mode}}}\n\
             compression: {{threshold: 0.5}}\nauxiliary: {{title_generation: {{enabled: false}}}}\n",
            provider.base_url(),
        ));
        Self { home, provider, question: "what about this and that? ".repeat(300) }
    }

    /// Compaction continues in a new session. Replies are long and questions short, so that it is a reply that exceeds
    /// the threshold, between two turns.
    async fn in_new_sessions() -> Self {
        let scene = Self::new("chat_completions").await;
        scene.provider.answer_with(long_answer);
        let config = scene.home.read("config.yaml");
        scene.home.write_config(&config.replace("threshold: 0.5", "threshold: 0.5, in_place: false"));
        Self { question: "what about this?".to_owned(), ..scene }
    }

    /// Without a configured context window.
    async fn without_a_window() -> Self {
        let scene = Self::new("chat_completions").await;
        let config = scene.home.read("config.yaml");
        scene.home.write_config(&config.replace(", context_length: 20000", ""));
        scene
    }

    /// The last turn is refused with a window of 12,000 tokens.
    async fn six_turns_and_a_refusal(&self, session: &mut Session) {
        for turn in 0..5 {
            self.turn(session, turn).await;
        }
        let body = r#"{"error":{"message":"This model's maximum context length is 12000 tokens.","code":"context_length_exceeded"}}"#;
        self.provider.fault(Fault::Status { code: 400, headers: Vec::new(), body: body.to_owned() });
        self.turn(session, 5).await;
    }

    /// Summaries fail as long as the flag is set, and the session is then not compacted. The fourth turn calls tools.
    async fn without_summaries() -> (Self, Arc<AtomicBool>) {
        let scene = Self::new("chat_completions").await;
        let config = scene.home.read("config.yaml");
        let aborting = "threshold: 0.5, abort_on_summary_failure: true";
        scene.home.write_config(&config.replace("threshold: 0.5", aborting));
        let fails = Arc::new(AtomicBool::new(true));
        let failing = fails.clone();
        scene.provider.answer_with(move |body| {
            let said = body["messages"].to_string();
            let calls = said.matches("Question").count() == 4 && said.matches("\"tool\"").count() < 4;
            match has_tools(body) {
                false if failing.load(Ordering::SeqCst) => ReplyScript::default(),
                true if calls => {
                    let call = CallScript { id: None, name: "todo".into(), arguments: "{}".into() };
                    ReplyScript { usage: answer(body).usage, ..ReplyScript::default().and_raw_call(call) }
                }
                _ => answer(body),
            }
        });
        (scene, fails)
    }

    fn runtime(&self) -> Runtime {
        opened(self.home.path(), self.home.path())
    }

    async fn turn(&self, session: &mut Session, turn: usize) {
        let (sink, mut stream) = events();
        let words = format!("Question {turn}: {}", self.question);
        let reading = tokio::spawn(async move { while stream.next().await.is_some() {} });
        let report = session.submit(UserMessage::text(words), &CancellationToken::new(), sink).await.unwrap();
        reading.await.unwrap();
        assert!(report.completed, "turn {turn}: {:?}", report.error);
    }

    /// Runs turns until there were so many compactions, in several processes.
    async fn converse(&self, wanted: u64) -> (SessionId, usize) {
        let (mut id, mut turns): (Option<SessionId>, usize) = (None, 0);
        loop {
            let runtime = self.runtime();
            let mut session = match &id {
                None => runtime.start(Arc::new(NoUser)).unwrap(),
                Some(id) => {
                    let stop = CancellationToken::new();
                    let how = Resuming { restores_cwd: true, stop: &stop, tell: &|_| {} };
                    runtime.resume(id.as_str(), Arc::new(NoUser), how).await.unwrap()
                }
            };
            for _ in 0..60 {
                self.turn(&mut session, turns).await;
                turns += 1;
            }
            let known = session.id().clone();
            let count = runtime.store().unwrap().latest_epoch_count(&known).await.unwrap();
            session.close(Parting::Left).await;
            runtime.leave().await;
            id = Some(known);
            assert!(turns < 2_000, "{count} compactions only");
            if count >= wanted {
                return (id.unwrap(), turns);
            }
        }
    }
}

/// A long answer, or a summary if one is requested.
fn answer(body: &Value) -> ReplyScript {
    answer_of(body, 2_000)
}

fn long_answer(body: &Value) -> ReplyScript {
    answer_of(body, 10_000)
}

/// A summary, or an answer of so many characters.
fn answer_of(body: &Value, chars: usize) -> ReplyScript {
    let section = |name: &&str| format!("## {name}\n- all the notes about it, in a few lines\n");
    let text = match has_tools(body) {
        true => "So it is. ".repeat(chars / 10),
        false => SUMMARY_SECTIONS.iter().map(section).collect::<String>(),
    };
    let usage =
        Usage { input: body.to_string().len() as u64 / 4, output: chars as u64 / 4, ..Usage::default() };
    ReplyScript { usage: Some(usage), ..ReplyScript::text(text) }
}

fn has_tools(body: &Value) -> bool {
    body["tools"].as_array().is_some_and(|tools| !tools.is_empty())
}

fn system(body: &Value) -> String {
    match (&body["system"], &body["instructions"]) {
        (Value::Null, Value::Null) => body["messages"][0].to_string(),
        (Value::Null, instructions) => instructions.to_string(),
        (system, _) => system.to_string(),
    }
}

async fn many_compactions(mode: &str, wanted: u64) {
    let scene = Scene::new(mode).await;
    let (id, turns) = scene.converse(wanted).await;
    let runtime = scene.runtime();
    let store = runtime.store().unwrap();
    let all = store.compactions(&id).await.unwrap();
    assert!(all.len() as u64 >= wanted && all.len() < turns, "{} in {turns} turns", all.len());
    for one in &all {
        assert_eq!(one.report.by, SummaryBy::Model("claude-m".into()), "{one:?}");
        assert!(one.report.tokens_after.value() < one.report.tokens_before.value(), "{one:?}");
    }
    let bodies = scene.provider.bodies();
    let (own, asides): (Vec<&Value>, Vec<&Value>) = bodies.iter().partition(|body| has_tools(body));
    assert_eq!((own.len(), asides.len()), (turns, all.len()), "one request a turn, one a compaction");
    assert!(own.iter().all(|body| system(body) == system(own[0])), "the system prompt changed");
    assert!(own.iter().all(|body| body.to_string().len() < 70_000), "a request outgrew the window");
    let ledger = store.cache_ledger(&id).await.unwrap();
    assert_eq!(ledger.len(), turns);
    let breaks = ledger.iter().filter(|entry| match entry.cache.status {
        PrefixStatus::First | PrefixStatus::Extends => false,
        PrefixStatus::Broken(CacheBreak::Compaction) => true,
        other => panic!("{other:?}"),
    });
    assert_eq!(breaks.count(), all.len());
    // No message is lost, and none is there twice.
    let said = store.originals(&id, OriginalRange::ALL, None, usize::MAX).await.unwrap();
    assert_eq!(said.len(), turns * 2);
    for (turn, pair) in said.chunks(2).enumerate() {
        assert!(pair[0].message.text().starts_with(&format!("Question {turn}: ")), "{turn}");
    }
    let nodes = store.nodes(&id).await.unwrap();
    assert_eq!(nodes.len(), all.len());
    let covered: u64 = nodes.iter().map(|node| node.messages).sum();
    assert!(nodes.windows(2).all(|pair| pair[0].last < pair[1].first), "summaries overlap");
    assert!(covered as usize <= said.len() && nodes[0].first == said[0].id);
    runtime.leave().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hundred_compactions_keep_every_message() {
    many_compactions("chat_completions", 100).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn compactions_work_in_every_format() {
    for mode in ["anthropic_messages", "codex_responses"] {
        many_compactions(mode, 10).await;
    }
}

/// A window that a rejection states is used from then on, also by the next process.
#[tokio::test(flavor = "multi_thread")]
async fn window_in_a_rejection_is_stored() {
    let scene = Scene::without_a_window().await;
    let runtime = scene.runtime();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    scene.six_turns_and_a_refusal(&mut session).await;
    assert_eq!(session.status().compactions, 1);
    session.close(Parting::Left).await;
    runtime.leave().await;
    let kept = scene.home.read("context_length_cache.yaml");
    assert!(kept.contains("claude-m@") && kept.contains(": 12000"), "{kept}");
    let runtime = scene.runtime();
    assert_eq!(runtime.start(Arc::new(NoUser)).unwrap().status().window, 12_000);
    runtime.leave().await;
}

/// A key that a model repeats in its summary is not stored.
#[tokio::test(flavor = "multi_thread")]
async fn a_summary_has_no_keys() {
    let scene = Scene::new("chat_completions").await;
    scene.provider.answer_with(|body| {
        let mut reply = answer(body);
        for piece in &mut reply.text {
            *piece = piece.replace("in a few lines", "with sk-box-0123456789");
        }
        reply
    });
    let runtime = scene.runtime();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    for turn in 0..6 {
        scene.turn(&mut session, turn).await;
    }
    let store = runtime.store().unwrap();
    let nodes = store.nodes(session.id()).await.unwrap();
    assert!(!nodes.is_empty() && nodes.iter().all(|node| node.text.contains("all the notes about it, with")));
    let sent: Vec<String> = scene.provider.bodies().iter().map(Value::to_string).collect();
    assert!(sent.iter().all(|body| !body.contains("sk-box")), "a key was sent");
    assert!(nodes.iter().all(|node| !node.text.contains("sk-box")), "a key was stored");
    session.close(Parting::Left).await;
    runtime.leave().await;
}

/// With `compression.in_place: false` a new session continues between two turns, with its parent's title and
/// memory; the conversation is the same.
#[tokio::test(flavor = "multi_thread")]
async fn compaction_continues_in_a_new_session() {
    let scene = Scene::in_new_sessions().await;
    let runtime = scene.runtime();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    let first = session.id().clone();
    for turn in 0..2 {
        scene.turn(&mut session, turn).await;
    }
    session.set_title("Moon").await.unwrap();
    session.pin("never delete the moon").await.unwrap();
    for turn in 2..9 {
        scene.turn(&mut session, turn).await;
    }
    let last = session.id().clone();
    assert_ne!(first, last);
    assert!(session.title().unwrap().starts_with("Moon #"), "{:?}", session.title());
    assert_eq!(session.pins().await.unwrap()[0].text, "never delete the moon");
    let store = runtime.store().unwrap();
    assert_eq!(store.continuation_tip(&first).await.unwrap(), last);
    let said = store.originals(&last, OriginalRange::ALL, None, usize::MAX).await.unwrap();
    assert_eq!(said.len(), 18, "one conversation");
    let sent = scene.provider.bodies().pop().unwrap().to_string();
    assert!(sent.contains("never delete the moon"), "{sent}");
    session.close(Parting::Left).await;
    // The id of the first session resumes the last one.
    let stop = CancellationToken::new();
    let how = Resuming { restores_cwd: true, stop: &stop, tell: &|_| {} };
    let resumed = runtime.resume("Moon", Arc::new(NoUser), how).await.unwrap();
    assert_eq!(*resumed.id(), last);
    resumed.close(Parting::Left).await;
    runtime.leave().await;
}

/// Sessions without an observer are kept below the window before a turn.
#[tokio::test(flavor = "multi_thread")]
async fn unattended_sessions_are_compacted_before_a_turn() {
    let scene = Scene::new("chat_completions").await;
    let config = scene.home.read("config.yaml");
    // By itself a turn would do nothing yet.
    scene.home.write_config(&config.replace("threshold: 0.5", "threshold: 0.99"));
    let runtime = scene.runtime();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    let (mut turn, mut done) = (0, false);
    while !done {
        assert!(turn < 12, "never looked after");
        scene.turn(&mut session, turn).await;
        turn += 1;
        let used = session.status().used.unwrap();
        let (sink, _stream) = events();
        let cleaned = session.hygiene(&CancellationToken::new(), sink).await.unwrap();
        done = matches!(cleaned, Compacted::Done(_));
        assert_eq!(done, used > 16_000, "{used}: {cleaned:?}");
    }
    session.close(Parting::Left).await;
    runtime.leave().await;
}

/// The window in a rejection applies to its own model only.
#[tokio::test(flavor = "multi_thread")]
async fn another_model_has_another_window() {
    let scene = Scene::without_a_window().await;
    let runtime = scene.runtime();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    scene.six_turns_and_a_refusal(&mut session).await;
    let meter = session.meter().unwrap();
    assert_eq!((session.status().window, meter.window, meter.threshold), (12_000, Some(12_000), Some(6_000)));
    session.set_model("gpt-4.1").await.unwrap();
    for turn in 6..12 {
        scene.turn(&mut session, turn).await;
    }
    assert_eq!((session.status().window, session.status().compactions), (1_047_576, 1));
    let kept = scene.home.read("context_length_cache.yaml");
    assert!(kept.contains("claude-m@") && !kept.contains("gpt-4.1"), "{kept}");
    session.close(Parting::Left).await;
    runtime.leave().await;
}

/// A cooldown ends with its time or with a written summary; a turn in between does not end it, and one that
/// calls tools does not retry repeatedly.
#[tokio::test(flavor = "multi_thread")]
async fn cooldown_lasts_until_a_summary_is_written() {
    let (scene, fails) = Scene::without_summaries().await;
    let runtime = scene.runtime();
    let store = runtime.store().unwrap();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    for turn in 0..6 {
        scene.turn(&mut session, turn).await;
    }
    let asked = || scene.provider.bodies().iter().filter(|body| !has_tools(body)).count();
    let once = asked();
    assert!((1..=3).contains(&once), "a model and its second try: {once}");
    let trouble = store.compaction_failures(session.id()).await.unwrap();
    assert!(trouble.until.is_some() && trouble.error.is_some(), "{trouble:?}");
    fails.store(false, Ordering::SeqCst);
    let (sink, _stream) = events();
    let done = session.compress(None, &CancellationToken::new(), sink).await.unwrap();
    assert!(matches!(done, Compacted::Done(_)), "{done:?}");
    let trouble = store.compaction_failures(session.id()).await.unwrap();
    assert_eq!((trouble.until, trouble.error), (None, None));
    session.close(Parting::Left).await;
    runtime.leave().await;
}

/// A compaction requested right after a failure ends the cooldown as well.
#[tokio::test(flavor = "multi_thread")]
async fn requested_compaction_ends_the_cooldown() {
    let (scene, fails) = Scene::without_summaries().await;
    let runtime = scene.runtime();
    let store = runtime.store().unwrap();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    let mut turn = 0;
    while store.compaction_failures(session.id()).await.unwrap().until.is_none() {
        assert!(turn < 9, "no summary was tried");
        scene.turn(&mut session, turn).await;
        turn += 1;
    }
    fails.store(false, Ordering::SeqCst);
    let (sink, _stream) = events();
    let done = session.compress(None, &CancellationToken::new(), sink).await.unwrap();
    assert!(matches!(done, Compacted::Done(_)), "{done:?}");
    assert_eq!(store.compaction_failures(session.id()).await.unwrap().until, None);
    session.close(Parting::Left).await;
    runtime.leave().await;
}

/// `hermes context show` and an open session report the same size.
#[tokio::test(flavor = "multi_thread")]
async fn a_stored_session_is_measured_as_an_open_one() {
    let scene = Scene::new("chat_completions").await;
    let config = scene.home.read("config.yaml");
    let config =
        config.replace("threshold: 0.5", "target_ratio: 0.2").replace("max_tokens: 1000", "max_tokens: 4000");
    scene.home.write_config(&config);
    let runtime = scene.runtime();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    scene.turn(&mut session, 0).await;
    let (open, stored) = (session.meter().unwrap(), runtime.meter_of(session.id()).await.unwrap());
    assert_eq!((stored.window, stored.threshold), (open.window, open.threshold));
    assert_eq!(open.threshold, Some(12_000), "75 % of what the reply leaves");
    session.close(Parting::Left).await;
    runtime.leave().await;
}

/// While the summary for a continued session is written, the prompt is already on disk.
#[tokio::test(flavor = "multi_thread")]
async fn prompt_is_stored_before_a_session_is_continued() {
    let scene = Scene::in_new_sessions().await;
    let runtime = scene.runtime();
    let store = runtime.store().unwrap().clone();
    let mut session = runtime.start(Arc::new(NoUser)).unwrap();
    scene.turn(&mut session, 0).await;
    let first = session.id().clone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let (into, watched, looking) = (seen.clone(), first.clone(), store.clone());
    scene.provider.answer_with(move |body| {
        if !has_tools(body) {
            let waiting = async { looking.waiting(&watched).await.unwrap() };
            let found = tokio::task::block_in_place(|| tokio::runtime::Handle::current().block_on(waiting));
            into.lock().unwrap().extend(found);
        }
        long_answer(body)
    });
    let mut turn = 1;
    while *session.id() == first {
        assert!(turn < 9, "no new session");
        scene.turn(&mut session, turn).await;
        turn += 1;
    }
    let seen = std::mem::take(&mut *seen.lock().unwrap());
    assert!(
        matches!(&seen[..], [mail] if mail.text.starts_with(&format!("Question {}: ", turn - 1))),
        "{seen:?}"
    );
    assert_eq!(store.waiting(session.id()).await.unwrap(), []);
    let said = store.originals(session.id(), OriginalRange::ALL, None, usize::MAX).await.unwrap();
    assert_eq!(said.len(), turn * 2, "each thing once");
    session.close(Parting::Left).await;
    runtime.leave().await;
}
