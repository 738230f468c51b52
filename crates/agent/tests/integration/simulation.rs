//! Whole turns in a simulated world: the model, the store, the clock and the user do anything they may,
//! decided by a seed. In every run the record equals the conversation, every call has one result, and the
//! next request is one that every provider takes.
//!
//! `HERMES_SIM_SEEDS=100000 cargo test --release -p hermes-agent --test integration simulation` plays many;
//! `HERMES_SIM_SEED=N` plays one again.

use crate::desk;
use hermes_agent::recovery::Limits;
use hermes_agent::{FallbackRoute, Ports, Session, TurnReport, run_turn};
use hermes_conversation::{Content, FinishReason, History, MailMode, Message, Quirks, UserMessage, events};
use hermes_testkit::{
    CallScript, MemoryTranscript, ModelStep, Random, Rejection, ReplyScript, ScriptedModel, check,
    check_anthropic, check_responses, issuer, lease,
};
use hermes_tools::ApprovalMode;
use hermes_wire::{ApiMode, Failure, Model, ModelRequest, RequestSettings, TimeoutPhase, encode};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

fn call(dice: &mut Random) -> CallScript {
    let (name, arguments) = match dice.below(7) {
        0 | 1 => ("todo", json!({}).to_string()),
        2 => ("write_file", json!({"path": format!("f{}", dice.below(3)), "content": "x\n"}).to_string()),
        3 | 4 => ("read_file", json!({"path": format!("f{}", dice.below(3))}).to_string()),
        5 => ("nobody_has_it", "{}".to_owned()),
        _ => ("read_file", "{\"path\": \"f".to_owned()),
    };
    CallScript { id: None, name: name.to_owned(), arguments }
}

fn reply(dice: &mut Random) -> ReplyScript {
    let mut reply = match dice.below(6) {
        0 => ReplyScript::default(),
        1 | 2 => ReplyScript::text("Some words."),
        _ => (0..=dice.below(3)).fold(ReplyScript::default(), |reply, _| reply.and_raw_call(call(dice))),
    };
    if dice.once_in(3) {
        reply = reply.with_text("Beside it. ");
    }
    if dice.once_in(4) {
        reply = reply.with_reasoning("Hm.");
    }
    match dice.below(12) {
        0 => reply.with_finish(FinishReason::Length),
        1 => reply.with_finish(FinishReason::ContentFilter),
        _ => reply,
    }
}

fn failure(dice: &mut Random) -> Failure {
    let http = |status, body: &str| Failure::Http { status, retry_after: None, body: body.to_owned() };
    match dice.below(12) {
        0 => http(429, "slow down"),
        1 => http(500, "broken"),
        2 => http(401, "who are you"),
        3 => http(402, "pay first"),
        4 => http(400, "context length exceeded"),
        5 => http(400, "streaming is not supported"),
        6 => http(404, "no such model"),
        7 => Failure::Unreachable { origin: "http://x".into(), cause: "refused".into() },
        8 => Failure::TimedOut { phase: TimeoutPhase::FirstByte, limit: Duration::from_secs(1) },
        9 => Failure::Garbled { cause: "nonsense".into() },
        10 => Failure::OverBudget { why: "too dear".into() },
        _ => Failure::Cut { cause: "reset".into() },
    }
}

fn step(dice: &mut Random) -> ModelStep {
    match dice.below(12) {
        0 | 1 => ModelStep::Fail(failure(dice)),
        2 => ModelStep::Cut(reply(dice), failure(dice)),
        3 if dice.once_in(4) => ModelStep::Pend,
        4 if dice.once_in(4) => ModelStep::StreamThenPend(reply(dice)),
        _ => ModelStep::Reply(reply(dice)),
    }
}

struct World {
    seed: u64,
    dice: Random,
    models: Vec<Arc<ScriptedModel>>,
    transcript: Arc<MemoryTranscript>,
    session: Session,
    ports: Ports,
    /// The messages sent to a running turn.
    said: Vec<String>,
}

impl World {
    fn new(seed: u64, folder: &Path) -> Self {
        let mut dice = Random::new(seed);
        let models: Vec<_> = (0..=dice.below(3)).map(|place| Arc::new(model(place))).collect();
        let transcript = Arc::new(MemoryTranscript::new());
        let limits = Limits { max_iterations: 1 + dice.below(6) as u32, ..Limits::default() };
        let session =
            Session::new(lease("s"), "Be brief.".into(), History::default(), Quirks::default(), limits);
        let ports = ports(folder, &models, &transcript);
        Self { seed, dice, models, transcript, session, ports, said: Vec::new() }
    }

    /// One turn, with whatever befalls it.
    async fn turn(&mut self, number: usize) -> TurnReport {
        let is_stopped = self.dice.once_in(3);
        for model in &self.models {
            while model.left() < 40 {
                model.push(step(&mut self.dice));
            }
        }
        if self.dice.once_in(6) {
            let done = self.transcript.operations().len();
            self.transcript.fail_at(done + 1 + self.dice.below(8));
        }
        // Somebody says something while the turn runs, or has said it before.
        if self.dice.once_in(2) {
            let text = format!("steering {number}.");
            self.transcript.post(MailMode::Steer, &text);
            self.said.push(text);
        }
        let cancel = CancellationToken::new();
        // Who waits for ever is stopped in the end; the clock does not mind.
        let patience = if is_stopped { self.dice.below(20_000) as u64 } else { 10_000_000 };
        let stop = cancel.clone();
        let stopping = tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(patience)).await;
            stop.cancel();
        });
        let input = UserMessage { content: Content::text(format!("question {number}")), api_content: None };
        let report = run_turn(&mut self.session, input, &self.ports, &cancel).await;
        stopping.abort();
        report
    }

    fn check(&self, report: &TurnReport, number: usize) {
        let seed = self.seed;
        let recorded = self.transcript.messages();
        let held: Vec<Message> =
            self.session.history.messages().iter().map(|it| it.as_ref().clone()).collect();
        assert_eq!(held, recorded, "seed {seed}: what is held is not what is recorded");
        let questions =
            recorded.iter().filter(|message| message.text() == format!("question {number}")).count();
        assert_eq!(questions, 1, "seed {seed}");
        // Mail is in the history once, or waits for the next turn.
        for text in &self.said {
            let sent = |message: &Message| match message {
                Message::Tool(tool) => {
                    tool.api_content.as_ref().map_or(0, |sent| sent.matches(text.as_str()).count())
                }
                _ => 0,
            };
            let said: usize = recorded.iter().map(sent).sum();
            let waits = self.transcript.mail().iter().filter(|mail| mail.text == *text).count();
            assert_eq!(said + waits, 1, "seed {seed}: said {said} times, waits {waits} times");
        }
        let names = self.transcript.names();
        let count = |name: &str| names.iter().filter(|it| **it == name).count();
        assert_eq!(count("open"), count("close"), "seed {seed}: a turn was left open");
        assert!(matches!(recorded.last(), Some(Message::Assistant(_))), "seed {seed}: {report:?}");
        let answers = [report.completed, report.failed, report.interrupted, report.partial];
        assert!(answers.iter().any(|it| *it), "seed {seed}: {report:?}");
        assert!(!(report.completed && report.failed), "seed {seed}: {report:?}");
        // Whoever is asked next takes what was said.
        let mut next = History::restore(recorded);
        next.push(Message::user("and now?"));
        for (mode, check) in FORMATS {
            for settings in [None, Some(0), Some(1)] {
                let body = encode(*mode, &request(&next, settings)).body;
                let body: Value = serde_json::from_slice(&body).unwrap();
                if let Err(rejection) = check(&body) {
                    panic!("seed {seed}, {mode:?}: {rejection:?} in {body:#}");
                }
            }
        }
    }
}

type Check = fn(&Value) -> Result<(), Rejection>;
const FORMATS: &[(ApiMode, Check)] = &[
    (ApiMode::ChatCompletions, check),
    (ApiMode::AnthropicMessages, check_anthropic),
    (ApiMode::CodexResponses, check_responses),
];

fn request(history: &History, to: Option<usize>) -> ModelRequest {
    ModelRequest {
        model: "m".into(),
        system: "Be brief.".into(),
        tools: desk::TOOLS.definitions(),
        messages: history.shared(),
        settings: RequestSettings {
            max_tokens: Some(100),
            issuer: to.map(issuer),
            ..RequestSettings::default()
        },
    }
}

fn model(place: usize) -> ScriptedModel {
    let model = ScriptedModel::of([]);
    let mut profile = model.profile().clone();
    profile.issuer.provider = format!("p{place}");
    model.with_profile(profile)
}

fn ports(folder: &Path, models: &[Arc<ScriptedModel>], transcript: &Arc<MemoryTranscript>) -> Ports {
    let mut stops = models.iter().map(|model| model.clone() as Arc<dyn Model>);
    let own = stops.next().unwrap();
    let route = Arc::new(FallbackRoute::new(own, stops));
    desk::ports(folder, ApprovalMode::Off, route, transcript.clone(), events().0)
}

/// Plays a seed; tells how many turns there were and how many of them the store cut short.
async fn play(seed: u64, folder: &Path) -> (u64, u64) {
    let mut world = World::new(seed, folder);
    let turns = 1 + world.dice.below(3);
    for number in 0..turns {
        let report = world.turn(number).await;
        if report.store_failed {
            // Nothing more is asked or run; what is recorded is for recovery to close.
            return (number as u64 + 1, 1);
        }
        world.check(&report, number);
    }
    (turns as u64, 0)
}

#[test]
fn whatever_happens_the_record_is_whole() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let seeds = match number("HERMES_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("HERMES_SIM_SEEDS").unwrap_or(800),
    };
    let count = seeds.end - seeds.start;
    // Each seed is a world of its own: they can be played side by side.
    let players = std::thread::available_parallelism().map_or(1, usize::from);
    let played: Vec<(u64, u64)> = std::thread::scope(|scope| {
        let parts = (0..players).map(|place| {
            let seeds = seeds.clone().skip(place).step_by(players);
            scope.spawn(move || seeds.map(in_a_world_of_its_own).collect::<Vec<_>>())
        });
        let parts: Vec<_> = parts.collect();
        parts.into_iter().flat_map(|part| part.join().expect("a seed has failed; it said which")).collect()
    });
    let (turns, lost) =
        played.iter().fold((0, 0), |(turns, lost), (played, cut)| (turns + played, lost + cut));
    println!("{count} seeds, {turns} turns, {lost} of them ended by the store");
}

fn in_a_world_of_its_own(seed: u64) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap();
    runtime.block_on(play(seed, folder.path()))
}
