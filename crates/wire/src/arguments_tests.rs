use super::*;
use ArgumentsState::*;

#[test]
fn arguments_are_validated_and_repaired() {
    for (given, state, stored) in [
        (r#"{"a": 1 }"#, Complete, r#"{"a": 1 }"#),
        ("null", Complete, "null"),
        ("", Repaired, "{}"),
        ("None", Repaired, "{}"),
        (r#"{"a":"\ud800"}"#, Repaired, r#"{"a":"\ufffd"}"#),
        (r#"{"a":"\ud83d\ude00"}"#, Complete, r#"{"a":"\ud83d\ude00"}"#),
        (r#"{"a":1,}"#, Repaired, r#"{"a":1}"#),
        (r#"{"a":1}}"#, Repaired, r#"{"a":1}"#),
        ("[1,2,]", Repaired, "[1,2]"),
        ("{\"a\":\"x\ny\"}", Repaired, r#"{"a":"x\ny"}"#),
        ("{\"a\":\"x\\\"\u{1}\"}", Repaired, "{\"a\":\"x\\\"\\u0001\"}"),
        // Single quotes, bare keys, constants of Python.
        ("{'a': 1}", Repaired, r#"{"a": 1}"#),
        ("{'a': 'b', 'c': ['d', 'e']}", Repaired, r#"{"a": "b", "c": ["d", "e"]}"#),
        ("{'a': 'say \"hi\"'}", Repaired, r#"{"a": "say \"hi\""}"#),
        (r"{'a': 'it\'s'}", Repaired, r#"{"a": "it's"}"#),
        (r"{'a': 'x\\'}", Repaired, r#"{"a": "x\\"}"#),
        (r#"{"a": "it's"}"#, Complete, r#"{"a": "it's"}"#),
        (r#"{"a": "it's",}"#, Repaired, r#"{"a": "it's"}"#),
        ("{a: 1, b_2: {c-d: 'x'}}", Repaired, r#"{"a": 1, "b_2": {"c-d": "x"}}"#),
        ("{'a': True, b: [None, False]}", Repaired, r#"{"a": true, "b": [null, false]}"#),
        ("{true: 1}", Repaired, r#"{"true": 1}"#),
        // A code fence or a byte-order mark around the object.
        ("```json\n{\"a\":1}\n```", Repaired, r#"{"a":1}"#),
        ("```\n{'a':1}```", Repaired, r#"{"a":1}"#),
        ("```json\n{\"a\":1}", Repaired, r#"{"a":1}"#),
        ("\u{feff}{\"a\":1}", Repaired, r#"{"a":1}"#),
        (" \u{feff} ", Repaired, "{}"),
        // An object encoded twice.
        (r#""{\"a\": \"b\"}""#, Repaired, r#"{"a": "b"}"#),
        (r#""just text""#, Complete, r#""just text""#),
        (r#""[1]""#, Complete, r#""[1]""#),
        // The Python release answers `{}` to the rest and runs the call; we never do.
        ("not json", Malformed, "{}"),
        ("{'a': 'it's'}", Malformed, "{}"),
        ("{'a': 'x' 'y'}", Malformed, "{}"),
        ("{'a': 'x', 'y'}", Malformed, "{}"),
        ("{path: /etc/passwd}", Malformed, "{}"),
        ("{a: b}", Malformed, "{}"),
        (r"{'a': '\d'}", Malformed, "{}"),
        ("{'a': 'x", Truncated, "{}"),
        ("{'a': 'x'", Truncated, "{}"),
        ("```json\n{\"a\":\"x", Truncated, "{}"),
        (r#""{\"a\": 1"#, Truncated, "{}"),
        (r#""{\"a\": \"b""#, Complete, r#""{\"a\": \"b""#),
        (r#"{"a": 1} trailing"#, Malformed, "{}"),
        (r#"{"a":"x"#, Truncated, "{}"),
        (r#"{"a":[1,2"#, Truncated, "{}"),
        (r#"{"a":[1}"#, Malformed, "{}"),
    ] {
        assert_eq!(repair_arguments(given), (state, stored.to_owned()), "{given}");
    }
}
