//! A table of targets of the file tools: refused ones stay refused with `--yolo`, those that ask ask, and nothing among
//! them is written silently.

use crate::testing::Bench;
use crate::{ApprovalMode, ToolContext, ToolSettings, ToolSetup, Verdict};
use serde_json::json;
use std::os::unix::fs::symlink;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Write,
    Ask,
    Refuse,
}

use Want::{Ask, Refuse, Write};

/// Paths are relative to the project, `~` is the user's home directory, `%` Hermes' own.
const TARGETS: &[(&str, Want)] = &[
    // Ordinary files of a project.
    ("src/main.rs", Write),
    ("new/deep/file.txt", Write),
    ("README.md", Write),
    (".gitignore", Write),
    (".editorconfig", Write),
    ("docs/config", Write),
    ("hooks/use-state.ts", Write),
    ("config/settings.json", Write),
    ("Makefile", Write),
    ("package.json", Write),
    ("Cargo.toml", Write),
    (".env.example", Write),
    ("inside-link", Write),
    ("state.db", Write),
    // Git internals of every shape.
    (".git/config", Ask),
    (".git/config.worktree", Ask),
    (".git/hooks/pre-commit", Ask),
    (".git/hooks/post-checkout", Ask),
    (".git/commondir", Ask),
    (".git/HEAD", Ask),
    (".git/info/attributes", Ask),
    (".git/modules/sub/config", Ask),
    (".git/modules/sub/hooks/post-merge", Ask),
    (".git/worktrees/w/commondir", Ask),
    (".git/worktrees/w/gitdir", Ask),
    (".git/objects/info/alternates", Ask),
    ("sub/.git", Ask),
    ("sub/.git/config", Ask),
    ("sub/.git/hooks/pre-push", Ask),
    (".gitmodules", Ask),
    // Files of a project that other programs run or obey.
    (".envrc", Ask),
    (".husky/pre-commit", Ask),
    (".github/workflows/ci.yml", Ask),
    (".gitlab-ci.yml", Ask),
    (".circleci/config.yml", Ask),
    (".vscode/tasks.json", Ask),
    (".vscode/settings.json", Ask),
    (".idea/runConfigurations/x.xml", Ask),
    (".npmrc", Ask),
    (".cargo/config.toml", Ask),
    (".claude/settings.json", Ask),
    (".cursor/mcp.json", Ask),
    (".mcp.json", Ask),
    (".pre-commit-config.yaml", Ask),
    (".env", Ask),
    // Outside of the project.
    ("../elsewhere/file.txt", Ask),
    ("~/notes.txt", Ask),
    ("~/other/src/main.rs", Ask),
    ("~/Documents/letter.md", Ask),
    ("/opt/data/file.txt", Ask),
    ("/srv/www/index.html", Ask),
    ("outside-link", Ask),
    ("outside-dir/new.txt", Ask),
    // Start-up files of shells, editors, interpreters and desktop sessions.
    ("~/.bashrc", Refuse),
    ("~/.bash_profile", Refuse),
    ("~/.bash_login", Refuse),
    ("~/.bash_logout", Refuse),
    ("~/.bash_aliases", Refuse),
    ("~/.profile", Refuse),
    ("~/.zshrc", Refuse),
    ("~/.zshenv", Refuse),
    ("~/.zprofile", Refuse),
    ("~/.config/fish/config.fish", Refuse),
    ("~/.xinitrc", Refuse),
    ("~/.xprofile", Refuse),
    ("~/.vimrc", Refuse),
    ("~/.config/nvim/init.lua", Refuse),
    ("~/.emacs", Refuse),
    ("~/.inputrc", Refuse),
    ("~/.tmux.conf", Refuse),
    ("~/.config/autostart/x.desktop", Refuse),
    ("~/.config/systemd/user/x.service", Refuse),
    ("~/.config/environment.d/a.conf", Refuse),
    ("~/.gitconfig", Refuse),
    ("~/.config/git/config", Refuse),
    ("~/.config/git/hooks/pre-commit", Refuse),
    ("rc-link", Refuse),
    ("home-dir/.bashrc", Refuse),
    // Programs in directories of PATH.
    ("~/.local/bin/ls", Refuse),
    ("~/bin/git", Refuse),
    ("~/.cargo/bin/cargo", Refuse),
    ("/usr/local/bin/x", Refuse),
    ("/usr/bin/x", Refuse),
    // Settings of package managers and other agents.
    ("~/.npmrc", Refuse),
    ("~/.cargo/config.toml", Refuse),
    ("~/.config/pip/pip.conf", Refuse),
    ("~/.pypirc", Refuse),
    ("~/.claude/settings.json", Refuse),
    ("~/.claude/CLAUDE.md", Refuse),
    ("~/.codex/config.toml", Refuse),
    ("~/.cursor/mcp.json", Refuse),
    // Keys and credentials.
    ("~/.ssh/authorized_keys", Refuse),
    ("~/.ssh/config", Refuse),
    ("~/.ssh/id_ed25519", Refuse),
    ("~/.gnupg/gpg.conf", Refuse),
    ("~/.aws/credentials", Refuse),
    ("~/.kube/config", Refuse),
    ("~/.docker/config.json", Refuse),
    ("~/.azure/x", Refuse),
    ("~/.netrc", Refuse),
    ("~/.pgpass", Refuse),
    ("~/.git-credentials", Refuse),
    ("~/.config/gh/hosts.yml", Refuse),
    ("~/.password-store/a.gpg", Refuse),
    ("~/.mozilla/firefox/p/prefs.js", Refuse),
    ("~/.config/google-chrome/Default/Cookies", Refuse),
    // Hermes itself.
    ("%/config.yaml", Refuse),
    ("%/.env", Refuse),
    ("%/auth.json", Refuse),
    ("%/state.db", Refuse),
    ("%/state.db-wal", Refuse),
    ("%/skills/a/SKILL.md", Refuse),
    ("%/memories/MEMORY.md", Refuse),
    ("%/hooks/x.sh", Refuse),
    ("%/commands/x", Refuse),
    ("~/.hermes/config.yaml", Refuse),
    ("/root/.hermes/config.yaml", Refuse),
    ("hermes-link", Refuse),
    // The system and other users.
    ("/etc/passwd", Refuse),
    ("/etc/cron.d/x", Refuse),
    ("/etc/systemd/system/x.service", Refuse),
    ("/etc/ld.so.preload", Refuse),
    ("/boot/grub/grub.cfg", Refuse),
    ("/usr/lib/systemd/system/x.service", Refuse),
    ("/var/spool/cron/crontabs/root", Refuse),
    ("/dev/sda", Refuse),
    ("/proc/sys/kernel/core_pattern", Refuse),
    ("/sys/power/state", Refuse),
    ("/run/docker.sock", Refuse),
    ("/home/other/file.txt", Refuse),
];

/// A session with this mode of approvals, in a project with links that lead out of it.
fn bench(mode: ApprovalMode) -> Bench {
    let mut bench = Bench::with(ToolSettings::with_approvals(mode));
    let root = bench.root();
    let (work, user, home) = (root.join("work"), root.join("user"), root.join("home"));
    std::fs::create_dir_all(work.join(".git")).unwrap();
    std::fs::create_dir_all(user.join("other")).unwrap();
    std::fs::write(work.join("real.txt"), "x").unwrap();
    for (name, target) in [
        ("inside-link", work.join("real.txt")),
        ("outside-link", user.join("notes.txt")),
        ("outside-dir", user.join("other")),
        ("rc-link", user.join(".bashrc")),
        ("home-dir", user.clone()),
        ("hermes-link", home.join("config.yaml")),
    ] {
        symlink(target, work.join(name)).unwrap();
    }
    let setup = ToolSetup { settings: ToolSettings::with_approvals(mode), ..Bench::setup(&root) };
    bench.cx = ToolContext::new(setup);
    bench
}

fn located(bench: &Bench, target: &str) -> String {
    let root = bench.root();
    match target.split_at(1) {
        ("%", rest) => format!("{}{rest}", root.join("home").display()),
        _ => target.to_owned(),
    }
}

#[test]
fn targets_are_written_asked_about_or_refused() {
    assert!(TARGETS.len() >= 120, "{}", TARGETS.len());
    let (manual, yolo) = (bench(ApprovalMode::Manual), bench(ApprovalMode::Off));
    let mut wrong = Vec::new();
    for &(target, want) in TARGETS {
        for (name, bench, asks) in [("manual", &manual, Ask), ("yolo", &yolo, Write)] {
            let path = located(bench, target);
            let json_text = if target.ends_with(".json") { "{}" } else { "a: 1\n" };
            let prepared = bench.prepare("write_file", json!({ "path": path, "content": json_text }));
            let found = match prepared.verdict {
                Verdict::Run => Write,
                Verdict::Ask(_) => Ask,
                Verdict::Refuse { .. } => Refuse,
            };
            let want = if want == Ask { asks } else { want };
            if found != want {
                wrong.push(format!("{target} ({name}): {found:?}, not {want:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
