//! Finding the tool that a slightly wrong name means.

use hermes_edits::fuzzy::alike;

/// The minimum similarity of a misspelled name.
const ALIKE: f32 = 0.7;

/// The known name that `given` means, if it means one.
pub(crate) fn repair<'a>(given: &str, known: impl Iterator<Item = &'a str> + Clone) -> Option<&'a str> {
    let exact = |wanted: &str| known.clone().find(|name| *name == wanted);
    if let Some(name) = exact(given) {
        return Some(name);
    }
    let mut plain = simplified(given);
    if plain.is_empty() {
        return None;
    }
    // Some models add the suffix on top of one that is already there.
    for _ in 0..2 {
        if let Some(name) = exact(&plain) {
            return Some(name);
        }
        plain = without_suffix(&plain).to_owned();
    }
    exact(&plain).or_else(|| closest(&plain, known))
}

/// The name without markup, its parts joined by underscores, in lower case.
fn simplified(given: &str) -> String {
    let bare = given.trim().split(['"', '\'', '<', '>']).next().unwrap_or_default().trim();
    let mut plain = String::new();
    let mut after_lower = false;
    for character in bare.chars() {
        if character.is_uppercase() && after_lower {
            plain.push('_');
        }
        after_lower = character.is_lowercase() || character.is_ascii_digit();
        match character {
            '-' | ' ' => plain.push('_'),
            _ => plain.extend(character.to_lowercase()),
        }
    }
    plain
}

fn without_suffix(name: &str) -> &str {
    let cut = name.strip_suffix("_tool").or_else(|| name.strip_suffix("tool"));
    cut.map_or(name, |rest| rest.trim_end_matches('_'))
}

fn closest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|candidate| (alike(name, candidate), candidate))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_behind_their_spelling() {
        let known = ["patch", "read_file", "search_files", "terminal", "todo", "write_file"];
        for (given, want) in [
            ("read_file", Some("read_file")),
            ("ReadFile", Some("read_file")),
            ("read-file", Some("read_file")),
            ("Read File", Some("read_file")),
            ("read_file_tool", Some("read_file")),
            ("TodoTool_tool", Some("todo")),
            ("terminal\"><parameter", Some("terminal")),
            ("terminal<arg>", Some("terminal")),
            ("read_fil", Some("read_file")),
            ("search_file", Some("search_files")),
            ("launch_rocket", None),
            ("", None),
            ("\"", None),
        ] {
            assert_eq!(repair(given, known.iter().copied()), want, "{given}");
        }
    }
}
