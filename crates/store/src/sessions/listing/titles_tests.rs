use super::*;

#[test]
fn titles_are_sanitised_as_in_the_python_release() {
    for (title, want) in [
        ("Hi", Some("Hi")),
        ("", None),
        ("x\u{200b}y", Some("xy")),
        ("\u{202e}abc", Some("abc")),
        ("  a \t\n b  ", Some("a b")),
        ("a\u{0}b\u{7f}", Some("ab")),
        ("\u{200b} \u{feff}", None),
    ] {
        assert_eq!(sanitize_title(title).unwrap().as_deref(), want, "{title:?}");
    }
    assert!(sanitize_title(&"é".repeat(MAX_TITLE)).is_ok());
    let error = sanitize_title(&"x".repeat(101)).unwrap_err();
    assert_eq!(error.to_string(), "title too long: 101 characters, the limit is 100");
}

#[test]
fn title_number_is_parsed_from_the_end() {
    for (title, want) in [
        ("plan", ("plan", 1)),
        ("plan #2", ("plan", 2)),
        ("plan #2 #3", ("plan #2", 3)),
        ("plan #", ("plan #", 1)),
        ("plan #+2", ("plan #+2", 1)),
        ("plan#2", ("plan#2", 1)),
    ] {
        assert_eq!(numbered(title), want, "{title}");
    }
}
