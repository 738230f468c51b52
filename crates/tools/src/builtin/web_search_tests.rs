use crate::testing::Bench;
use crate::{ToolContext, ToolSetup, Web, WebHit, WebPage};
use hermes_conversation::BoxFuture;
use hermes_guard::Secrets;
use serde_json::json;
use std::sync::Arc;

/// A web of one hit, which repeats the query.
struct Echo;

impl Web for Echo {
    fn refusal(&self, _: &str) -> Option<String> {
        None
    }

    fn search<'a>(&'a self, query: &'a str, limit: usize) -> BoxFuture<'a, Result<Vec<WebHit>, String>> {
        Box::pin(async move {
            let hit = |n| WebHit {
                title: query.to_owned(),
                url: format!("https://h.example/{n}"),
                description: String::new(),
            };
            match query {
                "down" => Err("searxng did not answer".to_owned()),
                _ => Ok((0..limit + 2).map(hit).collect()),
            }
        })
    }

    fn extract<'a>(&'a self, _: &'a [String]) -> BoxFuture<'a, Vec<WebPage>> {
        Box::pin(async { Vec::new() })
    }

    fn file<'a>(&'a self, _: &'a str, _: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async { Err("no files".to_owned()) })
    }
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    let secrets = Secrets::new([("KEY", "hunter2-hunter2".to_owned().into())]);
    let setup =
        ToolSetup { web: Some(Arc::new(Echo)), secrets: Arc::new(secrets), ..Bench::setup(&bench.root()) };
    bench.cx = ToolContext::new(setup);
    bench
}

#[tokio::test]
async fn results_have_positions_and_are_untrusted() {
    let bench = bench();
    let (message, value) = bench.answer("web_search", json!({"query": " rust ", "limit": 2})).await;
    assert_eq!(
        value,
        json!({"success": true, "data": {"web": [
            {"title": "rust", "url": "https://h.example/0", "description": "", "position": 1},
            {"title": "rust", "url": "https://h.example/1", "description": "", "position": 2},
        ]}})
    );
    assert!(message.api_content.unwrap().starts_with("<untrusted_tool_result source=\"web_search\""));
}

#[tokio::test]
async fn failures_and_bad_queries_are_named() {
    let bench = bench();
    for (arguments, want) in [
        (json!({"query": "down"}), "searxng did not answer"),
        (json!({"query": " "}), "1 to 1000 characters"),
        (json!({"query": "x".repeat(1_001)}), "1 to 1000 characters"),
        (json!({"query": "who has hunter2-hunter2?"}), "contains a key"),
        (json!({"query": "x", "limit": 101}), "limit"),
    ] {
        let (_, value) = bench.answer("web_search", arguments).await;
        let error = value["error"].as_str().unwrap_or_default();
        assert!(error.contains(want), "{value}");
    }
}
