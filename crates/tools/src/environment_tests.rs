use super::*;

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

fn changes(set: &[(&str, &str)], unset: &[&str]) -> EnvChanges {
    let unset = unset.iter().map(|name| (*name).to_owned()).collect();
    EnvChanges { set: pairs(set).into_iter().collect(), unset }
}

fn base() -> Vec<(String, String)> {
    pairs(&[("PATH", "/usr/bin:/bin"), ("LANG", "C"), ("HOME", "/home/dev")])
}

fn with(before: &Environment, changes: EnvChanges) -> (Environment, Option<String>) {
    let secrets = Secrets::default().with("KEY", &"sk-very-secret".to_owned().into());
    before.with(Exports { changes, left_out: Vec::new() }, &base(), &secrets)
}

#[test]
fn changes_are_kept_as_differences_to_the_start() {
    let (first, note) = with(&Environment::default(), changes(&[("A", "1"), ("LANG", "de")], &["PATH"]));
    assert_eq!((first.changes(), note), (&changes(&[("A", "1"), ("LANG", "de")], &["PATH"]), None));
    // Back to the start, one by one.
    let (second, _) = with(&first, changes(&[("PATH", "/usr/bin:/bin"), ("B", "2")], &["A"]));
    assert_eq!(second.changes(), &changes(&[("B", "2"), ("LANG", "de")], &[]));
    let (third, _) = with(&second, changes(&[("LANG", "C")], &["B"]));
    assert_eq!(third, Environment::default());
    let (fourth, _) = with(&third, changes(&[], &["NEVER_SET", "LANG"]));
    assert_eq!(fourth.changes(), &changes(&[], &["LANG"]));
}

#[test]
fn variables_that_run_code_or_hold_secrets_are_not_kept() {
    for (name, is_kept) in [
        ("FOO", true),
        ("PATH", true),
        ("VIRTUAL_ENV", true),
        ("CARGO_HOME", true),
        ("PYTHONPATH", true),
        ("GIT_AUTHOR_NAME", true),
        ("LD_PRELOAD", false),
        ("LD_LIBRARY_PATH", false),
        ("DYLD_INSERT_LIBRARIES", false),
        ("BASH_ENV", false),
        ("BASH_FUNC_ls", false),
        ("ENV", false),
        ("SHELLOPTS", false),
        ("BASHOPTS", false),
        ("PS4", false),
        ("PROMPT_COMMAND", false),
        ("IFS", false),
        ("CDPATH", false),
        ("HOME", false),
        ("PYTHONSTARTUP", false),
        ("PERL5OPT", false),
        ("PERL5LIB", false),
        ("RUBYOPT", false),
        ("NODE_OPTIONS", false),
        ("JAVA_TOOL_OPTIONS", false),
        ("GIT_SSH", false),
        ("GIT_SSH_COMMAND", false),
        ("GIT_EDITOR", false),
        ("GIT_PAGER", false),
        ("GIT_EXTERNAL_DIFF", false),
        ("GIT_ASKPASS", false),
        ("GIT_CONFIG_GLOBAL", false),
        ("GIT_PROXY_COMMAND", false),
        ("EDITOR", false),
        ("VISUAL", false),
        ("PAGER", false),
        ("LESSOPEN", false),
        ("LESSCLOSE", false),
        ("BROWSER", false),
        ("SUDO_ASKPASS", false),
        ("SSH_ASKPASS", false),
        ("HERMES_HOME", false),
        ("HERMES_YOLO_MODE", false),
    ] {
        let (kept, note) = with(&Environment::default(), changes(&[(name, "/x")], &[]));
        assert_eq!(kept.changes().set.contains_key(name), is_kept, "{name}");
        assert_eq!(note.is_none_or(|note| !note.contains(name)), is_kept, "{name}");
    }
    let (kept, note) =
        with(&Environment::default(), changes(&[("A", "x=sk-very-secret"), ("PS1", "(venv) ")], &["HOME"]));
    assert!(kept.changes().is_empty());
    let want = "changes of these variables are not kept for later commands: HOME (can make programs run code), A (holds a secret)";
    assert_eq!(note.as_deref(), Some(want));
}

#[test]
fn changes_of_many_commands_are_bounded() {
    let value = "x".repeat(LONGEST_VALUE);
    let mut environment = Environment::default();
    let mut notes = Vec::new();
    for number in 0..12 {
        let (next, note) = with(&environment, changes(&[(&format!("V{number}"), &value)], &[]));
        environment = next;
        notes.extend(note);
    }
    assert!(environment.changes().bytes() <= LONGEST_CHANGES);
    assert_eq!((environment.changes().set.len(), notes.len()), (7, 5));
    assert!(notes[0].contains("V7 (too long)"), "{}", notes[0]);
    // A variable that is there can still be changed or removed.
    let (next, note) = with(&environment, changes(&[("V0", &value.replace('x', "y"))], &["V1"]));
    assert_eq!((next.changes().set.len(), note), (6, None));
    let left_out = vec![LeftOut::TooLong("BIG".into()), LeftOut::NotUtf8("ODD".into()), LeftOut::Rest];
    let exports = Exports { changes: EnvChanges::default(), left_out };
    let (same, note) = next.with(exports, &base(), &Secrets::default());
    assert_eq!(same, next);
    let note = note.unwrap();
    assert!(note.contains("BIG (too long), ODD (not UTF-8); the list"), "{note}");
}

#[test]
fn requests_say_where_programs_are_found() {
    for (set, unset, want) in [
        (vec![("FOO", "1")], vec![], vec![]),
        (vec![("PATH", "/x/bin:/usr/bin:/bin")], vec![], vec!["environment: PATH starts with /x/bin"]),
        (vec![("PATH", "/a:/b:/usr/bin:/bin")], vec![], vec!["environment: PATH starts with /a:/b"]),
        (vec![("PATH", "/usr/bin:/bin:/x")], vec![], vec!["environment: PATH is /usr/bin:/bin:/x"]),
        (vec![("CC", "clang")], vec!["PATH"], vec!["environment: CC is clang", "environment: PATH is unset"]),
    ] {
        let (environment, _) = with(&Environment::default(), changes(&set, &unset));
        assert_eq!(environment.notes(), want, "{set:?}");
        assert_eq!(environment.finding().is_empty(), want.is_empty(), "{set:?}");
    }
    let (environment, _) = with(&Environment::default(), changes(&[("PATH", &"/x".repeat(500))], &[]));
    assert_eq!(environment.notes()[0].chars().count(), "environment: PATH is ".len() + SHOWN + 1);
}
