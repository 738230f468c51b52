use super::*;
use proptest::prelude::*;

fn owned(entries: &[&str]) -> Vec<String> {
    entries.iter().map(|entry| (*entry).to_owned()).collect()
}

#[test]
fn files_are_split_as_python_splits_them() {
    for (text, want) in [
        ("", &[][..]),
        (" \n\n", &[]),
        ("fact one", &["fact one"]),
        ("fact one\n§\nfact two", &["fact one", "fact two"]),
        ("a\n§\n\n b \n", &["a", "b"]),
        ("a\r\n§\r\nb", &["a", "b"]),
        ("a\n§\nb\n§\na", &["a", "b"]),
        ("a § b", &["a § b"]),
        ("a\n§\n§\nb", &["a", "§\nb"]),
        ("\u{1f}a\u{a0}\n§\n\u{1c}", &["a"]),
        ("two\nlines\n§\nmore", &["two\nlines", "more"]),
    ] {
        assert_eq!(split(text), want, "{text:?}");
    }
}

#[test]
fn length_counts_characters_and_separators() {
    for (entries, want) in [(&[][..], 0), (&["a"], 1), (&["fact one", "fact two"], 19), (&["äö", "€"], 6)]
    {
        assert_eq!(chars(&owned(entries)), want, "{entries:?}");
        assert_eq!(join(&owned(entries)).chars().count(), want, "{entries:?}");
    }
}

#[test]
fn drift_is_text_that_rewriting_would_lose() {
    for (text, want) in [
        ("", false),
        ("a\n§\nb", false),
        ("a\n§\nb\n", false),
        ("a\n§\na", false),
        ("a\n§\n\n b", true),
        ("a\n§\n\n§\nb", true),
        ("123456", true),
    ] {
        assert_eq!(has_drifted(text, 5), want, "{text:?}");
    }
}

proptest! {
    #[test]
    fn written_entries_are_read_back(given in proptest::collection::vec("[a-c§\r\n \u{1e}]{0,9}", 0..6)) {
        let mut entries: Vec<String> = Vec::new();
        for content in given.iter().map(|content| clean(content)) {
            if !content.is_empty() && is_one_entry(&content) && !entries.contains(&content) {
                entries.push(content);
            }
        }
        prop_assert_eq!(split(&join(&entries)), entries.clone());
        prop_assert!(!has_drifted(&join(&entries), 100));
    }
}
