//! The models that an endpoint lists.

use crate::Place;
use crate::address::below;
use crate::catalogue::{Auth, Models};
use crate::facts::Stated;
use crate::fetch::{Fetcher, bearer};
use crate::login::{CopilotTokens, EXCHANGE_URL, TokenSource};
use crate::transport;
use hermes_wire::Failure;
use reqwest::header::HeaderMap;
use secrecy::SecretString;
use serde_json::Value;
use url::Url;

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    pub id: String,
    /// The facts in the list.
    pub stated: Stated,
}

/// Requests `/models` of a place, with the key that belongs to it.
pub async fn list_models(place: &Place, fetcher: &Fetcher) -> Result<Vec<ListedModel>, Failure> {
    let key = match (place.provider.auth, &place.key) {
        (Auth::TokenExchange, Some(token)) => Some(exchanged(place, token, fetcher).await?),
        (_, key) => key.clone(),
    };
    let (url, headers) = question(place, key.as_ref());
    let fetcher = match &place.entry {
        Some(entry) => Fetcher { clients: fetcher.clients.with_tls(&entry.extras.tls), ..fetcher.clone() },
        None => fetcher.clone(),
    };
    let answer = fetcher.get_with(url, headers, key.as_ref()).await?;
    read(&answer, place.provider.models)
        .ok_or_else(|| Failure::Garbled { cause: "the answer is not a list of models".to_owned() })
}

/// The address of the list and the headers of the request.
fn question(place: &Place, key: Option<&SecretString>) -> (Url, HeaderMap) {
    let base = &place.base_url;
    if place.provider.models == Models::Messages {
        let path = if base.path().trim_end_matches('/').ends_with("/v1") { "models" } else { "v1/models" };
        return (below(base, path), transport::anthropic_headers(base, key));
    }
    let mut headers = bearer(key);
    if let Some(entry) = &place.entry {
        entry.extras.headers.apply(&mut headers);
    }
    (below(base, "models"), headers)
}

/// The exchanged token; the original one is not for this place.
async fn exchanged(place: &Place, token: &SecretString, fetcher: &Fetcher) -> Result<SecretString, Failure> {
    let exchange = Url::parse(EXCHANGE_URL).map_err(|error| Failure::Garbled { cause: error.to_string() })?;
    CopilotTokens::new(fetcher.clone(), exchange, token.clone(), &place.base_url)?.token().await
}

/// Parses `{"data": [{"id": …}]}`, `{"models": […]}` or a bare list; sorted, each name once.
fn read(answer: &Value, kind: Models) -> Option<Vec<ListedModel>> {
    let rows = [answer.get("data"), answer.get("models"), Some(answer)];
    let rows = rows.into_iter().flatten().find_map(Value::as_array)?;
    let mut models: Vec<_> = rows.iter().filter(|row| is_wanted(row, kind)).filter_map(model).collect();
    models.sort_by(|a, b| a.id.cmp(&b.id));
    models.dedup_by(|a, b| a.id == b.id);
    Some(models)
}

fn model(row: &Value) -> Option<ListedModel> {
    let id = [row.get("id"), row.get("name"), Some(row)].into_iter().flatten().find_map(Value::as_str)?;
    if id.is_empty() {
        return None;
    }
    Some(ListedModel { id: id.to_owned(), stated: Stated::in_row(row) })
}

fn is_wanted(row: &Value, kind: Models) -> bool {
    match kind {
        Models::All | Models::Messages => true,
        Models::TaggedTypes => {
            let tags = row.get("tags").and_then(Value::as_array);
            let uses_tools = tags.is_some_and(|tags| tags.iter().any(|tag| tag == "tool-use"));
            uses_tools && row.get("type").and_then(Value::as_str) == Some("language")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn lists_of_different_servers_are_read() {
        let names = |answer: Value, kind| -> Option<Vec<String>> {
            Some(read(&answer, kind)?.into_iter().map(|model| model.id).collect())
        };
        let tagged = json!({"data": [
            {"id": "v/b", "type": "language", "tags": ["tool-use", "vision"], "context_window": 200_000},
            {"id": "v/no-tools", "type": "language", "tags": ["vision"]},
            {"id": "v/no-tags", "type": "language"},
            {"id": "v/pictures", "type": "image", "tags": ["tool-use"]},
            {"id": "v/a", "type": "language", "tags": ["tool-use"]},
        ]});
        for (answer, kind, want) in [
            (json!({"data": [{"id": "b"}, {"id": "a"}, {"id": "b"}]}), Models::All, Some(vec!["a", "b"])),
            (json!({"models": [{"name": "x:7b"}]}), Models::All, Some(vec!["x:7b"])),
            (json!(["m"]), Models::All, Some(vec!["m"])),
            (json!({"data": [{"id": ""}, {"no": 1}, 7]}), Models::All, Some(vec![])),
            (json!({"error": "no"}), Models::All, None),
            (json!("text"), Models::All, None),
            (tagged, Models::TaggedTypes, Some(vec!["v/a", "v/b"])),
        ] {
            let want = want.map(|want| want.into_iter().map(str::to_owned).collect());
            assert_eq!(names(answer.clone(), kind), want, "{answer}");
        }
    }
}
