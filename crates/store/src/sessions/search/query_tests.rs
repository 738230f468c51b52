use super::*;

/// Formats a query: `-` before unwanted terms, `|` between alternatives, each term with its index.
fn shown(groups: &[Group]) -> String {
    let term = |sign: &str, term: &Term| {
        let kind = match term.kind {
            Kind::Word => 'w',
            Kind::Part => 't',
            Kind::Pair => 'p',
        };
        format!("{sign}{kind}:{}{}", term.text, if term.prefix { "*" } else { "" })
    };
    let group = |group: &Group| {
        let wanted = group.wanted.iter().map(|one| term("", one));
        wanted.chain(group.unwanted.iter().map(|one| term("-", one))).collect::<Vec<_>>().join(" ")
    };
    groups.iter().map(group).collect::<Vec<_>>().join(" | ")
}

#[test]
fn queries_are_parsed() {
    for (query, want) in [
        ("", ""),
        ("  \t", ""),
        ("AND", ""),
        ("OR NOT", ""),
        ("hello", "w:hello"),
        ("foo AND", "w:foo"),
        ("foo NOT bar", "w:foo -w:bar"),
        ("NOT foo", "w:foo"),
        ("a OR b c", "w:a | w:b w:c"),
        ("pre*", "w:pre*"),
        ("pre***", "w:pre*"),
        (r#""exact phrase" x"#, "w:exact phrase w:x"),
        (r#"a "b c"#, "w:a w:b w:c"),
        (r#""hello, world""#, "w:hello, world"),
        ("a\0b", "w:a w:b"),
        // Punctuation inside a word or name.
        ("it's", "t:it's"),
        ("user@example.com", "t:user@example.com"),
        ("/usr/lib/", "t:/usr/lib/"),
        ("foo-bar a.b C++ C# .env", "t:foo-bar t:a.b t:C++ p:C# t:.env"),
        // Punctuation around a word is trimmed.
        ("(error: found!)", "w:error w:found"),
        ("main.rs, `panic`", "t:main.rs w:panic"),
        ("NEAR(a b)", "t:NEAR(a w:b"),
        // Lone punctuation counts only without other terms.
        ("hello , world ->", "w:hello w:world"),
        ("->", "p:->"),
        ("+++ -- \"...\"", "t:+++ p:-- t:..."),
        ("*", "p:*"),
        ("party 🎉", "w:party p:🎉"),
        // Scripts without spaces.
        ("中", "p:中"),
        ("中文 搜索", "p:中文 p:搜索"),
        ("中文搜索 rust", "t:中文搜索 w:rust"),
        ("ภาษาไทย", "t:ภาษาไทย"),
        ("العربية Привет café", "w:العربية w:Привет w:café"),
    ] {
        assert_eq!(shown(&groups(query)), want, "{query:?}");
    }
}

#[test]
fn relaxed_query_ignores_punctuation() {
    for (query, want) in [
        ("foo-bar", Some("w:foo-bar")),
        ("C++ NOT a.b", Some("w:C++ -t:a.b")),
        ("plain words", None),
        ("中文", None),
        ("->", None),
    ] {
        assert_eq!(relaxed(&groups(query)).map(|groups| shown(&groups)).as_deref(), want, "{query}");
    }
}
