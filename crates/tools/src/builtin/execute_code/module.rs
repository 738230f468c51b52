//! The Python module through which a script calls tools.

use super::CALLABLE;

/// The part that does not depend on the session.
const FIXED: &str = include_str!("hermes_tools.py");

/// As a program, the module calls one tool: its name, and its arguments as JSON.
const PROGRAM: &str = r#"

if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit("usage: hermes-tool NAME [JSON]")
    answer = _request(sys.argv[1], json_parse(sys.argv[2]) if len(sys.argv) > 2 else {})
    print(answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False))
    sys.exit(1 if isinstance(answer, dict) and answer.get("error") else 0)
"#;

/// The module with a function for each of these tools.
pub(super) fn text(tools: &[&str]) -> String {
    let mut text = FIXED.to_owned();
    for (tool, names) in CALLABLE.iter().filter(|(tool, _)| tools.contains(tool)) {
        let names: Vec<String> = names.iter().map(|name| format!("\"{name}\"")).collect();
        text += &format!(
            "\ndef {tool}(*values, **named):\n    return _call(\"{tool}\", [{}], values, named)\n\n",
            names.join(", ")
        );
    }
    text + PROGRAM
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn module_has_functions_of_present_tools_only() {
        let some = text(&["read_file", "terminal"]);
        assert!(some.contains("def read_file(*values, **named):"));
        assert!(some.contains(r#"_call("terminal", ["command", "timeout", "workdir"], values, named)"#));
        assert!(!some.contains("def patch(") && !some.contains("def web_search("));
        assert!(!text(&[]).contains("_call(\""));
    }
}
