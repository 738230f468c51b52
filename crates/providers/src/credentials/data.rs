//! The content of `auth.json`. Unknown fields and providers are kept as they are.

use super::AuthError;
use super::entry::id_of;
use serde_json::{Map, Value, json};
use std::path::Path;

/// The newest layout that this version writes.
const VERSION: u64 = 1;
const POOL: &str = "credential_pool";
const SUPPRESSED: &str = "suppressed_sources";

/// The content of the file, with the order of its fields. It has no `Debug` output.
#[derive(Clone, Default, PartialEq)]
pub struct AuthData(Map<String, Value>);

impl std::fmt::Debug for AuthData {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "AuthData({} fields)", self.0.len())
    }
}

impl AuthData {
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self, AuthError> {
        let malformed = |cause: String| AuthError::Malformed { path: path.to_owned(), cause };
        let root: Value = serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
        let Value::Object(root) = root else {
            return Err(malformed("it is not an object".to_owned()));
        };
        match problem_with(&root) {
            Some(what) => Err(AuthError::Unexpected { path: path.to_owned(), what }),
            None => Ok(Self(root)),
        }
    }

    /// Returns the text of the file; the Python release stamps its files as well.
    pub(super) fn into_text(mut self, now: f64) -> String {
        self.0.insert("version".to_owned(), json!(VERSION));
        self.0.entry("providers").or_insert_with(|| json!({}));
        if let Some(stamp) = super::moment::written(now) {
            self.0.insert("updated_at".to_owned(), json!(stamp));
        }
        // A map with text keys can always be written.
        let text = serde_json::to_string_pretty(&Value::Object(self.0)).unwrap_or_default();
        text + "\n"
    }

    /// The whole content, for everything outside of the pool.
    pub fn root(&self) -> &Map<String, Value> {
        &self.0
    }

    pub fn root_mut(&mut self) -> &mut Map<String, Value> {
        &mut self.0
    }

    /// The providers with stored entries.
    pub fn providers(&self) -> Vec<&str> {
        let pools = self.0.get(POOL).and_then(Value::as_object).into_iter().flatten();
        let filled = pools.filter(|(_, list)| list.as_array().is_some_and(|list| !list.is_empty()));
        filled.map(|(provider, _)| provider.as_str()).collect()
    }

    /// The stored entries of a provider, in the order of the file.
    pub fn entries(&self, provider: &str) -> &[Value] {
        let list = self.0.get(POOL).and_then(|pools| pools.get(provider)).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }

    /// The same for changes; a missing list is created.
    pub fn entries_mut(&mut self, provider: &str) -> &mut Vec<Value> {
        let pools = section(&mut self.0, POOL, json!({}));
        let pools = as_object(pools);
        as_array(section(pools, provider, json!([])))
    }

    /// The fields of one entry.
    pub fn entry_mut(&mut self, provider: &str, id: &str) -> Option<&mut Map<String, Value>> {
        let exists = self.entries(provider).iter().enumerate().any(|(at, value)| is_it(value, at, id));
        if !exists {
            return None;
        }
        let mut all = self.entries_mut(provider).iter_mut().enumerate();
        all.find(|(at, value)| is_it(value, *at, id)).and_then(|(_, value)| value.as_object_mut())
    }

    /// Returns true if the user removed a source, so that it does not come back by itself.
    pub fn is_suppressed(&self, provider: &str, source: &str) -> bool {
        let list = self.0.get(SUPPRESSED).and_then(|all| all.get(provider)).and_then(Value::as_array);
        list.is_some_and(|list| list.iter().any(|known| known.as_str() == Some(source)))
    }

    pub fn suppress(&mut self, provider: &str, source: &str) {
        if !self.is_suppressed(provider, source) {
            let all = as_object(section(&mut self.0, SUPPRESSED, json!({})));
            as_array(section(all, provider, json!([]))).push(json!(source));
        }
    }

    /// Restores all sources of a provider, because the user added a credential.
    pub fn unsuppress(&mut self, provider: &str) {
        let Some(all) = self.0.get_mut(SUPPRESSED).and_then(Value::as_object_mut) else { return };
        all.shift_remove(provider);
        if all.is_empty() {
            self.0.shift_remove(SUPPRESSED);
        }
    }
}

fn is_it(value: &Value, at: usize, id: &str) -> bool {
    value.as_object().is_some_and(|fields| id_of(fields, at) == id)
}

/// Returns the reason why this version cannot change the file without loss.
fn problem_with(root: &Map<String, Value>) -> Option<String> {
    let version = root.get("version").and_then(Value::as_u64).unwrap_or(VERSION);
    if version > VERSION {
        return Some(format!("its layout has version {version}, and this build knows {VERSION}"));
    }
    for name in [POOL, SUPPRESSED] {
        match root.get(name) {
            None | Some(Value::Null) => {}
            Some(Value::Object(lists)) => {
                let bad = lists.iter().find(|(_, list)| !list.is_array());
                if let Some((provider, _)) = bad {
                    return Some(format!("`{name}.{provider}` in it is not a list"));
                }
            }
            Some(_) => return Some(format!("`{name}` in it is not a section")),
        }
    }
    None
}

/// A field, which is created if it is missing or null.
fn section<'a>(map: &'a mut Map<String, Value>, name: &str, empty: Value) -> &'a mut Value {
    let slot = map.entry(name).or_insert(Value::Null);
    if slot.is_null() {
        *slot = empty;
    }
    slot
}

/// `parse` accepts nothing else.
fn as_object(value: &mut Value) -> &mut Map<String, Value> {
    match value {
        Value::Object(map) => map,
        _ => unreachable!("sections of auth.json are checked when it is read"),
    }
}

fn as_array(value: &mut Value) -> &mut Vec<Value> {
    match value {
        Value::Array(list) => list,
        _ => unreachable!("lists of auth.json are checked when it is read"),
    }
}

#[cfg(test)]
#[path = "data_tests.rs"]
mod tests;
