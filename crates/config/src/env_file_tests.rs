//! Reading and editing of `.env`.

use super::*;

fn parse(text: &str) -> EnvFile {
    EnvFile::parse(Path::new("/h/.env"), text.to_owned())
}

#[test]
fn values_are_read_as_people_write_them() {
    for (text, want) in [
        ("A=1", "1"),
        ("export A=1\n", "1"),
        ("A = 1 \n", "1"),
        ("A='single $X #' # c", "single $X #"),
        ("A=\"two\\nlines\"", "two\nlines"),
        ("A=\"two\nlines\"\nB=2", "two\nlines"),
        ("A=v # c\n", "v"),
        ("A=v#c\n", "v#c"),
        ("A=pa$$word$x", "pa$$word$x"),
        ("A=\"pa$word\"", "pa$word"),
        ("B=b\nA=${B}c", "bc"),
        ("A=some text here # c", "some text here"),
        ("A=C:\\dir", "C:\\dir"),
        ("A=it's\nB=2", "it's"),
        ("A=", ""),
        ("A=1\nA=2", "2"),
        ("\u{feff}A=1\r\nB=2\r\n", "1"),
    ] {
        let file = parse(text);
        assert_eq!((file.get("A"), file.notices()), (Some(want), &[][..]), "{text:?}");
    }
}

#[test]
fn a_bad_line_has_a_number_and_costs_no_other() {
    let file = parse("A=1\n\nnonsense\n# c\nB=\"open\nC=3\n1X=2\n");
    assert_eq!(file.iter().collect::<Vec<_>>(), [("A", "1"), ("C", "3")]);
    let lines = [3, 5, 7].map(|line| EnvNotice::BadLine { line });
    assert_eq!(file.notices(), lines);
}

#[test]
fn keys_lose_what_pasting_added() {
    let file = parse("DEMO_API_KEY=abc\u{200b}def\nNAME=grün\n");
    assert_eq!((file.get("DEMO_API_KEY"), file.get("NAME")), (Some("abcdef"), Some("grün")));
    assert_eq!(file.notices(), [EnvNotice::NonAscii { name: "DEMO_API_KEY".into() }]);
}

#[test]
fn setting_keeps_comments_and_other_lines() {
    for (before, name, value, after) in [
        ("", "A", "1", "A=1\n"),
        ("# c\nB=2", "A", "1", "# c\nB=2\nA=1\n"),
        ("# c\nA=1 # why\n\nB=2\n", "A", "x y", "# c\nA='x y' # why\n\nB=2\n"),
        ("A=1\nB=2\nA=3\n", "A", "4", "B=2\nA=4\n"),
        ("A=\"1\n2\"\nB=2\n", "A", "1", "A=1\nB=2\n"),
        ("oops\nA=1\n", "A", "2", "oops\nA=2\n"),
    ] {
        assert_eq!(parse(before).with(name, value).unwrap().text(), after, "{before:?}");
    }
}

#[test]
fn any_text_comes_back_as_it_was_set() {
    for value in [
        "",
        "a b",
        "it's",
        "say \"hi\"",
        "$HOME ${HOME}",
        "back\\slash",
        "end\\",
        "#x",
        " pad ",
        "l1\nl2",
        "ü",
        "a\\'b$",
        "tab\t",
    ] {
        let file = parse("B=1\n").with("A", value).unwrap();
        assert_eq!(file.get("A"), Some(value), "{}", file.text());
    }
}

#[test]
fn what_cannot_be_kept_is_refused() {
    for (name, value) in [("a b", "1"), ("1A", "1"), ("", "1"), ("A", "x\0y"), ("A", "x\ry")] {
        assert!(parse("").with(name, value).is_err(), "{name}={value:?}");
    }
}

#[test]
fn unsetting_removes_every_definition() {
    let file = parse("# c\nA=1\nB=2\nA=3\n");
    assert_eq!(file.without("A").unwrap().text(), "# c\nB=2\n");
    assert!(file.without("C").is_none());
}

#[test]
fn debug_output_shows_no_value() {
    assert_eq!(format!("{:?}", parse("A_TOKEN=hush")), "EnvFile(/h/.env, 1 variables)");
}
