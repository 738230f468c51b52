//! Changes to the pool in `auth.json`, in the fields of the Python release.

use super::borrowed::{fingerprint, hex};
use super::{AuthData, AuthType, Entry, LastError, Pool, Refreshed, Status, Strategy, moment};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Map, Value, json};

/// The time after which a dead credential of the user is removed.
const FORGET_DEAD_AFTER: f64 = 24.0 * 60.0 * 60.0;

/// The fields of a credential's state.
const MARKS: [&str; 6] = [
    "last_status",
    "last_status_at",
    "last_error_code",
    "last_error_reason",
    "last_error_message",
    "last_error_reset_at",
];

/// A key that the user adds.
pub struct NewEntry {
    pub label: Option<String>,
    pub key: SecretString,
    pub base_url: Option<String>,
}

/// A login of the user.
pub struct NewLogin {
    pub label: String,
    /// The kind of login: `manual:device_code`, `manual:pkce`.
    pub source: &'static str,
    pub tokens: Refreshed,
    /// The address that the access token belongs to.
    pub base_url: String,
}

/// An error of finding an entry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoSuchEntry {
    #[error("{provider} has no stored credential `{target}`; `hermes auth list {provider}` lists them")]
    Unknown { provider: String, target: String },
    #[error("several credentials of {provider} are labelled `{target}`; use the number or the id")]
    Ambiguous { provider: String, target: String },
}

impl AuthData {
    /// Stores the state of a credential. A found one gets an entry of its own, without its key; one that was removed
    /// from the file stays removed.
    pub(super) fn mark(&mut self, entry: &Entry, status: Status, error: &LastError) {
        self.ensure(entry);
        let Some(fields) = self.entry_mut(&entry.provider, &entry.id) else { return };
        if entry.is_borrowed() {
            fields.insert("secret_fingerprint".to_owned(), json!(fingerprint(&entry.key)));
        }
        let word = match status {
            Status::Ok => "ok",
            Status::Exhausted => "exhausted",
            Status::Dead => "dead",
        };
        let values = [
            json!(word),
            json!(error.at),
            json!(error.code),
            json!(error.reason),
            json!(error.message),
            json!(error.reset_at),
        ];
        for (name, value) in MARKS.into_iter().zip(values) {
            fields.insert(name.to_owned(), value);
        }
    }

    /// Clears all cooldowns of a provider, and returns their number.
    pub fn forget_marks(&mut self, provider: &str) -> usize {
        if self.entries(provider).is_empty() {
            return 0;
        }
        let mut count = 0;
        for fields in self.entries_mut(provider).iter_mut().filter_map(Value::as_object_mut) {
            let is_marked = |name: &&str| !matches!(fields.get(*name), None | Some(Value::Null));
            let was_ok = fields.get("last_status").and_then(Value::as_str) == Some("ok");
            if MARKS.iter().any(is_marked) {
                count += usize::from(!was_ok);
                for name in MARKS {
                    fields.insert(name.to_owned(), Value::Null);
                }
            }
        }
        count
    }

    /// Adds a key and returns its entry. The provider's other sources are restored.
    pub fn add(&mut self, provider: &str, new: NewEntry, seed: &str) -> Entry {
        self.unsuppress(provider);
        let pool = Pool::of(self, provider, &[]);
        let is_taken = |id: &str| pool.get(id).is_some();
        let mut id = hex(seed, 6);
        while is_taken(&id) {
            id = hex(&id, 6);
        }
        let label = new.label.unwrap_or_else(|| format!("api-key-{}", pool.entries.len() + 1));
        let priority = pool.entries.iter().map(|entry| entry.priority).max().map_or(0, |last| last + 1);
        let mut fields = common(&id, &label, AuthType::ApiKey, priority, "manual");
        fields.insert("access_token".to_owned(), json!(new.key.expose_secret()));
        if let Some(address) = new.base_url {
            fields.insert("base_url".to_owned(), json!(address));
        }
        fields.insert("request_count".to_owned(), json!(0));
        let entry = Entry::read(provider, &fields, pool.entries.len());
        self.entries_mut(provider).push(Value::Object(fields));
        entry
    }

    /// Stores a login and returns its entry. One with the same label and kind is replaced.
    pub fn add_login(&mut self, provider: &str, new: NewLogin, seed: &str, now: f64) -> Entry {
        let old = Pool::of(self, provider, &[]).entries.into_iter();
        let mut old = old.filter(|entry| entry.auth_type == AuthType::OAuth && entry.source == new.source);
        let entry = match old.find(|entry| entry.label == new.label) {
            Some(entry) => entry,
            None => {
                let key = new.tokens.access_token.clone();
                let added = NewEntry { label: Some(new.label), key, base_url: Some(new.base_url.clone()) };
                self.add(provider, added, seed)
            }
        };
        if let Some(fields) = self.entry_mut(provider, &entry.id) {
            fields.insert("auth_type".to_owned(), json!(AuthType::OAuth.as_str()));
            fields.insert("source".to_owned(), json!(new.source));
            fields.insert("base_url".to_owned(), json!(new.base_url));
        }
        self.renew(&entry, &new.tokens, now);
        Pool::of(self, provider, &[]).get(&entry.id).cloned().unwrap_or(entry)
    }

    /// Removes all logins of a provider, and those that other versions keep beside the pool; returns their number.
    pub fn forget_logins(&mut self, provider: &str) -> usize {
        let pool = Pool::of(self, provider, &[]);
        let logins: Vec<&Entry> = pool
            .entries
            .iter()
            .filter(|entry| entry.auth_type == AuthType::OAuth && !entry.is_borrowed())
            .collect();
        logins.iter().for_each(|entry| self.remove(entry));
        let beside = self.root_mut().get_mut("providers").and_then(Value::as_object_mut);
        let was_beside = beside.is_some_and(|all| all.shift_remove(provider).is_some());
        logins.len().max(usize::from(was_beside))
    }

    /// Removes a credential. If its secret is stored elsewhere, its source is suppressed, so that it does not come
    /// back.
    pub fn remove(&mut self, entry: &Entry) {
        let is_it = |fields: &Map<String, Value>, at| super::entry::id_of(fields, at) == entry.id;
        if !self.entries(&entry.provider).is_empty() {
            let list = self.entries_mut(&entry.provider);
            let place = list
                .iter()
                .enumerate()
                .position(|(at, value)| value.as_object().is_some_and(|fields| is_it(fields, at)));
            if let Some(place) = place {
                list.remove(place);
            }
            let rest: Vec<String> =
                Pool::of(self, &entry.provider, &[]).entries.iter().map(|entry| entry.id.clone()).collect();
            self.order(&entry.provider, &rest);
        }
        if entry.is_borrowed() {
            self.suppress(&entry.provider, &entry.source);
        }
    }

    /// Removes keys of the user that have been dead for a day.
    pub(super) fn prune(&mut self, provider: &str, now: f64) {
        let pool = Pool::of(self, provider, &[]);
        let is_old = |entry: &Entry| {
            entry.status == Status::Dead && entry.last_error.at.is_some_and(|at| now - at > FORGET_DEAD_AFTER)
        };
        for entry in pool.entries.iter().filter(|entry| entry.is_manual() && is_old(entry)) {
            self.remove(entry);
        }
    }

    /// Stores a use of a credential, if the next choice depends on it.
    pub(super) fn note_taken(&mut self, pool: &Pool, taken: &Entry, strategy: Strategy) {
        match strategy {
            Strategy::FillFirst | Strategy::Random => {}
            Strategy::LeastUsed => {
                self.ensure(taken);
                if let Some(fields) = self.entry_mut(&taken.provider, &taken.id) {
                    fields.insert("request_count".to_owned(), json!(taken.request_count + 1));
                }
            }
            Strategy::RoundRobin => {
                let mut order: Vec<&Entry> =
                    pool.entries.iter().filter(|entry| entry.id != taken.id).collect();
                order.push(taken);
                order.iter().for_each(|entry| self.ensure(entry));
                let ids: Vec<String> = order.iter().map(|entry| entry.id.clone()).collect();
                self.order(&taken.provider, &ids);
            }
        }
    }

    /// Stores new tokens.
    pub(super) fn renew(&mut self, entry: &Entry, new: &Refreshed, now: f64) {
        let Some(fields) = self.entry_mut(&entry.provider, &entry.id) else { return };
        fields.insert("access_token".to_owned(), json!(new.access_token.expose_secret()));
        if let Some(token) = &new.refresh_token {
            fields.insert("refresh_token".to_owned(), json!(token.expose_secret()));
        }
        if let Some(at) = new.expires_at {
            match fields.contains_key("expires_at_ms") {
                true => fields.insert("expires_at_ms".to_owned(), json!((at * 1000.0) as i64)),
                false => fields.insert("expires_at".to_owned(), json!(moment::written(at))),
            };
        }
        fields.insert("last_refresh".to_owned(), json!(moment::written(now)));
        for (name, value) in &new.fields {
            fields.insert(name.clone(), value.clone());
        }
        self.mark(entry, Status::Ok, &LastError::default());
    }

    /// Sets the priorities of these entries to 0, 1, 2, …
    fn order(&mut self, provider: &str, ids: &[String]) {
        for (priority, id) in ids.iter().enumerate() {
            if let Some(fields) = self.entry_mut(provider, id) {
                fields.insert("priority".to_owned(), json!(priority));
            }
        }
    }

    /// Creates an entry for a credential whose secret is stored elsewhere.
    fn ensure(&mut self, entry: &Entry) {
        if !entry.is_borrowed() || self.entry_mut(&entry.provider, &entry.id).is_some() {
            return;
        }
        let mut fields = common(&entry.id, &entry.label, entry.auth_type, entry.priority, &entry.source);
        if let Some(address) = &entry.base_url {
            fields.insert("base_url".to_owned(), json!(address));
        }
        fields.insert("request_count".to_owned(), json!(entry.request_count));
        fields.insert("secret_fingerprint".to_owned(), json!(fingerprint(&entry.key)));
        self.entries_mut(&entry.provider).push(Value::Object(fields));
    }
}

impl Pool {
    /// Returns the entry with this number, id or label.
    pub fn find(&self, provider: &str, target: &str) -> Result<&Entry, NoSuchEntry> {
        let (provider, target) = (provider.to_owned(), target.trim().to_owned());
        if let Some(entry) = self.get(&target) {
            return Ok(entry);
        }
        let mut labelled = self.entries.iter().filter(|entry| entry.label.eq_ignore_ascii_case(&target));
        match (labelled.next(), labelled.next()) {
            (Some(entry), None) => return Ok(entry),
            (Some(_), Some(_)) => return Err(NoSuchEntry::Ambiguous { provider, target }),
            (None, _) => {}
        }
        let number = target.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let entry = number.and_then(|at| self.entries.get(at));
        entry.ok_or(NoSuchEntry::Unknown { provider, target })
    }
}

/// The fields that every entry has, in the order in which the Python release writes them.
fn common(id: &str, label: &str, auth_type: AuthType, priority: i64, source: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| fields.insert(name.to_owned(), value);
    put("id", json!(id));
    put("label", json!(label));
    put("auth_type", json!(auth_type.as_str()));
    put("priority", json!(priority));
    put("source", json!(source));
    for name in MARKS {
        put(name, Value::Null);
    }
    fields
}

#[cfg(test)]
#[path = "edit_tests.rs"]
mod tests;
