use super::*;

const ME: i64 = 1000;

fn named(id: u32, started: u64) -> CommandIdentity {
    CommandIdentity { group: Group { id, started, boot: String::new() }, mark: format!("m{id}") }
}

fn process(id: u32, parent: i64, session: i64, started: u64, mark: Option<&str>) -> Seen {
    let stat = Stat { state: 'S', parent, group: session, session, started };
    Seen { id, stat, mark: mark.map(str::to_owned) }
}

#[test]
fn process_is_assigned_by_session_group_or_mark() {
    let command = named(10, 100);
    for (what, process, others, ours) in [
        ("the shell", process(10, ME, 10, 100, Some("m10")), vec![], true),
        ("a child in the session", process(11, 10, 10, 101, None), vec![], true),
        ("a child in its own session", process(12, 10, 12, 101, None), vec![], true),
        ("adopted, of the session", process(13, ME, 10, 101, None), vec![named(9, 50)], true),
        ("adopted, marked", process(14, ME, 14, 101, Some("m10")), vec![named(9, 50)], true),
        ("adopted, hidden, alone", process(15, ME, 15, 101, None), vec![], true),
        ("adopted, hidden, a younger other", process(16, ME, 16, 101, None), vec![named(20, 102)], true),
        ("adopted, hidden, an older other", process(17, ME, 17, 101, None), vec![named(9, 50)], false),
        ("adopted, of another", process(18, ME, 18, 101, Some("m20")), vec![named(20, 100)], false),
        ("another shell", process(20, ME, 20, 101, Some("m20")), vec![named(20, 101)], false),
        ("older than the command", process(21, ME, 21, 99, Some("m10")), vec![], false),
        ("a stranger", process(22, 1, 22, 101, Some("m10")), vec![], false),
    ] {
        let shell = self::process(10, ME, 10, 100, None);
        let id = process.id;
        let found = claim(&[process, shell], ME, &command, &others);
        assert_eq!(found.contains(&id), ours, "{what}");
    }
}

#[test]
fn descendants_are_included_and_dead_processes_are_not() {
    let mut dead = process(33, 30, 30, 105, None);
    dead.stat.state = 'Z';
    let seen = [
        process(32, 31, 32, 104, None),
        process(31, 30, 31, 103, None),
        process(30, ME, 30, 102, Some("m10")),
        dead,
    ];
    assert_eq!(claim(&seen, ME, &named(10, 100), &[named(9, 50)]), [30, 31, 32]);
}

#[test]
fn mark_is_read_from_the_environment() {
    let mut child = std::process::Command::new("/bin/sh")
        .args(["-c", "echo started; read line"])
        .env_clear()
        .env(MARK, "home:key")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    // The kernel shows the environment once the program has been started.
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut [0]).unwrap();
    assert_eq!(mark_of(child.id()), Some("home:key".to_owned()));
    child.kill().unwrap();
    child.wait().unwrap();
}
