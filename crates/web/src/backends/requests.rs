//! The rows of the services: their requests and where their results are.

use super::{Backend, Body, Call, ExtractRow, Fields, KeyHeader, Results, SearchRow};
use serde_json::json;
use std::time::Duration;

const URL: &[&str] = &["/url"];
const TITLE: &[&str] = &["/title"];

const fn fields(text: &'static [&'static str]) -> Fields {
    Fields { url: URL, title: TITLE, text, score: None }
}

fn post(path: &'static str, body: serde_json::Value) -> Call {
    Call { path, query: Vec::new(), headers: Vec::new(), body: Body::Json(body) }
}

fn get(path: &'static str, query: Vec<(&'static str, String)>) -> Call {
    Call { path, query, headers: Vec::new(), body: Body::Nothing }
}

fn with(call: Call, name: &'static str, value: &str) -> Call {
    Call { headers: vec![(name, value.to_owned())], ..call }
}

/// The name under which Exa counts requests of Hermes.
const EXA_NAME: (&str, &str) = ("x-exa-integration", "hermes-agent");
const PARALLEL_BETA: (&str, &str) = ("parallel-beta", "search-extract-2025-10-10");

pub(super) static TABLE: [Backend; 7] = [
    Backend {
        id: "tavily",
        name: "Tavily",
        key: &["TAVILY_API_KEY"],
        key_header: KeyHeader::Bearer,
        base_variable: "TAVILY_BASE_URL",
        base: "https://api.tavily.com",
        own_needs_no_key: false,
        limit: Duration::from_secs(60),
        search: Some(SearchRow {
            call: |query, limit| {
                let body = json!({"query": query, "max_results": limit.min(20), "include_raw_content": false, "include_images": false});
                post("search", body)
            },
            results: Results::Json { lists: &["/results"], fields: fields(&["/content"]) },
        }),
        extract: Some(ExtractRow {
            call: |urls| post("extract", json!({"urls": urls, "include_images": false})),
            pages: 5,
            results: Results::Json { lists: &["/results"], fields: fields(&["/raw_content", "/content"]) },
            failures: Some(("/failed_results", "/error")),
        }),
    },
    Backend {
        id: "exa",
        name: "Exa",
        key: &["EXA_API_KEY"],
        key_header: KeyHeader::Named("x-api-key"),
        base_variable: "EXA_BASE_URL",
        base: "https://api.exa.ai",
        own_needs_no_key: false,
        limit: Duration::from_secs(60),
        search: Some(SearchRow {
            call: |query, limit| {
                let body = json!({"query": query, "numResults": limit, "contents": {"highlights": true}});
                with(post("search", body), EXA_NAME.0, EXA_NAME.1)
            },
            results: Results::Json {
                lists: &["/results"],
                fields: fields(&["/highlights", "/summary", "/text"]),
            },
        }),
        extract: Some(ExtractRow {
            call: |urls| with(post("contents", json!({"urls": urls, "text": true})), EXA_NAME.0, EXA_NAME.1),
            pages: 5,
            results: Results::Json { lists: &["/results"], fields: fields(&["/text"]) },
            failures: Some(("/statuses", "/error/tag")),
        }),
    },
    Backend {
        id: "parallel",
        name: "Parallel",
        key: &["PARALLEL_API_KEY"],
        key_header: KeyHeader::Named("x-api-key"),
        base_variable: "PARALLEL_BASE_URL",
        base: "https://api.parallel.ai",
        own_needs_no_key: false,
        limit: Duration::from_secs(60),
        search: Some(SearchRow {
            call: |query, limit| {
                let body =
                    json!({"objective": query, "search_queries": [query], "max_results": limit.min(20)});
                with(post("v1beta/search", body), PARALLEL_BETA.0, PARALLEL_BETA.1)
            },
            results: Results::Json { lists: &["/results"], fields: fields(&["/excerpts"]) },
        }),
        extract: Some(ExtractRow {
            call: |urls| {
                let body = json!({"urls": urls, "full_content": true});
                with(post("v1beta/extract", body), PARALLEL_BETA.0, PARALLEL_BETA.1)
            },
            pages: 5,
            results: Results::Json { lists: &["/results"], fields: fields(&["/full_content", "/excerpts"]) },
            failures: Some(("/errors", "/error_type")),
        }),
    },
    Backend {
        id: "firecrawl",
        name: "Firecrawl",
        key: &["FIRECRAWL_API_KEY"],
        key_header: KeyHeader::Bearer,
        base_variable: "FIRECRAWL_API_URL",
        base: "https://api.firecrawl.dev",
        own_needs_no_key: true,
        limit: Duration::from_secs(60),
        search: Some(SearchRow {
            call: |query, limit| post("v2/search", json!({"query": query, "limit": limit})),
            results: Results::Json {
                lists: &["/data/web", "/data"],
                fields: fields(&["/description", "/markdown"]),
            },
        }),
        extract: Some(ExtractRow {
            call: |urls| post("v2/scrape", json!({"url": urls.first(), "formats": ["markdown"]})),
            pages: 1,
            results: Results::Json {
                lists: &["/data"],
                fields: Fields {
                    url: &["/metadata/sourceURL", "/metadata/url"],
                    title: &["/metadata/title"],
                    text: &["/markdown"],
                    score: None,
                },
            },
            failures: None,
        }),
    },
    Backend {
        id: "searxng",
        name: "SearXNG",
        key: &[],
        key_header: KeyHeader::Bearer,
        base_variable: "SEARXNG_URL",
        base: "",
        own_needs_no_key: true,
        limit: Duration::from_secs(15),
        search: Some(SearchRow {
            call: |query, _| {
                let query =
                    vec![("q", query.to_owned()), ("format", "json".to_owned()), ("pageno", "1".to_owned())];
                get("search", query)
            },
            results: Results::Json {
                lists: &["/results"],
                fields: Fields { score: Some("/score"), ..fields(&["/content"]) },
            },
        }),
        extract: None,
    },
    Backend {
        id: "brave-free",
        name: "Brave Search",
        key: &["BRAVE_SEARCH_API_KEY", "BRAVE_API_KEY"],
        key_header: KeyHeader::Named("x-subscription-token"),
        base_variable: "BRAVE_BASE_URL",
        base: "https://api.search.brave.com",
        own_needs_no_key: false,
        limit: Duration::from_secs(15),
        search: Some(SearchRow {
            call: |query, limit| {
                get("res/v1/web/search", vec![("q", query.to_owned()), ("count", limit.min(20).to_string())])
            },
            results: Results::Json { lists: &["/web/results"], fields: fields(&["/description"]) },
        }),
        extract: None,
    },
    Backend {
        id: "ddgs",
        name: "DuckDuckGo",
        key: &[],
        key_header: KeyHeader::Bearer,
        base_variable: "DDGS_BASE_URL",
        base: "https://html.duckduckgo.com",
        own_needs_no_key: true,
        limit: Duration::from_secs(15),
        search: Some(SearchRow {
            call: |query, _| Call {
                path: "html/",
                query: Vec::new(),
                headers: Vec::new(),
                body: Body::Form(vec![("q", query.to_owned()), ("b", String::new())]),
            },
            results: Results::DuckDuckGo,
        }),
        extract: None,
    },
];
