//! A long session with resumes, model changes, sub-agents, steering, memory, skills and changing files. The prompt
//! prefix changes for declared reasons only.

use crate::opened::opened;
use hermes_conversation::{BoxFuture, CacheBreak, MailMode, PrefixStatus, SessionId, UserMessage, events};
use hermes_runtime::{Parting, Resuming, Runtime, Session};
use hermes_store::CacheLedgerEntry;
use hermes_testkit::{CacheUse, FakeProvider, MarkedCache, PrefixCache, ReplyScript, TempHome};
use hermes_tools::{Approval, ApprovalRequest, AskUser, Clarified, Question};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

const TURNS: usize = 50;

struct Agrees;

impl AskUser for Agrees {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async { Approval::ONCE })
    }

    fn clarify<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Clarified> {
        Box::pin(async { Clarified::NoUser })
    }
}

struct Scene {
    home: TempHome,
    provider: FakeProvider,
}

impl Scene {
    async fn new(mode: &str) -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        provider.answer_with(|_| ReplyScript::text("That is all."));
        home.write_config(&format!(
            "model: {{provider: box, default: claude-m, max_tokens: 4000}}\n\
             custom_providers:\n- {{name: box, base_url: '{}', api_key: sk-box-0123456789, api_mode: {mode}}}\n\
             approvals: {{mode: 'off'}}\nauxiliary: {{title_generation: {{enabled: false}}}}\n",
            provider.base_url(),
        ));
        std::fs::create_dir(home.path().join("work")).unwrap();
        home.write("SOUL.md", "You are a careful librarian.\n");
        home.write("work/AGENTS.md", "Use tabs.\n");
        Self { home, provider }
    }

    fn runtime(&self) -> Runtime {
        opened(self.home.path(), &self.home.path().join("work"))
    }

    /// The script of the model for this turn.
    fn script(&self, turn: usize) {
        let call = |name: &str, arguments: Value| self.provider.reply(ReplyScript::call(name, arguments));
        for step in 0..2 {
            call("terminal", json!({"command": format!("echo {turn} {step}; seq 40")}));
        }
        match turn % 7 {
            1 => drop(call("write_file", json!({"path": format!("f{turn}"), "content": "x\n".repeat(30)}))),
            2 => drop(call("read_file", json!({"path": "AGENTS.md"}))),
            3 => drop(call("todo", json!({"todos": [{"id": "a", "content": "look", "status": "pending"}]}))),
            5 => drop(call(
                "memory",
                json!({"action": "add", "target": "memory", "content": format!("Fact {turn}.")}),
            )),
            6 => drop(call("skill_view", json!({"name": "debugging"}))),
            4 => drop(call("delegate_task", json!({"goal": format!("Count to {turn}.")}))),
            _ => {}
        }
        if turn % 7 == 4 {
            // The answer of the sub-agent comes first.
            self.provider.reply(ReplyScript::text("Counted."));
        }
        self.provider.reply(ReplyScript::text(format!("Answer {turn}. ").repeat(10)));
    }

    async fn turn(&self, session: &mut Session, turn: usize) {
        self.script(turn);
        if turn % 9 == 5 {
            let mailbox = session.mailbox().await.unwrap();
            mailbox.post(MailMode::Steer, "shorter, please").await.unwrap();
        }
        let (sink, mut stream) = events();
        let message = UserMessage::text(format!("Question {turn}: what now?"));
        let cancel = CancellationToken::new();
        let reading = tokio::spawn(async move { while stream.next().await.is_some() {} });
        let report = session.submit(message, &cancel, sink).await.unwrap();
        reading.await.unwrap();
        assert!(report.completed, "turn {turn}: {:?}", report.error);
    }

    /// The whole session, in several processes.
    async fn converse(&self) -> (SessionId, Vec<CacheLedgerEntry>) {
        let mut id: Option<SessionId> = None;
        for run in 0..5 {
            let runtime = self.runtime();
            let mut session = match &id {
                None => runtime.start(Arc::new(Agrees)).unwrap(),
                Some(id) => {
                    let stop = CancellationToken::new();
                    let how = Resuming { restores_cwd: true, stop: &stop, tell: &|_| {} };
                    runtime.resume(id.as_str(), Arc::new(Agrees), how).await.unwrap()
                }
            };
            for turn in run * TURNS / 5..(run + 1) * TURNS / 5 {
                // Files of the prompt change without an effect on the session.
                self.home.write("work/AGENTS.md", &format!("Use {turn} spaces.\n"));
                match turn {
                    24 => session.set_model("claude-other").await.unwrap(),
                    27 => session.set_model("claude-m").await.unwrap(),
                    _ => {}
                }
                self.turn(&mut session, turn).await;
            }
            id = Some(session.id().clone());
            session.close(Parting::Left).await;
            runtime.leave().await;
        }
        let id = id.unwrap();
        let runtime = self.runtime();
        let ledger = runtime.store().unwrap().cache_ledger(&id).await.unwrap();
        runtime.leave().await;
        (id, ledger)
    }

    /// The bodies of the session's own requests, in order, without those of sub-agents.
    fn bodies(&self, model: &str) -> Vec<(Value, Vec<u8>)> {
        let of = |body: &Value| {
            let text = body.to_string();
            body["model"] == model && text.contains("Question 0: what now?")
        };
        let all = self.provider.requests().into_iter().filter_map(|request| {
            let body: Value = serde_json::from_slice(&request.body).ok()?;
            of(&body).then(|| (body, request.body.to_vec()))
        });
        all.collect()
    }
}

fn reused(mode: &str, bodies: &[(Value, Vec<u8>)]) -> CacheUse {
    let (mut marked, mut plain, mut all) =
        (MarkedCache::default(), PrefixCache::default(), CacheUse::default());
    for (place, (body, bytes)) in bodies.iter().enumerate() {
        all += match mode {
            "anthropic_messages" => marked.ask(body, place as f64 * 20.0),
            _ => plain.ask(bytes),
        };
    }
    all
}

async fn everything_is_found_again(mode: &str) {
    let scene = Scene::new(mode).await;
    let (_, ledger) = scene.converse().await;
    let steps: Vec<PrefixStatus> = ledger.iter().map(|entry| entry.cache.status).collect();
    let breaks: Vec<&PrefixStatus> =
        steps.iter().filter(|step| !matches!(step, PrefixStatus::First | PrefixStatus::Extends)).collect();
    // A model change and back, after the files have changed.
    let switch = PrefixStatus::Broken(CacheBreak::ModelSwitch);
    assert_eq!(breaks, [&switch, &switch], "{mode}");
    assert_eq!(steps[0], PrefixStatus::First);
    assert_eq!(steps.len(), scene.bodies("claude-m").len() + scene.bodies("claude-other").len());
    // Between model changes the cache covers as much as possible.
    let own = scene.bodies("claude-m");
    let back = own.iter().position(|(body, _)| body.to_string().contains("Question 27:")).unwrap();
    let (before, after) = own.split_at(back);
    for part in [before, after, &scene.bodies("claude-other")] {
        let all = reused(mode, part);
        let share = all.read as f64 / all.reusable as f64;
        assert!(share >= 0.99, "{mode}: {:.2} % of {all:?} in {} requests", share * 100.0, part.len());
    }
}

#[tokio::test]
async fn chat_completions() {
    everything_is_found_again("chat_completions").await;
}

#[tokio::test]
async fn anthropic_messages() {
    everything_is_found_again("anthropic_messages").await;
}

#[tokio::test]
async fn codex_responses() {
    everything_is_found_again("codex_responses").await;
}
