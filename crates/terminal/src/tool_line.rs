//! One line per tool call: title, result and duration.

use crate::term::{Style, one_line};
use hermes_conversation::{CallEnding, CallTitle, Outcome};
use hermes_tools::facts_of;
use serde_json::Value;

/// Width of a verb, in characters.
const VERB: usize = 9;

/// The title of a call, from its tool, on one line.
pub fn describe(name: &str, arguments: &str) -> CallTitle {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let title = facts_of(name).title_of(name, &arguments);
    CallTitle { verb: one_line(&title.verb.chars().take(VERB).collect::<String>(), 60), ..title }
}

/// A finished call.
pub(crate) struct Ended<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) result: &'a str,
    pub(crate) failed: bool,
    pub(crate) ending: CallEnding,
    pub(crate) millis: u64,
}

/// The line for a finished call.
pub(crate) fn finished(ended: &Ended<'_>, style: Style) -> String {
    let CallTitle { icon, verb, detail } = describe(ended.name, ended.arguments);
    let seconds = ended.millis as f64 / 1000.0;
    let detail = match answer(ended) {
        Some(answer) => format!("{} → {}", one_line(&detail, 24), one_line(&answer, 33)),
        None => one_line(&detail, 60),
    };
    let mark = if ended.failed { failure_mark(ended) } else { String::new() };
    let Style { dim, red, off, .. } = style;
    format!("{dim}  ┊ {icon} {verb:<VERB$} {detail}  {seconds:.1}s{off}{red}{mark}{off}")
}

/// The part of a result that is shown beside the title.
fn answer(ended: &Ended<'_>) -> Option<String> {
    let field = facts_of(ended.name).user_answer?;
    let result: Value = serde_json::from_str(ended.result).ok()?;
    result[field].as_str().map(str::to_owned)
}

fn failure_mark(ended: &Ended<'_>) -> String {
    let exit_code = first_value(ended.result)["exit_code"].as_i64();
    match (ended.ending, facts_of(ended.name).digest.outcome, exit_code) {
        (CallEnding::NotAllowed | CallEnding::NoApprover, _, _) => " [not run]".to_owned(),
        (CallEnding::Unanswered, _, _) => " [not answered]".to_owned(),
        (CallEnding::Answered, Outcome::ExitCode, Some(code)) => format!(" [exit {code}]"),
        (CallEnding::Answered, _, _) => " [error]".to_owned(),
    }
}

/// The JSON at the start of a result; other text may follow it.
fn first_value(result: &str) -> Value {
    let mut values = serde_json::Deserializer::from_str(result).into_iter();
    values.next().and_then(Result::ok).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_described() {
        let ended = |name, arguments, result, failed, ending| {
            finished(&Ended { name, arguments, result, failed, ending, millis: 120 }, Style::PLAIN)
        };
        let line =
            |name, arguments, result, failed| ended(name, arguments, result, failed, CallEnding::Answered);
        for (got, want) in [
            (line("terminal", r#"{"command":"echo hi"}"#, "{}", false), "  ┊ 💻 $         echo hi  0.1s"),
            (
                line("terminal", r#"{"command":"false"}"#, r#"{"exit_code":1}"#, true),
                "  ┊ 💻 $         false  0.1s [exit 1]",
            ),
            (
                ended(
                    "terminal",
                    r#"{"command":"x"}"#,
                    r#"{"error":"denied"}"#,
                    true,
                    CallEnding::NotAllowed,
                ),
                "  ┊ 💻 $         x  0.1s [not run]",
            ),
            (
                line("read_file", r#"{"path":"a.rs"}"#, r#"{"error":"x"}"#, true),
                "  ┊ 📖 read      a.rs  0.1s [error]",
            ),
            (line("todo", r#"{"todos":[{}]}"#, "{}", false), "  ┊ 📋 plan      1 item  0.1s"),
            (
                line("memory", r#"{"target":"user","action":"add","content":"is called Ada"}"#, "{}", false),
                "  ┊ 🧠 remember  user: + is called Ada  0.1s",
            ),
            (
                line(
                    "memory",
                    r#"{"target":"memory","operations":[{"action":"remove","old_text":"a"},{"action":"replace","old_text":"b","content":"c"}]}"#,
                    "{}",
                    false,
                ),
                "  ┊ 🧠 remember  memory: - a; b → c  0.1s",
            ),
            (
                line("clarify", r#"{"question":"Which?"}"#, r#"{"user_response":"blue"}"#, false),
                "  ┊ ❓ asked     Which? → blue  0.1s",
            ),
            (
                ended(
                    "clarify",
                    r#"{"question":"Which?"}"#,
                    r#"{"error":"x"}"#,
                    true,
                    CallEnding::Unanswered,
                ),
                "  ┊ ❓ asked     Which?  0.1s [not answered]",
            ),
            (
                line("skill_manage", r#"{"action":"create","name":"dance"}"#, "{}", false),
                "  ┊ 📝 skill     create dance  0.1s",
            ),
            (line("tool_search", r#"{"query":"lamps"}"#, "{}", false), "  ┊ 🔍 tools     lamps  0.1s"),
            (line("context_search", r#"{"query":"port"}"#, "{}", false), "  ┊ 🗂 recall    port  0.1s"),
            (line("context_expand", r#"{"message":7}"#, "{}", false), "  ┊ 🗂 reread    message 7  0.1s"),
            (line("context_expand", r#"{"summary":2}"#, "{}", false), "  ┊ 🗂 reread    summary 2  0.1s"),
            (line("context_outline", "{}", "{}", false), "  ┊ 🗂 outline     0.1s"),
            (line("mcp__x", "{}", "{}", false), "  ┊ ⚡ mcp__x      0.1s"),
        ] {
            assert_eq!(got, want);
        }
    }
}
