use super::*;

fn run(client: &[&str], report: Option<&Path>) -> (String, Option<i32>) {
    let client = crate::place::words(client);
    let script = ClientScript {
        client: &client,
        second: &crate::place::words(&["true"]),
        ending: "it's over",
        report,
        mark: "hx1",
        place: "it's there",
        advice: "do it",
    };
    let output = std::process::Command::new("bash").args(["-c", &script.text()]).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

#[test]
fn report_tells_how_a_command_went() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("it's");
    for (client, text, code) in [
        ("echo out; printf '\\nhx1 S\\n\\nhx1 E\\n' >&2; exit 3", "out\n", 3),
        (
            "echo no route >&2; exit 255",
            "no route\n[the command was not run: it's there cannot be used; do it]\n",
            255,
        ),
        (
            "echo out; printf 'warning\\n\\nhx1 S\\n' >&2; exit 255",
            "out\n\n[the connection to it's there was lost; how the command went is not known. Look at the state there \
             before running it again]\n",
            255,
        ),
        (
            "printf 'hermes: no answer\\n%s\\n' 'the outcome of the command is not known' >&2; exit 255",
            "\n[hermes: no answer]\n[the connection to it's there was lost; how the command went is not known. Look at the \
             state there before running it again]\n",
            255,
        ),
    ] {
        std::fs::write(&file, "").unwrap();
        assert_eq!(run(&["bash", "-c", client], Some(&file)), (text.to_owned(), Some(code)), "{client}");
    }
}

#[test]
fn without_a_report_the_exit_code_counts() {
    assert_eq!(run(&["bash", "-c", "echo out; exit 4"], None), ("out\n".to_owned(), Some(4)));
}
