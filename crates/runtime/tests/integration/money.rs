//! Thousands of calls with faults, retries and auxiliary tasks: the recorded usage is that of the provider, to the
//! token, and no reservation is left over.
//!
//! `HERMES_MONEY_CALLS` sets the number of calls; a third of them goes to each format.

use hermes_agent::auxiliary::{AuxLimits, Cooldowns, ask_in_order};
use hermes_agent::recovery::Limits;
use hermes_agent::{Ports, Session, run_turn};
use hermes_context::{NeverCompact, NoSummaries, here};
use hermes_conversation::{
    AuxRequest, AuxTask, Content, History, Message, Money, NoHooks, NoMail, Quirks, SessionId, Usage,
    UserMessage, events,
};
use hermes_exec::Local;
use hermes_guard::Secrets;
use hermes_providers::{
    Endpoint, FactSource, HttpClients, HttpModel, Metered, Prices, Tariff, Wanted, per_million, resolve,
};
use hermes_runtime::{Budget, StoredMeter};
use hermes_store::{NewSession, SessionDb, SpendLimits, SpendingRow, this_process};
use hermes_testkit::{FakeProvider, Fault, Random, ReplyScript};
use hermes_tools::{ApprovalMode, FenceKey, NoUser, Registry, Safety, ToolContext, ToolSettings, ToolSetup};
use hermes_wire::{Model, SingleModel};
use serde_json::json;
use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// The usage of a call. The Messages format does not state how much of the output was reasoning.
fn usage(dice: &mut Random, mode: &str) -> Usage {
    let mut below = |end| dice.below(end) as u64;
    let output = below(700) + 1;
    Usage {
        input: below(9_000),
        output,
        cache_read: below(4) * below(40_000),
        cache_write: below(2) * below(5_000),
        reasoning: if mode == "anthropic_messages" { 0 } else { below(output as usize) },
    }
}

/// The usage that the provider has stated, by task.
#[derive(Default, PartialEq, Debug)]
struct Invoice(BTreeMap<&'static str, (u64, Usage)>);

impl Invoice {
    fn add(&mut self, task: &'static str, usage: Usage) {
        let line = self.0.entry(task).or_default();
        line.0 += 1;
        line.1 += usage;
    }

    fn price(&self, prices: &Prices) -> Money {
        let cost = |usage: &Usage| {
            prices.input.times(usage.input)
                + prices.output.times(usage.output)
                + prices.cache_read.unwrap().times(usage.cache_read)
                + prices.cache_write.unwrap().times(usage.cache_write)
        };
        self.0.values().map(|(_, usage)| cost(usage)).sum()
    }
}

fn prices() -> Prices {
    let price = |text| per_million(text).unwrap();
    Prices {
        input: price("3"),
        output: price("15"),
        cache_read: Some(price("0.3")),
        cache_write: Some(price("3.75")),
    }
}

struct World {
    folder: TempDir,
    store: SessionDb,
    provider: FakeProvider,
    meter: Arc<StoredMeter>,
    endpoint: Endpoint,
    mode: &'static str,
    dice: Random,
    invoice: Invoice,
    /// The requests that the provider will have received.
    calls: u64,
}

impl World {
    async fn new(mode: &'static str, limits: SpendLimits, seed: u64) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = SessionDb::open(&folder.path().join("state.db"), Arc::new(|| 1.0)).unwrap();
        let provider = FakeProvider::start().await;
        provider.strict_end();
        let wanted = Wanted {
            provider: Some("custom".into()),
            model: Some("m".into()),
            base_url: Some(provider.base_url()),
            api_mode: Some(mode.into()),
            max_tokens: Some(1_000),
            ..Wanted::default()
        };
        let endpoint = resolve(&wanted, &|_| None).unwrap();
        let opened = Arc::new(OnceLock::new());
        assert!(opened.set(store.clone()).is_ok());
        let meter = Arc::new(StoredMeter { store: opened, budget: Budget { limits, allows_unknown: false } });
        let (dice, invoice) = (Random::new(seed), Invoice::default());
        Self { folder, store, provider, meter, endpoint, mode, dice, invoice, calls: 0 }
    }

    fn model(&self) -> Metered {
        let http = HttpModel::new(&self.endpoint, HttpClients::default(), Secrets::default());
        let tariff = Tariff::Prices(prices(), FactSource::Config);
        Metered::new(Arc::new(http), self.meter.clone(), tariff, 1_000)
    }

    /// Queues up to two failures, with and without usage.
    fn queue_faults(&mut self, task: &'static str) {
        for _ in 0..self.dice.below(5).saturating_sub(2) {
            self.calls += 1;
            let status =
                |code, headers: Vec<(String, String)>| Fault::Status { code, headers, body: "{}".into() };
            let patience = vec![("retry-after".to_owned(), "0".to_owned())];
            let spoils = match self.dice.below(6) {
                0 => status(500, vec![]),
                1 => status(429, patience),
                2 => status(503, vec![]),
                3 => Fault::HangUp,
                4 => Fault::DropAtByte(900),
                _ => Fault::ErrorInStream(
                    json!({"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}),
                ),
            };
            let is_begun = spoils.spoils();
            self.provider.fault(spoils);
            if is_begun {
                let usage = usage(&mut self.dice, self.mode);
                self.provider.reply(ReplyScript::pieces(vec!["words "; 200]).with_usage(usage));
                // The Messages format states the usage before anything else.
                if self.mode == "anthropic_messages" {
                    self.invoice.add(task, usage);
                }
            }
        }
    }

    fn queue_reply(&mut self, task: &'static str, reply: ReplyScript) {
        self.queue_faults(task);
        let usage = usage(&mut self.dice, self.mode);
        self.provider.reply(reply.with_usage(usage));
        self.invoice.add(task, usage);
        self.calls += 1;
    }

    async fn side_task(&mut self) {
        let task = AuxTask::Title;
        self.queue_reply(task.as_str(), ReplyScript::text("A title"));
        let model: Arc<dyn Model> = Arc::new(self.model().for_task(task.as_str()));
        let limits = AuxLimits { backoff: Duration::from_millis(1), ..AuxLimits::of(task) };
        let message = Message::User(UserMessage { content: Content::text("name it"), api_content: None });
        let request = AuxRequest {
            task,
            session: Some(SessionId::new("s")),
            system: "Be brief.".into(),
            messages: vec![message],
            max_output_tokens: 1_000,
        };
        // The model is its own fallback as often as it may fail.
        let stops = vec![model; 3];
        let answer = ask_in_order(&stops, &Cooldowns::default(), &limits, &request).await;
        assert_eq!(answer.as_deref(), Ok("A title"));
    }
}

async fn run(
    mode: &'static str,
    limits: SpendLimits,
    calls: u64,
    seed: u64,
) -> (World, Vec<SpendingRow>, Money, Money) {
    let mut world = World::new(mode, limits, seed).await;
    let new = NewSession {
        id: SessionId::new("s"),
        source: "test".into(),
        model: "m".into(),
        provider: "custom".into(),
        base_url: world.provider.base_url(),
        system_prompt: "Be brief.".into(),
        cwd: None,
        parent: None,
        delegating_call: None,
        model_config: serde_json::Map::new(),
    };
    let lease = world.store.acquire(new, this_process()).await.unwrap().lease;
    let turn_limits = Limits { backoff: Duration::from_millis(1), ..Limits::default() };
    let ports = ports(&world);
    let mut lease = Some(lease);
    while world.calls < calls {
        if world.dice.below(3) == 0 {
            world.side_task().await;
        }
        // Histories stay short, so that a test of counting is not one of encoding.
        let history = History::default();
        let taken = lease.take().unwrap();
        let mut session = Session::new(taken, "Be brief.".into(), history, Quirks::default(), turn_limits);
        for _ in 0..world.dice.below(4) {
            world.queue_reply("", ReplyScript::call("todo", json!({})));
        }
        world.queue_reply("", ReplyScript::text("done"));
        let input = UserMessage { content: Content::text("go on"), api_content: None };
        let report = run_turn(&mut session, input, &ports, &CancellationToken::new()).await;
        assert!(report.completed, "{report:?}");
        lease = Some(session.lease);
    }
    let spending = world.store.spending(Some("s")).await.unwrap();
    (world, spending.rows, spending.charged, spending.reserved)
}

fn ports(world: &World) -> Ports {
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
        cwd: world.folder.path().to_owned(),
        home: world.folder.path().join("home"),
        user_home: None,
        scratch: world.folder.path().join("scratch"),
        backend: Arc::new(Local),
        child_env: Vec::new(),
        secrets: Arc::default(),
        fence_key: Arc::new(|| FenceKey::new([7; 32])),
        settings: ToolSettings::with_approvals(ApprovalMode::Off),
        locks: Arc::default(),
        safety: Safety::default(),
    });
    Ports {
        route: Arc::new(SingleModel(Arc::new(world.model()))),
        tools: Arc::new(Registry::builtin()),
        tool_context: Arc::new(context),
        ask: Arc::new(NoUser),
        transcript: Arc::new(world.store.clone()),
        mailbox: Arc::new(NoMail),
        hooks: Arc::new(NoHooks),
        engine: here(NeverCompact),
        summaries: Arc::new(NoSummaries),
        jitter: Arc::new(|| 0.0),
        pause: hermes_agent::sleep(),
        for_scripts: None,
        events: events().0,
    }
}

fn booked(rows: &[SpendingRow]) -> Invoice {
    let title = AuxTask::Title.as_str();
    let line = |row: &SpendingRow| {
        assert_eq!((row.provider.as_str(), row.model.as_str(), row.unpriced), ("custom", "m", 0));
        (if row.task.is_empty() { "" } else { title }, (row.calls, row.usage))
    };
    Invoice(rows.iter().map(line).collect())
}

fn calls() -> u64 {
    std::env::var("HERMES_MONEY_CALLS").ok().and_then(|text| text.parse().ok()).unwrap_or(4_000)
}

const MODES: [&str; 3] = ["chat_completions", "anthropic_messages", "codex_responses"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn recorded_usage_equals_the_invoice() {
    let runs = MODES.map(|mode| tokio::spawn(run(mode, SpendLimits::default(), calls() / 3 + 1, 7)));
    for run in runs {
        let (world, rows, charged, reserved) = run.await.unwrap();
        assert!(world.calls > calls() / 3 && world.provider.requests().len() as u64 == world.calls);
        assert_eq!(booked(&rows), world.invoice, "{}", world.mode);
        assert_eq!((charged, reserved), (world.invoice.price(&prices()), Money::ZERO), "{}", world.mode);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn budget_leaves_no_reservation_and_charges_enough() {
    let limits = SpendLimits { session: Money::parse("100000"), day: Money::parse("100000") };
    let runs = MODES.map(|mode| tokio::spawn(run(mode, limits, calls() / 30 + 1, 11)));
    for run in runs {
        let (world, rows, charged, reserved) = run.await.unwrap();
        assert_eq!(booked(&rows), world.invoice, "{}", world.mode);
        assert_eq!(reserved, Money::ZERO, "{}", world.mode);
        assert!(charged >= world.invoice.price(&prices()), "{}", world.mode);
    }
}
