//! Budgets, through the binary: limits hold for every caller.

use crate::command_log::{CommandLog, masked};
use crate::process::{run, stderr, stdout};
use hermes_conversation::{Money, Usage};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::process::Output;
use std::sync::{Arc, Mutex};

/// Dollars for a million tokens, and the most tokens of a reply.
const INPUT: &str = "3";
const OUTPUT: &str = "15";
const MAX_TOKENS: u64 = 200;

fn configure(home: &TempHome, provider: &FakeProvider, more: &str) {
    home.write_config(&format!(
        "model:\n  provider: custom\n  base_url: '{}'\n  default: m\n  max_tokens: {MAX_TOKENS}\n  \
         pricing: {{input: {INPUT}, output: {OUTPUT}}}\n{more}",
        provider.base_url()
    ));
}

fn last_json(out: &Output) -> Value {
    serde_json::from_str(stdout(out).lines().last().unwrap()).unwrap()
}

fn price(input: u64, output: u64) -> Money {
    let million = |dollars: &str, count: u64| {
        Money::from_units(Money::parse(dollars).unwrap().units() / 1_000_000).times(count)
    };
    million(INPUT, input) + million(OUTPUT, output)
}

#[tokio::test(flavor = "multi_thread")]
async fn eight_processes_never_exceed_a_shared_budget() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let limit = Money::parse("8").unwrap();
    configure(&home, &provider, "budget: {day_usd: 8}\n");
    // The dearest reply that a request allows, again and again.
    let invoice = Arc::new(Mutex::new(Vec::new()));
    let billed = invoice.clone();
    provider.answer_with(move |request| {
        let input = request.to_string().len() as u64 / 2;
        let mut billed = billed.lock().unwrap();
        billed.push(price(input, MAX_TOKENS));
        let usage = Usage { input, output: MAX_TOKENS, ..Usage::default() };
        let path = format!("missing-{}", billed.len());
        ReplyScript::call("read_file", json!({ "path": path })).with_usage(usage)
    });
    let runs = (0..8).map(|_| run(home.path(), &["--json", "-z", "spend it all"]));
    let outs = futures::future::join_all(runs).await;
    for out in &outs {
        let result = last_json(out);
        assert_eq!(result["failure_reason"], "budget", "{result}");
        let error = result["error"].as_str().unwrap();
        assert!(error.contains("budget.day_usd"), "{error}");
    }
    let (spent, dearest) = {
        let invoice = invoice.lock().unwrap();
        (invoice.iter().copied().sum::<Money>(), invoice.iter().copied().max().unwrap())
    };
    assert!(spent <= limit, "{spent} of {limit}");
    // And what could be spent was: another call might have passed the limit.
    assert!(spent + dearest + dearest > limit, "{spent} of {limit}, a call is at most {dearest}");
    let budget = last_json(&run(home.path(), &["budget", "--json"]).await);
    let charged = budget["spent_usd"].as_f64().unwrap();
    assert!((charged - spent.dollars()).abs() < 1e-9, "{budget}");
    assert_eq!((&budget["reserved_usd"], &budget["limits"]["day_usd"]), (&json!(0.0), &json!(8.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn call_that_could_exceed_the_limit_is_not_sent() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    configure(&home, &provider, "budget: {session_usd: 0.0001}\n");
    let out = run(home.path(), &["-z", "hello"]).await;
    let stderr = stderr(&out);
    assert_eq!((out.status.code(), provider.requests().len()), (Some(1), 0), "{stderr}");
    insta::assert_snapshot!("session_limit", masked(&stderr));
    // With room, the same session goes on.
    provider.reply(ReplyScript::text("Hi.").with_usage(Usage {
        input: 1_000,
        output: 10,
        ..Usage::default()
    }));
    assert!(run(home.path(), &["config", "set", "budget.session_usd", "2.50"]).await.status.success());
    let out = run(home.path(), &["--json", "-c", "-z", "again"]).await;
    let result = last_json(&out);
    assert_eq!(result["final_response"], "Hi.", "{result}");
    assert_eq!(
        (&result["cost_status"], &result["cost_source"]),
        (&json!("estimated"), &json!("user_override"))
    );
    assert!((result["estimated_cost_usd"].as_f64().unwrap() - 0.00315).abs() < 1e-12, "{result}");
    let mut log = CommandLog::default();
    log.add(&["budget", "latest"], &run(home.path(), &["budget", "latest"]).await);
    insta::assert_snapshot!("spent", log);
}

#[tokio::test(flavor = "multi_thread")]
async fn subagents_spend_the_budget_of_their_session() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let limit = Money::parse("0.5").unwrap();
    configure(&home, &provider, "budget: {session_usd: 0.5}\n");
    let invoice = Arc::new(Mutex::new(Vec::new()));
    let billed = invoice.clone();
    provider.answer_with(move |request| {
        let input = request.to_string().len() as u64 / 2;
        let mut billed = billed.lock().unwrap();
        let is_first = billed.is_empty();
        billed.push(price(input, MAX_TOKENS));
        let usage = Usage { input, output: MAX_TOKENS, ..Usage::default() };
        let reply = match is_first {
            true => ReplyScript::call("delegate_task", json!({"tasks": [{"goal": "one"}, {"goal": "two"}]})),
            false => ReplyScript::call("read_file", json!({"path": format!("missing-{}", billed.len())})),
        };
        reply.with_usage(usage)
    });
    let out = run(home.path(), &["--json", "-z", "spend it all"]).await;
    let result = last_json(&out);
    assert_eq!(result["failure_reason"], "budget", "{result}");
    let (spent, dearest, calls) = {
        let invoice = invoice.lock().unwrap();
        (invoice.iter().copied().sum::<Money>(), invoice.iter().copied().max().unwrap(), invoice.len())
    };
    assert!(spent <= limit && calls > 4, "{spent} of {limit} in {calls} calls");
    assert!(spent + dearest + dearest > limit, "{spent} of {limit}, a call is at most {dearest}");
    // Both were stopped by it, and said so.
    let told =
        stdout(&out).lines().find(|line| line.contains(r#""type":"tool_finished""#)).map(str::to_owned);
    assert_eq!(told.map(|told| told.matches("budget.session_usd").count()), Some(2));
    // Also after a resume nothing more is sent.
    let again = last_json(&run(home.path(), &["--json", "-c", "-z", "go on"]).await);
    assert_eq!((&again["failure_reason"], provider.requests().len()), (&json!("budget"), calls), "{again}");
    let session = again["session_id"].as_str().unwrap();
    let shown = last_json(&run(home.path(), &["budget", session, "--json"]).await);
    assert!((shown["spent_usd"].as_f64().unwrap() - spent.dollars()).abs() < 1e-9, "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn model_without_a_price_needs_permission() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    let config = |more: &str| {
        home.write_config(&format!(
            "model: {{provider: custom, base_url: '{}', default: m}}\nbudget: {{day_usd: 5{more}}}\n",
            provider.base_url()
        ));
    };
    config("");
    let out = run(home.path(), &["-z", "hello"]).await;
    let stderr = stderr(&out);
    insta::assert_snapshot!("unknown_price", stderr);
    config(", unknown_price: allow");
    provider.reply(ReplyScript::text("Hi."));
    assert_eq!(stdout(&run(home.path(), &["-z", "hello"]).await), "Hi.\n");
    let budget = last_json(&run(home.path(), &["budget", "--json"]).await);
    assert_eq!((&budget["rows"][0]["unpriced_calls"], &budget["spent_usd"]), (&json!(1), &json!(0.0)));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_limit_is_an_error() {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    configure(&home, &provider, "budget: {day_usd: lots}\n");
    let out = run(home.path(), &["-z", "hello"]).await;
    let stderr = stderr(&out);
    assert!(!out.status.success() && provider.requests().is_empty());
    insta::assert_snapshot!("wrong_type", masked(&stderr));
}
