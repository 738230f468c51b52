//! Tasks that are given to helpers.

use crate::process::{
    assert_identical, code, custom_model, eventually, exported, finished, hermes, is_running, json_lines,
    run, stderr, stdout, unique_sleep,
};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A provider that tells by the first message who asks: the helpers' begins with `Task:`.
async fn world(
    config: &str,
    main: impl Fn(usize) -> ReplyScript + Send + Sync + 'static,
    helper: impl Fn(&str, usize) -> ReplyScript + Send + Sync + 'static,
) -> (TempHome, FakeProvider) {
    let (home, provider) = (TempHome::new(), FakeProvider::start().await);
    home.write_config(&format!("{}{config}", custom_model(&provider.base_url())));
    provider.answer_with(move |body| {
        let messages = body["messages"].as_array().unwrap();
        let steps = messages.iter().filter(|message| message["tool_calls"].is_array()).count();
        let first = messages.iter().find(|message| message["role"] == "user").unwrap();
        match first["content"].as_str().unwrap().strip_prefix("Task: ") {
            Some(task) => helper(task, steps),
            None => main(steps),
        }
    });
    (home, provider)
}

fn delegating(tasks: &[&str]) -> ReplyScript {
    let tasks: Vec<Value> = tasks.iter().map(|goal| json!({ "goal": goal, "context": "be quick" })).collect();
    ReplyScript::call("delegate_task", json!({ "tasks": tasks }))
}

fn terminal(command: &str) -> ReplyScript {
    ReplyScript::call("terminal", json!({ "command": command }))
}

/// The first tool result that was sent to the main session's model.
fn told(provider: &FakeProvider) -> Value {
    let bodies = provider.bodies();
    let mut results = bodies.iter().flat_map(|body| body["messages"].as_array().unwrap()).filter(|message| {
        message["role"] == "tool" && message["content"].as_str().unwrap().contains("task_index")
    });
    serde_json::from_str(results.next_back().unwrap()["content"].as_str().unwrap()).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn subagents_run_in_parallel_and_return_summaries() {
    // Each waits for the other, so they get on only side by side.
    let (home, provider) = world(
        "",
        |step| if step == 0 { delegating(&["one", "two"]) } else { ReplyScript::text("Both are done.") },
        |task, step| {
            let (own, other) = if task.starts_with("one") { ("one", "two") } else { ("two", "one") };
            match step {
                0 => {
                    terminal(&format!("touch {own}; until [ -e {other} ]; do sleep 0.01; done; echo hidden"))
                }
                _ => ReplyScript::text(format!("I did {own}.")),
            }
        },
    )
    .await;
    let out = run(home.path(), &["--yolo", "--json", "--record", "tape", "-z", "go"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    // In a recording helpers are what they are to the session: a tool that takes long.
    let again = run(home.path(), &["replay", "tape"]).await;
    assert_identical(&again, 2);
    let lines = json_lines(&out);
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).collect::<Vec<_>>();
    assert_eq!(
        (of("helper_started").len(), of("helper_tool_started").len(), of("helper_finished").len()),
        (2, 2, 2)
    );
    assert_eq!(of("result")[0]["final_response"], "Both are done.");
    let told = told(&provider);
    for (index, own) in ["one", "two"].into_iter().enumerate() {
        let result = &told["results"][index];
        assert_eq!(
            (&result["status"], &result["summary"]),
            (&json!("completed"), &json!(format!("I did {own}.")))
        );
        assert_eq!((&result["api_calls"], &result["exit_reason"]), (&json!(2), &json!("completed")));
        assert_eq!(result["tool_trace"][0]["tool"], "terminal");
        assert_eq!(result["tool_trace"][0]["status"], "ok");
    }
    assert!(!told.to_string().contains("hidden"));
    // What a helper is told: its task, and no way to have helpers or to ask anyone.
    let bodies = provider.bodies();
    let asked = bodies.iter().find(|body| body.to_string().contains("Task: one")).unwrap();
    for blocked in ["delegate_task", "clarify"] {
        assert!(!asked["tools"].to_string().contains(blocked), "{blocked}");
    }
    assert!(asked["messages"][0]["content"].as_str().unwrap().contains("one task for another agent"));
    assert_eq!(asked["messages"][1]["content"], "Task: one\n\nWhat you should know:\nbe quick");
    // They are sessions of their own, kept out of the list.
    let listed = run(home.path(), &["sessions", "list", "--json"]).await;
    assert_eq!(serde_json::from_slice::<Value>(&listed.stdout).unwrap().as_array().unwrap().len(), 1);
    let sessions = exported(home.path()).await;
    let helpers: Vec<_> = sessions.iter().filter(|session| session["source"] == "subagent").collect();
    assert_eq!(helpers.len(), 2);
    assert!(helpers.iter().all(|helper| helper["end_reason"] == "subagent_done"), "{helpers:?}");
    let result = of("result")[0];
    assert_eq!(result["api_calls"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn subagent_commands_without_an_approver_are_denied() {
    for (config, runs) in [("", false), ("delegation:\n  subagent_auto_approve: true\n", true)] {
        let (home, _provider) = world(
            config,
            |step| if step == 0 { delegating(&["one"]) } else { ReplyScript::text("Done.") },
            |_, step| if step == 0 { terminal("touch ran") } else { ReplyScript::text("I tried.") },
        )
        .await;
        let out = run(home.path(), &["-z", "go"]).await;
        assert_eq!(code(&out), if runs { 0 } else { 77 }, "{}", stderr(&out));
        assert_eq!(home.path().join("ran").exists(), runs, "{config}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn orchestrator_may_delegate_within_the_depth_limit() {
    for (depth, goes_deeper) in [(1, false), (2, true)] {
        let (home, provider) = world(
            &format!("delegation:\n  max_spawn_depth: {depth}\n"),
            |step| match step {
                0 => ReplyScript::call("delegate_task", json!({"goal": "upper", "role": "orchestrator"})),
                _ => ReplyScript::text("Done."),
            },
            |task, step| match (task.starts_with("upper"), step) {
                (true, 0) => {
                    ReplyScript::call("delegate_task", json!({"goal": "lower", "role": "orchestrator"}))
                }
                (true, _) => ReplyScript::text("The lower one is done."),
                (false, _) => ReplyScript::text("I am the lower one."),
            },
        )
        .await;
        let out = run(home.path(), &["-z", "go"]).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        let lower =
            provider.bodies().iter().filter(|body| body["messages"][1]["content"] == "Task: lower").count();
        assert_eq!(lower > 0, goes_deeper, "depth {depth}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupting_the_session_stops_its_subagents() {
    let nap = unique_sleep();
    let command = format!("touch begun; {nap}");
    let (home, _provider) =
        world("", |_| delegating(&["one"]), move |_, _| terminal(&command).with_text("I begin.")).await;
    let mut command = hermes(home.path(), home.path(), &["--yolo", "-z", "go"]);
    let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    eventually("the helper's command", || home.path().join("begun").exists()).await;
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let out = tokio::task::spawn_blocking(move || child.wait_with_output().unwrap()).await.unwrap();
    assert_eq!(code(&out), 130, "{}", stderr(&out));
    assert!(!is_running(&nap));
    let sessions = exported(home.path()).await;
    let main = sessions.iter().find(|session| session["source"] == "cli").unwrap();
    let messages = main["messages"].as_array().unwrap();
    let result = messages.iter().find(|message| message["role"] == "tool").unwrap();
    let result: Value = serde_json::from_str(result["content"].as_str().unwrap()).unwrap();
    assert_eq!(
        (&result["results"][0]["status"], &result["results"][0]["summary"]),
        (&json!("interrupted"), &json!("I begin."))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_subagents_are_closed_with_their_session() {
    let command = "touch begun; until [ -e go ]; do sleep 0.02; done; echo once >> log";
    let (home, provider) = world(
        "",
        |step| if step == 0 { delegating(&["one"]) } else { ReplyScript::text("I see.") },
        move |_, _| terminal(command).with_text("I begin."),
    )
    .await;
    let mut killed = hermes(home.path(), home.path(), &["--yolo", "-z", "go"]);
    let mut killed = killed.stdin(Stdio::null()).spawn().unwrap();
    eventually("the helper's command", || home.path().join("begun").exists()).await;
    killed.kill().unwrap();
    killed.wait().unwrap();
    std::fs::write(home.path().join("go"), "").unwrap();
    let out = finished(hermes(home.path(), home.path(), &["--yolo", "--continue", "-z", "and?"])).await;
    assert_eq!((stdout(&out).as_str(), code(&out)), ("I see.\n", 0), "{}", stderr(&out));
    let told = told(&provider);
    assert_eq!(
        (&told["results"][0]["status"], &told["results"][0]["summary"]),
        (&json!("interrupted"), &json!("I begin."))
    );
    assert_eq!(std::fs::read_to_string(home.path().join("log")).unwrap(), "once\n");
    // The helper's own record has the real result of its command.
    let sessions = exported(home.path()).await;
    let helper = sessions.iter().find(|session| session["source"] == "subagent").unwrap();
    let messages = helper["messages"].as_array().unwrap();
    let result = messages.iter().find(|message| message["role"] == "tool").unwrap();
    assert_eq!(result["content"], json!({"output": "", "exit_code": 0, "error": null}).to_string());
}
