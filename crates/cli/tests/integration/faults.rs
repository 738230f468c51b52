//! Every kind of fault through the whole program, in every format in which it exists: the report, the number of
//! requests, the advice to the user, and the conversation afterwards.

mod row;
mod scene;
mod table;
mod transcript;
mod untrusted;

use hermes_runtime::FaultClass;
use row::{Mode, Row};
use scene::Scene;
use std::collections::HashSet;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

#[test]
fn every_class_has_a_row() {
    let rows: HashSet<FaultClass> = table::staying().iter().map(|row| row.class).collect();
    // A budget is refused before a server is asked; `budget.rs` is about it.
    let elsewhere = [FaultClass::Budget];
    for class in FaultClass::ALL {
        assert_ne!(rows.contains(class), elsewhere.contains(class), "{class:?}");
    }
}

#[test]
fn every_class_is_in_the_documentation() {
    let page = include_str!("../../../../docs/json-events.md");
    let kinds = page.lines().find(|line| line.starts_with("| `failure_reason`")).unwrap();
    for class in FaultClass::ALL {
        assert!(kinds.contains(&format!("`{}`", class.as_str())), "{class:?} in {kinds}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn lasting_fault_ends_the_turn_and_keeps_the_conversation() {
    each(table::staying(), |row, mode| async move { Scene::new(row, mode).await.fails().await }).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn passing_fault_ends_with_one_reply() {
    each(table::passing(), |row, mode| async move { Scene::new(row, mode).await.recovers().await }).await;
}

/// The number of waiting rows that run at once, and of the others. Waiting rows have deadlines, so they must not
/// be too many.
const WAITING: usize = 8;
const WORKING: usize = 4;

/// Plays every row in every format it is for.
async fn each<F>(rows: Vec<Row>, play: impl Fn(Row, Mode) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let mut playing = JoinSet::new();
    let [waiting, working] = [WAITING, WORKING].map(|count| Arc::new(Semaphore::new(count)));
    for row in rows {
        let stages = if row.attempts.is_some() { &waiting } else { &working };
        for mode in row.modes {
            let (stages, scene) = (stages.clone(), play(row.clone(), *mode));
            playing.spawn(async move {
                let _stage = stages.acquire_owned().await.unwrap();
                scene.await;
            });
        }
    }
    assert!(!playing.is_empty());
    let mut failed = 0;
    while let Some(end) = playing.join_next().await {
        failed += usize::from(end.is_err());
    }
    assert_eq!(failed, 0, "rows failed; each has said how");
}
