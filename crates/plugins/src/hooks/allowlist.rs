//! The hooks that the user has approved: `shell-hooks-allowlist.json`.
//!
//! An approval is for one event and one exact command. If the command runs a script, the approval holds its
//! modification time and ends when the script changes.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Other programs round timestamps; an edit takes longer than this.
const SAME_MILLIS: i64 = 1;

/// The contents of the file, with unknown fields.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Allowlist(Map<String, Value>);

/// The approval of a hook according to the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ApprovalState {
    Approved,
    /// Approved, but its script changed afterwards.
    Changed,
    Unapproved,
}

/// The action for a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Run,
    Ask,
    Skip,
}

/// Decides on a hook. `accepts_all`: the user approved all hooks, for this run or in the settings.
pub(crate) fn decide(state: ApprovalState, accepts_all: bool, can_ask: bool) -> Decision {
    match state {
        ApprovalState::Approved => Decision::Run,
        _ if accepts_all => Decision::Run,
        _ if can_ask => Decision::Ask,
        _ => Decision::Skip,
    }
}

impl Allowlist {
    /// Reads the file. A missing one is empty; an unreadable one is an error and must not be replaced.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self(Map::new())),
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        };
        Self::parse(&text).ok_or_else(|| {
            format!("{} is not a valid list of approvals; correct or remove it", path.display())
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let root: Map<String, Value> = serde_json::from_str(text).ok()?;
        matches!(root.get("approvals"), None | Some(Value::Null | Value::Array(_))).then_some(Self(root))
    }

    /// Looks up a hook. `changed`: the modification time of its script, if it runs one.
    pub(crate) fn approval_state(
        &self,
        event: &str,
        command: &str,
        changed: Option<Timestamp>,
    ) -> ApprovalState {
        let approvals = self.0.get("approvals").and_then(Value::as_array);
        let entry = approvals.into_iter().flatten().rev().find(|approval| is_for(approval, event, command));
        let Some(entry) = entry else { return ApprovalState::Unapproved };
        let then = entry.get("script_mtime_at_approval").and_then(Value::as_str);
        let then = then.and_then(|text| text.parse::<Timestamp>().ok());
        if is_unchanged(then, changed) { ApprovalState::Approved } else { ApprovalState::Changed }
    }

    /// The list with an approval, which replaces an earlier one of the same event and command.
    #[must_use]
    pub(crate) fn with(&self, event: &str, command: &str, at: Timestamp, changed: Option<Timestamp>) -> Self {
        let mut root = self.0.clone();
        let mut approvals = match root.remove("approvals") {
            Some(Value::Array(approvals)) => approvals,
            _ => Vec::new(),
        };
        let earlier = approvals.iter().rposition(|approval| is_for(approval, event, command));
        let mut entry = earlier
            .map(|place| approvals.remove(place))
            .and_then(|entry| entry.as_object().cloned())
            .unwrap_or_default();
        for (name, value) in [
            ("event", json!(event)),
            ("command", json!(command)),
            ("approved_at", json!(at.to_string())),
            ("script_mtime_at_approval", json!(changed.map(|changed| changed.to_string()))),
        ] {
            entry.insert(name.to_owned(), value);
        }
        approvals.push(Value::Object(entry));
        root.insert("approvals".to_owned(), Value::Array(approvals));
        Self(root)
    }

    /// The list without the approvals of a command, and the number of removed approvals.
    pub(crate) fn without(mut self, command: &str) -> (Self, usize) {
        let Some(Value::Array(approvals)) = self.0.get_mut("approvals") else { return (self, 0) };
        let before = approvals.len();
        approvals.retain(|approval| approval["command"] != command);
        let count = before - approvals.len();
        (self, count)
    }

    pub(crate) fn to_text(&self) -> String {
        let text = serde_json::to_string_pretty(&self.0).unwrap_or_default();
        format!("{text}\n")
    }
}

fn is_for(approval: &Value, event: &str, command: &str) -> bool {
    approval["event"] == event && approval["command"] == command
}

/// Returns true if the modification times of a script at the approval and now are equal.
pub(crate) fn is_unchanged(then: Option<Timestamp>, now: Option<Timestamp>) -> bool {
    match (then, now) {
        (Some(then), Some(now)) => (then.as_millisecond() - now.as_millisecond()).abs() <= SAME_MILLIS,
        // The script did not exist at the approval, so the user has not seen it.
        (None, Some(_)) => false,
        // A missing script cannot run.
        (_, None) => true,
    }
}

/// The script that a command runs: its program, or the first argument of an interpreter.
pub(crate) fn script(argv: &[String]) -> Option<PathBuf> {
    const INTERPRETERS: [&str; 12] =
        ["sh", "bash", "dash", "zsh", "ksh", "fish", "python", "python3", "perl", "ruby", "node", "env"];
    let (program, arguments) = argv.split_first()?;
    let name = Path::new(program).file_name()?.to_str()?;
    if !INTERPRETERS.contains(&name) {
        return Some(PathBuf::from(program)).filter(|path| path.is_absolute());
    }
    match arguments.iter().position(|word| !word.starts_with('-') && !word.contains('=')) {
        Some(place) if name == "env" => script(&arguments[place..]),
        Some(place) => Some(PathBuf::from(&arguments[place])).filter(|path| path.is_absolute()),
        None => None,
    }
}

/// The modification time of a file.
pub(crate) fn changed(path: &Path) -> Option<Timestamp> {
    Timestamp::try_from(path.metadata().ok()?.modified().ok()?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        text.parse().unwrap()
    }

    #[test]
    fn decision_depends_on_approval_setting_and_user() {
        use Decision::{Ask, Run, Skip};
        for (state, accepts_all, is_there, want) in [
            (ApprovalState::Approved, false, false, Run),
            (ApprovalState::Unapproved, false, false, Skip),
            (ApprovalState::Unapproved, false, true, Ask),
            (ApprovalState::Unapproved, true, false, Run),
            (ApprovalState::Unapproved, true, true, Run),
            (ApprovalState::Changed, false, true, Ask),
            (ApprovalState::Changed, false, false, Skip),
            (ApprovalState::Changed, true, false, Run),
        ] {
            assert_eq!(decide(state, accepts_all, is_there), want, "{state:?} {accepts_all} {is_there}");
        }
    }

    #[test]
    fn approval_is_for_exact_command_and_unchanged_script() {
        let list = Allowlist::parse(
            r#"{"approvals": [
                {"event": "pre_tool_call", "command": "a", "script_mtime_at_approval": "2026-01-01T00:00:00.123456Z"},
                {"event": "pre_tool_call", "command": "b", "script_mtime_at_approval": null},
                7]}"#,
        )
        .unwrap();
        let (then, later) = (at("2026-01-01T00:00:00.123457001Z"), at("2026-01-01T00:00:01Z"));
        for (event, command, changed, want) in [
            ("pre_tool_call", "a", Some(then), ApprovalState::Approved),
            ("pre_tool_call", "a", None, ApprovalState::Approved),
            ("pre_tool_call", "a", Some(later), ApprovalState::Changed),
            ("pre_tool_call", "b", Some(later), ApprovalState::Changed),
            ("pre_tool_call", "b", None, ApprovalState::Approved),
            ("post_tool_call", "a", Some(then), ApprovalState::Unapproved),
            ("pre_tool_call", "a ", Some(then), ApprovalState::Unapproved),
        ] {
            assert_eq!(list.approval_state(event, command, changed), want, "{event} {command} {changed:?}");
        }
    }

    #[test]
    fn unknown_fields_of_the_file_are_kept() {
        let list = Allowlist::parse(
            r#"{"v": 1, "approvals": [{"event": "e", "command": "c", "note": "mine"}, "odd"]}"#,
        )
        .unwrap();
        let (now, changed) = (at("2026-01-02T00:00:00Z"), at("2026-01-01T00:00:00Z"));
        let after = list.with("e", "c", now, Some(changed)).with("e", "d", now, None);
        assert_eq!(
            serde_json::from_str::<Value>(&after.to_text()).unwrap(),
            json!({"v": 1, "approvals": [
                "odd",
                {"event": "e", "command": "c", "note": "mine", "approved_at": "2026-01-02T00:00:00Z",
                 "script_mtime_at_approval": "2026-01-01T00:00:00Z"},
                {"event": "e", "command": "d", "approved_at": "2026-01-02T00:00:00Z",
                 "script_mtime_at_approval": null},
            ]})
        );
        let (left, count) = after.without("c");
        assert_eq!(
            (left.approval_state("e", "c", None), left.approval_state("e", "d", None)),
            (ApprovalState::Unapproved, ApprovalState::Approved)
        );
        assert_eq!((count, left.clone().without("c")), (1, (left, 0)));
        for text in ["", "[]", "{\"approvals\": {}}", "{"] {
            assert_eq!(Allowlist::parse(text), None, "{text}");
        }
    }

    #[test]
    fn script_is_found_in_arguments_of_interpreter() {
        for (command, want) in [
            ("/opt/guard --strict", Some("/opt/guard")),
            ("guard /etc/x", None),
            ("/bin/sh /opt/x.sh", Some("/opt/x.sh")),
            ("python3 -u /opt/x.py /data", Some("/opt/x.py")),
            ("/usr/bin/env A=b python3 /opt/x.py", Some("/opt/x.py")),
            ("sh -c 'echo hi'", None),
            ("bash", None),
        ] {
            let argv = shlex::split(command).unwrap();
            assert_eq!(script(&argv), want.map(PathBuf::from), "{command}");
        }
    }
}
