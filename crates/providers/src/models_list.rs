//! The models that an endpoint says it has.

use crate::Place;
use crate::address::below;
use crate::catalogue::Models;
use crate::fetch::Asker;
use hermes_wire::Failure;
use serde_json::Value;

/// Names of the window in the lists of different servers.
const WINDOW_FIELDS: [&str; 10] = [
    "context_length",
    "context_window",
    "context_size",
    "max_context_length",
    "max_model_len",
    "max_input_tokens",
    "max_sequence_length",
    "max_seq_len",
    "n_ctx",
    "n_ctx_train",
];

/// A model that can be chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedModel {
    pub id: String,
    pub context_length: Option<u64>,
}

/// Asks `/models` of a place, with the key that belongs to it.
pub async fn list_models(place: &Place, asker: &Asker) -> Result<Vec<ListedModel>, Failure> {
    let answer = asker.get(below(&place.base_url, "models"), place.key.as_ref()).await?;
    read(&answer, place.provider.models)
        .ok_or_else(|| Failure::Garbled { cause: "the answer is not a list of models".to_owned() })
}

/// Reads `{"data": [{"id": …}]}`, `{"models": […]}` or a bare list; sorted, each name once.
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
    Some(ListedModel { id: id.to_owned(), context_length: window(row) })
}

/// The window that a row states, as far as it is believable.
pub(crate) fn window(row: &Value) -> Option<u64> {
    let stated = WINDOW_FIELDS.iter().find_map(|field| row.get(*field)?.as_u64());
    stated.filter(|tokens| (1_024..=10_000_000).contains(tokens))
}

fn is_wanted(row: &Value, kind: Models) -> bool {
    match kind {
        Models::All => true,
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

    #[test]
    fn windows_have_many_names_and_must_be_believable() {
        for (row, want) in [
            (json!({"context_length": 4096}), Some(4096)),
            (json!({"max_model_len": 32_768}), Some(32_768)),
            (json!({"context_window": 0}), None),
            (json!({"context_window": 99_000_000}), None),
            (json!({"context_length": "big"}), None),
        ] {
            assert_eq!(window(&row), want, "{row}");
        }
    }
}
