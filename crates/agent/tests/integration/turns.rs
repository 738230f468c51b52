//! Whole turns without a socket and without SQLite: a scripted model, a transcript in memory,
//! real tools in a temporary folder.

use crate::desk;
use hermes_agent::recovery::Limits;
use hermes_agent::{Ports, Session, TurnReport, UserInput, run_turn};
use hermes_conversation::{
    BoxFuture, CallEnding, Content, EventStream, History, IntentState, Message, Quirks, TurnEvent,
    UserMessage, events,
};
use hermes_testkit::{MemoryTranscript, ModelStep, Operation, ReplyScript, ScriptedModel, lease};
use hermes_tools::{
    Approval, ApprovalMode, ApprovalRequest, AskUser, BatchApproval, Clarified, NoUser, Question,
};
use hermes_wire::{Failure, FaultClass, Model as _, ModelProfile, SingleModel};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// A session in a folder of its own.
struct Bench {
    folder: TempDir,
    model: Arc<ScriptedModel>,
    transcript: Arc<MemoryTranscript>,
    session: Session,
    approvals: ApprovalMode,
    ask: Arc<dyn AskUser>,
}

impl Bench {
    fn new(steps: impl IntoIterator<Item = ModelStep>) -> Self {
        Self::with(ScriptedModel::of(steps), MemoryTranscript::new())
    }

    fn with(model: ScriptedModel, transcript: MemoryTranscript) -> Self {
        let limits = Limits::default();
        Self {
            folder: tempfile::tempdir().unwrap(),
            model: Arc::new(model),
            transcript: Arc::new(transcript),
            session: Session::new(
                lease("s"),
                "Be brief.".into(),
                History::default(),
                Quirks::default(),
                limits,
            ),
            approvals: ApprovalMode::Off,
            ask: Arc::new(NoUser),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn ports(&self) -> (Ports, EventStream) {
        let (sink, stream) = events();
        let route = Arc::new(SingleModel(self.model.clone()));
        let ports = desk::ports(self.path(), self.approvals, route, self.transcript.clone(), sink);
        (Ports { ask: self.ask.clone(), ..ports }, stream)
    }

    async fn say(&mut self, text: &str) -> (TurnReport, Vec<TurnEvent>) {
        self.say_until(text, CancellationToken::new()).await
    }

    async fn say_until(&mut self, text: &str, cancel: CancellationToken) -> (TurnReport, Vec<TurnEvent>) {
        let (ports, mut stream) = self.ports();
        let listening = tokio::spawn(async move {
            let mut seen = Vec::new();
            while let Some(event) = stream.next().await {
                seen.push(event);
            }
            seen
        });
        let report = run_turn(&mut self.session, input(text), &ports, &cancel).await;
        drop(ports);
        (report, listening.await.unwrap())
    }

    fn results(&self) -> Vec<Value> {
        let tool = |message: &Message| match message {
            Message::Tool(tool) => serde_json::from_str(tool.content.as_text()).ok(),
            _ => None,
        };
        self.transcript.messages().iter().filter_map(tool).collect()
    }
}

fn input(text: &str) -> UserInput {
    UserMessage { content: Content::text(text), api_content: None }
}

fn reply(script: ReplyScript) -> ModelStep {
    ModelStep::Reply(script)
}

fn http(status: u16, retry_after: Option<u64>) -> ModelStep {
    ModelStep::Fail(Failure::Http {
        status,
        retry_after: retry_after.map(Duration::from_secs),
        body: "busy".into(),
    })
}

fn terminal(command: &str) -> ReplyScript {
    ReplyScript::call("terminal", json!({ "command": command }))
}

#[tokio::test]
async fn everything_is_recorded_before_anything_acts_on_it() {
    let transcript = MemoryTranscript::new();
    let mut bench = Bench::with(
        ScriptedModel::of([reply(terminal("touch ran")), reply(ReplyScript::text("Done."))]),
        transcript,
    );
    let (report, _) = bench.say("go").await;
    assert_eq!(report.final_response.as_deref(), Some("Done."));
    assert_eq!(report.exit_reason, "text_response(finish_reason=stop)");
    assert_eq!((report.completed, report.api_calls), (true, 2));
    assert_eq!(bench.transcript.names(), ["open", "plan", "note_process", "settle", "close"]);
    assert_eq!(bench.transcript.intent_states(), [IntentState::Done]);
    assert!(bench.path().join("ran").exists());
    let roles: Vec<_> = bench.transcript.messages().iter().map(Message::role).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
}

#[tokio::test]
async fn the_request_is_sent_only_after_its_messages_are_stored() {
    // At the moment of each request, the transcript must already hold what the request says.
    let transcript = Arc::new(MemoryTranscript::new());
    let watched = transcript.clone();
    let model = ScriptedModel::of([reply(terminal("true")), reply(ReplyScript::text("ok"))]).on_request(
        move |request| {
            let body: Value = serde_json::from_slice(&request.body).unwrap();
            let sent = body["messages"].as_array().unwrap().len() - 1;
            assert_eq!(sent, watched.messages().len());
        },
    );
    let mut bench = Bench::with(model, MemoryTranscript::new());
    bench.transcript = transcript;
    assert!(bench.say("go").await.0.completed);
}

#[tokio::test]
async fn a_store_that_fails_stops_the_turn_at_once() {
    // Operation 1 is the opening, 2 the plan, 3 the process mark, 4 the settlement, 5 the close.
    for (fails_at, tool_may_run) in [(1, false), (2, false), (3, false), (4, true), (5, true)] {
        let model = ScriptedModel::of([reply(terminal("touch ran")), reply(ReplyScript::text("ok"))]);
        let mut bench = Bench::with(model, MemoryTranscript::new());
        bench.transcript.fail_at(fails_at);
        let (report, _) = bench.say("go").await;
        assert_eq!(bench.path().join("ran").exists(), tool_may_run, "operation {fails_at}");
        if fails_at != 3 {
            assert!(report.store_failed, "operation {fails_at}");
        }
        let asked = bench.model.requests().len();
        let expected = match fails_at {
            1 => 0,
            2 | 4 => 1,
            _ => 2,
        };
        assert_eq!(asked, expected, "operation {fails_at}");
    }
}

#[tokio::test(start_paused = true)]
async fn retries_wait_as_long_as_the_server_asks() {
    for (steps, want_millis) in [
        (vec![http(429, Some(7))], 7_000),
        (vec![http(429, None)], 2_000),
        (vec![http(503, Some(3))], 3_000),
        (vec![http(500, None), http(503, None)], 300 + 600),
        (vec![ModelStep::Cut(ReplyScript::text("half of"), Failure::Cut { cause: "reset".into() })], 300),
        (vec![ModelStep::Fail(Failure::Garbled { cause: "html".into() })], 300),
        (vec![ModelStep::Fail(Failure::Unreachable { origin: "x".into(), cause: "refused".into() })], 300),
    ] {
        let name = format!("{steps:?}");
        let mut bench = Bench::new(steps.into_iter().chain([reply(ReplyScript::text("ok"))]));
        let begun = Instant::now();
        let (report, _) = bench.say("go").await;
        assert!(report.completed, "{name}");
        assert_eq!(begun.elapsed().as_millis(), want_millis, "{name}");
        let bodies = bench.model.bodies();
        assert!(bodies.iter().all(|body| body == &bodies[0]), "a retry sends the same bytes: {name}");
    }
}

/// With the longest jitter there is.
#[tokio::test(start_paused = true)]
async fn two_server_errors_are_recovered_within_one_and_a_half_seconds() {
    let mut bench = Bench::new([http(500, None), http(500, None), reply(ReplyScript::text("ok"))]);
    let (ports, _stream) = bench.ports();
    let ports = Ports { jitter: Arc::new(|| 1.0), ..ports };
    let begun = Instant::now();
    let report = run_turn(&mut bench.session, input("go"), &ports, &CancellationToken::new()).await;
    assert!(report.completed);
    assert_eq!(begun.elapsed().as_millis(), 450 + 900);
}

#[tokio::test(start_paused = true)]
async fn a_fault_that_stays_fails_the_turn_and_keeps_the_message() {
    let mut bench = Bench::new((0..3).map(|_| http(500, None)));
    let (report, events) = bench.say("go").await;
    assert!(report.failed && !report.completed);
    assert_eq!(report.fault, Some(FaultClass::Server));
    assert_eq!(report.exit_reason, "all_retries_exhausted_no_response");
    assert_eq!(events.iter().filter(|event| matches!(event, TurnEvent::Status(_))).count(), 2);
    let messages = bench.transcript.messages();
    assert_eq!(messages[0], Message::user("go"));
    assert_eq!(messages[1].role(), "assistant");
}

#[tokio::test(start_paused = true)]
async fn text_that_was_shown_and_lost_is_retracted() {
    let mut bench = Bench::new([
        ModelStep::Cut(ReplyScript::text("half"), Failure::Cut { cause: "reset".into() }),
        reply(ReplyScript::text("whole")),
    ]);
    let (report, events) = bench.say("go").await;
    assert_eq!(report.final_response.as_deref(), Some("whole"));
    let place = |wanted: &TurnEvent| events.iter().position(|event| event == wanted).unwrap();
    assert!(place(&TurnEvent::Text("half".into())) < place(&TurnEvent::Retracted));
    assert!(place(&TurnEvent::Retracted) < place(&TurnEvent::Text("whole".into())));
}

#[tokio::test]
async fn stopping_ends_every_wait_and_leaves_one_closing_line() {
    for step in [ModelStep::Pend, ModelStep::StreamThenPend(ReplyScript::text("half")), http(429, Some(500))]
    {
        let name = format!("{step:?}");
        let mut bench = Bench::new([step]);
        let cancel = CancellationToken::new();
        let stop = cancel.clone();
        let model = bench.model.clone();
        tokio::spawn(async move {
            while model.requests().is_empty() {
                tokio::task::yield_now().await;
            }
            stop.cancel();
        });
        let (report, _) = bench.say_until("go", cancel).await;
        assert!(report.interrupted, "{name}");
        assert_eq!(report.exit_reason, "interrupted_during_api_call", "{name}");
        let texts: Vec<_> = bench.transcript.messages().iter().map(|m| m.text().to_owned()).collect();
        assert_eq!(texts, ["go", "[The user stopped this turn here.]"], "{name}");
    }
}

#[tokio::test]
async fn stopping_a_tool_ends_its_process_and_answers_the_calls_after_it() {
    let script = terminal("touch begun; sleep 600")
        .and_call("terminal", json!({ "command": "touch never" }))
        .and_call("read_file", json!({ "path": "begun" }));
    let mut bench = Bench::new([reply(script)]);
    let cancel = CancellationToken::new();
    let (stop, begun) = (cancel.clone(), bench.path().join("begun"));
    tokio::spawn(async move {
        while !begun.exists() {
            tokio::task::yield_now().await;
        }
        stop.cancel();
    });
    let (report, _) = bench.say_until("go", cancel).await;
    assert_eq!(report.exit_reason, "interrupted_by_user");
    assert!(!bench.path().join("never").exists());
    let results = bench.results();
    assert_eq!(results.len(), 3);
    assert_eq!(results[0]["exit_code"], 130);
    assert!(results[1]["error"].as_str().unwrap().starts_with("Not run"));
    assert_eq!(bench.transcript.messages().last().unwrap().role(), "assistant");
}

#[tokio::test]
async fn parallel_calls_answer_in_call_order_within_two_commits() {
    let script = terminal("sleep 0.2")
        .and_call("terminal", json!({ "command": "echo fast" }))
        .and_call("search_files", json!({ "pattern": "x" }));
    let mut bench = Bench::new([reply(script), reply(ReplyScript::text("ok"))]);
    bench.say("go").await;
    assert_eq!(bench.results()[1]["output"].as_str().unwrap().trim(), "fast");
    let commits: Vec<_> =
        bench.transcript.names().into_iter().filter(|name| *name != "note_process").collect();
    assert_eq!(commits, ["open", "plan", "settle", "close"]);
}

#[tokio::test]
async fn calls_that_must_be_in_order_see_each_other() {
    let script = terminal("mkdir sub && cd sub")
        .and_call("write_file", json!({ "path": "a.txt", "content": "one\n" }))
        .and_call("terminal", json!({ "command": "cat a.txt; pwd > where" }));
    let mut bench = Bench::new([reply(script), reply(ReplyScript::text("ok"))]);
    bench.say("go").await;
    assert_eq!(bench.results()[2]["output"].as_str().unwrap().trim(), "one");
    assert!(bench.path().join("sub/where").exists());
    assert_eq!(bench.transcript.intent_states(), [IntentState::Done; 3]);
}

struct Answers(Approval);

impl AskUser for Answers {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async { self.0.clone() })
    }

    fn clarify<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Clarified> {
        Box::pin(async { Clarified::NoUser })
    }
}

#[tokio::test]
async fn command_needs_approval_and_is_denied_without_a_user() {
    for (answer, runs, commits) in [
        (Approval::ONCE, true, vec!["open", "plan", "settle", "note_process", "settle", "close"]),
        (Approval::DENIED, false, vec!["open", "plan", "settle", "close"]),
        (Approval::NoUser, false, vec!["open", "plan", "settle", "close"]),
    ] {
        let mut bench =
            Bench::new([reply(terminal("rm -rf old; touch ran")), reply(ReplyScript::text("ok"))]);
        bench.approvals = ApprovalMode::Manual;
        bench.ask = Arc::new(Answers(answer.clone()));
        bench.say("go").await;
        assert_eq!(bench.path().join("ran").exists(), runs, "{answer:?}");
        assert_eq!(bench.transcript.names(), commits, "{answer:?}");
        if !runs {
            assert!(bench.results()[0]["error"].as_str().unwrap().starts_with("Not run"), "{answer:?}");
        }
    }
}

/// Approves calls together and denies each that is asked about by itself.
#[derive(Default)]
struct ApprovesTogether(Mutex<Vec<ApprovalRequest>>);

impl AskUser for ApprovesTogether {
    fn approve<'a>(&'a self, request: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        self.0.lock().unwrap().push(request.clone());
        Box::pin(async { Approval::DENIED })
    }

    fn approve_batch<'a>(&'a self, _: &'a [ApprovalRequest]) -> BoxFuture<'a, BatchApproval> {
        Box::pin(async { BatchApproval::AllOnce })
    }

    fn clarify<'a>(&'a self, _: &'a Question) -> BoxFuture<'a, Clarified> {
        Box::pin(async { Clarified::NoUser })
    }
}

#[tokio::test]
async fn approval_does_not_hold_after_the_environment_changed() {
    for (export, note) in [
        ("true", None),
        ("export PATH=/x/bin:$PATH", Some("environment: PATH starts with /x/bin")),
        ("export FOO=1", Some("with everything in it")),
    ] {
        let script = terminal(&format!("rm -r a; {export}"))
            .and_call("terminal", json!({ "command": "rm -r b; touch ran" }));
        let mut bench = Bench::new([reply(script), reply(ReplyScript::text("ok"))]);
        let asked = Arc::new(ApprovesTogether::default());
        bench.approvals = ApprovalMode::Manual;
        bench.ask = asked.clone();
        bench.say("go").await;
        let again: Vec<String> =
            asked.0.lock().unwrap().iter().map(|request| request.effects.join("; ")).collect();
        assert_eq!(again.len(), usize::from(note.is_some()), "{export}: {again:?}");
        assert!(note.is_none_or(|note| again[0].contains(note)), "{export}: {again:?}");
        assert_eq!(bench.path().join("ran").exists(), note.is_none(), "{export}");
    }
}

#[tokio::test]
async fn finished_calls_say_how_they_ended() {
    for (answer, want) in [
        (Approval::ONCE, CallEnding::Answered),
        (Approval::DENIED, CallEnding::NotAllowed),
        (Approval::NoUser, CallEnding::NoApprover),
    ] {
        let mut bench = Bench::new([reply(terminal("rm -rf old")), reply(ReplyScript::text("ok"))]);
        bench.approvals = ApprovalMode::Manual;
        bench.ask = Arc::new(Answers(answer.clone()));
        let (_, seen) = bench.say("go").await;
        let ending = |event: &TurnEvent| match event {
            TurnEvent::ToolFinished { ending, .. } => Some(*ending),
            _ => None,
        };
        assert_eq!(seen.iter().filter_map(ending).collect::<Vec<_>>(), [want], "{answer:?}");
    }
}

#[tokio::test]
async fn text_beside_housekeeping_is_the_answer_where_the_model_adds_none() {
    for (tool, arguments, is_answer) in
        [("todo", json!({}), true), ("terminal", json!({ "command": "true" }), false)]
    {
        let script = ReplyScript::call(tool, arguments).with_text("It is done.");
        let mut bench =
            Bench::new([reply(script), reply(ReplyScript::text("")), reply(ReplyScript::text("Later."))]);
        let (report, _) = bench.say("go").await;
        let want = if is_answer { "It is done." } else { "Later." };
        assert_eq!(report.final_response.as_deref(), Some(want), "{tool}");
    }
}

#[tokio::test]
async fn stopping_at_the_question_runs_nothing_that_comes_after_it() {
    let script = terminal("rm -rf old; touch ran")
        .and_call("write_file", json!({ "path": "one.txt", "content": "x" }))
        .and_call("write_file", json!({ "path": "one.txt", "content": "y" }));
    let mut bench = Bench::new([reply(script)]);
    bench.approvals = ApprovalMode::Manual;
    bench.ask = Arc::new(Answers(Approval::Stopped));
    let (report, _) = bench.say("go").await;
    assert!(report.interrupted);
    assert!(!bench.path().join("ran").exists() && !bench.path().join("one.txt").exists());
    assert_eq!(bench.transcript.intent_states(), [IntentState::Refused; 3]);
}

#[tokio::test]
async fn finished_calls_are_recorded_before_approval_is_requested() {
    let script = ReplyScript::call("write_file", json!({ "path": "a.txt", "content": "x" }))
        .and_call("terminal", json!({ "command": "rm -rf old" }));
    let mut bench = Bench::new([reply(script), reply(ReplyScript::text("ok"))]);
    bench.approvals = ApprovalMode::Manual;
    bench.ask = Arc::new(Answers(Approval::ONCE));
    bench.say("go").await;
    let commits: Vec<_> =
        bench.transcript.names().into_iter().filter(|name| *name != "note_process").collect();
    assert_eq!(commits, ["open", "plan", "note_change", "settle", "settle", "settle", "close"]);
}

#[tokio::test]
async fn a_turn_whose_record_failed_is_left_open_for_recovery() {
    let mut bench = Bench::new([reply(terminal("true"))]);
    bench.transcript.fail_at(4);
    let (report, _) = bench.say("go").await;
    assert!(report.store_failed);
    assert_eq!(bench.transcript.names(), ["open", "plan", "note_process"], "nothing is closed over a hole");
}

#[tokio::test]
async fn broken_calls_are_answered_and_never_run() {
    for (arguments, says) in [
        (r#"{"command":"touch ran","command":"touch ran"}"#, "command"),
        (r#"["touch ran"]"#, "object"),
        (r#"{"cmd":"touch ran"}"#, "command"),
    ] {
        let call =
            hermes_testkit::CallScript { id: None, name: "terminal".into(), arguments: arguments.into() };
        let script = ReplyScript::default().and_raw_call(call);
        let mut bench = Bench::new([reply(script), reply(ReplyScript::text("ok"))]);
        let (report, _) = bench.say("go").await;
        assert!(report.completed, "{arguments}");
        assert!(!bench.path().join("ran").exists(), "{arguments}");
        let error = bench.results()[0]["error"].as_str().unwrap().to_owned();
        assert!(error.contains(says), "{arguments}: {error}");
        assert_eq!(bench.transcript.intent_states(), [IntentState::Refused], "{arguments}");
    }
}

#[tokio::test]
async fn unreadable_arguments_are_asked_for_again_silently() {
    let unreadable = || {
        let call =
            hermes_testkit::CallScript { id: None, name: "terminal".into(), arguments: "touch ran}".into() };
        reply(
            ReplyScript::text("Look:")
                .and_raw_call(call)
                .and_call("terminal", json!({"command": "touch ran"})),
        )
    };
    for (times, results) in [(1, 0), (3, 0), (4, 2)] {
        let steps = (0..times).map(|_| unreadable()).chain([reply(ReplyScript::text("ok"))]);
        let mut bench = Bench::new(steps);
        let (report, events) = bench.say("go").await;
        assert_eq!((report.completed, report.api_calls), (true, times + 1), "{times}");
        assert!(!bench.path().join("ran").exists(), "{times}: a call beside an unreadable one is not run");
        let errors = bench.results();
        assert_eq!(errors.len(), results, "{times}");
        let asked_again = events.iter().filter(|event| **event == TurnEvent::Retracted).count();
        assert_eq!(asked_again as u32, times.min(3), "{times}");
        assert!(!events.iter().any(|event| matches!(event, TurnEvent::Status(_))), "{times}: {events:?}");
        if results > 0 {
            assert!(errors[0]["error"].as_str().unwrap().contains("not valid JSON"), "{errors:?}");
            assert!(errors[1]["error"].as_str().unwrap().starts_with("Skipped"), "{errors:?}");
        }
    }
}

#[tokio::test]
async fn unknown_tools_three_times_in_a_row_end_the_turn_as_partial() {
    let unknown = || reply(ReplyScript::call("frobnicate_all", json!({})));
    let mixed =
        ReplyScript::call("frobnicate_all", json!({})).and_call("terminal", json!({"command": "touch ran"}));
    let mut bench = Bench::new([unknown(), unknown(), reply(mixed), unknown(), unknown(), unknown()]);
    let (report, _) = bench.say("go").await;
    assert!(bench.path().join("ran").exists(), "known calls of a reply run");
    assert_eq!((report.completed, report.partial, report.api_calls), (false, true, 6));
    assert_eq!(report.exit_reason, "all_retries_exhausted_no_response");
    assert!(report.error.unwrap().ends_with("3 times in a row: frobnicate_all"));
    assert_eq!(bench.results().len(), 7, "every call has a result");
    assert_eq!(bench.transcript.messages().last().unwrap().role(), "assistant");
}

#[tokio::test]
async fn recalled_memory_is_removed_from_input_and_replies() {
    let block = |text: &str| format!("<memory-context>\n{text}\n</memory-context>");
    let mut bench = Bench::new([reply(ReplyScript::text(format!("Yes.{}", block("private"))))]);
    let (report, events) = bench.say(&format!("Is it?\n\n{}", block("pasted"))).await;
    assert_eq!(report.final_response.as_deref(), Some("Yes."));
    let stored: Vec<String> =
        bench.transcript.messages().iter().map(|message| message.text().to_owned()).collect();
    assert_eq!(stored, ["Is it?", "Yes."]);
    assert!(!format!("{events:?}").contains("private"), "{events:?}");
    assert!(!bench.model.bodies()[0].to_string().contains("pasted"));
}

#[tokio::test]
async fn spent_budget_is_closed_with_a_reply_and_without_tools() {
    let mut bench = Bench::new([
        reply(terminal("true")),
        reply(terminal("true")),
        reply(ReplyScript::text("Two steps were taken.")),
    ]);
    bench.session.limits.max_iterations = 2;
    let (report, _) = bench.say("go").await;
    assert_eq!(report.exit_reason, "max_iterations_reached(2/2)");
    assert_eq!(report.final_response.as_deref(), Some("Two steps were taken."));
    assert_eq!((report.completed, report.failed, report.partial), (false, false, true));
    let bodies = bench.model.bodies();
    assert!(bodies[1]["tools"].is_array() && bodies[2]["tools"].is_null());
}

#[tokio::test]
async fn a_long_answer_is_continued_and_recorded_in_parts() {
    use hermes_conversation::FinishReason;
    let mut bench = Bench::new([
        reply(ReplyScript::text("one ").with_finish(FinishReason::Length)),
        reply(ReplyScript::text("two")),
    ]);
    let (report, _) = bench.say("go").await;
    assert_eq!(report.final_response.as_deref(), Some("one two"));
    let roles: Vec<_> = bench.transcript.messages().iter().map(Message::role).collect();
    assert_eq!(roles, ["user", "assistant", "user", "assistant"]);
}

#[tokio::test]
async fn golden_cut_calls_are_asked_for_again_with_more_room_and_leave_no_trace() {
    use hermes_conversation::FinishReason;
    let cut = || ReplyScript::text("I begin.").and_call("todo", json!({})).with_finish(FinishReason::Length);
    let model = ScriptedModel::of([
        reply(cut()),
        reply(cut()),
        reply(terminal("echo whole")),
        reply(ReplyScript::text("ok")),
    ]);
    let profile = ModelProfile { max_tokens: Some(5_000), ..model.profile().clone() };
    let mut bench = Bench::with(model.with_profile(profile), MemoryTranscript::new());
    let (report, events) = bench.say("go").await;
    assert_eq!(report.final_response.as_deref(), Some("ok"));
    // Each was paid for, none is in the history.
    assert_eq!((report.api_calls, report.usage.output), (4, 20));
    let roles: Vec<_> = bench.transcript.messages().iter().map(Message::role).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant"]);
    assert_eq!(events.iter().filter(|event| **event == TurnEvent::Retracted).count(), 2);
    let caps: Vec<_> = bench.model.bodies().iter().map(|body| body["max_tokens"].clone()).collect();
    assert_eq!(caps, [json!(5_000), json!(10_000), json!(20_000), json!(20_000)]);
    let requests = bench.model.requests();
    assert_eq!(requests[0].segments, requests[2].segments, "what is sent is otherwise the same");
    // The next turn begins with the cap that was set.
    bench.model.push(reply(ReplyScript::text("again")));
    bench.say("more").await;
    assert_eq!(bench.model.bodies()[4]["max_tokens"], 5_000);
}

#[tokio::test]
async fn truncated_calls_are_reported_if_the_cap_cannot_grow_and_a_rejected_cap_is_taken_back() {
    use hermes_conversation::FinishReason;
    let cut = || ReplyScript::default().and_call("todo", json!({})).with_finish(FinishReason::Length);
    let refused = || {
        let body = "max_tokens is too large".to_owned();
        ModelStep::Fail(Failure::Http { status: 400, retry_after: None, body })
    };
    for (set, steps, want) in [
        (Some(40_000), vec![reply(cut())], vec![json!(40_000), json!(40_000)]),
        (
            None,
            vec![reply(cut()), refused(), reply(cut())],
            vec![json!(null), json!(8_192), json!(null), json!(null)],
        ),
    ] {
        let model = ScriptedModel::of(steps.into_iter().chain([reply(ReplyScript::text("smaller, then"))]));
        let profile = ModelProfile { max_tokens: set, ..model.profile().clone() };
        let mut bench = Bench::with(model.with_profile(profile), MemoryTranscript::new());
        let (report, _) = bench.say("go").await;
        assert_eq!(report.final_response.as_deref(), Some("smaller, then"), "{set:?}");
        let caps: Vec<_> = bench.model.bodies().iter().map(|body| body["max_tokens"].clone()).collect();
        assert_eq!(caps, want, "{set:?}");
        let told = bench.results();
        assert!(told.len() == 1 && told[0]["error"].as_str().unwrap().contains("cut off"), "{told:?}");
    }
}

#[tokio::test]
async fn golden_prefix_within_a_turn_and_across_turns() {
    let mut bench = Bench::new([
        reply(terminal("echo 1")),
        reply(terminal("echo 2").and_call("todo", json!({}))),
        reply(ReplyScript::text("first")),
        reply(terminal("echo 3")),
        reply(ReplyScript::text("second")),
    ]);
    bench.say("one").await;
    bench.say("two").await;
    let requests = bench.model.requests();
    assert_eq!(requests.len(), 5);
    for pair in requests.windows(2) {
        assert!(pair[1].segments.starts_with(&pair[0].segments));
        assert!(pair[1].segments.len() > pair[0].segments.len());
        let shared = pair[0].body.len() - 2;
        assert_eq!(pair[0].body[..shared], pair[1].body[..shared], "even the raw bytes are a prefix");
    }
}

#[tokio::test]
async fn usage_is_counted_with_the_message_it_paid_for() {
    let mut bench = Bench::new([reply(terminal("true")), reply(ReplyScript::text("ok"))]);
    let (report, _) = bench.say("go").await;
    assert_eq!((report.usage.input, report.usage.output), (20, 10));
    let spent = |operation: &Operation| match operation {
        Operation::Plan { spent, .. } => spent.as_ref().map(|spent| spent.usage.input),
        Operation::Close { closing, .. } => closing.spent.as_ref().map(|spent| spent.usage.input),
        _ => None,
    };
    let counted: Vec<_> = bench.transcript.operations().iter().filter_map(spent).collect();
    assert_eq!(counted, [10, 10]);
}

#[tokio::test]
async fn repeated_calls_get_warnings_and_end_the_turn_only_where_asked() {
    for (hard_stop_enabled, calls, exit) in
        [(true, 5, "guardrail_halt"), (false, 8, "text_response(finish_reason=stop)")]
    {
        let again = || reply(ReplyScript::call("read_file", json!({ "path": "nothing" })));
        let steps = (0..8).map(|_| again()).chain([reply(ReplyScript::text("I give up."))]);
        let mut bench = Bench::new(steps);
        bench.session.limits.loops.hard_stop_enabled = hard_stop_enabled;
        let (report, _) = bench.say("find it").await;
        let answers = u32::from(!hard_stop_enabled);
        assert_eq!((report.exit_reason.as_str(), report.api_calls - answers), (exit, calls));
        assert_eq!((report.partial, report.failed), (hard_stop_enabled, hard_stop_enabled));
        let warned: Vec<bool> = bench
            .session
            .history
            .messages()
            .iter()
            .filter_map(|message| match message.as_ref() {
                Message::Tool(message) => Some(message.api_content.is_some()),
                _ => None,
            })
            .collect();
        let want: Vec<bool> = (1..=calls).map(|time| time >= 2).collect();
        assert_eq!(warned, want);
        // The warning is sent, and stays as it was sent.
        let last = bench.model.bodies().pop().unwrap().to_string();
        assert!(last.contains("this exact call has failed 3 times in a row"), "{last}");
        assert!(matches!(bench.session.history.messages().last().unwrap().as_ref(), Message::Assistant(_)));
    }
}

#[tokio::test]
async fn editing_and_running_the_same_tests_ten_times_unattended_finishes() {
    let edit = |n: usize| {
        let arguments = json!({ "path": "code.txt", "content": format!("attempt {n}") });
        reply(ReplyScript::call("write_file", arguments))
    };
    let test = || reply(terminal("grep -q 'attempt 9' code.txt || { echo the same failure; exit 1; }"));
    let steps = (0..10).flat_map(|n| [edit(n), test()]).chain([reply(ReplyScript::text("Fixed."))]);
    let mut bench = Bench::new(steps);
    // Not even where the settings ask for a stop.
    bench.session.limits.loops.hard_stop_enabled = true;
    let (report, _) = bench.say("make the test pass").await;
    assert_eq!((report.final_response.as_deref(), report.completed), (Some("Fixed."), true));
    assert_eq!(report.api_calls, 21);
    assert!(bench.session.history.messages().iter().all(|message| match message.as_ref() {
        Message::Tool(message) => message.api_content.is_none(),
        _ => true,
    }));
}

fn write(path: &str, content: &str) -> ModelStep {
    reply(ReplyScript::call("write_file", json!({ "path": path, "content": content })))
}

#[tokio::test]
async fn edits_that_failed_are_listed_below_the_answer_and_not_recorded() {
    let patch = |path: &str| {
        reply(ReplyScript::call(
            "patch",
            json!({ "path": path, "old_string": "no such text", "new_string": "x" }),
        ))
    };
    for (is_wanted, steps) in [
        (true, vec![write("a.txt", "1"), patch("a.txt"), patch("b.txt")]),
        (true, vec![write("b.txt", "1"), patch("b.txt"), write("b.txt", "2")]),
        (false, vec![patch("b.txt")]),
    ] {
        let fails = is_wanted && steps.len() == 3 && format!("{steps:?}").contains("a.txt");
        let mut bench = Bench::new(steps.into_iter().chain([reply(ReplyScript::text("Both done."))]));
        bench.session.limits.stop_checks.lists_failed_edits = is_wanted;
        let (report, events) = bench.say("go").await;
        let answer = report.final_response.unwrap();
        let shown: String = events
            .iter()
            .filter_map(|event| match event {
                TurnEvent::Text(text) => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(answer, shown, "programs and front ends get the same text");
        assert_eq!(answer.contains("[File edits that failed in this turn:\n- `a.txt`: "), fails, "{answer}");
        assert_eq!(answer == "Both done.", !fails, "{answer}");
        assert_eq!(bench.transcript.messages().last().unwrap().text(), "Both done.");
    }
}

#[tokio::test]
async fn code_that_was_changed_is_checked_before_the_turn_ends() {
    let mut bench = Bench::new([
        write("a.py", "print(1)"),
        reply(ReplyScript::text("Done.")),
        reply(terminal("touch checked; test -s a.py")),
        reply(ReplyScript::text("Done, and it runs.")),
    ]);
    let (report, events) = bench.say("go").await;
    assert_eq!((report.final_response.as_deref(), report.api_calls), (Some("Done, and it runs."), 4));
    assert!(events.contains(&TurnEvent::Status("asking the model to check `a.py`".into())), "{events:?}");
    let asked = bench.model.bodies()[2]["messages"].as_array().unwrap().last().unwrap().to_string();
    assert!(asked.contains("You changed `a.py` and ran nothing since"), "{asked}");
    for pair in bench.model.requests().windows(2) {
        assert!(pair[1].segments.starts_with(&pair[0].segments), "the prefix is kept");
    }
}
