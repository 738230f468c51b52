use super::*;

fn line(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(OsString::from).collect()
}

/// The text of a usage error.
fn refusal(text: &str) -> String {
    let error = parse(line(text)).map(|parsed| format!("{parsed:?}")).unwrap_err();
    assert!(error.use_stderr(), "{text}: {error}");
    error.to_string()
}

#[test]
fn root_parser_and_whole_parser_give_the_same_flags() {
    for text in [
        "hermes",
        "hermes -z hi",
        "hermes -zhi",
        "hermes --oneshot=-",
        "hermes -z sessions",
        "hermes --json --yolo -z hi",
        "hermes -z hi --image a.png --image b.png",
        "hermes -m vendor/model --provider custom -z hi",
        "hermes -t file,todo -s pdf,tea --max-turns 7",
        "hermes -c -z hi",
        "hermes -c sessions",
        "hermes --continue Title",
        "hermes -r latest --no-restore-cwd --source tool",
        "hermes --ignore-rules --pass-session-id --accept-hooks",
        "hermes --usage-file u.json --record r.jsonl -z hi",
        "hermes -V",
    ] {
        let root = Root::try_parse_from(line(text)).unwrap();
        let root = Parsed::new(root.root, None);
        let whole = parse_with_subcommands(line(text)).unwrap();
        assert!(whole.command.is_none(), "{text}");
        assert_eq!((root.common, root.wants_version), (whole.common, whole.wants_version), "{text}");
    }
}

#[test]
fn root_parser_leaves_subcommands_and_mistakes_to_the_whole_parser() {
    for text in ["hermes -m x chat", "hermes --json sessions list", "hermes hi", "hermes --nope", "hermes -z"]
    {
        assert!(Root::try_parse_from(line(text)).is_err(), "{text}");
    }
    assert!(matches!(parse(line("hermes -m x chat")).unwrap().command, Some(Command::Chat(_))));
}

#[test]
fn flags_before_a_subcommand_merge_with_its_own() {
    let common = |text| parse(line(text)).unwrap().common;
    for (before, after) in [
        ("hermes -m x chat", "hermes chat -m x"),
        ("hermes --yolo chat -q hi", "hermes chat --yolo -q hi"),
        ("hermes -z hi chat", "hermes chat -z hi"),
        ("hermes --image a.png -s tea chat", "hermes chat --image a.png -s tea"),
        ("hermes --json sessions list", "hermes sessions list --json"),
        ("hermes --source cron sessions list", "hermes sessions list --source cron"),
        ("hermes --source cron insights", "hermes insights --source cron"),
        ("hermes --yolo -m x replay r.jsonl --from 2", "hermes replay r.jsonl --from 2 --yolo -m x"),
        ("hermes --provider deepseek model resolve", "hermes model resolve --provider deepseek"),
        ("hermes --provider deepseek model set chat", "hermes model set chat --provider deepseek"),
        ("hermes -t file --ignore-rules prompt show", "hermes prompt show -t file --ignore-rules"),
        ("hermes -m x context show", "hermes context show -m x"),
        ("hermes -m x doctor", "hermes doctor -m x"),
        ("hermes --yolo --no-restore-cwd sessions browse", "hermes sessions browse --yolo --no-restore-cwd"),
    ] {
        assert_eq!(common(before), common(after), "{before}");
        assert_ne!(common(before), Common::default(), "{before}");
    }
    assert_eq!(common("hermes -m x chat -m y").model.name.as_deref(), Some("y"));
}

#[test]
fn flags_that_do_not_apply_are_named() {
    for (text, want) in [
        ("hermes sessions list -z foo", "unexpected argument '-z' found"),
        ("hermes sessions list --yolo", "unexpected argument '--yolo' found"),
        ("hermes config get model.default -m x", "unexpected argument '-m' found"),
        ("hermes -z foo sessions list", "the flag '--oneshot' does not apply to 'hermes sessions list'"),
        (
            "hermes --record r sessions browse",
            "the flag '--record' does not apply to 'hermes sessions browse'",
        ),
        ("hermes -m x model", "the flag '--model' does not apply to 'hermes model'"),
        ("hermes -m x config show", "the flag '--model' does not apply to 'hermes config show'"),
        ("hermes --yolo prompt show", "the flag '--yolo' does not apply to 'hermes prompt show'"),
    ] {
        let got = refusal(text);
        assert!(got.contains(want), "{text}: {got}");
    }
    let tip = "'-z' is a flag of 'hermes' and 'hermes chat'";
    assert!(refusal("hermes sessions list -z foo").contains(tip));
}

#[test]
fn mistyped_names_get_a_suggestion() {
    for (text, want) in [
        ("hermes sesions", "'sessions'"),
        ("hermes sessions lst", "'list'"),
        ("hermes sessions files prun", "'prune'"),
        ("hermes --yollo", "'--yolo'"),
        ("hermes sessions list --limt 3", "'--limit'"),
        ("hermes sessions files prune --orphan", "'--orphans'"),
        ("hermes completion bsh", "'bash'"),
    ] {
        let got = refusal(text);
        assert!(got.contains("similar") && got.contains(want), "{text}: {got}");
    }
}

#[test]
fn every_subcommand_is_in_one_group_of_the_help() {
    let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, names)| names.iter().copied()).collect();
    let command = Cli::command();
    let mut known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    let mut sorted = grouped.clone();
    sorted.sort_unstable();
    known.sort_unstable();
    assert_eq!(sorted, known);
}

/// Calls `act` with every command and its path.
fn each_command(command: &clap::Command, path: &str, act: &mut dyn FnMut(&str, &clap::Command)) {
    act(path, command);
    for inner in command.get_subcommands() {
        each_command(inner, &format!("{path} {}", inner.get_name()), act);
    }
}

#[test]
fn every_command_and_argument_has_a_help_text() {
    each_command(&Cli::command(), "hermes", &mut |path, command| {
        assert!(command.get_about().is_some(), "{path}");
        for argument in command.get_arguments() {
            assert!(argument.get_help().is_some(), "{path} {argument}");
        }
    });
}

#[test]
fn examples_parse_and_every_top_level_command_has_one() {
    let mut count = 0;
    each_command(&Cli::command(), "hermes", &mut |path, command| {
        let Some(examples) = command.get_after_help() else {
            assert!(path.split(' ').count() != 2 || path == "hermes version", "{path} has no example");
            return;
        };
        for example in examples.to_string().lines().filter_map(|line| line.strip_prefix("  hermes")) {
            let words = words(&format!("hermes{example}"));
            let parsed = parse(words.clone());
            assert!(parsed.is_ok(), "{words:?}: {}", parsed.unwrap_err());
            count += 1;
        }
    });
    assert!(count > 40, "{count}");
}

/// The arguments of an example: quoted ones are one, and redirections and explanations after two spaces are none.
fn words(example: &str) -> Vec<OsString> {
    let example = example.split("   ").next().unwrap_or_default();
    let mut words = Vec::new();
    for (place, part) in example.split('"').enumerate() {
        match place % 2 {
            1 => words.push(part.into()),
            _ => words.extend(
                part.split_whitespace().take_while(|word| !word.starts_with(['<', '>'])).map(Into::into),
            ),
        }
    }
    words
}

#[test]
fn help_of_the_root() {
    let help = parse(line("hermes --help")).map(|_| ()).unwrap_err();
    assert!(!help.use_stderr());
    insta::assert_snapshot!(help.to_string());
    assert_eq!(parse(line("hermes help")).map(|_| ()).unwrap_err().to_string(), help.to_string());
}

#[test]
fn help_of_subcommands() {
    let mut all = String::new();
    each_command(&Cli::command(), "hermes", &mut |path, _| {
        if path != "hermes" {
            let help = parse(line(&format!("{path} --help"))).map(|_| ()).unwrap_err();
            all.push_str(&format!("$ {path} --help\n{help}\n"));
        }
    });
    insta::assert_snapshot!(all);
}

#[test]
fn groups_of_the_root_help_fit_80_columns() {
    let wide: Vec<String> =
        groups(&Cli::command()).lines().filter(|line| line.len() > 80).map(str::to_owned).collect();
    assert!(wide.is_empty(), "{wide:?}");
}
