use super::super::{ConfigFile, Layers};
use super::*;
use crate::Config;
use std::path::Path;

fn read(text: &str) -> HookEntries {
    let file = ConfigFile::parse(Path::new("/h/config.yaml"), text.into()).unwrap();
    Config::new(Layers { file, ..Layers::default() }).settings.hooks.clone()
}

#[test]
fn entries_are_read_in_order() {
    let all = read(
        "hooks:\n\
         \x20 pre_tool_call:\n\
         \x20 - {matcher: 'write_.*|patch', command: \"~/check 'a b'\", timeout: 5}\n\
         \x20 - command: guard\n\
         \x20 on_session_end: [{command: /opt/bye}]\n\
         \x20 post_llm_call:\n",
    );
    assert_eq!(all.warnings, [""; 0]);
    let seen: Vec<_> = all
        .entries
        .iter()
        .map(|entry| (entry.key.as_str(), entry.event, entry.argv.join("|"), entry.timeout.as_secs()))
        .collect();
    assert_eq!(
        seen,
        [
            ("hooks.pre_tool_call[1]", HookEvent::PreToolCall, "~/check|a b".to_owned(), 5),
            ("hooks.pre_tool_call[2]", HookEvent::PreToolCall, "guard".to_owned(), 60),
            ("hooks.on_session_end[1]", HookEvent::SessionEnd, "/opt/bye".to_owned(), 60),
        ]
    );
}

#[test]
fn a_matcher_must_fit_the_whole_name() {
    for (pattern, tool, want) in [
        ("terminal", "terminal", true),
        ("terminal", "terminal_x", false),
        ("write_.*|patch", "write_file", true),
        ("write_.*|patch", "patch", true),
        ("write_.*|patch", "xpatch", false),
        ("' terminal '", "terminal", true),
        ("''", "anything", true),
        ("'[terminal'", "[terminal", true),
        ("'[terminal'", "terminal", false),
    ] {
        let text = format!("hooks: {{pre_tool_call: [{{matcher: {pattern}, command: x}}]}}\n");
        assert_eq!(read(&text).entries[0].matcher.fits(tool), want, "{pattern} {tool}");
    }
}

#[test]
fn what_makes_no_sense_is_named_and_the_rest_stays() {
    for (text, entries, warning) in [
        ("hooks:\n", 0, ""),
        ("hooks: {}\n", 0, ""),
        ("hooks: 7\n", 0, "hooks in config.yaml must have a list of hooks per event"),
        ("hooks: {pre_tool: [{command: x}]}\n", 0, "hooks.pre_tool in config.yaml is not a hook event"),
        ("hooks: {pre_tool_call: x}\n", 0, "hooks.pre_tool_call in config.yaml must be a list"),
        ("hooks: {pre_tool_call: [x]}\n", 0, "hooks.pre_tool_call[1] in config.yaml must be a section"),
        ("hooks: {pre_tool_call: [{}]}\n", 0, "hooks.pre_tool_call[1].command in config.yaml is missing"),
        ("hooks: {pre_tool_call: [{command: [x]}]}\n", 0, "hooks.pre_tool_call[1].command"),
        ("hooks: {pre_tool_call: [{command: \"a 'b\"}]}\n", 0, "has a quote that is not closed"),
        ("hooks: {pre_tool_call: [{command: ./guard}]}\n", 0, "must name its program by a full path"),
        (
            "hooks: {pre_tool_call: [{command: x, timeout: 900}]}\n",
            1,
            "timeout in config.yaml is more than 300",
        ),
        ("hooks: {pre_tool_call: [{command: x, timeout: soon}]}\n", 1, "must be a number of seconds"),
        ("hooks: {pre_tool_call: [{command: x, timeout: 0}]}\n", 1, "must be a number of seconds"),
        (
            "hooks: {pre_tool_call: [{command: x, matcher: '('}]}\n",
            1,
            "matcher in config.yaml is not a valid regular",
        ),
        ("hooks: {pre_tool_call: [{command: x, matcher: 3}]}\n", 1, "matcher in config.yaml must be a text"),
        ("hooks: {pre_llm_call: [{command: x, matcher: a}]}\n", 1, "means nothing at this event"),
        (
            "hooks: {pre_llm_call: [{command: x, fail_closed: true}]}\n",
            1,
            "[1].fail_closed in config.yaml is not known",
        ),
        ("hooks: {pre_llm_call: [3, {command: x}]}\n", 1, "hooks.pre_llm_call[1]"),
    ] {
        let all = read(text);
        assert_eq!(all.entries.len(), entries, "{text}");
        assert_eq!(all.warnings.is_empty(), warning.is_empty(), "{text}: {:?}", all.warnings);
        assert!(all.warnings.iter().all(|line| line.contains(warning)), "{text}: {:?}", all.warnings);
    }
}

#[test]
fn sandbox_of_a_hook_is_read_strictly() {
    for (text, want, warnings) in [
        ("", None, 0),
        (", sandbox: full", Some(SandboxProfile::Full), 0),
        (", sandbox: read-only", Some(SandboxProfile::ReadOnly), 0),
        (", sandbox: ful", Some(SandboxProfile::ReadOnly), 1),
        (", sandbox: false", Some(SandboxProfile::ReadOnly), 1),
    ] {
        let all = read(&format!("hooks: {{pre_llm_call: [{{command: x{text}}}]}}\n"));
        assert_eq!((all.entries[0].sandbox, all.warnings.len()), (want, warnings), "{text}");
    }
}
