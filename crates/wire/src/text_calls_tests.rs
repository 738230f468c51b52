use super::*;

/// Supported notations, each with its calls as `name arguments`.
const FORMS: &[(&str, &[&str])] = &[
    // JSON, bare and in code blocks.
    (r#"{"name": "read", "arguments": {"path": "a"}}"#, &[r#"read {"path": "a"}"#]),
    (r#"{"name":"read","parameters":{"path":"a"}}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"arguments":{"path":"a"},"name":"read"}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"tool":"read","args":{"path":"a"}}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"tool_name":"read","parameters":{"path":"a"}}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"function":"read","arguments":{"path":"a"}}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"action":"read","action_input":{"path":"a"}}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"type":"function","function":{"name":"read","arguments":{"path":"a"}}}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"type":"function","name":"read","parameters":{"path":"a"}}"#, &[r#"read {"path":"a"}"#]),
    (
        r#"{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a\"}"}}"#,
        &[r#"read {"path":"a"}"#],
    ),
    (r#"{"type":"tool_use","id":"x","name":"read","input":{"path":"a"}}"#, &[r#"read {"path":"a"}"#]),
    (
        r#"{"tool_calls":[{"name":"read","arguments":{"path":"a"}},{"name":"list","arguments":{}}]}"#,
        &[r#"read {"path":"a"}"#, "list {}"],
    ),
    (r#"{"function_call":{"name":"read","arguments":{"path":"a"}}}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"tool_call":{"name":"read","arguments":{"path":"a"}}}"#, &[r#"read {"path":"a"}"#]),
    (r#"[{"name":"read","arguments":{"path":"a"}}]"#, &[r#"read {"path":"a"}"#]),
    (
        r#"[{"name":"read","arguments":{"path":"a"}},{"name":"read","arguments":{"path":"b"}}]"#,
        &[r#"read {"path":"a"}"#, r#"read {"path":"b"}"#],
    ),
    (
        "{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n{\"name\":\"list\",\"arguments\":{}}",
        &[r#"read {"path":"a"}"#, "list {}"],
    ),
    (
        r#"{"name":"read","parameters":{"path":"a"}}; {"name":"list","parameters":{}}"#,
        &[r#"read {"path":"a"}"#, "list {}"],
    ),
    (r#"{"name":"functions.read","arguments":{"path":"a"}}"#, &[r#"read {"path":"a"}"#]),
    (r#"{"name":"list","arguments":""}"#, &["list {}"]),
    // Raw line breaks and a comma too much are repaired as they are in arguments.
    ("{\"name\":\"write\",\"arguments\":{\"text\":\"a\nb\"}}", &[r#"write {"text":"a\nb"}"#]),
    (r#"{"name":"read","arguments":{"path":"a",},}"#, &[r#"read {"path":"a"}"#]),
    ("\u{feff}{\"name\":\"list\",\"arguments\":{}}\n", &["list {}"]),
    ("```json\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n```", &[r#"read {"path": "a"}"#]),
    ("```\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```\n", &[r#"read {"path":"a"}"#]),
    ("```JSON\n{\"name\":\"list\",\"arguments\":{}}```", &["list {}"]),
    ("~~~json\n[{\"name\":\"list\",\"arguments\":{}}]\n~~~", &["list {}"]),
    ("```tool_call\n{\"name\":\"list\",\"arguments\":{}}\n```", &["list {}"]),
    (
        "```json\n{\"name\":\"list\",\"arguments\":{}}\n```\n\n```json\n{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}\n```",
        &["list {}", r#"read {"path":"a"}"#],
    ),
    ("```xml\n<tool_call>\n{\"name\":\"list\",\"arguments\":{}}\n</tool_call>\n```", &["list {}"]),
    ("```tool_code\nprint(read(path=\"a\"))\n```", &[r#"read {"path":"a"}"#]),
    ("```tool_code\nread(path='a')\nlist()\n```", &[r#"read {"path":"a"}"#, "list {}"]),
    // Hermes and Qwen.
    (
        "<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\": \"a\"}}\n</tool_call>",
        &[r#"read {"path": "a"}"#],
    ),
    (
        "<tool_call>{\"name\":\"list\",\"arguments\":{}}</tool_call>\n<tool_call>{\"name\":\"list\",\"arguments\":{}}</tool_call>",
        &["list {}", "list {}"],
    ),
    ("<tool_call>\n{\"name\":\"list\",\"arguments\":{}}", &["list {}"]),
    ("{\"name\":\"list\",\"arguments\":{}}\n</tool_call>", &["list {}"]),
    ("<tool_call>\n```json\n{\"name\":\"list\",\"arguments\":{}}\n```\n</tool_call><|im_end|>", &["list {}"]),
    (
        "<tool_call>{\"name\":\"write\",\"arguments\":{\"text\":\"</tool_call>\"}}</tool_call>",
        &[r#"write {"text":"</tool_call>"}"#],
    ),
    ("<tools>\n{\"name\":\"list\",\"arguments\":{}}\n</tools>", &["list {}"]),
    ("<tool_calls>[{\"name\":\"list\",\"arguments\":{}}]</tool_calls>", &["list {}"]),
    ("<TOOLCALL>[{\"name\":\"list\",\"arguments\":{}}]</TOOLCALL>", &["list {}"]),
    ("<function_call>{\"name\":\"list\",\"arguments\":{}}</function_call>", &["list {}"]),
    (
        "<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
        &[r#"read {"path":"a"}"#],
    ),
    (
        "<function=write><parameter=path>a</parameter><parameter=text>\nx\n  y\n</parameter></function>",
        &[r#"write {"path":"a","text":"x\n  y"}"#],
    ),
    ("<function=read>{\"path\": \"a\"}</function>", &[r#"read {"path": "a"}"#]),
    ("<function=list></function>", &["list {}"]),
    ("<function name=\"read\"><parameter name=\"path\">a</parameter></function>", &[r#"read {"path":"a"}"#]),
    (
        "<function_calls>\n<invoke name=\"read\">\n<parameter name=\"path\">a</parameter>\n</invoke>\n</function_calls>",
        &[r#"read {"path":"a"}"#],
    ),
    ("<minimax:tool_call>\n<invoke name=\"list\">\n</invoke>\n</minimax:tool_call>", &["list {}"]),
    // GLM, Mistral, Llama, Phi, Granite, Command R, InternLM, LFM, DeepSeek, Kimi and others.
    (
        "<tool_call>read\n<arg_key>path</arg_key>\n<arg_value>a</arg_value>\n</tool_call>",
        &[r#"read {"path":"a"}"#],
    ),
    ("<tool_call>list\n</tool_call>", &["list {}"]),
    ("[TOOL_CALLS][{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}}]", &[r#"read {"path":"a"}"#]),
    ("[TOOL_CALLS] [{\"name\":\"list\",\"arguments\":{}}]</s>", &["list {}"]),
    ("[TOOL_CALLS]read{\"path\":\"a\"}[TOOL_CALLS]list{}", &[r#"read {"path":"a"}"#, "list {}"]),
    ("[TOOL_CALLS]read[ARGS]{\"path\":\"a\"}", &[r#"read {"path":"a"}"#]),
    ("[TOOL_CALLS]read[CALL_ID]abc123def[ARGS]{\"path\":\"a\"}", &[r#"read {"path":"a"}"#]),
    (
        "<|python_tag|>{\"name\":\"read\",\"parameters\":{\"path\":\"a\"}}<|eom_id|>",
        &[r#"read {"path":"a"}"#],
    ),
    ("<|python_tag|>{\"type\":\"function\",\"name\":\"list\",\"parameters\":{}}", &["list {}"]),
    ("<|python_tag|>read.call(path=\"a\")", &[r#"read {"path":"a"}"#]),
    ("<|python_start|>[read(path=\"a\", deep=True)]<|python_end|>", &[r#"read {"path":"a","deep":true}"#]),
    (
        "[read(path='a\\'s', lines=[1, 2.5], more={'k': None}), list()]",
        &[r#"read {"path":"a's","lines":[1,2.5],"more":{"k":null}}"#, "list {}"],
    ),
    ("<|tool_call|>[{\"name\":\"list\",\"arguments\":{}}]<|/tool_call|>", &["list {}"]),
    ("<|tool_call|>[{\"name\":\"list\",\"arguments\":{}}]", &["list {}"]),
    ("<|tool_call_start|>[list()]<|tool_call_end|>", &["list {}"]),
    ("Action: ```json\n[{\"tool_name\":\"list\",\"parameters\":{}}]\n```", &["list {}"]),
    (
        "<|START_ACTION|>[{\"tool_call_id\":\"0\",\"tool_name\":\"list\",\"parameters\":{}}]<|END_ACTION|>",
        &["list {}"],
    ),
    ("<|action_start|><|plugin|>\n{\"name\":\"list\",\"parameters\":{}}<|action_end|>", &["list {}"]),
    ("[TOOL_REQUEST]{\"name\":\"list\",\"arguments\":{}}[END_TOOL_REQUEST]", &["list {}"]),
    ("functools[{\"name\":\"list\",\"arguments\":{}}]", &["list {}"]),
    (">>>read\n{\"path\":\"a\"}", &[r#"read {"path":"a"}"#]),
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>read\n```json\n{\"path\":\"a\"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        &[r#"read {"path":"a"}"#],
    ),
    (
        "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>list<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
        &["list {}"],
    ),
    (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.list:0<|tool_call_argument_begin|>{}<|tool_call_end|><|tool_calls_section_end|>",
        &["list {}"],
    ),
    ("<|channel|>commentary to=functions.list <|constrain|>json<|message|>{}<|call|>", &["list {}"]),
    ("<|start|>assistant<|channel|>commentary to=functions.list json<|message|>{}", &["list {}"]),
];

/// Texts that look like calls and are answers, data or fragments.
const LOOK_ALIKES: &[&str] = &[
    "",
    "   \n",
    "read",
    "{}",
    "[]",
    "null",
    "I will read the file.",
    // Prose before, after or between.
    "Sure:\n{\"name\":\"list\",\"arguments\":{}}",
    "{\"name\":\"list\",\"arguments\":{}}\nThis lists everything.",
    "{\"name\":\"list\",\"arguments\":{}} and then {\"name\":\"list\",\"arguments\":{}}",
    "Use this:\n```json\n{\"name\":\"list\",\"arguments\":{}}\n```",
    "```json\n{\"name\":\"list\",\"arguments\":{}}\n```\nRun it.",
    "```json\n{\"name\":\"list\",\"arguments\":{}}\n```\nor\n```json\n{\"name\":\"list\",\"arguments\":{}}\n```",
    "The model writes <tool_call>{\"name\":\"list\",\"arguments\":{}}</tool_call> to call a tool.",
    "<tool_call>{\"name\":\"list\",\"arguments\":{}}</tool_call> is what it looks like.",
    "<tool_call>Let me see. {\"name\":\"list\",\"arguments\":{}}</tool_call>",
    "[TOOL_CALLS] is Mistral's mark.",
    "<|python_tag|>print('hello')",
    // Quotations.
    "> {\"name\":\"list\",\"arguments\":{}}",
    "- {\"name\":\"list\",\"arguments\":{}}",
    "1. {\"name\":\"list\",\"arguments\":{}}",
    "`{\"name\":\"list\",\"arguments\":{}}`",
    "\"{\\\"name\\\":\\\"list\\\",\\\"arguments\\\":{}}\"",
    "# {\"name\":\"list\",\"arguments\":{}}",
    "// {\"name\":\"list\",\"arguments\":{}}",
    "|call|\n|---|\n|{\"name\":\"list\",\"arguments\":{}}|",
    // Code in other languages.
    "```python\nlist()\n```",
    "```python\n{\"name\":\"list\",\"arguments\":{}}\n```",
    "```js\n{\"name\":\"list\",\"arguments\":{}}\n```",
    "```jsonc\n// a call\n{\"name\":\"list\",\"arguments\":{}}\n```",
    "```diff\n+{\"name\":\"list\",\"arguments\":{}}\n```",
    "```text\n<tool_call>{\"name\":\"list\",\"arguments\":{}}</tool_call>\n```",
    "```tool_code\nimport os\nprint(os.listdir())\n```",
    "```tool_code\nread(\"a\")\n```",
    "read(path=\"a\")",
    ">>> read(path=\"a\")",
    // Data.
    "{\"name\":\"list\"}",
    "{\"name\":\"my-app\",\"version\":\"1.0.0\"}",
    "{\"name\":\"list\",\"description\":\"Lists files\",\"parameters\":{\"type\":\"object\"}}",
    "{\"type\":\"function\",\"function\":{\"name\":\"list\",\"description\":\"d\",\"parameters\":{}}}",
    "{\"type\":\"person\",\"name\":\"list\",\"arguments\":{}}",
    "{\"name\":\"list\",\"arguments\":[]}",
    "{\"name\":\"list\",\"arguments\":\"all of them\"}",
    "{\"name\":[\"list\"],\"arguments\":{}}",
    "{\"name\":\"list all files\",\"arguments\":{}}",
    "{\"name\":\"\",\"arguments\":{}}",
    "{\"name\":\"list\",\"arguments\":{},\"name\":\"read\"}",
    "{\"name\":\"list\",\"tool\":\"read\",\"arguments\":{}}",
    "{\"name\":\"list\",\"arguments\":{},\"result\":\"ok\"}",
    "{\"calls\":[{\"name\":\"list\",\"arguments\":{}}]}",
    "[{\"name\":\"list\",\"arguments\":{}},{\"name\":\"Alice\",\"age\":3}]",
    "[{\"name\":\"list\",\"arguments\":{}},\"done\"]",
    "[1, 2, 3]",
    "[read](path)",
    "[x] read(path=\"a\")",
    "[read(path)]",
    "[read(path=open('a').read())]",
    "[read(path=f\"a\")]",
    // Cut or damaged.
    "{\"name\":\"read\",\"arguments\":{\"path\":\"a",
    "{\"name\":\"read\",\"arguments\":{\"path\":\"a\"}",
    "```json\n{\"name\":\"list\",\"arguments\":{}}\n",
    "<tool_call>{\"name\":\"read\",\"arguments\":{\"path\":\"a\"",
    "<tool_call></tool_call>",
    "<function=read><parameter=path>a",
    "<function=read><parameter=path>a</parameter><parameter=path>b</parameter></function>",
    "<function=read>Read the file a.</function>",
    "<tool_call>read\n<arg_key>path</arg_key>\n</tool_call>",
    "[TOOL_CALLS]read",
    "<|channel|>final<|message|>{\"path\":\"a\"}",
    "<|channel|>commentary<|message|>{}",
];

#[test]
fn calls_are_read_in_every_known_notation() {
    for (text, want) in FORMS {
        let found = written_calls(text).unwrap_or_else(|| panic!("not read as calls: {text}"));
        let found: Vec<_> = found.iter().map(|call| format!("{} {}", call.name, call.arguments)).collect();
        assert_eq!(found, *want, "{text}");
    }
    assert!(FORMS.len() >= 40);
}

#[test]
fn look_alikes_remain_text() {
    for text in LOOK_ALIKES {
        assert_eq!(written_calls(text), None, "{text}");
    }
    assert!(LOOK_ALIKES.len() >= 40);
}

/// Otherwise a part of a call would be shown before it is recognised.
#[test]
fn every_prefix_of_a_call_is_held_back() {
    for (text, _) in FORMS {
        for (at, _) in text.char_indices() {
            assert!(may_become_calls(&text[..at]), "{:?} of {text:?}", &text[..at]);
        }
        assert!(may_become_calls(text), "{text:?}");
    }
}

#[test]
fn ordinary_answers_are_not_held_back() {
    for text in [
        "Here",
        "# Title",
        "```py",
        "```rust\nfn",
        "```json\n{\"version",
        "{\"version\"",
        "{\"user",
        "[1",
        "[x]",
        "[link](",
        "<p>",
        "<think",
        "> quoted",
        ">>> x",
        "- item",
        "Answer",
        "1. ",
    ] {
        assert!(!may_become_calls(text), "{text:?}");
    }
}

/// No text of a model may cause a panic or take long.
#[test]
fn damaged_calls_do_not_panic() {
    for (text, _) in FORMS {
        for (at, character) in text.char_indices() {
            let _ = written_calls(&text[..at]);
            let without = format!("{}{}", &text[..at], &text[at + character.len_utf8()..]);
            let _ = written_calls(&without);
            let doubled = format!("{}{character}{}", &text[..at], &text[at..]);
            let _ = written_calls(&doubled);
        }
    }
    for piece in ["[", "{", "<tool_call>", "```json\n", "[TOOL_CALLS]", "{\"name\":", "[a(b=["] {
        assert_eq!(written_calls(&piece.repeat(20_000)), None, "{piece}");
    }
}
