//! Turns in which another model steps in: who is asked, what is recorded, and the way back.

use crate::desk;
use hermes_agent::recovery::Limits;
use hermes_agent::{FallbackRoute, Session, TurnReport, run_turn};
use hermes_conversation::{
    Content, History, Issuer, Message, Quirks, SpentCall, TurnEvent, UserMessage, events,
};
use hermes_testkit::{MemoryTranscript, ModelStep, Operation, ReplyScript, ScriptedModel, lease};
use hermes_tools::ToolSettings;
use hermes_wire::{ApiMode, Failure, FaultClass, Model, ModelProfile, ModelRoute};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

const SYSTEM: &str = "Be brief.\n\nModel: a\nProvider: pa";

/// A session whose route has the models `a`, `b` and `c`.
struct Bench {
    folder: TempDir,
    models: Vec<Arc<ScriptedModel>>,
    route: Arc<FallbackRoute>,
    transcript: Arc<MemoryTranscript>,
    session: Session,
}

impl Bench {
    /// `b` speaks another format than the others.
    fn new(steps: [Vec<ModelStep>; 3]) -> Self {
        let models: Vec<_> = ["a", "b", "c"].into_iter().zip(steps).map(model).collect();
        let stops: Vec<Arc<dyn Model>> = models.iter().map(|model| model.clone() as _).collect();
        let route = FallbackRoute::new(stops[0].clone(), stops[1..].to_vec());
        Self {
            folder: tempfile::tempdir().unwrap(),
            models,
            route: Arc::new(route),
            transcript: Arc::new(MemoryTranscript::new()),
            session: Session::new(
                lease("s"),
                SYSTEM.into(),
                History::default(),
                Quirks::default(),
                Limits::default(),
            ),
        }
    }

    /// Runs a turn and gives its report and its notices.
    async fn say(&mut self, text: &str) -> (TurnReport, Vec<String>) {
        let (sink, mut stream) = events();
        let (route, transcript) = (self.route.clone(), self.transcript.clone());
        let ports =
            desk::ports(self.folder.path(), ToolSettings::default().approvals.mode, route, transcript, sink);
        let listening = tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some(event) = stream.next().await {
                if let TurnEvent::Status(text) = event {
                    seen.push(text);
                }
            }
            seen
        });
        let input = UserMessage { content: Content::text(text), api_content: None };
        let report = run_turn(&mut self.session, input, &ports, &CancellationToken::new()).await;
        drop(ports);
        (report, listening.await.unwrap())
    }

    async fn answer(&mut self, text: &str) -> String {
        let (report, _) = self.say(text).await;
        report.final_response.unwrap_or_else(|| panic!("no answer: {:?}", report.error))
    }

    /// The number of calls per model.
    fn asked(&self) -> Vec<usize> {
        self.models.iter().map(|model| model.requests().len()).collect()
    }

    /// The recorded cost, by model.
    fn spent(&self) -> Vec<(String, u64)> {
        let spent = |operation: &Operation| -> Option<SpentCall> {
            match operation {
                Operation::Extend { spent, .. } => spent.clone(),
                Operation::Close { closing, .. } => closing.spent.clone(),
                _ => None,
            }
        };
        let all = self.transcript.operations();
        all.iter().filter_map(spent).map(|call| (call.model, call.calls)).collect()
    }
}

fn model((name, steps): (&str, Vec<ModelStep>)) -> Arc<ScriptedModel> {
    let model = ScriptedModel::of(steps);
    let plain = model.profile().clone();
    let profile = ModelProfile {
        mode: if name == "b" { ApiMode::AnthropicMessages } else { ApiMode::ChatCompletions },
        model: name.into(),
        issuer: Issuer { provider: format!("p{name}"), model: name.to_owned(), ..plain.issuer.clone() },
        ..plain
    };
    Arc::new(model.with_profile(profile))
}

fn fails(status: u16) -> ModelStep {
    ModelStep::Fail(Failure::Http { status, retry_after: None, body: format!("no {status}") })
}

fn says(text: &str) -> ModelStep {
    ModelStep::Reply(ReplyScript::text(text))
}

#[tokio::test(start_paused = true)]
async fn the_first_model_that_answers_answers() {
    let mut bench =
        Bench::new([vec![fails(503), fails(503), says("back")], vec![fails(401)], vec![says("here")]]);
    let (report, notices) = bench.say("go").await;
    assert_eq!(report.final_response.as_deref(), Some("here"));
    assert_eq!(report.stand_in.map(|model| model.provider).as_deref(), Some("pc"));
    assert_eq!(bench.asked(), [2, 1, 1]);
    assert_eq!(notices.len(), 3, "{notices:?}");
    assert!(notices[1].starts_with("pa/a did not answer ("), "{notices:?}");
    assert!(notices[1].ends_with("); going on with pb/b"), "{notices:?}");
    assert!(notices[2].starts_with("pb/b did not answer (") && notices[2].contains("401"), "{notices:?}");
    let Message::Assistant(stored) = bench.transcript.messages().pop().unwrap() else { panic!("assistant") };
    assert_eq!(stored.issuer.unwrap().provider, "pc");
    assert_eq!(bench.spent(), [("c".to_owned(), 1)]);
    // Each is told its own name; the session keeps its own.
    for (at, name) in ["a", "b", "c"].into_iter().enumerate() {
        let body = bench.models[at].bodies()[0].to_string();
        assert!(body.contains(&format!(r"Model: {name}\nProvider: p{name}")), "{body}");
    }
    assert_eq!(&*bench.session.system, SYSTEM);
    let (report, notices) = bench.say("again").await;
    assert_eq!((report.final_response.as_deref(), report.stand_in), (Some("back"), None));
    assert_eq!(notices, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn room_that_one_model_was_given_is_not_the_next_ones() {
    let cut = ReplyScript::default()
        .and_call("todo", serde_json::json!({}))
        .with_finish(hermes_conversation::FinishReason::Length);
    let mut bench =
        Bench::new([vec![ModelStep::Reply(cut), fails(401)], vec![fails(401)], vec![says("here")]]);
    assert_eq!(bench.answer("go").await, "here");
    let cap = |place: usize, call: usize| bench.models[place].bodies()[call]["max_tokens"].clone();
    assert_eq!((cap(0, 0), cap(0, 1)), (serde_json::Value::Null, 8_192.into()));
    assert_eq!(cap(2, 0), serde_json::Value::Null);
}

#[tokio::test(start_paused = true)]
async fn coming_back_gives_the_first_model_the_bytes_it_knows() {
    let mut there_and_back = Bench::new([
        vec![says("one"), fails(401), fails(401), says("four")],
        // Its refusal to stream is no business of the first model's.
        vec![
            ModelStep::Fail(Failure::Http {
                status: 400,
                retry_after: None,
                body: "stream is not supported".into(),
            }),
            says("two"),
            says("three"),
        ],
        vec![],
    ]);
    for (question, answer) in [("1", "one"), ("2", "two"), ("3", "three"), ("4", "four")] {
        assert_eq!(there_and_back.answer(question).await, answer);
    }
    let requests = there_and_back.models[0].requests();
    for (earlier, later) in requests.iter().zip(&requests[1..]) {
        assert_eq!(earlier.segments[..], later.segments[..earlier.segments.len()]);
        assert!(later.stream);
    }
    assert_eq!(there_and_back.session.quirks, Quirks::default());
    // And the same bytes as of a session that never went anywhere and tells the same story.
    let mut stayed = Bench::new([["one", "two", "three", "four"].map(says).into(), vec![], vec![]]);
    for question in ["1", "2", "3", "4"] {
        stayed.answer(question).await;
    }
    assert_eq!(requests.last().unwrap().body, stayed.models[0].requests().last().unwrap().body);
}

#[tokio::test(start_paused = true)]
async fn a_limit_keeps_the_first_model_at_rest_for_a_minute() {
    for (status, rests) in [(429, true), (402, true), (401, false), (403, false)] {
        let mut bench = Bench::new([vec![fails(status), says("a")], vec![says("b1"), says("b2")], vec![]]);
        assert_eq!(bench.answer("1").await, "b1", "{status}");
        tokio::time::advance(Duration::from_secs(59)).await;
        if !rests {
            assert_eq!(bench.answer("2").await, "a", "{status}");
            continue;
        }
        let (report, notices) = bench.say("2").await;
        assert_eq!(report.final_response.as_deref(), Some("b2"), "{status}");
        assert_eq!(notices, ["using pb/b: the first model is in cooldown"]);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert_eq!(bench.answer("3").await, "a", "{status}");
        assert_eq!(bench.asked(), [2, 2, 0], "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn last_model_is_kept_for_five_seconds_after_all_have_failed() {
    let mut bench = Bench::new([vec![fails(401), says("a")], vec![fails(401)], vec![fails(401), says("c")]]);
    let (report, _) = bench.say("1").await;
    assert_eq!((report.failed, report.fault), (true, Some(FaultClass::Auth)));
    assert_eq!(report.exit_reason, "all_retries_exhausted_no_response");
    assert_eq!(bench.answer("2").await, "c");
    tokio::time::advance(Duration::from_secs(5)).await;
    assert_eq!(bench.answer("3").await, "a");
}

#[tokio::test(start_paused = true)]
async fn what_empty_replies_cost_is_recorded_as_their_models() {
    let empty = || says("");
    let mut bench = Bench::new([vec![empty(), empty(), empty(), empty()], vec![says("words")], vec![]]);
    assert_eq!(bench.answer("go").await, "words");
    assert_eq!(bench.spent(), [("a".to_owned(), 4), ("b".to_owned(), 1)]);
}

#[test]
fn a_route_says_what_is_left_of_it() {
    let bench = Bench::new([vec![], vec![], vec![]]);
    let names = |model: Option<Arc<dyn Model>>| model.map(|model| model.profile().model.to_string());
    let route = &bench.route;
    let mut seen = vec![];
    loop {
        seen.push((route.stops_left(), names(Some(route.current())).unwrap()));
        if route.advance(FaultClass::Auth).is_none() {
            break;
        }
    }
    assert_eq!(seen, [(2, "a".to_owned()), (1, "b".to_owned()), (0, "c".to_owned())]);
    assert!(route.restore());
    assert_eq!(route.stops_left(), 2);
}
