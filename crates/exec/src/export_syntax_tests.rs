use super::*;
use std::process::Command;

/// All variables of a text.
fn all(text: &str) -> Result<Vec<(String, String)>, Malformed> {
    let (mut rest, mut found) = (text.as_bytes(), Vec::new());
    while let Some((declared, after)) = next(rest)? {
        found.push((declared.name.to_owned(), String::from_utf8_lossy(&declared.value).into_owned()));
        rest = after;
    }
    Ok(found)
}

#[test]
fn values_are_read_in_the_spelling_of_each_shell() {
    for (text, want) in [
        ("declare -x A=\"plain\"\n", "plain"),
        ("declare -x A=\"\"\n", ""),
        ("declare -rx A=\"1\"\n", "1"),
        ("declare -ix A=\"3\"\n", "3"),
        ("declare -x A=\"it's \\\"q\\\" \\$x \\`y\\` \\\\z\"\n", "it's \"q\" $x `y` \\z"),
        ("declare -x A=\"keeps \\n and \\!\"\n", "keeps \\n and \\!"),
        ("declare -x A=\"two\nlines\"\n", "two\nlines"),
        ("declare -x A=$'l1\\nl2\\t\\E\\001\\'\\\\'\n", "l1\nl2\t\u{1b}\u{1}'\\"),
        ("declare -x A=$'\\303\\244'\n", "ä"),
        ("declare -x A=\"ä€😀\"\n", "ä€😀"),
        ("export A=\"posix\"\n", "posix"),
        ("export -r A=\"posix\"\n", "posix"),
        ("export A='dash'\n", "dash"),
        ("export A='it'\"'\"'s'\n", "it's"),
        ("export A='two\nlines'\n", "two\nlines"),
        ("export A=''\n", ""),
        ("export A=/usr/bin:/bin\n", "/usr/bin:/bin"),
    ] {
        assert_eq!(all(text), Ok(vec![("A".to_owned(), want.to_owned())]), "{text}");
    }
}

#[test]
fn text_that_a_shell_would_run_is_data() {
    for (text, want) in [
        ("declare -x A=\"$(touch /tmp/x)\"\n", "$(touch /tmp/x)"),
        ("declare -x A=\"`touch /tmp/x`\"\n", "`touch /tmp/x`"),
        ("declare -x A=\"${B:-$C}\"\n", "${B:-$C}"),
        ("export A='x'\"; touch /tmp/x;\"\n", "x; touch /tmp/x;"),
        ("declare -x A=\"a\ndeclare -x B=\\\"b\\\"\"\n", "a\ndeclare -x B=\"b\""),
    ] {
        assert_eq!(all(text), Ok(vec![("A".to_owned(), want.to_owned())]), "{text}");
    }
}

#[test]
fn variables_that_programs_do_not_get_are_skipped() {
    let text = "declare -x OLDPWD\ndeclare -ax A=([0]=\"a\" [1]=\"b) c\")\n\
                declare -Ax M=([\"k ]\"]=$'v\\'' )\ndeclare -ax N=()\nexport O\ndeclare -x Z=\"1\"\n";
    assert_eq!(all(text), Ok(vec![("Z".to_owned(), "1".to_owned())]));
}

#[test]
fn other_text_is_rejected() {
    for text in [
        "A=1\n",
        "declare -x A=$(id)\n",
        "declare -x A=`id`\n",
        "declare -x A=\"a\"; id\n",
        "declare -x A=\"a\" B=\"b\"\n",
        "declare -x A=a b\n",
        "declare -x A=$\"a\"\n",
        "declare -x A=$'\\000'\n",
        "declare -x A=$'\\400'\n",
        "declare -x A=$'\\x41'\n",
        "declare -x A=$'\\1'\n",
        "declare -x A-B=\"a\"\n",
        "declare -x 1A=\"a\"\n",
        "declare -x BASH_FUNC_f%%=\"() { id; }\"\n",
        "declare -x =\"a\"\n",
        "declare -x A[0]=\"a\"\n",
        "declare -x\n",
        "export -p\n",
        "\n",
        "#\n",
        // Cut anywhere.
        "decl",
        "declare -x A",
        "declare -x A=",
        "declare -x A=\"a",
        "declare -x A=\"a\\",
        "declare -x A=\"a\"",
        "declare -x A=$'\\30",
        "export A='a",
        "declare -ax A=([0]=\"a\"",
        "declare -ax A=([0]=\"a\n",
    ] {
        assert_eq!(all(text), Err(Malformed), "{text}");
    }
}

#[test]
fn any_bytes_end_in_a_result() {
    use rand::{RngExt, SeedableRng};
    let mut random = rand::rngs::StdRng::seed_from_u64(17);
    let pieces: [&[u8]; 14] = [
        b"declare -x ",
        b"export ",
        b"A",
        b"=",
        b"\"",
        b"'",
        b"$'",
        b"\\",
        b"\n",
        b"(",
        b")",
        b"[",
        b"07",
        b"\xff",
    ];
    for _ in 0..20_000 {
        let count = random.random_range(0..24);
        let text: Vec<u8> =
            (0..count).flat_map(|_| pieces[random.random_range(0..pieces.len())]).copied().collect();
        let mut rest = text.as_slice();
        while let Ok(Some((_, after))) = next(rest) {
            assert!(after.len() < rest.len());
            rest = after;
        }
    }
}

/// Every value that a real shell prints comes back as it was.
#[test]
fn real_shells_are_understood() {
    let values: Vec<String> = vec![
        String::new(),
        "plain".to_owned(),
        "it's".to_owned(),
        "'''".to_owned(),
        "a\"b\\c$d`e!f\ng\th".to_owned(),
        "\u{1b}[31m \u{7f} \u{7}".to_owned(),
        "ä€😀".to_owned(),
        "trailing\n".to_owned(),
        "$(touch /tmp/x) ${y} \\$z \\\\".to_owned(),
        (1..128_u8).map(char::from).collect(),
    ];
    for (shell, options) in
        [("bash", ""), ("bash", "set -o posix; "), ("dash", ""), ("busybox", ""), ("mksh", ""), ("ksh", "")]
    {
        for locale in ["C", "C.UTF-8"] {
            let mut command = Command::new(shell);
            if shell == "busybox" {
                command.arg("sh");
            }
            command.args(["-c", &format!("{options}export -p")]).env_clear().env("LC_ALL", locale);
            for (number, value) in values.iter().enumerate() {
                command.env(format!("V{number}"), value);
            }
            let Ok(output) = command.output() else {
                println!("skipped: {shell} is not there");
                continue;
            };
            let text = output.stdout;
            let (mut rest, mut found) = (text.as_slice(), Vec::new());
            while let Some((declared, after)) = next(rest).unwrap() {
                if declared.name.starts_with('V') {
                    found.push((declared.name.to_owned(), String::from_utf8(declared.value).unwrap()));
                }
                rest = after;
            }
            let mut want: Vec<(String, String)> = values
                .iter()
                .enumerate()
                .map(|(number, value)| (format!("V{number}"), value.clone()))
                .collect();
            found.sort();
            want.sort();
            assert_eq!(found, want, "{shell} {options} {locale}");
        }
    }
}
