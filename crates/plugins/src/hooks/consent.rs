//! Which hooks a person has agreed to: `shell-hooks-allowlist.json`.
//!
//! Consent is given to an event and a command, word for word. Where the command runs a script, its time of
//! change is noted: a script that was changed is not the one that was agreed to.

use jiff::Timestamp;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Clocks of other programs round; a person's change takes longer.
const SAME_MILLIS: i64 = 1;

/// The file's contents, whatever else is in them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Allowlist(Map<String, Value>);

/// What the file says about a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    Approved,
    /// It was, and its script was changed since.
    Changed,
    Unknown,
}

/// What is to become of a hook.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decision {
    Run,
    Ask,
    Skip,
}

/// `accepts_all`: the person said so for this run, or in the settings.
pub(crate) fn decide(standing: Standing, accepts_all: bool, is_somebody_there: bool) -> Decision {
    match standing {
        Standing::Approved => Decision::Run,
        _ if accepts_all => Decision::Run,
        _ if is_somebody_there => Decision::Ask,
        _ => Decision::Skip,
    }
}

impl Allowlist {
    /// A missing file says nothing; one that cannot be read is told about, and must not be replaced.
    pub(crate) fn load(path: &Path) -> Result<Self, String> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self(Map::new())),
            Err(error) => return Err(format!("{} cannot be read: {error}", path.display())),
        };
        Self::parse(&text).ok_or_else(|| {
            format!("{} is not a list of approvals; correct it or move it away", path.display())
        })
    }

    fn parse(text: &str) -> Option<Self> {
        let root: Map<String, Value> = serde_json::from_str(text).ok()?;
        matches!(root.get("approvals"), None | Some(Value::Null | Value::Array(_))).then_some(Self(root))
    }

    /// `changed`: when the script of the command was changed last, if it runs one.
    pub(crate) fn standing(&self, event: &str, command: &str, changed: Option<Timestamp>) -> Standing {
        let approvals = self.0.get("approvals").and_then(Value::as_array);
        let entry = approvals.into_iter().flatten().rev().find(|approval| is_for(approval, event, command));
        let Some(entry) = entry else { return Standing::Unknown };
        let then = entry.get("script_mtime_at_approval").and_then(Value::as_str);
        let then = then.and_then(|text| text.parse::<Timestamp>().ok());
        if is_as_it_was(then, changed) { Standing::Approved } else { Standing::Changed }
    }

    /// The same list with an approval that replaces an earlier one of the same words.
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

    /// The list without what was agreed to for a command, and how many approvals that were.
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

/// Whether a script that was changed last `then` is the one that was changed last `now`.
pub(crate) fn is_as_it_was(then: Option<Timestamp>, now: Option<Timestamp>) -> bool {
    match (then, now) {
        (Some(then), Some(now)) => (then.as_millisecond() - now.as_millisecond()).abs() <= SAME_MILLIS,
        // It was not there when somebody agreed, so nobody has seen it.
        (None, Some(_)) => false,
        // One that is gone does not run anyway.
        (_, None) => true,
    }
}

/// The script that a command runs, where its words tell: its program, or what an interpreter is given.
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

/// When a file was changed last.
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
    fn who_runs_is_decided_by_approval_settings_and_presence() {
        use Decision::{Ask, Run, Skip};
        for (standing, accepts_all, is_there, want) in [
            (Standing::Approved, false, false, Run),
            (Standing::Unknown, false, false, Skip),
            (Standing::Unknown, false, true, Ask),
            (Standing::Unknown, true, false, Run),
            (Standing::Unknown, true, true, Run),
            (Standing::Changed, false, true, Ask),
            (Standing::Changed, false, false, Skip),
            (Standing::Changed, true, false, Run),
        ] {
            assert_eq!(
                decide(standing, accepts_all, is_there),
                want,
                "{standing:?} {accepts_all} {is_there}"
            );
        }
    }

    #[test]
    fn approvals_are_for_the_same_words_and_the_same_script() {
        let list = Allowlist::parse(
            r#"{"approvals": [
                {"event": "pre_tool_call", "command": "a", "script_mtime_at_approval": "2026-01-01T00:00:00.123456Z"},
                {"event": "pre_tool_call", "command": "b", "script_mtime_at_approval": null},
                7]}"#,
        )
        .unwrap();
        let (then, later) = (at("2026-01-01T00:00:00.123457001Z"), at("2026-01-01T00:00:01Z"));
        for (event, command, changed, want) in [
            ("pre_tool_call", "a", Some(then), Standing::Approved),
            ("pre_tool_call", "a", None, Standing::Approved),
            ("pre_tool_call", "a", Some(later), Standing::Changed),
            ("pre_tool_call", "b", Some(later), Standing::Changed),
            ("pre_tool_call", "b", None, Standing::Approved),
            ("post_tool_call", "a", Some(then), Standing::Unknown),
            ("pre_tool_call", "a ", Some(then), Standing::Unknown),
        ] {
            assert_eq!(list.standing(event, command, changed), want, "{event} {command} {changed:?}");
        }
    }

    #[test]
    fn what_others_wrote_stays() {
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
            (left.standing("e", "c", None), left.standing("e", "d", None)),
            (Standing::Unknown, Standing::Approved)
        );
        assert_eq!((count, left.clone().without("c")), (1, (left, 0)));
        for text in ["", "[]", "{\"approvals\": {}}", "{"] {
            assert_eq!(Allowlist::parse(text), None, "{text}");
        }
    }

    #[test]
    fn the_script_is_found_behind_its_interpreter() {
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
