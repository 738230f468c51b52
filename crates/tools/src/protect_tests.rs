use super::*;

fn places() -> Places {
    Places { home: "/home/me/.hermes".into(), user_home: Some("/home/me".into()) }
}

fn scene(places: &Places) -> Scene {
    Scene { project: "/home/me/code".into(), cwd: "/home/me/code".into(), ..places.scene() }
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
        ("/home/me/.hermes/.hermes-a1B2.tmp", false, false),
        ("/home/me/.hermes/.auth_x.tmp", false, false),
        ("/home/me/.hermes/.env.bak", false, false),
        ("/home/me/.hermes/auth.json.1699.tmp", false, false),
        ("/home/me/.hermes/cache/models/.hermes-x.tmp", false, false),
        ("/home/me/.hermes/sessions/a.json", false, false),
        ("/home/me/.hermes/commands/a/out", false, false),
        ("/home/me/.hermes/profiles/work/state.db", false, false),
        ("/home/me/.hermes/profiles/work/config.yaml", false, false),
        ("/home/me/.hermes/profiles/work/.env", false, false),
        ("/home/me/.hermes/profiles/work/skills/a/SKILL.md", true, false),
        ("/home/me/.hermes/profiles/work/cache/terminal/x", true, false),
        ("/home/other/.hermes/state.db", false, false),
        ("/home/other/.hermes/config.yaml", false, false),
        ("/root/.hermes/auth.json", false, false),
        ("/home/me/.claude/.credentials.json", false, false),
        ("/home/me/.claude/CLAUDE.md", true, false),
        ("/home/me/.codex/auth.json", false, false),
        ("/home/me/.codex/config.toml", true, false),
        ("/home/me/.gemini/oauth_creds.json", false, false),
        ("/home/me/.vault-token", false, false),
        ("/srv/app/.vault-token", false, false),
        ("/home/me/.cargo/credentials.toml", false, false),
        ("/home/me/.cargo/credentials", false, false),
        ("/home/me/code/.cargo/credentials.toml", false, false),
        ("/home/me/.cargo/config.toml", true, false),
        ("/home/me/code/credentials.toml", true, true),
        ("/home/me/code/deploy/id_ed25519", false, false),
        ("/home/me/code/deploy/id_ed25519.pub", true, true),
        ("/home/me/code/.npmrc", true, true),
        ("/home/me/.npmrc", false, false),
        ("/home/me/.bash_history", false, false),
        ("/home/me/.mozilla/firefox/x/logins.json", false, false),
        ("/home/me/.password-store/bank.gpg", false, false),
        ("/home/me/.kaggle/kaggle.json", false, false),
        ("/home/me/.config/git/credentials", false, false),
        ("/home/me/.config/git/ignore", true, false),
        ("/etc/shadow", false, false),
        ("/etc/shadow-", false, false),
        ("/etc/gshadow", false, false),
        ("/etc/sudoers.d/me", false, false),
        ("/etc/ssl/private/a.key", false, false),
        ("/etc/ssl/certs/a.pem", true, false),
        ("/etc/ssh/ssh_host_rsa_key", false, false),
        ("/etc/ssh/ssh_host_rsa_key.pub", true, false),
        ("/etc/passwd", true, false),
        ("/run/secrets/db", false, false),
        ("/var/run/secrets/kubernetes.io/serviceaccount/token", false, false),
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
        let found = (unreadable(path, &places()).is_none(), unwritable(path, &scene(&places())).is_none());
        assert_eq!(found, (readable, writable), "{}", path.display());
    }
}

/// Files that run automatically are refused or need approval, whether or not the home directory is known.
#[test]
fn files_that_others_run_are_not_written_unasked() {
    use Verdict::{Allow, Ask, Deny};
    let unknown = Places { user_home: None, ..places() };
    let elsewhere = Places { user_home: Some("/srv/me".into()), ..places() };
    for (path, want) in [
        ("/home/me/.bashrc", Deny),
        ("/home/me/.bash_profile", Deny),
        ("/home/me/.profile", Deny),
        ("/home/me/.zshrc", Deny),
        ("/home/me/.zprofile", Deny),
        ("/home/me/.zshenv", Deny),
        ("/root/.bashrc", Deny),
        ("/home/me/.config/fish/config.fish", Deny),
        ("/home/me/.config/autostart/x.desktop", Deny),
        ("/home/me/.config/systemd/user/x.service", Deny),
        ("/home/me/.config/nvim/init.lua", Deny),
        ("/home/me/.gitconfig", Deny),
        ("/var/spool/cron/crontabs/me", Deny),
        ("/home/me/code/.git/hooks/pre-commit", Ask),
        ("/home/me/code/.git/config", Ask),
        ("/home/me/code/.git/modules/sub/config", Ask),
        ("/home/me/code/.git/modules/sub/hooks/post-checkout", Ask),
        ("/home/me/code/.git/worktrees/a/commondir", Ask),
        ("/home/me/code/.git", Ask),
        ("/home/me/code/.github/workflows/ci.yml", Ask),
        ("/home/me/code/.envrc", Ask),
        ("/home/me/code/.husky/pre-push", Ask),
        ("/home/me/code/.vscode/tasks.json", Ask),
        ("/home/me/code/.npmrc", Ask),
        ("/home/me/code/.cargo/config.toml", Ask),
        ("/home/me/code/.claude/settings.json", Ask),
        ("/srv/code/.git/config", Ask),
        ("/srv/code/a.rs", Ask),
        ("/home/me/code/.gitignore", Allow),
        ("/home/me/code/src/main.rs", Allow),
    ] {
        for places in [&places(), &unknown, &elsewhere] {
            let found = assess_write(Path::new(path), &scene(places)).verdict();
            assert_eq!(found, want, "{path} {places:?}");
        }
    }
    assert!(unwritable(Path::new("/srv/me/.bashrc"), &scene(&elsewhere)).is_some());
    assert!(unwritable(Path::new("/srv/me/.bashrc"), &scene(&unknown)).is_none());
}

/// Seen from a profile, the first home and other profiles are those of others.
#[test]
fn other_profiles_are_not_read() {
    let places = Places { home: "/srv/h/profiles/one".into(), user_home: Some("/home/me".into()) };
    for (path, readable) in [
        ("/srv/h/profiles/one/config.yaml", true),
        ("/srv/h/profiles/one/state.db", false),
        ("/srv/h/profiles/one/cache/terminal/x", true),
        ("/srv/h/profiles/two/config.yaml", false),
        ("/srv/h/profiles/two/state.db-wal", false),
        ("/srv/h/config.yaml", false),
        ("/srv/h/state.db", false),
        ("/srv/h/.env", false),
        ("/home/me/.hermes/state.db", false),
        ("/home/me/.hermes/hermes-agent/README.md", true),
        ("/srv/other/state.db", true),
    ] {
        assert_eq!(unreadable(Path::new(path), &places).is_none(), readable, "{path}");
    }
    assert!(unwritable(Path::new("/srv/h/profiles/one/cache/terminal/x"), &scene(&places)).is_none());
    assert!(unwritable(Path::new("/srv/h/profiles/two/cache/terminal/x"), &scene(&places)).is_some());
}

/// A hard link or a mount has another path and the same file behind it.
#[test]
fn hidden_files_are_known_by_their_inode() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    for folder in ["home", "user/.ssh", "work"] {
        std::fs::create_dir_all(root.join(folder)).unwrap();
    }
    let places = Places { home: root.join("home"), user_home: Some(root.join("user")) };
    for (file, link) in [("home/.env", "work/a"), ("user/.netrc", "work/b"), ("work/plain", "work/c")] {
        std::fs::write(root.join(file), "x").unwrap();
        std::fs::hard_link(root.join(file), root.join(link)).unwrap();
        let is_hidden = is_hidden_file(&root.join(link).metadata().unwrap(), &places);
        assert_eq!(is_hidden, file != "work/plain", "{file}");
        let opened = crate::opened::open_readable(&root.join(link), &places);
        assert_eq!(opened.is_err(), is_hidden, "{file}");
    }
}

#[test]
fn without_a_home_of_its_own_nothing_is_taken_for_it() {
    let nowhere = Places::default();
    assert_eq!(unwritable(Path::new("/srv/code/a"), &scene(&nowhere)), None);
    assert_eq!(unreadable(Path::new("state.db"), &nowhere), None);
}
