use super::*;
use hermes_conversation::{Content, SessionId, UserMessage};
use hermes_testkit::ReplyScript;
use hermes_testkit::{ModelStep, ScriptedModel};

fn request(task: AuxTask) -> AuxRequest {
    let message = UserMessage { content: Content::text("sum up"), api_content: None };
    AuxRequest {
        task,
        session: Some(SessionId::new("s")),
        system: "Be brief.".into(),
        messages: vec![Message::User(message)],
        max_output_tokens: 77,
    }
}

fn limits() -> AuxLimits {
    AuxLimits { time: Duration::from_secs(60), retries: 2, backoff: Duration::from_millis(1) }
}

fn refused(status: u16) -> Failure {
    Failure::Http { status, retry_after: None, body: "no".into() }
}

/// Models that each do their steps, under names of their own.
fn stops(steps: Vec<Vec<ModelStep>>) -> (Vec<Arc<ScriptedModel>>, Vec<Arc<dyn Model>>) {
    let named = |(at, steps): (usize, Vec<ModelStep>)| {
        let model = ScriptedModel::of(steps);
        let mut profile = model.profile().clone();
        profile.issuer.provider = format!("p{at}");
        Arc::new(model.with_profile(profile))
    };
    let models: Vec<_> = steps.into_iter().enumerate().map(named).collect();
    let stops = models.iter().map(|model| model.clone() as Arc<dyn Model>).collect();
    (models, stops)
}

fn says(text: &str) -> ModelStep {
    ModelStep::Reply(ReplyScript::text(text))
}

#[tokio::test]
async fn the_question_is_asked_without_tools_and_with_a_cap() {
    let (models, stops) = stops(vec![vec![says(" A title \n")]]);
    let answer = ask_in_order(&stops, &Cooldowns::default(), &limits(), &request(AuxTask::Title)).await;
    assert_eq!(answer.unwrap(), "A title");
    let body = &models[0].bodies()[0];
    assert_eq!((body.get("tools"), body["max_tokens"].as_u64()), (None, Some(77)));
    assert_eq!(models[0].requests()[0].session.as_deref(), Some("s"));
}

#[tokio::test]
async fn a_model_that_may_recover_is_tried_again_and_then_another_one() {
    let fail = || ModelStep::Fail(refused(500));
    let (models, stops) = stops(vec![vec![fail(), fail(), fail(), says("late")], vec![says("yes")]]);
    let answer = ask_in_order(&stops, &Cooldowns::default(), &limits(), &request(AuxTask::Title)).await;
    assert_eq!((answer.unwrap().as_str(), models[0].left()), ("yes", 1));
}

#[tokio::test]
async fn an_answer_says_whose_place_it_takes() {
    for (steps, want) in [
        (vec![vec![says("yes")], vec![]], None),
        (vec![vec![ModelStep::Fail(refused(404))], vec![says("yes")]], Some("p0/")),
    ] {
        let (_, stops) = stops(steps);
        let request = request(AuxTask::Compression);
        let answer = answer_in_order(&stops, &Cooldowns::default(), &limits(), &request).await.unwrap();
        let why = answer.instead_of;
        assert_eq!(why.is_some(), want.is_some(), "{why:?}");
        assert!(why.unwrap_or_default().starts_with(want.unwrap_or_default()));
    }
}

#[tokio::test]
async fn one_without_credit_rests_for_all_jobs() {
    let cooldowns = Cooldowns::default();
    let (models, stops) =
        stops(vec![vec![ModelStep::Fail(refused(402)), says("rested")], vec![says("yes"), says("again")]]);
    for want in ["yes", "again"] {
        let answer = ask_in_order(&stops, &cooldowns, &limits(), &request(AuxTask::Vision)).await;
        assert_eq!(answer.unwrap(), want);
    }
    assert_eq!(models[0].left(), 1);
    // When no model is left, the cooldowns are over.
    let alone = ask_in_order(&stops[..1], &cooldowns, &limits(), &request(AuxTask::Vision)).await;
    assert_eq!(alone.unwrap(), "rested");
}

#[tokio::test]
async fn the_error_names_the_job_and_who_failed_last() {
    let cases = vec![
        (vec![ModelStep::Fail(refused(404))], "title_generation: p0/"),
        (vec![says(" "), says(""), says("\n")], "the reply was empty"),
        (vec![ModelStep::Fail(Failure::OverBudget { why: "too dear".into() })], "too dear"),
    ];
    for (steps, words) in cases {
        let (_, stops) = stops(vec![steps]);
        let error = ask_in_order(&stops, &Cooldowns::default(), &limits(), &request(AuxTask::Title)).await;
        let error = error.unwrap_err();
        assert!(error.contains(words), "{error}");
    }
    let nobody = ask_in_order(&[], &Cooldowns::default(), &limits(), &request(AuxTask::Title)).await;
    assert!(nobody.unwrap_err().contains("hermes model tasks"));
}

#[tokio::test]
async fn a_budget_that_is_spent_is_spent_for_every_model() {
    let broke = ModelStep::Fail(Failure::OverBudget { why: "too dear".into() });
    let (models, stops) = stops(vec![vec![broke], vec![says("yes")]]);
    let answer = ask_in_order(&stops, &Cooldowns::default(), &limits(), &request(AuxTask::Title)).await;
    assert!(answer.is_err() && models[1].left() == 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_takes_too_long_is_not_waited_for() {
    let (models, stops) =
        stops(vec![vec![ModelStep::Pend, ModelStep::Pend, ModelStep::Pend], vec![says("yes")]]);
    let answer = ask_in_order(&stops, &Cooldowns::default(), &limits(), &request(AuxTask::Title)).await;
    assert_eq!((answer.unwrap().as_str(), models[0].left()), ("yes", 0));
}

/// Reasoning may use up the output limit.
#[tokio::test]
async fn an_answer_that_was_cut_is_asked_for_with_more_room() {
    use AuxTask::{Compression, Title};
    let cut = |text: &str| ModelStep::Reply(ReplyScript::text(text).with_finish(FinishReason::Length));
    let refused = || ModelStep::Fail(refused(400));
    for (task, steps, want, caps) in [
        (Compression, vec![cut("beg"), says("whole")], Some(("whole", false)), vec![77, 308]),
        (Compression, vec![cut("beg"), cut("begin")], Some(("begin", true)), vec![77, 308]),
        (Compression, vec![cut("beg"), refused()], Some(("beg", true)), vec![77, 308]),
        (Compression, vec![cut(""), refused()], None, vec![77, 308]),
        (Compression, vec![says("whole")], Some(("whole", false)), vec![77]),
        (Title, vec![cut("beg")], Some(("beg", true)), vec![77]),
        (Title, vec![cut(""), says("whole")], Some(("whole", false)), vec![77, 308]),
    ] {
        let (models, stops) = stops(vec![steps]);
        let answer = answer_in_order(&stops, &Cooldowns::default(), &limits(), &request(task)).await.ok();
        let said = answer.as_ref().map(|answer| (answer.text.as_str(), answer.was_cut));
        assert_eq!(said, want, "{task:?}");
        let asked: Vec<_> = models[0].bodies().iter().map(|body| body["max_tokens"].as_u64()).collect();
        assert_eq!(asked, caps.into_iter().map(Some).collect::<Vec<_>>(), "{task:?} {want:?}");
    }
}

#[test]
fn every_fault_is_decided() {
    use AuxStep::{Again, GiveUp, Next};
    let (again, next, rests) = (Again(Duration::from_millis(2)), Next { rests: false }, Next { rests: true });
    for class in FaultClass::ALL.iter().copied() {
        use FaultClass::*;
        let (first, last) = match class {
            Timeout | StreamCut | Server | Overloaded | Garbled | Unknown => (again, next),
            Unreachable => (again, rests),
            Billing | RateLimited | UpstreamRateLimited | Auth | Certificate => (rests, rests),
            Budget => (GiveUp, GiveUp),
            _ => (next, next),
        };
        let fault = Fault::new(class, "x");
        assert_eq!(decide(AuxTask::Title, &fault, 1, &limits()), first, "{class:?}");
        assert_eq!(decide(AuxTask::Title, &fault, 2, &limits()), last, "{class:?}");
    }
    let late = Fault::new(FaultClass::Timeout, "x");
    assert_eq!(decide(AuxTask::Compression, &late, 0, &limits()), next);
}
