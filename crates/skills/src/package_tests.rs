use super::*;

#[test]
fn unsafe_paths_are_refused() {
    for (path, want) in [
        ("a/b.md", Some("a/b.md")),
        ("./a/./b", Some("a/b")),
        ("/etc/passwd", None),
        ("../up", None),
        ("a/../../up", None),
        ("a/..", None),
        ("..\\up", None),
        ("C:/x", None),
        ("~/x", None),
        ("a//b", None),
        ("a/\u{0}b", None),
        ("a/b.", None),
        ("", None),
        (".", None),
    ] {
        assert_eq!(checked(path).ok().as_deref(), want, "{path:?}");
    }
    assert!(checked(&"a/".repeat(20)).is_err());
    assert!(checked(&"n".repeat(300)).is_err());
}

#[test]
fn path_has_one_spelling_and_one_kind() {
    for (first, second, is_fine) in [
        ("a/x", "a/y", true),
        ("a/x", "A/y", false),
        ("SKILL.md", "skill.md", false),
        ("x", "x", false),
        ("x", "x/y", false),
        ("x/y", "x", false),
        ("ﬁle", "file", false),
        ("stra\u{df}e", "strasse", true),
        ("e\u{301}", "\u{e9}", false),
    ] {
        let mut builder = PackageBuilder::default();
        builder.file(first, vec![], false).unwrap();
        assert_eq!(builder.file(second, vec![], false).is_ok(), is_fine, "{first} {second}");
    }
}

#[test]
fn skill_is_chosen_by_path() {
    for (paths, wanted, want) in [
        (&["SKILL.md", "scripts/x"][..], None, Some("")),
        (&["a-1.0/SKILL.md"], None, Some("a-1.0")),
        (&["r/a/SKILL.md", "r/b/SKILL.md"], None, None),
        (&["r/a/SKILL.md", "r/b/SKILL.md"], Some("b"), Some("r/b")),
        (&["r/a/SKILL.md", "r/b/SKILL.md"], Some("r/b/"), Some("r/b")),
        (&["r/a/SKILL.md", "r/b/SKILL.md"], Some("c"), None),
        (&["a/SKILL.md", "a/templates/SKILL.md"], None, Some("a")),
        (&["README.md"], None, None),
    ] {
        let chosen = choose(paths.iter().copied(), wanted);
        assert_eq!(chosen.ok().as_deref(), want, "{paths:?} {wanted:?}");
    }
}
