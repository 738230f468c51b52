use super::*;
use crate::testing::Bench;
use crate::{Delegate, Inherited, ToolSetup};
use hermes_conversation::{BoxFuture, SessionId};
use std::sync::{Arc, Mutex};

/// Remembers what it was given, and reports on it at once.
#[derive(Default)]
struct Helpers(Mutex<Vec<HelperTask>>, bool);

impl Delegate for Helpers {
    fn most(&self) -> usize {
        2
    }

    fn summary_chars(&self) -> usize {
        10
    }

    fn run<'a>(
        &'a self,
        tasks: Vec<HelperTask>,
        _: Inherited,
        _: &'a CallScope,
    ) -> BoxFuture<'a, Vec<HelperReport>> {
        let reports = tasks.iter().map(|task| HelperReport {
            session: SessionId::new("child"),
            status: if task.goal == "fail" { "failed" } else { "completed" },
            summary: Some(format!("did {}", task.goal)),
            details: [("api_calls".to_owned(), json!(3))].into_iter().collect(),
            cost: None,
        });
        let reports = reports.collect();
        self.0.lock().unwrap().extend(tasks);
        Box::pin(async move { reports })
    }

    fn begin<'a>(
        &'a self,
        tasks: Vec<HelperTask>,
        _: Inherited,
        _: &'a CallScope,
    ) -> BoxFuture<'a, Result<Vec<BegunTask>, String>> {
        let begun = (1..).zip(&tasks).map(|(number, task)| BegunTask {
            number,
            id: format!("agent_{}", task.goal),
            session: SessionId::new("child"),
        });
        let begun = begun.collect();
        Box::pin(async move { Ok(begun) })
    }

    fn has_background(&self) -> bool {
        self.1
    }
}

fn bench(helpers: &Arc<Helpers>) -> Bench {
    let mut bench = Bench::new();
    let root = bench.root();
    bench.cx = ToolContext::new(ToolSetup { delegate: Some(helpers.clone()), ..Bench::setup(&root) });
    bench
}

#[tokio::test]
async fn tasks_are_given_and_reported_in_order() {
    let helpers = Arc::new(Helpers::default());
    let bench = bench(&helpers);
    let tasks = json!([{"goal": "a", "context": "look here"}, {"goal": "fail", "role": "orchestrator"}]);
    let told = bench.call("delegate_task", json!({ "tasks": tasks })).await;
    assert_eq!(
        told["results"][0],
        json!({"task_index": 0, "status": "completed", "summary": "did a",
        "session_id": "child", "api_calls": 3})
    );
    assert_eq!(told["results"][1]["status"], "failed");
    assert!(told["total_duration_seconds"].is_number());
    let given = helpers.0.lock().unwrap().clone();
    assert_eq!(
        (given[0].context.as_deref(), given[0].role, given[1].role),
        (Some("look here"), Role::Leaf, Role::Orchestrator)
    );
}

#[tokio::test]
async fn a_long_summary_is_kept_in_a_file() {
    let bench = bench(&Arc::default());
    let told = bench.call("delegate_task", json!({"goal": "something long"})).await;
    let summary = told["results"][0]["summary"].as_str().unwrap();
    assert!(summary.starts_with("did someth\n[The summary goes on in "), "{summary}");
    assert_eq!(std::fs::read_to_string(bench.result_file()).unwrap(), "did something long");
}

#[tokio::test]
async fn tasks_in_the_background_are_waited_for_only_where_nothing_follows() {
    let tasks = json!({"tasks": [{"goal": "a"}, {"goal": "b"}], "background": true});
    let told = bench(&Arc::default()).call("delegate_task", tasks.clone()).await;
    assert_eq!(told["results"][1]["summary"], "did b");
    assert!(told["hint"].as_str().unwrap().contains("waited for"), "{told}");
    let with_background = Arc::new(Helpers(Mutex::default(), true));
    let told = bench(&with_background).call("delegate_task", tasks).await;
    let want = json!({
        "task_index": 1, "delegation_id": "agent_b", "number": 2, "status": "running", "session_id": "child"
    });
    assert_eq!(told["results"][1], want);
    assert!(with_background.0.lock().unwrap().is_empty(), "nothing was waited for");
}

#[tokio::test]
async fn calls_that_make_no_sense_are_refused() {
    let alone = Bench::new();
    let refused = alone.call("delegate_task", json!({"goal": "a"})).await;
    assert!(refused["error"].as_str().unwrap().contains("cannot be had here"), "{refused}");
    let bench = bench(&Arc::default());
    for (arguments, part) in [
        (json!({}), "`goal` is missing"),
        (json!({"goal": " "}), "a goal is empty"),
        (json!({"goal": "a", "tasks": []}), "not both"),
        (json!({"tasks": []}), "`tasks` is empty"),
        (json!({"tasks": [{"goal": "a"}, {"goal": "b"}, {"goal": "c"}]}), "at most 2"),
    ] {
        let refused = bench.call("delegate_task", arguments.clone()).await;
        assert!(refused["error"].as_str().unwrap().contains(part), "{arguments}: {refused}");
    }
}
