//! One line per tool call: what it did and how long it took.

use crate::term::{Style, one_line};
use serde_json::Value;

/// The sign, the verb and the detail of a call, as people read them.
pub(crate) fn describe(name: &str, arguments: &str) -> (&'static str, String, String) {
    let arguments: Value = serde_json::from_str(arguments).unwrap_or_default();
    let text = |key: &str| arguments[key].as_str().unwrap_or_default().to_owned();
    match name {
        "terminal" => ("💻", "$".to_owned(), text("command")),
        "read_file" => ("📖", "read".to_owned(), text("path")),
        "write_file" => ("✍️", "write".to_owned(), text("path")),
        "patch" => ("🔧", "patch".to_owned(), text("path")),
        "search_files" if text("target") == "files" => ("🔎", "find".to_owned(), text("pattern")),
        "search_files" => ("🔎", "grep".to_owned(), text("pattern")),
        "delegate_task" => ("🔀", "delegate".to_owned(), delegated(&arguments)),
        "clarify" => ("❓", "asked".to_owned(), text("question")),
        "todo" => ("📋", "plan".to_owned(), todo_detail(&arguments)),
        "memory" => ("🧠", "remember".to_owned(), memory_detail(&arguments)),
        "skills_list" => ("📚", "skills".to_owned(), text("category")),
        "skill_view" => ("📚", "skill".to_owned(), text("name")),
        "skill_manage" => ("📝", "skill".to_owned(), format!("{} {}", text("action"), text("name"))),
        "tool_search" => ("🔍", "tools".to_owned(), text("query")),
        "tool_describe" => ("🔍", "tool".to_owned(), text("name")),
        "context_search" => ("🗂", "recall".to_owned(), text("query")),
        "context_expand" => ("🗂", "reread".to_owned(), reread(&arguments)),
        "context_outline" => ("🗂", "outline".to_owned(), String::new()),
        other => ("⚡", one_line(&other.chars().take(9).collect::<String>(), 60), String::new()),
    }
}

fn delegated(arguments: &Value) -> String {
    match arguments["tasks"].as_array() {
        Some(tasks) => format!("{} task{}", tasks.len(), if tasks.len() == 1 { "" } else { "s" }),
        None => arguments["goal"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Which earlier messages are read again.
fn reread(arguments: &Value) -> String {
    let named = |key: &str| arguments.get(key).filter(|id| id.is_number()).map(|id| format!("{key} {id}"));
    ["message", "summary", "from"].into_iter().find_map(named).unwrap_or_default()
}

/// What is written down, since it outlives the session.
fn memory_detail(arguments: &Value) -> String {
    let single = std::slice::from_ref(arguments);
    let operations = arguments["operations"].as_array().filter(|operations| !operations.is_empty());
    let shown = operations.map_or(single, Vec::as_slice).iter().map(|operation| {
        let text = |key: &str| operation[key].as_str().unwrap_or_default();
        match text("action") {
            "add" => format!("+ {}", text("content")),
            "remove" => format!("- {}", text("old_text")),
            _ => format!("{} → {}", text("old_text"), text("content")),
        }
    });
    format!("{}: {}", arguments["target"].as_str().unwrap_or_default(), shown.collect::<Vec<_>>().join("; "))
}

fn todo_detail(arguments: &Value) -> String {
    match arguments["todos"].as_array() {
        Some(todos) => format!("{} item{}", todos.len(), if todos.len() == 1 { "" } else { "s" }),
        None => "list".to_owned(),
    }
}

/// A finished call.
pub(crate) struct Ended<'a> {
    pub(crate) name: &'a str,
    pub(crate) arguments: &'a str,
    pub(crate) result: &'a str,
    pub(crate) failed: bool,
    pub(crate) millis: u64,
}

/// The line for a finished call.
pub(crate) fn finished(ended: &Ended<'_>, style: Style) -> String {
    let (sign, verb, detail) = describe(ended.name, ended.arguments);
    let seconds = ended.millis as f64 / 1000.0;
    let detail = match answer(ended) {
        Some(answer) => format!("{} → {}", one_line(&detail, 24), one_line(&answer, 33)),
        None => one_line(&detail, 60),
    };
    let mark = if ended.failed { failure_mark(ended.name, ended.result) } else { String::new() };
    let Style { dim, red, off, .. } = style;
    format!("{dim}  ┊ {sign} {verb:<9} {detail}  {seconds:.1}s{off}{red}{mark}{off}")
}

/// What the person said to a question.
fn answer(ended: &Ended<'_>) -> Option<String> {
    let result: Value = (ended.name == "clarify").then(|| serde_json::from_str(ended.result).ok())??;
    result["user_response"].as_str().map(str::to_owned)
}

fn failure_mark(name: &str, result: &str) -> String {
    let result = first_value(result);
    match (name, result["exit_code"].as_i64()) {
        ("terminal", Some(code)) => format!(" [exit {code}]"),
        _ => match result["error"].as_str() {
            Some(error) if error.starts_with("Not run") => " [not run]".to_owned(),
            Some(error) if error.starts_with("Not answered") => " [not answered]".to_owned(),
            _ => " [error]".to_owned(),
        },
    }
}

/// The JSON that a result begins with; more words may follow it.
fn first_value(result: &str) -> Value {
    let mut values = serde_json::Deserializer::from_str(result).into_iter();
    values.next().and_then(Result::ok).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_read_well() {
        let line = |name, arguments, result, failed| {
            finished(&Ended { name, arguments, result, failed, millis: 120 }, Style::PLAIN)
        };
        for (got, want) in [
            (line("terminal", r#"{"command":"echo hi"}"#, "{}", false), "  ┊ 💻 $         echo hi  0.1s"),
            (
                line("terminal", r#"{"command":"false"}"#, r#"{"exit_code":1}"#, true),
                "  ┊ 💻 $         false  0.1s [exit 1]",
            ),
            (
                line("terminal", r#"{"command":"x"}"#, r#"{"error":"Not run: denied"}"#, true),
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
                line("clarify", r#"{"question":"Which?"}"#, r#"{"error":"Not answered: x"}"#, true),
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
