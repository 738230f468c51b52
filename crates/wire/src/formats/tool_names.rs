//! Tool names in a spelling that every endpoint accepts.

use std::borrow::Cow;

/// The maximum length of a tool name at every endpoint.
const LONGEST: usize = 64;

/// The name of a tool in allowed characters. A model can invent other names, and a request that repeats one
/// would always be rejected.
pub(super) fn tool_name(name: &str) -> Cow<'_, str> {
    let allowed = |character: char| character.is_ascii_alphanumeric() || matches!(character, '_' | '-');
    if name.is_empty() {
        return Cow::Borrowed("invalid_tool_call");
    }
    if name.len() <= LONGEST && name.chars().all(allowed) {
        return Cow::Borrowed(name);
    }
    Cow::Owned(name.chars().take(LONGEST).map(|c| if allowed(c) { c } else { '_' }).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_keep_to_the_allowed_characters() {
        let long = "x".repeat(80);
        for (name, want) in [
            ("read_file", "read_file"),
            ("", "invalid_tool_call"),
            ("a b.c", "a_b_c"),
            ("\u{1b}[2Jé", "__2J_"),
            (&long, &long[..64]),
        ] {
            assert_eq!(tool_name(name), want, "{name:?}");
        }
    }
}
