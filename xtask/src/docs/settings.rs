//! The table of settings for `docs/configuration.md`.

use hermes_config::{Fallback, KEYS, Key};

/// The table, a row for each key.
pub(super) fn table() -> String {
    let rows: String = KEYS.iter().map(row).collect();
    format!("| key | default | variable | meaning |\n|---|---|---|---|\n{rows}")
}

fn row(key: &Key) -> String {
    let variables: Vec<String> = key.env.iter().map(|variable| code(variable.name())).collect();
    let meaning = key.description.replace('|', "\\|");
    format!("| {} | {} | {} | {meaning} |\n", code(key.name), default(key.default), variables.join(", "))
}

fn default(default: Fallback) -> String {
    match default {
        Fallback::None | Fallback::Text("") | Fallback::List([]) => String::new(),
        Fallback::Text(text) => code(text),
        Fallback::Integer(number) => code(&number.to_string()),
        Fallback::Boolean(on) => code(&on.to_string()),
        Fallback::List(items) => code(&items.join(", ")),
    }
}

fn code(text: &str) -> String {
    format!("`{text}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_has_a_row() {
        let table = table();
        assert_eq!(table.lines().count(), KEYS.len() + 2);
        let want = "| `agent.max_turns` | `90` | `HERMES_MAX_ITERATIONS` | maximum model calls per turn |\n";
        assert!(table.contains(want), "{table}");
    }
}
