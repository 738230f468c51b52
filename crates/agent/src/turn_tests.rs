use super::*;
use crate::StopChecks;
use hermes_conversation::{AssistantMessage, CallId, Quirk, ToolCall};
use std::time::Duration;

fn reply(text: &str, finish: FinishReason) -> Box<Reply> {
    let message = AssistantMessage { text: text.into(), finish: Some(finish), ..Default::default() };
    Box::new(Reply { message, calls: vec![], finish, usage: None, bill: Default::default() })
}

fn calling(state: CallState, finish: FinishReason) -> Box<Reply> {
    let mut reply = reply("", finish);
    reply.message.calls = vec![ToolCall::new(CallId::new("c"), "terminal", "{}")];
    reply.calls = vec![state];
    reply
}

fn fault(class: FaultClass) -> Fault {
    Fault::new(class, "x")
}

fn turn() -> Turn {
    let mut turn = Turn::new(Limits::default());
    assert_eq!(turn.next(Event::Started), Step::CallModel(Asking::WithTools));
    turn
}

#[test]
fn reply_without_calls_ends_the_turn() {
    let answer = reply("hi", FinishReason::Stop);
    let want = Outcome::Answered {
        text: "hi".into(),
        reply: answer.clone(),
        exit_reason: "text_response(finish_reason=stop)".into(),
    };
    assert_eq!(turn().next(Event::Replied(answer)), Step::Finish(want));
}

#[test]
fn calls_are_run_and_the_model_is_asked_again() {
    let mut turn = turn();
    let called = calling(CallState::Complete, FinishReason::ToolCalls);
    assert_eq!(turn.next(Event::Replied(called.clone())), Step::RunTools(called));
    assert_eq!(turn.next(Event::ToolsDone), Step::CallModel(Asking::WithTools));
    assert_eq!(turn.calls(), 2);
}

fn asks_for_room(step: &Step) -> bool {
    matches!(step, Step::Apply(Remedy::RaiseCap(_)))
}

#[test]
fn truncated_calls_are_requested_four_times_before_the_model_gets_an_error() {
    for (state, finish) in [
        (CallState::Complete, FinishReason::Length),
        (CallState::Complete, FinishReason::Incomplete),
        (CallState::Truncated, FinishReason::ToolCalls),
    ] {
        let mut turn = turn();
        let cut = || Event::Replied(calling(state.clone(), finish));
        for _ in 0..4 {
            assert!(asks_for_room(&turn.next(cut())), "{finish:?}");
            assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
        }
        let Step::RunTools(told) = turn.next(cut()) else { panic!("{finish:?}: told") };
        assert_eq!(told.calls, [CallState::Truncated]);
        turn.next(Event::ToolsDone);
        // The four are spent, also after calls that were whole.
        turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)));
        turn.next(Event::ToolsDone);
        assert!(matches!(turn.next(cut()), Step::RunTools(_)), "{finish:?}");
        assert_eq!(turn.calls(), 7);
    }
}

#[test]
fn asking_again_spends_no_iteration() {
    let mut turn = Turn::new(Limits { max_iterations: 1, ..Limits::default() });
    turn.next(Event::Started);
    for _ in 0..2 {
        turn.next(Event::Replied(calling(CallState::Complete, FinishReason::Length)));
        assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
    }
    let whole = calling(CallState::Complete, FinishReason::ToolCalls);
    assert_eq!(turn.next(Event::Replied(whole.clone())), Step::RunTools(whole));
}

#[test]
fn room_that_was_refused_is_not_asked_for_again_of_the_same_model() {
    let mut turn = Turn::new(Limits::default()).with_fallbacks(1);
    turn.next(Event::Started);
    let cut = || Event::Replied(calling(CallState::Complete, FinishReason::Length));
    let refused = || Event::Failed(fault(FaultClass::Format));
    assert!(asks_for_room(&turn.next(cut())));
    turn.next(Event::Remedied);
    assert_eq!(turn.next(refused()), Step::Apply(Remedy::RestoreCap { why: "x".into() }));
    assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
    assert!(matches!(turn.next(cut()), Step::RunTools(_)));
    turn.next(Event::ToolsDone);
    assert!(moves_on(&turn.next(refused())));
    turn.next(Event::Remedied);
    assert!(asks_for_room(&turn.next(cut())));
}

#[test]
fn a_window_that_is_too_small_ends_the_turn_before_a_request() {
    let mut turn = turn();
    let Step::Finish(Outcome::Partial { exit_reason, why, reply: None, .. }) =
        turn.next(Event::WindowTooSmall { tokens: 2_048, is_ollama: true })
    else {
        panic!("end")
    };
    assert_eq!(exit_reason, "ollama_runtime_context_too_small");
    assert!(why.contains("2048 tokens") && why.contains("num_ctx 16384") && !why.contains('\n'), "{why}");
    assert_eq!((turn.calls(), turn.iterations), (0, 0));
}

#[test]
fn a_reply_cut_by_length_runs_none_of_its_calls() {
    let mut turn = turn();
    let cut = calling(CallState::Complete, FinishReason::Length);
    // The cap cannot grow: the model gets errors from now on.
    assert!(asks_for_room(&turn.next(Event::Replied(cut.clone()))));
    let Step::RunTools(run) =
        turn.next(Event::CapIsFull(calling(CallState::Truncated, FinishReason::Length)))
    else {
        panic!("tools")
    };
    assert_eq!(run.calls, [CallState::Truncated]);
    turn.next(Event::ToolsDone);
    for _ in 1..4 {
        let Step::RunTools(run) = turn.next(Event::Replied(cut.clone())) else { panic!("tools") };
        assert_eq!(run.calls, [CallState::Truncated]);
        turn.next(Event::ToolsDone);
    }
    let Step::Finish(Outcome::Partial { exit_reason, .. }) = turn.next(Event::Replied(cut)) else {
        panic!("end")
    };
    assert_eq!(exit_reason, LENGTH);
}

#[test]
fn a_long_answer_is_asked_on_four_times_and_joined() {
    let mut turn = turn();
    for number in 0..4 {
        let part = reply(&number.to_string(), FinishReason::Length);
        assert_eq!(turn.next(Event::Replied(part.clone())), Step::Apply(Remedy::AskToContinue(part)));
        assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
    }
    let Step::Finish(Outcome::Partial { text, .. }) =
        turn.next(Event::Replied(reply("4", FinishReason::Length)))
    else {
        panic!("end")
    };
    assert_eq!(text, "01234");
}

#[test]
fn a_continued_answer_is_whole() {
    let mut turn = turn();
    turn.next(Event::Replied(reply("one ", FinishReason::Length)));
    turn.next(Event::Remedied);
    let Step::Finish(Outcome::Answered { text, .. }) =
        turn.next(Event::Replied(reply("two", FinishReason::Stop)))
    else {
        panic!("end")
    };
    assert_eq!(text, "one two");
}

#[test]
fn empty_replies_are_tried_again_and_then_said_to_be_empty() {
    let mut turn = turn();
    for _ in 0..3 {
        assert_eq!(
            turn.next(Event::Replied(reply(" ", FinishReason::Stop))),
            Step::CallModel(Asking::WithTools)
        );
    }
    let Step::Finish(Outcome::Partial { exit_reason, reply, .. }) =
        turn.next(Event::Replied(reply("", FinishReason::Stop)))
    else {
        panic!("end")
    };
    assert_eq!(exit_reason, "empty_response_exhausted");
    assert_eq!(reply.unwrap().message.text, "(empty)");
}

#[test]
fn spent_budget_ends_with_a_reply() {
    let mut turn = Turn::new(Limits { max_iterations: 1, ..Limits::default() });
    turn.next(Event::Started);
    turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)));
    assert_eq!(turn.next(Event::ToolsDone), Step::Apply(Remedy::AskForSummary));
    assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::InWords));
    let empty = turn.next(Event::Replied(reply("", FinishReason::Stop)));
    assert_eq!(empty, Step::CallModel(Asking::InWords));
    let Step::Finish(Outcome::Partial { text, exit_reason, why, .. }) =
        turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)))
    else {
        panic!("end")
    };
    assert_eq!((text.as_str(), exit_reason.as_str()), (texts::NO_SUMMARY, "max_iterations_reached(1/1)"));
    assert!(why.contains("(1, agent.max_turns)"), "{why}");
}

#[test]
fn unreadable_arguments_are_requested_three_times_before_the_model_gets_an_error() {
    let mut turn = turn();
    let unreadable = || calling(CallState::Malformed, FinishReason::ToolCalls);
    for _ in 0..2 {
        for _ in 0..3 {
            assert_eq!(turn.next(Event::Replied(unreadable())), Step::Apply(Remedy::Resend(unreadable())));
            assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
        }
        assert_eq!(turn.next(Event::Replied(unreadable())), Step::RunTools(unreadable()));
        turn.next(Event::ToolsDone);
    }
    // Arguments that can be read forgive the earlier ones.
    turn.next(Event::Replied(unreadable()));
    turn.next(Event::Remedied);
    turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)));
    turn.next(Event::ToolsDone);
    for _ in 0..3 {
        assert!(matches!(turn.next(Event::Replied(unreadable())), Step::Apply(Remedy::Resend(_))));
        turn.next(Event::Remedied);
    }
}

#[test]
fn three_replies_in_a_row_with_unknown_tools_only_end_the_turn() {
    let mut turn = turn();
    let called = || Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls));
    let unknown = || Event::UnknownTools("frobnicate".into());
    for known in [false, false, true, false, false] {
        turn.next(called());
        let event = if known { Event::ToolsDone } else { unknown() };
        assert_eq!(turn.next(event), Step::CallModel(Asking::WithTools));
    }
    turn.next(called());
    let Step::Finish(Outcome::Partial { exit_reason, why, .. }) = turn.next(unknown()) else { panic!("end") };
    assert_eq!(exit_reason, NO_RESPONSE);
    assert_eq!(why, "the model called tools that do not exist 3 times in a row: frobnicate");
}

#[test]
fn failures_wait_then_end_the_turn_and_success_forgives_them() {
    let mut turn = turn();
    let server = || Event::Failed(fault(FaultClass::Server));
    let wait = |millis| Step::Apply(Remedy::Wait { delay: Duration::from_millis(millis), why: "x".into() });
    assert_eq!(turn.next(server()), wait(300));
    turn.next(Event::Remedied);
    turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)));
    turn.next(Event::ToolsDone);
    assert_eq!(turn.next(server()), wait(300));
    turn.next(Event::Remedied);
    assert_eq!(turn.next(server()), wait(600));
    turn.next(Event::Remedied);
    let Step::Finish(Outcome::Failed { exit_reason, .. }) = turn.next(server()) else { panic!("end") };
    assert_eq!(exit_reason, NO_RESPONSE);
}

#[test]
fn other_ends() {
    let refusal = reply("I cannot.", FinishReason::ContentFilter);
    let stored = hermes_conversation::RecordError::Store { cause: "disk full".into() };
    for (event, want) in [
        (Event::Cancelled(When::RunningTools), Outcome::Interrupted(When::RunningTools)),
        (Event::StoreFailed(stored.clone()), Outcome::StoreFailed(stored)),
        (
            Event::NoOtherKey(fault(FaultClass::Auth)),
            Outcome::Failed {
                fault: fault(FaultClass::Auth),
                exit_reason: NO_RESPONSE.into(),
                not_compacted: None,
            },
        ),
        (
            Event::Replied(refusal),
            Outcome::Failed {
                fault: Fault::new(FaultClass::ContentPolicy, "I cannot."),
                exit_reason: "text_response(finish_reason=content_filter)".into(),
                not_compacted: None,
            },
        ),
        (
            Event::Replied(calling(CallState::Complete, FinishReason::ContentFilter)),
            Outcome::Failed {
                fault: Fault::new(FaultClass::ContentPolicy, "the model refused to answer"),
                exit_reason: "text_response(finish_reason=content_filter)".into(),
                not_compacted: None,
            },
        ),
    ] {
        assert_eq!(turn().next(event), Step::Finish(want));
    }
}

fn moves_on(step: &Step) -> bool {
    matches!(step, Step::Apply(Remedy::NextModel { .. }))
}

fn looks_for_a_key(step: &Step) -> bool {
    matches!(step, Step::Apply(Remedy::NextKey(_)))
}

#[test]
fn keys_models_and_attempts_are_three_budgets() {
    let mut turn = Turn::new(Limits::default()).with_fallbacks(1);
    turn.next(Event::Started);
    let limited = || fault(FaultClass::RateLimited);
    // However many keys are tried, no attempt and no model is spent on them.
    for _ in 0..5 {
        assert!(looks_for_a_key(&turn.next(Event::Failed(limited()))));
        assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
    }
    assert!(looks_for_a_key(&turn.next(Event::Failed(limited()))));
    assert!(moves_on(&turn.next(Event::NoOtherKey(limited()))));
    turn.next(Event::Remedied);
    // The next model has keys of its own, and all its attempts.
    for seconds in [2, 4] {
        assert!(looks_for_a_key(&turn.next(Event::Failed(limited()))));
        let waits = Step::Apply(Remedy::Wait { delay: Duration::from_secs(seconds), why: "x".into() });
        assert_eq!(turn.next(Event::NoOtherKey(limited())), waits);
        turn.next(Event::Remedied);
    }
    assert!(looks_for_a_key(&turn.next(Event::Failed(limited()))));
    assert!(matches!(turn.next(Event::NoOtherKey(limited())), Step::Finish(Outcome::Failed { .. })));
}

#[test]
fn a_pool_that_always_has_another_key_does_not_hold_a_turn_for_ever() {
    let mut turn = turn();
    for _ in 0..Limits::default().keys {
        assert!(looks_for_a_key(&turn.next(Event::Failed(fault(FaultClass::Auth)))));
        turn.next(Event::Remedied);
    }
    let end = turn.next(Event::Failed(fault(FaultClass::Auth)));
    assert!(matches!(end, Step::Finish(Outcome::Failed { .. })), "{end:?}");
}

#[test]
fn the_next_model_begins_with_nothing_spent() {
    let mut turn = Turn::new(Limits::default()).with_fallbacks(2);
    turn.next(Event::Started);
    let server = || Event::Failed(fault(FaultClass::Server));
    let wait = |millis| Step::Apply(Remedy::Wait { delay: Duration::from_millis(millis), why: "x".into() });
    for _ in 0..2 {
        for millis in [300, 600] {
            assert_eq!(turn.next(server()), wait(millis));
            assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
        }
        assert!(moves_on(&turn.next(server())));
        assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
    }
    assert!(looks_for_a_key(&turn.next(Event::Failed(fault(FaultClass::Auth)))));
    let auth = turn.next(Event::NoOtherKey(fault(FaultClass::Auth)));
    assert!(matches!(auth, Step::Finish(Outcome::Failed { exit_reason, .. }) if exit_reason == NO_RESPONSE));
}

fn stops_streaming(step: &Step) -> bool {
    matches!(step, Step::Apply(Remedy::Mend { quirk: Quirk::NoStreaming, .. }))
}

#[test]
fn what_a_model_could_not_be_sent_may_be_sent_to_the_next() {
    let mut turn = Turn::new(Limits::default()).with_fallbacks(1);
    turn.next(Event::Started);
    let refused = || Event::Failed(fault(FaultClass::StreamingUnsupported));
    assert!(stops_streaming(&turn.next(refused())));
    turn.next(Event::Remedied);
    assert!(moves_on(&turn.next(refused())));
    turn.next(Event::Remedied);
    assert!(stops_streaming(&turn.next(refused())));
}

#[test]
fn refusals_and_empty_replies_are_taken_to_the_next_model() {
    let mut turn = Turn::new(Limits::default()).with_fallbacks(2);
    turn.next(Event::Started);
    assert!(moves_on(&turn.next(Event::Replied(reply("No.", FinishReason::ContentFilter)))));
    turn.next(Event::Remedied);
    for models_left in [1, 0] {
        for _ in 0..3 {
            let step = turn.next(Event::Replied(reply("", FinishReason::Stop)));
            assert_eq!(step, Step::CallModel(Asking::WithTools));
        }
        let step = turn.next(Event::Replied(reply("", FinishReason::Stop)));
        assert_eq!(moves_on(&step), models_left > 0);
        turn.next(Event::Remedied);
    }
}

#[test]
fn nothing_said_to_results_is_asked_about_once_per_round() {
    let mut turn = turn();
    let empty = || Event::Replied(reply("", FinishReason::Stop));
    for _ in 0..2 {
        turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)));
        turn.next(Event::ToolsDone);
        let Step::Apply(Remedy::AskAboutResults(kept)) = turn.next(empty()) else { panic!("asked about") };
        assert_eq!(kept.message.text, "(empty)");
        assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
    }
    // After that it is an empty reply like any other.
    for _ in 0..3 {
        assert_eq!(turn.next(empty()), Step::CallModel(Asking::WithTools));
    }
    let Step::Finish(Outcome::Partial { exit_reason, .. }) = turn.next(empty()) else { panic!("end") };
    assert_eq!(exit_reason, "empty_response_exhausted");
}

#[test]
fn text_beside_housekeeping_calls_is_the_answer_if_nothing_follows() {
    for (only_housekeeping, text, is_answer) in
        [(true, "It is done.", true), (true, " ", false), (false, "It is done.", false)]
    {
        let mut turn = turn();
        let mut said = calling(CallState::Complete, FinishReason::ToolCalls);
        said.message.text = text.to_owned();
        turn.next(Event::Replied(said));
        turn.tools_ran(BatchNotes { only_housekeeping, ..BatchNotes::default() });
        turn.next(Event::ToolsDone);
        let step = turn.next(Event::Replied(reply("", FinishReason::Stop)));
        match step {
            Step::Finish(Outcome::Answered { text, reply, exit_reason }) if is_answer => {
                assert_eq!((text.as_str(), reply.message.text.as_str()), ("It is done.", "It is done."));
                assert_eq!(exit_reason, "fallback_prior_turn_content");
            }
            Step::Apply(Remedy::AskAboutResults(_)) if !is_answer => {}
            other => panic!("{only_housekeeping} {text:?}: {other:?}"),
        }
    }
}

#[test]
fn scripts_give_their_iteration_back_but_not_for_ever() {
    for (only_scripts, want) in [(true, 6), (false, 3)] {
        let mut turn = Turn::new(Limits { max_iterations: 3, ..Limits::default() });
        let mut step = turn.next(Event::Started);
        let mut calls = 0;
        while step == Step::CallModel(Asking::WithTools) {
            calls += 1;
            turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)));
            turn.tools_ran(BatchNotes { only_scripts, ..BatchNotes::default() });
            step = turn.next(Event::ToolsDone);
        }
        assert_eq!((calls, step), (want, Step::Apply(Remedy::AskForSummary)), "{only_scripts}");
    }
}

fn asks_for_a_check(step: &Step) -> bool {
    matches!(step, Step::Apply(Remedy::AskToVerify(_, files)) if files == "`a.rs`")
}

/// Runs tools that leave code unchecked, or not.
fn edit(turn: &mut Turn, unchecked: bool) {
    turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)));
    let unchecked = unchecked.then(|| "`a.rs`".to_owned());
    turn.tools_ran(BatchNotes { unchecked, ..BatchNotes::default() });
    turn.next(Event::ToolsDone);
}

#[test]
fn an_answer_after_unchecked_changes_is_asked_for_again_once_for_each_set_of_changes() {
    let mut turn = turn();
    let answer = || Event::Replied(reply("Done.", FinishReason::Stop));
    for _ in 0..3 {
        edit(&mut turn, true);
        assert!(asks_for_a_check(&turn.next(answer())));
        assert_eq!(turn.next(Event::Remedied), Step::CallModel(Asking::WithTools));
    }
    // Three times in a turn.
    edit(&mut turn, true);
    assert!(matches!(turn.next(answer()), Step::Finish(Outcome::Answered { .. })));

    for (checks, unchecked) in [
        (StopChecks::default(), false),
        (StopChecks { verifies: false, ..StopChecks::default() }, true),
        (StopChecks { nudges: 0, ..StopChecks::default() }, true),
    ] {
        let mut turn = Turn::new(Limits { stop_checks: checks, ..Limits::default() });
        turn.next(Event::Started);
        edit(&mut turn, unchecked);
        assert!(matches!(turn.next(answer()), Step::Finish(Outcome::Answered { .. })), "{checks:?}");
    }
}

#[test]
fn an_answer_that_gave_way_to_a_check_is_not_lost() {
    // The model has nothing to add.
    let mut turn = turn();
    edit(&mut turn, true);
    turn.next(Event::Replied(reply("Done.", FinishReason::Stop)));
    turn.next(Event::Remedied);
    let Step::Finish(Outcome::Answered { text, .. }) =
        turn.next(Event::Replied(reply("", FinishReason::Stop)))
    else {
        panic!("end")
    };
    assert_eq!(text, "Done.");
    // The budget ends first.
    let mut turn = Turn::new(Limits { max_iterations: 2, ..Limits::default() });
    turn.next(Event::Started);
    edit(&mut turn, true);
    turn.next(Event::Replied(reply("Done.", FinishReason::Stop)));
    turn.next(Event::Remedied);
    turn.next(Event::Replied(calling(CallState::Complete, FinishReason::ToolCalls)));
    let Step::Finish(Outcome::Partial { text, exit_reason, .. }) = turn.next(Event::ToolsDone) else {
        panic!("end")
    };
    assert_eq!((text.as_str(), exit_reason.as_str()), ("Done.", "max_iterations_reached(2/2)"));
}

#[test]
fn a_promise_is_answered_twice_before_it_counts() {
    let promise = || Event::Replied(reply("I'll inspect the repository.", FinishReason::Stop));
    for (intent, mode, nudges) in [
        (IntentCheck::Auto, ApiMode::CodexResponses, 2),
        (IntentCheck::Auto, ApiMode::ChatCompletions, 0),
        (IntentCheck::All, ApiMode::AnthropicMessages, 2),
        (IntentCheck::None, ApiMode::CodexResponses, 0),
    ] {
        let stop_checks = StopChecks { intent, ..StopChecks::default() };
        let mut turn = Turn::new(Limits { stop_checks, ..Limits::default() }).asked_in(mode);
        turn.next(Event::Started);
        for _ in 0..nudges {
            assert!(matches!(turn.next(promise()), Step::Apply(Remedy::AskToAct(_))), "{intent:?} {mode:?}");
            turn.next(Event::Remedied);
        }
        assert!(
            matches!(turn.next(promise()), Step::Finish(Outcome::Answered { .. })),
            "{intent:?} {mode:?}"
        );
    }
    // After a tool was used, it is an answer.
    let mut turn = Turn::new(Limits::default()).asked_in(ApiMode::CodexResponses);
    turn.next(Event::Started);
    edit(&mut turn, false);
    assert!(matches!(turn.next(promise()), Step::Finish(Outcome::Answered { .. })));
}
