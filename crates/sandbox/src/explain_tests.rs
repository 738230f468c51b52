use super::*;
use crate::policy::Places;
use std::fs;

struct Case {
    _dir: tempfile::TempDir,
    home: PathBuf,
    policy: Policy,
}

fn case() -> Case {
    let dir = tempfile::tempdir_in("/var/tmp").unwrap();
    let root = dir.path().canonicalize().unwrap();
    let home = root.join("home");
    for name in ["work/.git/hooks", "other/.git", "other/src", "plain", ".ssh", ".hermes", "tmp"] {
        fs::create_dir_all(home.join(name)).unwrap();
    }
    for name in ["work/.git/config", ".ssh/id_rsa", "other/src/a", "notes"] {
        fs::write(home.join(name), "").unwrap();
    }
    let places = Places {
        project: home.join("work"),
        temporary: home.join("tmp"),
        user_home: Some(home.clone()),
        hermes_home: home.join(".hermes"),
    };
    Case { _dir: dir, home, policy: Policy { places, ..Policy::default() } }
}

#[test]
fn denials_are_found_in_messages_of_programs() {
    let case = case();
    let at = |name: &str| case.home.join(name);
    let home = case.home.display();
    for (output, grant, part) in [
        (
            format!("bash: line 1: {home}/other/src/a: Permission denied"),
            Some(Grant::Write(at("other"))),
            "writing to ~/other;",
        ),
        (
            format!("touch: cannot touch '{home}/plain/new': Read-only file system\nmore"),
            Some(Grant::Write(at("plain"))),
            "writing to ~/plain;",
        ),
        (
            format!("PermissionError: [Errno 13] Permission denied: '{home}/.ssh/id_rsa'"),
            Some(Grant::Read(at(".ssh/id_rsa"))),
            "reading ~/.ssh/id_rsa",
        ),
        (
            format!("Error: EACCES: permission denied, open '{home}/.hermes/auth.json'"),
            None,
            "belongs to Hermes",
        ),
        (
            format!("cat: {home}/.ssh/id_rsa: No such file or directory"),
            Some(Grant::Read(at(".ssh/id_rsa"))),
            "reading ~/.ssh/id_rsa",
        ),
        (
            format!("cp: cannot create regular file '{home}/new': Permission denied"),
            None,
            "inside the project",
        ),
        ("sudo: The \"no new privileges\" flag is set".to_owned(), None, "sudo"),
    ] {
        let denial = explain(&output, 1, &case.policy).unwrap_or_else(|| panic!("{output}"));
        assert_eq!(denial.grant, grant, "{output}");
        assert!(denial.sentence.contains(part), "{}", denial.sentence);
    }
}

#[test]
fn git_settings_and_the_network_have_grants_of_their_own() {
    let mut case = case();
    case.policy.network = Network::Off;
    if case.policy.has_private_tmp(support()) {
        let output = "error: could not lock config file .git/config: Read-only file system";
        let denial = explain(output, 255, &case.policy).unwrap();
        assert_eq!(denial.grant, Some(Grant::GitSettings), "{}", denial.sentence);
    }
    let output = "curl: (6) Could not resolve host: example.org";
    assert_eq!(explain(output, 6, &case.policy).unwrap().grant, Some(Grant::Network));
    case.policy.network = Network::On;
    assert_eq!(explain(output, 6, &case.policy), None);
}

#[test]
fn other_failures_are_not_explained() {
    let case = case();
    let inside = format!("rm: cannot remove '{}/work/x': Permission denied", case.home.display());
    for (output, code) in [
        (inside.as_str(), 1),
        ("cat: /nowhere: No such file or directory", 1),
        ("tests failed: permission denied is what we assert", 1),
        ("cat: /etc/passwd: Permission denied", 0),
    ] {
        assert_eq!(explain(output, code, &case.policy), None, "{output}");
    }
    let full = Policy { profile: crate::Profile::Full, ..case.policy.clone() };
    let output = format!("bash: {}/other/x: Permission denied", case.home.display());
    assert_eq!(explain(&output, 1, &full), None);
}
