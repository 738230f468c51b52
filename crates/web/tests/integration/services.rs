//! Services for searching and extracting, as stand-ins on loopback.

use crate::site::{Answer, Site, answer, client, ok, private};
use hermes_tools::Web;
use hermes_web::WebSettings;
use serde_json::json;

fn settings(backend: &str, variables: &[(&str, &str)]) -> WebSettings {
    WebSettings {
        backend: backend.to_owned(),
        extract_backend: String::new(),
        variables: variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        ..private()
    }
}

/// An answer of a SearXNG server to `format=json`.
fn searxng() -> Answer {
    let results = json!({"query": "q", "number_of_results": 0, "results": [
        {"url": "https://low.example/", "title": "Low", "content": "c", "score": 0.2, "engine": "x"},
        {"url": "https://high.example/", "title": "  High\n", "content": "<b>d</b>", "score": 4.0, "engine": "x"},
        {"url": "javascript:alert(1)", "title": "Bad", "content": "", "score": 9.0},
        {"url": "https://me:word@bad.example/", "title": "Bad", "content": "", "score": 9.0},
    ], "answers": [], "suggestions": []});
    ok("application/json", results.to_string())
}

#[tokio::test]
async fn searxng_is_asked_once_and_sorted_by_score() {
    let site = Site::start(vec![("/base/search", searxng())]).await;
    let web = client(settings("searxng", &[("SEARXNG_URL", &site.url("/base/"))]));
    for _ in 0..2 {
        let hits = web.search("rust & c", 5).await.unwrap();
        let hits: Vec<_> =
            hits.iter().map(|hit| format!("{} {} {}", hit.title, hit.url, hit.description)).collect();
        assert_eq!(hits, ["High https://high.example/ d", "Low https://low.example/ c"]);
    }
    let requests = site.requests();
    assert_eq!(requests.len(), 1);
    assert!(
        requests[0].starts_with("GET /base/search?q=rust+%26+c&format=json&pageno=1 "),
        "{}",
        requests[0]
    );
    // The limit holds.
    assert_eq!(web.search("other", 1).await.unwrap().len(), 1);
}

#[tokio::test]
async fn page_for_browsers_of_duckduckgo_is_read() {
    let page = "<div class=result><a class=result__a href='//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2F'>A</a>\
                <a class=result__snippet>text</a></div>";
    let site = Site::start(vec![("/html/", ok("text/html", page))]).await;
    let web = client(settings("", &[("DDGS_BASE_URL", &site.url(""))]));
    let hits = web.search("a b", 5).await.unwrap();
    assert_eq!((hits[0].url.as_str(), hits[0].description.as_str()), ("https://a.example/", "text"));
    assert!(site.requests()[0].ends_with("q=a+b&b="), "{}", site.requests()[0]);
}

#[tokio::test]
async fn failures_name_service_and_next_step() {
    for (status, variables, backend, want) in [
        (
            "401 No",
            ("TAVILY_API_KEY", "TAVILY_BASE_URL"),
            "tavily",
            "Tavily refused the key of TAVILY_API_KEY",
        ),
        ("432 No", ("TAVILY_API_KEY", "TAVILY_BASE_URL"), "tavily", "quota of Tavily"),
        ("429 No", ("EXA_API_KEY", "EXA_BASE_URL"), "exa", "Exa gets too many requests"),
        (
            "500 No",
            ("PARALLEL_API_KEY", "PARALLEL_BASE_URL"),
            "parallel",
            "Parallel answered with status 500",
        ),
        ("403 No", ("", "SEARXNG_URL"), "searxng", "allow the format json"),
        ("302 No", ("BRAVE_SEARCH_API_KEY", "BRAVE_BASE_URL"), "brave-free", "status 302"),
        (
            "200 OK",
            ("BRAVE_SEARCH_API_KEY", "BRAVE_BASE_URL"),
            "brave-free",
            "Brave Search: its answer is not JSON",
        ),
    ] {
        let site =
            Site::of(move |_| Some(answer(status, &[("location", "http://127.0.0.1:9/")], "key-1234567")))
                .await;
        let web = client(settings(backend, &[(variables.0, "key-1234567"), (variables.1, &site.url(""))]));
        let error = web.search("q", 3).await.unwrap_err();
        assert!(error.contains(want) && !error.contains("key-1234567"), "{backend} {status}: {error}");
    }
    let web = client(settings("searxng", &[("SEARXNG_URL", "http://127.0.0.1:9")]));
    assert!(web.search("q", 3).await.unwrap_err().contains("check SEARXNG_URL"));
}

#[tokio::test]
async fn key_goes_to_its_service_only() {
    let own = Site::start(vec![("/p", ok("text/plain", "page"))]).await;
    let service = Site::of(|path| {
        (path == "/extract").then(|| ok("application/json", json!({"results": []}).to_string()))
    })
    .await;
    let keys = [
        ("TAVILY_API_KEY", "tavily-key-123"),
        ("TAVILY_BASE_URL", &service.url("")),
        ("EXA_API_KEY", "exa-key-456"),
    ];
    let web = client(settings("tavily", &keys));
    assert_eq!(web.extract(&[own.url("/p")]).await[0].content.as_deref(), Ok("page"));
    assert!(service.requests()[0].contains("tavily-key-123") && !service.requests()[0].contains("exa-key"));
    assert!(own.requests().iter().all(|request| !request.contains("key-")), "{:?}", own.requests());
}

#[tokio::test]
async fn service_extracts_and_the_rest_is_fetched_here() {
    let own = Site::start(vec![("/b", ok("text/plain", "from here"))]).await;
    let (first, second) = (own.url("/a"), own.url("/b"));
    let results = json!({
        "results": [{"url": format!("{first}/"), "title": "A", "raw_content": "# from the service"}],
        "failed_results": [{"url": second, "error": "blocked"}],
    });
    let service = Site::start(vec![("/extract", ok("application/json", results.to_string()))]).await;
    let web = client(settings(
        "tavily",
        &[("TAVILY_API_KEY", "k-12345678"), ("TAVILY_BASE_URL", &service.url(""))],
    ));
    let pages = web.extract(&[first.clone(), second, "http://169.254.169.254/".into()]).await;
    assert_eq!(pages[0].content.as_deref(), Ok("# from the service"));
    assert_eq!(pages[1].content.as_deref(), Ok("from here"));
    assert!(pages[2].content.as_ref().is_err_and(|why| why.contains("metadata")));
    assert!(!service.requests()[0].contains("169.254"), "the service is not asked for it");
    assert_eq!(own.requests().len(), 1);
}

#[tokio::test]
async fn service_that_only_searches_leaves_pages_to_the_extractor() {
    let site = Site::start(vec![("/p", ok("text/plain", "page"))]).await;
    let web = client(settings("searxng", &[("SEARXNG_URL", "http://127.0.0.1:9")]));
    assert_eq!(web.extract(&[site.url("/p")]).await[0].content.as_deref(), Ok("page"));
    // A chosen service without its key is named beside the failure of a page.
    let web = client(settings("tavily", &[]));
    let error = web.extract(&[site.url("/missing")]).await.remove(0).content.unwrap_err();
    assert!(error.contains("status 404") && error.contains("TAVILY_API_KEY"), "{error}");
}
