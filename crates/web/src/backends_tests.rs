use super::*;
use serde_json::json;

fn variables(all: &[(&str, &str)]) -> Variables {
    all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

/// Method, address, headers and body of a call.
fn written(row: &Backend, call: &Call, variables: &Variables) -> String {
    let url = row.url(call, variables).unwrap();
    let (method, body) = match &call.body {
        Body::Nothing => ("GET", String::new()),
        Body::Json(value) => ("POST", format!("\n{value}")),
        Body::Form(form) => ("POST", format!("\n{form:?}")),
    };
    let headers = call.headers.iter().cloned().chain(row.key_line(variables));
    let headers: String = headers.map(|(name, value)| format!("\n{name}: {value}")).collect();
    format!("{method} {url}{headers}{body}\n\n")
}

#[test]
fn requests_of_every_service() {
    let mut text = String::new();
    for row in table() {
        let mut all = variables(&[("SEARXNG_URL", "http://search.lan:8080/base/")]);
        all.extend(row.key.first().map(|name| ((*name).to_owned(), "KEY".to_owned())));
        text.push_str(&format!("== {} ({})\n", row.id, row.limit.as_secs()));
        if let Some(search) = &row.search {
            text.push_str(&written(row, &(search.call)("a & b", 7), &all));
        }
        if let Some(extract) = &row.extract {
            let urls = ["https://x.example/1".to_owned(), "https://x.example/2".to_owned()];
            text.push_str(&written(row, &(extract.call)(&urls[..extract.pages.min(2)]), &all));
        }
    }
    insta::assert_snapshot!(text);
}

#[test]
fn results_are_found_in_every_answer() {
    let cases = [
        ("tavily", json!({"results": [{"url": "u", "title": "t", "content": "c"}]})),
        ("exa", json!({"results": [{"url": "u", "title": "t", "highlights": ["c"]}]})),
        ("parallel", json!({"results": [{"url": "u", "title": "t", "excerpts": ["c"]}]})),
        ("firecrawl", json!({"data": {"web": [{"url": "u", "title": "t", "description": "c"}]}})),
        ("searxng", json!({"results": [{"url": "u", "title": "t", "content": "c", "score": 1.5}]})),
        ("brave-free", json!({"web": {"results": [{"url": "u", "title": "t", "description": "c"}]}})),
    ];
    let want = Entry { url: "u".into(), title: "t".into(), text: "c".into(), failure: None };
    for (id, answer) in cases {
        let search = Backend::find(id).and_then(|row| row.search.as_ref()).unwrap();
        assert_eq!(entries(search.results, answer.to_string().as_bytes()), Ok(vec![want.clone()]), "{id}");
        for bad in ["{}", "[]", "null", "not json", "{\"results\": 7}"] {
            assert!(entries(search.results, bad.as_bytes()).is_err(), "{id} {bad}");
        }
    }
}

#[test]
fn pages_and_failures_are_found_in_every_answer() {
    let cases = [
        (
            "tavily",
            json!({"results": [{"url": "u", "raw_content": "c"}], "failed_results": [{"url": "v", "error": "e"}]}),
        ),
        (
            "exa",
            json!({"results": [{"url": "u", "text": "c"}],
            "statuses": [{"id": "u", "status": "success"}, {"id": "v", "status": "error", "error": {"tag": "e"}}]}),
        ),
        (
            "parallel",
            json!({"results": [{"url": "u", "full_content": "c"}], "errors": [{"url": "v", "error_type": "e"}]}),
        ),
        ("firecrawl", json!({"success": true, "data": {"markdown": "c", "metadata": {"sourceURL": "u"}}})),
    ];
    for (id, answer) in cases {
        let (row, answer) =
            (Backend::find(id).and_then(|row| row.extract.as_ref()).unwrap(), answer.to_string());
        let found = entries(row.results, answer.as_bytes()).unwrap();
        assert_eq!((found[0].url.as_str(), found[0].text.as_str()), ("u", "c"), "{id}");
        let failed: Vec<_> =
            failures(row, answer.as_bytes()).into_iter().map(|one| (one.url, one.failure)).collect();
        let want = if id == "firecrawl" { vec![] } else { vec![("v".to_owned(), Some("e".to_owned()))] };
        assert_eq!(failed, want, "{id}");
    }
}

#[test]
fn searxng_results_are_sorted_by_score() {
    let answer =
        json!({"results": [{"url": "low", "score": 0.1}, {"url": "none"}, {"url": "high", "score": 9}]});
    let row = Backend::find("searxng").and_then(|row| row.search.as_ref()).unwrap();
    let found = entries(row.results, answer.to_string().as_bytes()).unwrap();
    assert_eq!(found.iter().map(|one| one.url.as_str()).collect::<Vec<_>>(), ["high", "low", "none"]);
}

#[test]
fn result_page_of_duckduckgo_is_read() {
    let html = r#"<div class="result results_links"><h2 class="result__title">
        <a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fa.example%2Fx%3Fy%3D1&amp;rut=z">The <b>A</b></a></h2>
        <a class="result__snippet" href="x">Some  <b>text</b></a></div>
        <div class="result result--ad"><a class="result__a" href="https://ad.example/">Ad</a></div>
        <div class="result"><a class="result__a" href="https://duckduckgo.com/y.js?ad_provider=x">Ad</a></div>
        <div class="result"><a class="result__a" href="https://b.example/">B</a></div>
        <a class="result__a" href="https://outside.example/">no block</a>"#;
    let entry = |url: &str, title: &str, text: &str| Entry {
        url: url.into(),
        title: title.into(),
        text: text.into(),
        failure: None,
    };
    let want =
        vec![entry("https://a.example/x?y=1", "The A", "Some text"), entry("https://b.example/", "B", "")];
    assert_eq!(ddgs::entries(html), Ok(want));
    assert_eq!(ddgs::entries("<p>No results.</p>"), Ok(vec![]));
    assert!(ddgs::entries("<form id='challenge-form'></form>").unwrap_err().contains("too many requests"));
}

#[test]
fn missing_key_or_address_is_named() {
    for (id, all, want) in [
        ("tavily", vec![], Some("TAVILY_API_KEY")),
        ("tavily", vec![("TAVILY_API_KEY", " ")], Some("TAVILY_API_KEY")),
        ("tavily", vec![("TAVILY_API_KEY", "k")], None),
        ("tavily", vec![("TAVILY_BASE_URL", "http://h")], Some("TAVILY_API_KEY")),
        ("firecrawl", vec![], Some("FIRECRAWL_API_KEY")),
        ("firecrawl", vec![("FIRECRAWL_API_URL", "http://h")], None),
        ("searxng", vec![], Some("SEARXNG_URL")),
        ("searxng", vec![("SEARXNG_URL", "http://h")], None),
        ("brave", vec![("BRAVE_API_KEY", "k")], None),
        ("ddgs", vec![], None),
    ] {
        let problem = Backend::find(id).unwrap().problem(&variables(&all));
        assert_eq!(problem.is_some(), want.is_some(), "{id} {all:?}: {problem:?}");
        assert!(problem.unwrap_or_default().contains(want.unwrap_or_default()), "{id} {all:?}");
    }
}

#[test]
fn addresses_with_credentials_or_other_schemes_are_refused() {
    let row = Backend::find("searxng").unwrap();
    let call = (row.search.as_ref().unwrap().call)("q", 1);
    for bad in ["http://me:hunter2@h", "file:///etc", "h:8080", "javascript:x"] {
        let error = row.url(&call, &variables(&[("SEARXNG_URL", bad)])).unwrap_err();
        assert!(error.starts_with("SEARXNG_URL") && !error.contains("hunter2"), "{error}");
    }
}
