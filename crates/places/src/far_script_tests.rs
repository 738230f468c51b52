use super::*;
use hermes_exec::{EnvChanges, OutputLimits, TerminalSize};
use std::time::Duration;

fn command(script: &str) -> Command {
    Command {
        key: None,
        script: script.into(),
        cwd: "/far".into(),
        env: vec![("A".into(), "it's".into()), ("not a name".into(), "x".into())],
        changes: EnvChanges::default(),
        timeout: Duration::from_secs(1),
        report: Some(ShellReport {
            file: "/f".into(),
            cwd: true,
            exports: Some(vec!["KEY".into(), "$(x)".into()]),
        }),
        output: OutputLimits::default(),
        sandbox: None,
        client: None,
    }
}

fn bash_accepts(text: &str) -> bool {
    std::process::Command::new("bash").args(["-n", "-c", text]).status().unwrap().success()
}

const TERMINAL: Input = Input::Terminal(TerminalSize { rows: 1, columns: 1 });

#[test]
fn programs_are_valid_for_every_input() {
    for input in [Input::Closed, Input::Pipe, TERMINAL] {
        for script in ["true", "it's", "'\"$(`\\\n\n#", "äö 漢字"] {
            let text = program(&command(script), input, "hx1", Trace::Time);
            assert!(bash_accepts(&text), "{input:?} {script}: {text}");
            assert!(text.contains(&quoted(script)), "{script}");
        }
    }
    assert!(bash_accepts(&ending("hx1")));
    assert!(bash_accepts(BOOT) && !BOOT.contains('\''));
}

#[test]
fn only_names_become_variables() {
    let text = program(&command("true"), Input::Closed, "hx1", Trace::None);
    assert!(text.contains("export A='it'\\''s'\n"), "{text}");
    assert!(!text.contains("not a name") && !text.contains("$(x)") && !text.contains(USED));
}

#[test]
fn environment_stays_out_of_arguments_with_a_terminal() {
    let text = program(&command("true"), TERMINAL, "hx1", Trace::None);
    assert!(!text.contains("export A="), "{text}");
}

#[test]
fn lifeline_needs_a_closed_input() {
    for (input, has) in [(Input::Closed, true), (Input::Pipe, false), (TERMINAL, false)] {
        let text = program(&command("true"), input, "hx1", Trace::None);
        assert_eq!(text.contains("w=$!"), has, "{input:?}");
    }
}

#[test]
fn home_is_expanded_at_the_far_end_only() {
    for (cwd, want) in [
        ("~", "d=\"$HOME\"\n"),
        ("~/a b", "d=\"$HOME\"'/a b'\n"),
        ("~x", "d='~x'\n"),
        ("/it's", "d='/it'\\''s'\n"),
        ("/$HOME", "d='/$HOME'\n"),
    ] {
        for climbs in [true, false] {
            let text = enter(Path::new(cwd), climbs);
            assert!(text.starts_with(want), "{text}");
            assert!(bash_accepts(&text), "{text}");
        }
    }
}
