use super::*;
use crate::busy::mode_text;
use hermes_conversation::MailMode;

/// A line in a form that can be compared.
fn seen(line: &str) -> String {
    match read(line) {
        Line::Message => "message".to_owned(),
        Line::Command(command, argument) => format!("{} {argument:?}", command.name),
        Line::Unknown { name, nearest } => format!("unknown {name} {nearest:?}"),
    }
}

#[test]
fn lines_are_commands_or_messages() {
    for (line, want) in [
        ("hello", "message"),
        ("/etc/hosts is odd", "message"),
        ("/", "message"),
        ("/help\nme", "message"),
        ("/nothing\nat all", "message"),
        ("/queue two\nlines", "queue Some(\"two\\nlines\")"),
        ("/help", "help None"),
        ("  /QUIT ", "quit None"),
        ("/exit", "quit None"),
        ("/title  My work ", "title Some(\"My work\")"),
        ("/resume", "resume None"),
        ("/mdoel x", "unknown mdoel Some(\"model\")"),
        ("/zzz", "unknown zzz None"),
    ] {
        assert_eq!(seen(line), want, "{line}");
    }
}

#[test]
fn skill_names_are_not_paths() {
    for (line, want) in [
        ("/git-bisect find it\nplease", Some(("git-bisect", "find it\nplease"))),
        (" /7zip ", Some(("7zip", ""))),
        ("/etc/hosts is odd", None),
        ("/../x", None),
        ("/", None),
        ("words", None),
    ] {
        assert_eq!(slash_name(line), want, "{line}");
    }
}

#[test]
fn command_names_are_unique() {
    let mut names: Vec<_> =
        TABLE.iter().flat_map(|c| std::iter::once(c.name).chain(c.aliases.iter().copied())).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn commands_while_a_turn_runs() {
    let submit = |mode, text: &str| CommandReply::Effect(Effect::Queue { mode, text: text.to_owned() });
    for (line, want) in [
        ("/queue then that", submit(MailMode::Queue, "then that")),
        ("/q then that", submit(MailMode::Queue, "then that")),
        ("/steer left", submit(MailMode::Steer, "left")),
        ("/help", CommandReply::Text(help())),
        ("/busy", CommandReply::Effect(Effect::ShowBusyMode)),
        ("/busy status", CommandReply::Effect(Effect::ShowBusyMode)),
        ("/busy steer", CommandReply::Effect(Effect::SetBusyMode(MailMode::Steer))),
    ] {
        assert_eq!(while_busy(line), want, "{line}");
    }
    assert!(mode_text(MailMode::Steer).contains("steer"));
}

#[test]
fn processes_are_managed_beside_a_turn() {
    for (line, want) in [
        ("/stop", Some((None, true))),
        ("/ps", Some((None, false))),
        ("/ps all", Some((Some("all"), false))),
        ("/kill 3", Some((Some("3"), false))),
        ("/usage", None),
        ("/pss", None),
        ("stop", None),
    ] {
        let found = beside(line).map(|(_, argument, interrupts)| (argument, interrupts));
        assert_eq!(found, want.map(|(argument, stops)| (argument.map(str::to_owned), stops)), "{line}");
        assert_eq!(runs_beside(line), want.is_some(), "{line}");
    }
}

#[test]
fn other_commands_wait_and_never_interrupt() {
    for line in
        ["/queue", "/steer", "/busy often", "/new", "/model x", "/quit", "/title", "/usage", "/qeue x"]
    {
        assert!(matches!(while_busy(line), CommandReply::Text(_)), "{line}");
    }
}
