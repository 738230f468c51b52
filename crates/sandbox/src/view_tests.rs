use super::*;
use crate::policy::Places;
use std::fs;

struct Case {
    _dir: tempfile::TempDir,
    policy: Policy,
}

/// A home with a project, keys and a Hermes home.
fn case(project: &str) -> Case {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    let home = root.join("home");
    for name in
        ["work/.git", ".ssh", ".hermes/tmp", ".cache/huggingface", ".local/bin", ".cargo/registry", "other"]
    {
        fs::create_dir_all(home.join(name)).unwrap();
    }
    for name in [".ssh/id_rsa", ".ssh/known_hosts", ".bashrc", ".netrc", ".cache/huggingface/token", "notes"]
    {
        fs::write(home.join(name), "").unwrap();
    }
    let places = Places {
        project: home.join(project),
        temporary: home.join(".hermes/tmp"),
        user_home: Some(home.clone()),
        hermes_home: home.join(".hermes"),
    };
    Case { _dir: dir, policy: Policy { places, ..Policy::default() } }
}

#[test]
fn levels_follow_the_nearest_listed_path() {
    use Level::{Hidden, Read, Write};
    let work = case("work");
    let home_is_project = case("");
    let read_only = {
        let mut case = case("work");
        case.policy.profile = Profile::ReadOnly;
        case
    };
    for (name, case, path, want) in [
        ("project", &work, "work/src/main.rs", Write),
        ("ordinary file", &work, "notes", Read),
        ("key", &work, ".ssh/id_rsa", Hidden),
        ("known hosts", &work, ".ssh/known_hosts", Read),
        ("Hermes home", &work, ".hermes/state.db", Hidden),
        ("temporary directory", &work, ".hermes/tmp/x", Write),
        ("cache", &work, ".cache/pip/x", Write),
        ("token in a cache", &work, ".cache/huggingface/token", Hidden),
        ("programs", &work, ".local/bin/tool", Read),
        ("home as project", &home_is_project, "notes", Write),
        ("key in the project", &home_is_project, ".ssh/id_rsa", Hidden),
        ("start-up file in the project", &home_is_project, ".bashrc", Read),
        ("programs in the project", &home_is_project, ".local/bin/x", Read),
        ("Hermes home in the project", &home_is_project, ".hermes/auth.json", Hidden),
        ("read-only project", &read_only, "work/x", Read),
        ("read-only cache", &read_only, ".cache/x", Read),
        ("read-only temporary directory", &read_only, ".hermes/tmp/x", Write),
    ] {
        for has_mounts in [true, false] {
            let view = View::new(&case.policy, has_mounts);
            let path = case.policy.places.user_home.clone().unwrap().join(path);
            assert_eq!(view.level(&path), want, "{name}, mounts: {has_mounts}");
        }
    }
}

#[test]
fn approvals_open_paths_but_never_the_hermes_home() {
    let mut case = case("work");
    let home = case.policy.places.user_home.clone().unwrap();
    case.policy.extra_write = vec![home.join("other"), home.join(".hermes")];
    case.policy.extra_read = vec![home.join(".netrc"), home.join(".hermes")];
    let view = View::new(&case.policy, true);
    assert_eq!(view.level(&home.join("other/x")), Level::Write);
    assert_eq!(view.level(&home.join(".netrc")), Level::Read);
    assert_eq!(view.level(&home.join(".hermes/x")), Level::Hidden);
}

#[test]
fn git_settings_are_writable_on_request() {
    let mut case = case("work");
    let config = case.policy.places.project.join(".git/config");
    fs::write(&config, "").unwrap();
    assert_eq!(View::new(&case.policy, true).level(&config), Level::Read);
    case.policy.git_settings = true;
    assert_eq!(View::new(&case.policy, true).level(&config), Level::Write);
}
