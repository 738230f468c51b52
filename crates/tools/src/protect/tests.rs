use super::*;

fn places() -> Places {
    Places { home: "/home/me/.hermes".into(), user_home: Some("/home/me".into()) }
}

#[test]
fn protected_files_are_known() {
    for (path, readable, writable) in [
        ("/home/me/code/a.rs", true, true),
        ("/home/me/code/.env", false, true),
        ("/home/me/code/.env.local", false, true),
        ("/home/me/code/.env.example", true, true),
        ("/home/me/code/.envrc", true, true),
        ("/home/me/.hermes/.env", false, false),
        ("/home/me/.hermes/auth.json", false, false),
        ("/home/me/.hermes/auth.json.hermes-new", false, false),
        ("/home/me/.hermes/auth.json.corrupt", false, false),
        ("/home/me/.hermes/mcp-tokens/x.json", false, false),
        ("/home/me/.hermes/config.yaml", true, false),
        ("/home/me/.hermes/notes.md", true, false),
        ("/home/me/.hermes", true, false),
        ("/home/me/.hermes/state.db", false, false),
        ("/home/me/.hermes/state.db-wal", false, false),
        ("/home/me/.hermes/state.db-shm", false, false),
        ("/home/me/.hermes/state.db.backup/x", false, false),
        ("/home/me/.hermes/skills/a/SKILL.md", true, false),
        ("/home/me/.hermes/cache/terminal/x.txt", true, true),
        ("/home/me/.hermes/cache/skills.json", true, false),
        ("/home/me/.hermes/cache/models/x.json", true, false),
        ("/home/me/.hermes/cache", true, false),
        ("/home/me/.hermes/context_length_cache.yaml", true, false),
        ("/home/me/.hermes/cached", true, false),
        ("/home/me/.hermes2/notes.md", true, true),
        ("/home/me/code/state.db", true, true),
        ("/home/me/.ssh/id_ed25519", false, false),
        ("/home/me/.ssh/id_ed25519.pub", true, false),
        ("/home/me/.ssh/config", true, false),
        ("/home/other/.ssh/id_ed25519", false, false),
        ("/root/.ssh/id_ed25519", false, false),
        ("/home/me/.netrc", false, false),
        ("/home/me/.config/gh/hosts.yml", false, false),
        ("/etc/hosts", true, false),
        ("/etcetera", true, true),
        ("/dev/urandom", false, false),
        ("/dev/null", true, false),
        ("/proc/self/environ", false, false),
        ("/proc/12/task/12/fd/0", false, false),
        ("/proc/12/maps", false, false),
        ("/proc/cpuinfo", true, false),
        ("/proc/kmsg", false, false),
        ("/proc/kcore", false, false),
        ("/sys/kernel/tracing/trace_pipe", false, false),
        ("/sys/kernel/debug/tracing/trace_pipe", false, false),
        ("/sys/class/net/lo/mtu", true, false),
    ] {
        let path = Path::new(path);
        let found = (unreadable(path, &places()).is_none(), unwritable(path, &places()).is_none());
        assert_eq!(found, (readable, writable), "{}", path.display());
    }
}

/// What runs without being asked is not written, whether or not the home is known.
#[test]
fn files_that_others_run_are_not_written() {
    let unknown = Places { user_home: None, ..places() };
    let elsewhere = Places { user_home: Some("/srv/me".into()), ..places() };
    for (path, writable) in [
        ("/home/me/.bashrc", false),
        ("/home/me/.bash_profile", false),
        ("/home/me/.profile", false),
        ("/home/me/.zshrc", false),
        ("/home/me/.zprofile", false),
        ("/home/me/.zshenv", false),
        ("/root/.bashrc", false),
        ("/home/me/.config/fish/config.fish", false),
        ("/home/me/.config/autostart/x.desktop", false),
        ("/home/me/.config/systemd/user/x.service", false),
        ("/var/spool/cron/crontabs/me", false),
        ("/home/me/code/.git/hooks/pre-commit", false),
        ("/srv/code/.git/config", false),
        ("/srv/code/.git/modules/sub/config", false),
        ("/srv/code/.git/modules/sub/hooks/post-checkout", false),
        ("/srv/code/.git", false),
        ("/home/me/.gitconfig", false),
        ("/srv/code/.git/info/exclude", true),
        ("/srv/code/.github/workflows/config", true),
        ("/srv/code/.gitignore", true),
        ("/home/me/code/.bashrc", true),
        ("/home/me/.config/nvim/init.lua", true),
        ("/home/me", true),
        ("/home", true),
    ] {
        for places in [&places(), &unknown, &elsewhere] {
            let path = Path::new(path);
            assert_eq!(unwritable(path, places).is_none(), writable, "{} {places:?}", path.display());
        }
    }
    assert!(unwritable(Path::new("/srv/me/.bashrc"), &elsewhere).is_some());
    assert!(unwritable(Path::new("/srv/me/.bashrc"), &unknown).is_none());
}

#[test]
fn without_a_home_of_its_own_nothing_is_taken_for_it() {
    let nowhere = Places::default();
    assert_eq!(unwritable(Path::new("/srv/code/a"), &nowhere), None);
    assert_eq!(unreadable(Path::new("state.db"), &nowhere), None);
}
