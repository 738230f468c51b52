use super::*;
use crate::testing::Bench;
use crate::{Approval, ApprovalRequest, AskUser, Concurrency, Verdict};
use hermes_conversation::{BoxFuture, Effect, IntentState};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tokio::time::Instant;

/// A user interface that answers every question with this; `None` never answers.
struct Says {
    answer: Option<Clarified>,
    heard: Mutex<Vec<Question>>,
}

impl AskUser for Says {
    fn approve<'a>(&'a self, _: &'a ApprovalRequest) -> BoxFuture<'a, Approval> {
        Box::pin(async { Approval::DENIED })
    }

    fn clarify<'a>(&'a self, question: &'a Question) -> BoxFuture<'a, Clarified> {
        self.heard.lock().unwrap().push(question.clone());
        let answer = self.answer.clone();
        Box::pin(async move {
            match answer {
                Some(answer) => answer,
                None => std::future::pending().await,
            }
        })
    }
}

fn bench(answer: Option<Clarified>) -> (Bench, Arc<Says>) {
    let says = Arc::new(Says { answer, heard: Mutex::default() });
    let mut bench = Bench::new();
    bench.ask = says.clone();
    (bench, says)
}

fn blue() -> Option<Clarified> {
    Some(Clarified::Answered("blue".to_owned()))
}

#[tokio::test]
async fn a_question_is_put_with_the_choices_that_say_something() {
    for (arguments, text, choices) in [
        (json!({"question": "Which?"}), "Which?", vec![]),
        (json!({"question": " Which?\n", "choices": null}), "Which?", vec![]),
        (json!({"question": "Which?", "choices": ["red", " blue "]}), "Which?", vec!["red", "blue"]),
        (json!({"question": "Which?", "choices": ["", "red", "  "]}), "Which?", vec!["red"]),
        (
            json!({"question": "Which?", "choices": ["a", "", "b", "c", "d", "e"]}),
            "Which?",
            vec!["a", "b", "c", "d"],
        ),
        (json!({"question": "Which?", "choices": "[\"a\",\"b\"]"}), "Which?", vec!["a", "b"]),
    ] {
        let (bench, says) = bench(blue());
        let result = bench.call("clarify", &arguments).await;
        let want = json!({"question": text, "choices_offered": choices, "user_response": "blue"});
        assert_eq!(result, want, "{arguments}");
        let heard = says.heard.lock().unwrap();
        let choices = choices.into_iter().map(str::to_owned).collect();
        let call_id = hermes_conversation::CallId::new("call/1");
        assert_eq!(*heard, [Question { call_id, text: text.to_owned(), choices }], "{arguments}");
    }
}

#[tokio::test]
async fn an_empty_question_is_not_put() {
    for arguments in [json!({"question": "  "}), json!({}), json!({"choices": ["a"]})] {
        let (bench, says) = bench(blue());
        let result = bench.call("clarify", &arguments).await;
        assert!(result["error"].as_str().unwrap().contains("`question`"), "{arguments}: {result}");
        assert!(says.heard.lock().unwrap().is_empty(), "{arguments}");
    }
}

#[test]
fn it_needs_no_approval_and_runs_beside_nothing() {
    let prepared = Bench::new().prepare("clarify", json!({"question": "Which?"}));
    assert_eq!((prepared.verdict, prepared.concurrency), (Verdict::Run, Concurrency::Alone));
    assert_eq!(prepared.effect, Effect::Read);
}

#[tokio::test]
async fn without_a_user_the_model_decides() {
    let result = Bench::new().call("clarify", json!({"question": "Which?"})).await;
    assert_eq!(result["user_response"], NOBODY);
}

#[tokio::test(start_paused = true)]
async fn silence_is_waited_for_as_long_as_the_settings_say() {
    let (bench, _says) = bench(None);
    let begun = Instant::now();
    let result: Value = bench.call("clarify", json!({"question": "Which?"})).await;
    assert_eq!(begun.elapsed().as_secs(), 3600);
    let response = result["user_response"].as_str().unwrap();
    assert!(response.starts_with("No answer came within 3600 s."), "{response}");
}

#[tokio::test(start_paused = true)]
async fn without_a_limit_any_time_is_waited() {
    let waited = tokio::time::timeout(Duration::from_secs(1_000_000), answer(std::future::pending(), None));
    assert!(waited.await.is_err());
}

#[tokio::test]
async fn a_stop_ends_the_wait() {
    let (bench, _says) = bench(None);
    bench.cancel.cancel();
    let finished = bench.finish("clarify", json!({"question": "Which?"})).await;
    assert!(finished.failed);
    assert_eq!(finished.state, IntentState::Failed);
    assert!(finished.message.content.as_text().contains(STOPPED));
}
