use super::*;
use hermes_conversation::CallId;
use hermes_tools::KnownTools;

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall::new(CallId::new("1"), name, arguments)
}

#[test]
fn every_tool_has_its_line() {
    let long = format!(r#"{{"command":"{}"}}"#, "x ".repeat(400));
    for (tool, arguments, result, want) in [
        (
            "terminal",
            r#"{"command":"cargo\n test"}"#,
            r#"{"output":"a\nb","exit_code": 101}"#,
            r#"[terminal] cargo test -> exit code 101, 1 lines, 34 bytes"#,
        ),
        ("terminal", r#"{"command":"ls"}"#, "a\nb\n", "[terminal] ls -> 2 lines, 4 bytes"),
        ("read_file", r#"{"path":"a.rs","offset":40}"#, "x", "[read_file] a.rs 40 -> 1 lines, 1 bytes"),
        ("write_file", r#"{"path":"a.rs","content":"x"}"#, "", "[write_file] a.rs -> no output"),
        (
            "search_files",
            r#"{"pattern":"fn main","path":"src"}"#,
            r#"{"total_count":7}"#,
            "[search_files] fn main src -> 7 matches, 1 lines, 17 bytes",
        ),
        ("patch", r#"{"path":"a"}"#, r#"{"error":"x"}"#, r#"[patch] a -> failed: {"error":"x"}"#),
        ("web_search", r#"{"query":"rust"}"#, "r", "[web_search] rust -> 1 lines, 1 bytes"),
        ("browser_click", r#"{"ref":"@e5"}"#, "r", "[browser_click] @e5 -> 1 lines, 1 bytes"),
        ("delegate_task", r#"{"goal":"g"}"#, "r", "[delegate_task] g -> 1 lines, 1 bytes"),
        ("execute_code", r#"{"code":"a\nb"}"#, "r", "[execute_code] 2 lines of code -> 1 lines, 1 bytes"),
        ("skill_view", r#"{"name":"git"}"#, "r", "[skill_view] git -> 1 lines, 1 bytes"),
        ("memory", r#"{"action":"add","target":"user"}"#, "r", "[memory] add user -> 1 lines, 1 bytes"),
        ("todo", r#"{"todos":[1,2]}"#, "r", "[todo] 2 items -> 1 lines, 1 bytes"),
        ("todo", "{}", "r", "[todo] read -> 1 lines, 1 bytes"),
        ("process", r#"{"action":"poll","session_id":"p1"}"#, "r", "[process] poll p1 -> 1 lines, 1 bytes"),
        ("cronjob", r#"{"action":"list"}"#, "r", "[cronjob] list -> 1 lines, 1 bytes"),
        ("mine", r#"{"a":1,"b":[2],"c":3}"#, "r", "[mine] a=1 b=[2] -> 1 lines, 1 bytes"),
        ("mine", "broken", "r", "[mine] -> 1 lines, 1 bytes"),
    ] {
        let call = call(tool, arguments);
        assert_eq!(line_of_result(&KnownTools, tool, Some(&call), result), want);
    }
    let line = line_of_result(&KnownTools, "terminal", Some(&call("terminal", &long)), "");
    assert!(line.chars().count() < 200, "{line}");
    assert_eq!(line_of_result(&KnownTools, "gone", None, "r"), "[gone] -> 1 lines, 1 bytes");
    assert_eq!(line_of_call(&KnownTools, &call("read_file", r#"{"path":"a"}"#)), "read_file a");
    assert_eq!(line_of_call(&KnownTools, &call("list", "{}")), "list");
}

#[test]
fn arguments_stay_json() {
    let long = "é\"\\".repeat(300);
    let value = serde_json::json!({"path": "a", "content": long, "list": [long, 1, {"x": long}]});
    let given = value.to_string();
    let short = short_arguments(&given);
    let parsed: Value = serde_json::from_str(&short).unwrap();
    assert_eq!(parsed["path"], "a");
    assert_eq!(parsed["content"].as_str().unwrap().chars().count(), 200);
    assert_eq!(parsed["list"][2]["x"].as_str().unwrap().chars().count(), 200);
    assert_eq!(short_arguments(r#"{"a" : 1}"#), r#"{"a" : 1}"#);
    let broken = format!("{{{}", "x".repeat(600));
    assert!(serde_json::from_str::<Value>(&short_arguments(&broken)).is_ok());
}

#[test]
fn failures_are_recognised() {
    for (result, want) in [
        (r#"{"error":"no"}"#, true),
        ("Error: no such file", true),
        (r#"{"output":"","exit_code":1}"#, true),
        (r#"{"output":"","exit_code":0}"#, false),
        ("all is well, no error", false),
        ("", false),
    ] {
        assert_eq!(looks_failed(result), want, "{result}");
    }
}
