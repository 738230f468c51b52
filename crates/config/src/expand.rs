//! `${NAME}` inside values, filled in when a value is read; the file keeps the template.

use std::borrow::Cow;

/// Replaces every `${NAME}` for which `lookup` knows a value; unknown ones stay as written.
pub(crate) fn expand<'a>(text: &'a str, lookup: &dyn Fn(&str) -> Option<String>) -> Cow<'a, str> {
    let Some(mut open) = text.find("${") else {
        return Cow::Borrowed(text);
    };
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    loop {
        let name = rest[open + 2..].split_once('}').map(|(name, _)| name).filter(|name| is_name(name));
        match name.and_then(|name| Some((name, lookup(name)?))) {
            Some((name, value)) => {
                out.push_str(&rest[..open]);
                out.push_str(&value);
                rest = &rest[open + name.len() + 3..];
            }
            None => {
                out.push_str(&rest[..open + 2]);
                rest = &rest[open + 2..];
            }
        }
        match rest.find("${") {
            Some(next) => open = next,
            None => break,
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The first `${NAME}` in a text for which `lookup` knows no value.
pub(crate) fn unset<'a>(text: &'a str, lookup: &dyn Fn(&str) -> Option<String>) -> Option<&'a str> {
    let names = text.match_indices("${").filter_map(|(at, _)| {
        let (name, _) = text[at + 2..].split_once('}')?;
        Some(name).filter(|name| is_name(name))
    });
    { names }.find(|name| lookup(name).is_none())
}

/// Returns true if `name` is a valid name of an environment variable.
pub(crate) fn is_name(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_names_are_filled_in() {
        let lookup = |name: &str| (name == "A").then(|| "${B}x".to_owned());
        for (text, want) in [
            ("plain $A {A}", "plain $A {A}"),
            ("${A}", "${B}x"),
            ("-${A}-${A}", "-${B}x-${B}x"),
            ("${B} ${A}", "${B} ${B}x"),
            ("${A", "${A"),
            ("${}${A}", "${}${B}x"),
            ("${a b}${${A}}", "${a b}${${B}x}"),
            ("ü${A}ü", "ü${B}xü"),
        ] {
            assert_eq!(expand(text, &lookup), want, "{text}");
        }
    }
}
