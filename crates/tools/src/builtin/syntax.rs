//! Syntax checks of data files, in process.

use serde::de::IgnoredAny;
use std::path::Path;

/// The syntax error of the text, for a file type with a parser.
pub(super) fn syntax_error(path: &Path, text: &str) -> Option<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (kind, error) = match path.extension()?.to_str()? {
        "json" => ("JSON", serde_json::from_str::<IgnoredAny>(text).err()?.to_string()),
        "yaml" | "yml" => ("YAML", serde_saphyr::from_multiple::<serde_json::Value>(text).err()?.to_string()),
        "toml" => ("TOML", text.parse::<toml::Table>().err()?.to_string()),
        "ipynb" => ("JSON", serde_json::from_str::<IgnoredAny>(text).err()?.to_string()),
        _ => return None,
    };
    Some(format!("not valid {kind}: {}", error.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_files_are_recognised_by_name() {
        for (name, text, sound) in [
            ("a.json", "{\"a\": [1]}", true),
            ("a.json", "{\"a\": [1}", false),
            ("a.ipynb", "{", false),
            ("a.yaml", "a: 1\nb: [x, y]\n", true),
            ("a.yml", "a: 1\n---\nb: 2\n", true),
            ("a.yml", "a: [1\n", false),
            ("a.yaml", "", true),
            ("a.toml", "[a]\nb = 1\n", true),
            ("a.toml", "[a\n", false),
            ("a.toml", "a = 1\na = 2\n", false),
            ("a.txt", "{", true),
            ("json", "{", true),
        ] {
            assert_eq!(syntax_error(Path::new(name), text).is_none(), sound, "{name}: {text}");
        }
    }
}
