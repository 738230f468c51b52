use super::*;
use crate::testing::Bench;
use crate::{ToolSetup, Web, WebHit};
use hermes_conversation::BoxFuture;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

/// A web whose pages are as long as their address says; those below `/bad` are refused, and those below `/gone` fail.
struct Pages;

impl Web for Pages {
    fn refusal(&self, url: &str) -> Option<String> {
        url.contains("/bad").then(|| format!("{url} is refused"))
    }

    fn search<'a>(&'a self, _: &'a str, _: usize) -> BoxFuture<'a, Result<Vec<WebHit>, String>> {
        Box::pin(async { Ok(Vec::new()) })
    }

    fn extract<'a>(&'a self, urls: &'a [String]) -> BoxFuture<'a, Vec<WebPage>> {
        let page = |url: &String| {
            let lines = url.rsplit('/').next().and_then(|text| text.parse().ok()).unwrap_or(1);
            let text = (0..lines).map(|n| format!("line {n:05}\n")).collect();
            let content = match self.refusal(url) {
                Some(why) => Err(why),
                None if url.contains("/gone") => Err("status 404".to_owned()),
                None => Ok(text),
            };
            WebPage { url: url.clone(), title: "T".to_owned(), content }
        };
        let pages = urls.iter().map(page).collect();
        Box::pin(async { pages })
    }

    fn file<'a>(&'a self, _: &'a str, _: usize) -> BoxFuture<'a, Result<Vec<u8>, String>> {
        Box::pin(async { Err("no files".to_owned()) })
    }
}

fn bench() -> Bench {
    let mut bench = Bench::new();
    bench.cx = ToolContext::new(ToolSetup { web: Some(Arc::new(Pages)), ..Bench::setup(&bench.root()) });
    bench
}

#[tokio::test]
async fn pages_have_content_or_an_error() {
    let bench = bench();
    let urls = ["https://a/1", "https://a/gone", "https://a/bad"];
    let (message, value) = bench.answer("web_extract", json!({"urls": urls})).await;
    assert_eq!(
        value,
        json!({"results": [
            {"url": "https://a/1", "title": "T", "content": "line 00000\n"},
            {"url": "https://a/gone", "title": "T", "content": "", "error": "status 404"},
            {"url": "https://a/bad", "title": "T", "content": "", "error": "https://a/bad is refused"},
        ]})
    );
    assert!(message.api_content.unwrap().starts_with("<untrusted_tool_result source=\"web_extract\""));
}

#[tokio::test]
async fn calls_without_a_permitted_address_are_denied() {
    let bench = bench();
    for (urls, want) in [
        (json!([]), "1 to 5"),
        (json!(vec!["u"; 6]), "urls"),
        (json!(["https://a/bad"]), "https://a/bad is refused"),
    ] {
        let (_, value) = bench.answer("web_extract", json!({"urls": urls})).await;
        assert!(value["error"].as_str().unwrap_or_default().contains(want), "{value}");
    }
}

#[tokio::test]
async fn long_page_is_cut_and_stored_as_untrusted_text() {
    let bench = bench();
    let (_, value) =
        bench.answer("web_extract", json!({"urls": ["https://a/3000"], "char_limit": 2000})).await;
    let content = value["results"][0]["content"].as_str().unwrap();
    assert!(content.chars().count() < 2_500, "{content}");
    assert!(content.starts_with("line 00000\n") && content.contains("characters left out"), "{content}");
    assert!(content.contains("line 02999"), "{content}");
    let path = content.split("full text is in ").nth(1).unwrap().split(';').next().unwrap();
    let stored = std::fs::read_to_string(path).unwrap();
    assert_eq!(stored.lines().count(), 3_000);
    assert_eq!(std::fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    assert!(Path::new(path).starts_with(bench.root().join("home/cache/web")));
    // Read back, it is untrusted again.
    let (message, _) = bench.answer("read_file", json!({"path": path, "limit": 10})).await;
    assert!(message.api_content.is_some_and(|text| text.starts_with("<untrusted_tool_result")));
}

#[test]
fn cut_keeps_three_quarters_of_the_beginning() {
    let store = |_: &str| "stored".to_owned();
    assert_eq!(fitted("äöü", 3, store), "äöü");
    let cut = fitted(&"ä".repeat(100), 40, store);
    let want = format!(
        "{}\n\n[... 60 characters left out ...]\n\n{}\n\n[The page has 100 characters; stored]",
        "ä".repeat(30),
        "ä".repeat(10)
    );
    assert_eq!(cut, want);
}

#[test]
fn titles_name_the_first_address() {
    for (arguments, want) in [
        (json!({"urls": ["https://a"]}), "https://a"),
        (json!({"urls": ["https://a", "b", "c"]}), "https://a and 2 more"),
        (json!({}), ""),
    ] {
        assert_eq!(addresses(&arguments), want);
    }
}
