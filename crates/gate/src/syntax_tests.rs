use super::*;
use crate::limits::{Spent, Unreadable};

/// The simple commands of a text, in the order of the text, without their expansions.
fn commands(text: &str) -> Vec<String> {
    let (script, _) = parse(text, 0, Spent::default()).unwrap();
    let mut found = Vec::new();
    collect(&script, &mut found);
    found
}

fn collect(script: &Script, found: &mut Vec<String>) {
    for item in &script.items {
        for pipeline in std::iter::once(&item.first).chain(item.rest.iter().map(|(_, pipeline)| pipeline)) {
            pipeline.commands.iter().for_each(|command| collect_command(command, found));
        }
    }
}

fn collect_command(command: &Command, found: &mut Vec<String>) {
    match &command.kind {
        Kind::Simple(simple) => {
            let words: Vec<String> = simple.words.iter().map(|word| shown(&word.parts, found)).collect();
            found.push(words.join(" "));
        }
        Kind::Group(script) | Kind::Subshell(script) => collect(script, found),
        Kind::If(parts) => parts.iter().for_each(|part| collect(part, found)),
        Kind::Loop(condition, body) => [condition, body].iter().for_each(|part| collect(part, found)),
        Kind::For { body, .. } => collect(body, found),
        Kind::Case { bodies, .. } => bodies.iter().for_each(|part| collect(part, found)),
        Kind::Function { body, .. } => collect_command(body, found),
        Kind::Test(_) => found.push("test".into()),
        Kind::Coprocess(command) => collect_command(command, found),
    }
}

fn shown(parts: &[Part], found: &mut Vec<String>) -> String {
    let mut text = String::new();
    for part in parts {
        match part {
            Part::Literal(literal) | Part::Quoted(literal) => text.push_str(literal),
            Part::Command { script, .. } | Part::Process { script, .. } => {
                collect(script, found);
                text.push('$');
            }
            Part::Parameter { name, .. } => text.push_str(&format!("${name}")),
            Part::BraceOpen => text.push('{'),
            Part::BraceComma => text.push(','),
            Part::BraceClose => text.push('}'),
            Part::Tilde(user) => text.push_str(&format!("~{user}")),
            Part::Arithmetic(_) | Part::Array(_) => text.push('#'),
        }
    }
    text
}

#[test]
fn commands_in_every_position_are_found() {
    for (text, want) in [
        ("a b; c & d && e || f | g", "a b,c,d,e,f,g"),
        ("time { rm z; }", "rm z"),
        ("coproc cat", "cat"),
        ("! a | b", "a,b"),
        ("if a; then b; elif c; then d; else e; fi", "a,b,c,d,e"),
        ("for i in x y; do a $i; done", "a $i"),
        ("while a; do b; done", "a,b"),
        ("case x in y) a;; (z|w) b;; esac", "a,b"),
        ("f() { a; }; f", "a,f"),
        ("( (a) ; { b; } )", "a,b"),
        ("((a)+(b))", "a"),
        ("a $(b $(c)) `d \\`e\\``", "c,b $,e,d $,a $ $"),
        ("a <(b) >(c)", "b,c,a $ $"),
        ("[[ a && b ]] && c", "test,c"),
        ("((1+1)) && a", "test,a"),
        ("a # b", "a"),
        ("a#b", "a#b"),
        ("a\\\nb", "ab"),
        ("a 'b c'\"d e\"f\\ g", "a b cd ef g"),
        ("$'\\x72\\155' x", "rm x"),
    ] {
        // `((a)+(b))` is two subshells with something between them, which is an error; bash agrees.
        if text == "((a)+(b))" {
            assert_eq!(parse(text, 0, Spent::default()).err(), Some(Unreadable::Syntax));
            continue;
        }
        assert_eq!(commands(text).join(","), want, "{text}");
    }
}

#[test]
fn here_documents_are_cut_out() {
    assert_eq!(commands("cat <<'E'; b\nrm x; $(y)\nE\nc"), ["cat", "b", "c"]);
    assert_eq!(commands("cat <<A <<B\n1\nA\n2\nB\nd"), ["cat", "d"]);
    assert_eq!(commands("x $(cat <<E\na ' b\nE\n) z"), ["cat", "x $ z"]);
    assert_eq!(commands("cat <<-E\n\ta\n\tE\nb"), ["cat", "b"]);
}

#[test]
fn malformed_text_is_an_error() {
    for text in [
        "'",
        "\"",
        "$(",
        "`",
        "(",
        "if a",
        "if a; then b",
        "a ;; b",
        "fi",
        "${x",
        "a )",
        "case x in",
        "<<",
        "f() ",
        "a > ",
        "| a",
        "&& a",
    ] {
        assert_eq!(parse(text, 0, Spent::default()).err(), Some(Unreadable::Syntax), "{text}");
    }
}
