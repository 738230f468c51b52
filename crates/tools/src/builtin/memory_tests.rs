use crate::memory::{Memory, MemoryChange, MemoryTarget, Remembered};
use crate::testing::Bench;
use crate::{Concurrency, Tool, ToolContext, ToolError, ToolSetup};
use hermes_conversation::{BoxFuture, Effect};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// Notes what it is asked for, and refuses what has `no` in it.
#[derive(Default)]
struct Notes(Mutex<Vec<(MemoryTarget, Vec<MemoryChange>)>>);

impl Memory for Notes {
    fn change(
        &self,
        target: MemoryTarget,
        changes: Vec<MemoryChange>,
    ) -> BoxFuture<'_, Result<Remembered, ToolError>> {
        Box::pin(async move {
            if changes.contains(&MemoryChange::Remove { old_text: "no".to_owned() }) {
                return Err(
                    ToolError::failed("no entry has `no` in it").with("current_entries", json!(["a"]))
                );
            }
            let is_changed = !changes.contains(&MemoryChange::Add { content: "again".to_owned() });
            self.0.lock().unwrap().push((target, changes));
            Ok(Remembered {
                usage: "0% — 8/2,200 chars".to_owned(),
                entry_count: 1,
                is_changed,
                pending: None,
            })
        })
    }
}

fn bench() -> (Bench, Arc<Notes>) {
    let (mut bench, notes) = (Bench::new(), Arc::new(Notes::default()));
    bench.cx = ToolContext::new(ToolSetup { memory: Some(notes.clone()), ..Bench::setup(&bench.root()) });
    (bench, notes)
}

#[tokio::test]
async fn changes_reach_the_memory_and_its_word_the_model() {
    let (bench, notes) = bench();
    let added = json!({"target": "memory", "action": "add", "content": "fact one"});
    assert_eq!(
        bench.call("memory", added).await,
        json!({"success": true, "target": "memory", "message": "Added.", "usage": "0% — 8/2,200 chars",
            "entry_count": 1})
    );
    let batch = json!({"target": "user", "operations": [
        {"action": "remove", "old_text": "a"}, {"action": "replace", "old_text": "b", "content": "c"}]});
    assert_eq!(bench.call("memory", batch).await["message"], "2 changes made.");
    let again = json!({"target": "user", "action": "add", "content": "again"});
    assert_eq!(bench.call("memory", again).await["message"], "Nothing to do: it is so already.");
    let (content, old_text) = ("c".to_owned(), "b".to_owned());
    let asked = notes.0.lock().unwrap();
    assert_eq!(asked[0], (MemoryTarget::Memory, vec![MemoryChange::Add { content: "fact one".to_owned() }]));
    assert_eq!(
        asked[1],
        (
            MemoryTarget::User,
            vec![
                MemoryChange::Remove { old_text: "a".to_owned() },
                MemoryChange::Replace { old_text, content }
            ]
        )
    );
}

#[tokio::test]
async fn what_is_refused_says_so() {
    let (bench, notes) = bench();
    for (arguments, want) in [
        (
            json!({"target": "memory", "action": "remove", "old_text": "no"}),
            json!({"error": "no entry has `no` in it", "current_entries": ["a"], "success": false}),
        ),
        (
            json!({"target": "memory", "content": "x"}),
            json!({"error": "memory was not run: give `action` (add, replace or remove) or `operations`."}),
        ),
    ] {
        assert_eq!(bench.call("memory", arguments).await, want);
    }
    let wrong = bench.call("memory", json!({"target": "other", "action": "add", "content": "x"})).await;
    assert!(wrong["error"].as_str().unwrap().contains("`target` must be one of memory"), "{wrong}");
    assert!(notes.0.lock().unwrap().is_empty());
    let nowhere = json!({"target": "memory", "action": "add", "content": "x"});
    let answer = Bench::new().call("memory", nowhere).await;
    assert_eq!(answer["error"], super::NOWHERE);
}

#[test]
fn a_write_stands_alone() {
    let (bench, _) = bench();
    let args: super::MemoryArgs =
        serde_json::from_value(json!({"target": "memory", "action": "add", "content": "x"})).unwrap();
    assert_eq!(super::MemoryTool.concurrency(&args, &bench.cx), Concurrency::Alone);
    assert_eq!(super::MemoryTool.effect(&args, &bench.cx), Effect::Any);
}
