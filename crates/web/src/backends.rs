//! The services that search and extract, as a table.
//!
//! A row says how a request is built and where its results are. A key goes to the address of its own row only, because
//! the request is built from that row.

mod ddgs;
mod requests;

use serde_json::Value;
use std::collections::BTreeMap;
use std::time::Duration;
use url::Url;

/// A request to a service.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// The path below the address of the service, with a query.
    pub(crate) path: &'static str,
    pub(crate) query: Vec<(&'static str, String)>,
    /// Headers without the key.
    pub(crate) headers: Vec<(&'static str, String)>,
    pub(crate) body: Body,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body {
    Nothing,
    Json(Value),
    Form(Vec<(&'static str, String)>),
}

/// The header in which a service takes its key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeyHeader {
    Bearer,
    Named(&'static str),
}

/// The place of results in an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Results {
    /// A list in JSON at one of these pointers; its entries have the fields.
    Json { lists: &'static [&'static str], fields: Fields },
    /// The page for browsers of DuckDuckGo.
    DuckDuckGo,
}

/// Pointers in an entry; the first that has a text counts. A list of texts is joined.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Fields {
    pub(crate) url: &'static [&'static str],
    pub(crate) title: &'static [&'static str],
    pub(crate) text: &'static [&'static str],
    /// The number by which results are sorted, the highest first.
    pub(crate) score: Option<&'static str>,
}

/// Searching with a service.
pub(crate) struct SearchRow {
    pub(crate) call: fn(&str, usize) -> Call,
    pub(crate) results: Results,
}

/// Extracting with a service.
pub(crate) struct ExtractRow {
    pub(crate) call: fn(&[String]) -> Call,
    /// The pages of one request.
    pub(crate) pages: usize,
    pub(crate) results: Results,
    /// Lists of pages that failed, and the pointer to the reason.
    pub(crate) failures: Option<(&'static str, &'static str)>,
}

/// A service.
pub(crate) struct Backend {
    /// The value of `web.backend`.
    pub(crate) id: &'static str,
    pub(crate) name: &'static str,
    /// The variables of its key; empty for a service without one.
    pub(crate) key: &'static [&'static str],
    pub(crate) key_header: KeyHeader,
    /// The variable of its address.
    pub(crate) base_variable: &'static str,
    /// Its address; empty if only the user knows it.
    pub(crate) base: &'static str,
    /// It needs no key at the address of the user.
    pub(crate) own_needs_no_key: bool,
    pub(crate) limit: Duration,
    pub(crate) search: Option<SearchRow>,
    pub(crate) extract: Option<ExtractRow>,
}

/// The value of `web.extract_backend` for the built-in extractor.
pub(crate) const DIRECT: &str = "direct";

/// Every service, in the order in which an unset `web.backend` chooses.
pub(crate) fn table() -> &'static [Backend] {
    &requests::TABLE
}

/// The values of the variables of the services.
pub type Variables = BTreeMap<String, String>;

/// The names of all variables of the services.
pub fn variables() -> impl Iterator<Item = &'static str> {
    table().iter().flat_map(|row| row.key.iter().copied().chain([row.base_variable]))
}

impl Backend {
    pub(crate) fn find(id: &str) -> Option<&'static Self> {
        let id = id.trim().to_ascii_lowercase();
        // The name of the plan with a key that costs nothing.
        let id = if id == "brave" { "brave-free" } else { &id };
        table().iter().find(|row| row.id == id)
    }

    pub(crate) fn key_in<'a>(&self, variables: &'a Variables) -> Option<&'a str> {
        let mut values = self.key.iter().filter_map(|name| variables.get(*name));
        values.find(|value| !value.trim().is_empty()).map(|value| value.trim())
    }

    fn own_base<'a>(&self, variables: &'a Variables) -> Option<&'a str> {
        variables.get(self.base_variable).map(|value| value.trim()).filter(|value| !value.is_empty())
    }

    /// Returns the reason why the service cannot be used, and what to do about it.
    pub(crate) fn problem(&self, variables: &Variables) -> Option<String> {
        let own = self.own_base(variables);
        if self.base.is_empty() && own.is_none() {
            return Some(format!("{} has no address: set {} in .env", self.name, self.base_variable));
        }
        let is_open = self.key.is_empty() || (self.own_needs_no_key && own.is_some());
        let key = self.key.first().copied().unwrap_or_default();
        (!is_open && self.key_in(variables).is_none())
            .then(|| format!("{} has no key: set {key} in .env, or choose another web.backend", self.name))
    }

    /// The address of a call.
    pub(crate) fn url(&self, call: &Call, variables: &Variables) -> Result<Url, String> {
        let base = self.own_base(variables).unwrap_or(self.base);
        let place = if self.own_base(variables).is_some() { self.base_variable } else { self.name };
        let bad = |_| format!("{place} is not an http or https address without user name and password");
        let mut url = hermes_providers::parse_base_url(base).map_err(bad)?;
        url.set_query(None);
        let path = format!("{}/{}", url.path().trim_end_matches('/'), call.path);
        url.set_path(&path);
        if !call.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&call.query);
        }
        Ok(url)
    }

    /// The header with the key.
    pub(crate) fn key_line(&self, variables: &Variables) -> Option<(&'static str, String)> {
        let key = self.key_in(variables)?;
        Some(match self.key_header {
            KeyHeader::Bearer => ("authorization", format!("Bearer {key}")),
            KeyHeader::Named(name) => (name, key.to_owned()),
        })
    }
}

/// A result of a service.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    pub(crate) url: String,
    pub(crate) title: String,
    pub(crate) text: String,
    pub(crate) failure: Option<String>,
}

/// The results in an answer, in their order.
pub(crate) fn entries(results: Results, answer: &[u8]) -> Result<Vec<Entry>, String> {
    match results {
        Results::DuckDuckGo => ddgs::entries(&String::from_utf8_lossy(answer)),
        Results::Json { lists, fields } => {
            let value = json(answer)?;
            let list = lists.iter().find_map(|pointer| value.pointer(pointer));
            let list = match list {
                Some(Value::Array(list)) => list.as_slice(),
                Some(one @ Value::Object(_)) => std::slice::from_ref(one),
                _ => return Err("its answer has no results where they belong".to_owned()),
            };
            Ok(in_order(list, fields))
        }
    }
}

fn in_order(list: &[Value], fields: Fields) -> Vec<Entry> {
    let mut list: Vec<&Value> = list.iter().collect();
    if let Some(pointer) = fields.score {
        let score = |value: &Value| value.pointer(pointer).and_then(Value::as_f64).unwrap_or(0.0);
        list.sort_by(|a, b| score(b).total_cmp(&score(a)));
    }
    let entry = |value: &Value| Entry {
        url: first_text(value, fields.url),
        title: first_text(value, fields.title),
        text: first_text(value, fields.text),
        failure: None,
    };
    list.into_iter().map(entry).collect()
}

/// The failed pages in an answer.
pub(crate) fn failures(row: &ExtractRow, answer: &[u8]) -> Vec<Entry> {
    let Some((list, reason)) = row.failures else { return Vec::new() };
    let Ok(value) = json(answer) else { return Vec::new() };
    let list = value.pointer(list).and_then(Value::as_array).cloned().unwrap_or_default();
    let failed = |value: &Value| {
        let why = first_text(value, &[reason]);
        let url = first_text(value, &["/url", "/id"]);
        let has_failed = value.get("status").and_then(Value::as_str) != Some("success");
        has_failed.then(|| Entry { url, title: String::new(), text: String::new(), failure: Some(why) })
    };
    list.iter().filter_map(failed).collect()
}

fn json(answer: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(answer).map_err(|error| format!("its answer is not JSON: {error}"))
}

fn first_text(value: &Value, pointers: &[&str]) -> String {
    let text = |pointer: &&str| match value.pointer(pointer)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Array(parts) => {
            let parts: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
            (!parts.is_empty()).then(|| parts.join("\n\n"))
        }
        _ => None,
    };
    pointers.iter().find_map(text).unwrap_or_default()
}

#[cfg(test)]
#[path = "backends_tests.rs"]
mod tests;
