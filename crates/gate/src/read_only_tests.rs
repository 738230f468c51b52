use super::*;

fn scene() -> Scene {
    Scene {
        cwd: "/home/dev/app".into(),
        project: "/home/dev/app".into(),
        user_home: Some("/home/dev".into()),
        hermes_home: "/home/dev/.hermes".into(),
        is_sandboxed: true,
        ..Scene::default()
    }
}

#[test]
fn only_commands_that_change_nothing_are_read_only() {
    for (command, want) in [
        ("ls -la /tmp", true),
        ("cat 'a file'", true),
        ("git status --short", true),
        ("git log --oneline -5", true),
        ("git branch -a", true),
        ("grep -rn pattern src", true),
        ("rg --files", true),
        ("sleep 1", true),
        ("date +%s", true),
        ("ls 2>/dev/null | head -3", true),
        ("cd src && ls", true),
        ("find . -name x", true),
        ("sed -n 1,20p file", true),
        ("", false),
        ("ls; rm x", false),
        ("cat a > b", false),
        ("ls $HOME", false),
        ("ls *", false),
        ("echo `id`", false),
        ("cat 'unclosed", false),
        ("X=1 ls", false),
        ("cat .env", false),
        ("git branch new", false),
        ("git branch -D old", false),
        ("git log --output=x", false),
        ("git diff --outp x", false),
        ("git diff --ext-diff", false),
        ("git -C x status", false),
        ("git commit", false),
        ("rg --pre cat x", false),
        ("date -s 2020-01-01", false),
        ("file -C -m x", false),
        ("find . -delete", false),
        ("sed -i s/a/b/ x", false),
        ("sort -o x y", false),
        ("ls &", false),
        ("rm x", false),
        ("ls\nrm x", false),
        ("(ls)", false),
    ] {
        assert_eq!(is_read_only(command, &scene()), want, "{command}");
    }
}

#[test]
fn simple_command_has_no_operators_and_no_expansions() {
    let words = |text: &str| simple_command(text).map(|words| words.join("|"));
    assert_eq!(words("git commit -m 'a b'").as_deref(), Some("git|commit|-m|a b"));
    assert_eq!(words("echo a\\ b \"c d\"").as_deref(), Some("echo|a b|c d"));
    for text in [
        "a; b", "a && b", "a | b", "a > b", "a $x", "a `b`", "a $(b)", "a *", "a {b,c}", "a ~", "x=1 a",
        "a &", "", "(a)",
    ] {
        assert_eq!(words(text), None, "{text}");
    }
}
