//! The table of settings that this version reads: names, types, defaults and variables.
//!
//! Its rows are generated from the declarations in [`settings`](crate::settings). The settings page of the
//! documentation, `config show`, checking and "did you mean" use this table. A key that is not in it is kept in
//! the file and otherwise ignored.

use super::provider_keys;
use super::settings::Settings;

/// The row of one setting.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// The dotted name in `config.yaml`, or the name of a variable.
    pub name: &'static str,
    pub kind: Kind,
    pub default: Fallback,
    /// Variables that set it, the first one found counting.
    pub env: &'static [Env],
    pub order: Order,
    /// True if the value is never shown.
    pub secret: bool,
    pub description: &'static str,
}

/// The type of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    Integer,
    /// US dollars, as a decimal number.
    Dollars,
    /// A number from 0 to 1.
    Share,
    Boolean,
    List,
    /// One of a few texts. In a file, any other text means the last one, the safest.
    Choice(&'static [&'static str]),
}

/// The default of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fallback {
    None,
    Text(&'static str),
    Integer(i64),
    Boolean(bool),
    List(&'static [&'static str]),
}

/// The way in which an environment variable sets a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Env {
    /// Its text is the value.
    Value(&'static str),
    /// Switched on (`1`, `true`, `yes`, `on`) it stands for this value; otherwise it is ignored.
    Switch(&'static str, &'static str),
}

impl Env {
    pub fn name(&self) -> &'static str {
        match self {
            Env::Value(name) | Env::Switch(name, _) => name,
        }
    }
}

/// The precedence of two layers, below flags and above the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// `.env`, then the shell, then `config.yaml`.
    EnvFirst,
    /// `config.yaml`, then `.env`, then the shell: a saved choice of model outlives a stale export.
    FileFirst,
    /// `.env`, then the shell; `config.yaml` is not asked.
    EnvOnly,
}

/// Every setting that this version reads, in the order of the declarations.
pub static KEYS: &[Key] = &ALL;

static ALL: [Key; Settings::COUNT] = Settings::KEYS;
/// Positions in [`KEYS`], sorted by name.
static BY_NAME: [u8; Settings::COUNT] = sorted(&Settings::KEYS);

impl Key {
    pub(crate) const fn new(
        name: &'static str,
        kind: Kind,
        default: Fallback,
        description: &'static str,
    ) -> Self {
        // A doc comment has a space before its text.
        let description = description.trim_ascii();
        Self { name, kind, default, env: &[], order: Order::EnvFirst, secret: false, description }
    }

    /// The row of a known key; `model` is another name of `model.default`. Variables of providers are known, too.
    pub fn find(name: &str) -> Option<&'static Key> {
        let name = if name == "model" { "model.default" } else { name };
        match BY_NAME.binary_search_by(|at| KEYS[usize::from(*at)].name.cmp(name)) {
            Ok(at) => Some(&KEYS[usize::from(BY_NAME[at])]),
            // Keys of settings have small letters, names of variables have none.
            Err(_) if name.contains(|char: char| char.is_ascii_lowercase()) => None,
            Err(_) => provider_keys::all().find(|key| key.name == name),
        }
    }

    /// Returns true if `name` means this key.
    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name || (name == "model" && self.name == "model.default")
    }
}

/// The keys of several sections as one list.
pub(crate) const fn join<const N: usize>(parts: &[&[Key]]) -> [Key; N] {
    let mut all = [Key::new("", Kind::Text, Fallback::None, ""); N];
    let (mut part, mut at) = (0, 0);
    while part < parts.len() {
        let mut from = 0;
        while from < parts[part].len() {
            all[at] = parts[part][from];
            (from, at) = (from + 1, at + 1);
        }
        part += 1;
    }
    all
}

/// The positions of `keys` in the order of their names. Runs when the program is compiled.
const fn sorted<const N: usize>(keys: &[Key; N]) -> [u8; N] {
    assert!(N <= u8::MAX as usize, "positions are bytes");
    let mut order = [0; N];
    let mut count = 0;
    while count < N {
        let mut at = count;
        while at > 0 && is_before(keys[count].name, keys[order[at - 1] as usize].name) {
            order[at] = order[at - 1];
            at -= 1;
        }
        order[at] = count as u8;
        count += 1;
    }
    order
}

const fn is_before(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut at = 0;
    while at < a.len() && at < b.len() {
        if a[at] != b[at] {
            return a[at] < b[at];
        }
        at += 1;
    }
    a.len() < b.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_is_listed_once_and_its_default_fits() {
        for (at, key) in KEYS.iter().enumerate() {
            assert!(KEYS[..at].iter().all(|other| other.name != key.name), "{} twice", key.name);
            let fits = match (key.kind, key.default) {
                (_, Fallback::None) => true,
                (Kind::Text, Fallback::Text(_)) | (Kind::Integer, Fallback::Integer(_)) => true,
                (Kind::Boolean, Fallback::Boolean(_)) | (Kind::List, Fallback::List(_)) => true,
                (Kind::Choice(words), Fallback::Text(word)) => words.contains(&word),
                _ => false,
            };
            assert!(fits && !key.description.is_empty(), "{}", key.name);
        }
    }

    #[test]
    fn every_key_is_found_by_its_name() {
        for key in KEYS {
            assert_eq!(Key::find(key.name).map(|found| found.name), Some(key.name));
        }
        assert_eq!(Key::find("model").map(|key| key.name), Some("model.default"));
        assert_eq!(Key::find("ANTHROPIC_API_KEY").map(|key| key.secret), Some(true));
        for name in ["", "agent", "agent.max_turn", "agent.max_turnss", "zzz", "NO_SUCH_VARIABLE"] {
            assert!(Key::find(name).is_none(), "{name}");
        }
    }
}
