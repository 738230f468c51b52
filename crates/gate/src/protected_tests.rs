use crate::{Scene, Verdict, assess_delete, assess_read, assess_write, assess_write_content};
use std::path::Path;

fn scene() -> Scene {
    Scene {
        cwd: "/home/dev/app/src".into(),
        project: "/home/dev/app".into(),
        temporary: vec!["/tmp/session".into()],
        user_home: Some("/home/dev".into()),
        hermes_home: "/home/dev/.hermes".into(),
        path_dirs: vec!["/usr/bin".into(), "/home/dev/tools".into(), "/home/dev/app/.venv/bin".into()],
        is_sandboxed: true,
        ..Scene::default()
    }
}

#[test]
fn file_tools_are_refused_places_that_others_trust() {
    for path in [
        "/etc/hosts",
        "/etc/cron.d/x",
        "/boot/grub/grub.cfg",
        "/dev/sda",
        "/dev/null",
        "/proc/sys/kernel/x",
        "/sys/x",
        "/usr/lib/systemd/system/x.service",
        "/lib/systemd/system/x",
        "/var/spool/cron/dev",
        "/var/run/docker.sock",
        "/run/docker.sock",
        "/run/systemd/system/x.service",
        "/home/dev/.ssh/authorized_keys",
        "/home/dev/.aws/credentials",
        "/home/dev/.gnupg/x",
        "/home/dev/.kube/config",
        "/home/dev/.docker/config.json",
        "/home/dev/.config/gh/hosts.yml",
        "/home/dev/.netrc",
        "/home/dev/.pgpass",
        "/home/dev/.npmrc",
        "/home/dev/.pypirc",
        "/home/dev/.git-credentials",
        "/home/dev/.bashrc",
        "/home/dev/.zshrc",
        "/home/dev/.profile",
        "/home/dev/.config/fish/config.fish",
        "/home/dev/.vimrc",
        "/home/dev/.config/nvim/init.lua",
        "/home/dev/.emacs.d/init.el",
        "/home/dev/.config/Code/User/settings.json",
        "/home/dev/.pythonrc.py",
        "/home/dev/.config/autostart/x.desktop",
        "/home/dev/.config/systemd/user/x.service",
        "/home/dev/.gitconfig",
        "/home/dev/.config/git/config",
        "/home/dev/.cargo/config.toml",
        "/home/dev/.config/pip/pip.conf",
        "/home/dev/.condarc",
        "/home/dev/.claude/settings.json",
        "/home/dev/.codex/config.toml",
        "/home/dev/.cursor/mcp.json",
        "/home/dev/.hermes/config.yaml",
        "/home/dev/.hermes/.env",
        "/home/dev/.hermes/state.db-wal",
        "/home/dev/.hermes/skills/x/SKILL.md",
        "/home/dev/.hermes",
        "/home/alice/.hermes/config.yaml",
        "/root/.bashrc",
        "/home/alice/notes.txt",
        "/usr/bin/git",
        "/usr/local/bin/x",
        "/home/dev/.local/bin/x",
        "/home/dev/.cargo/bin/x",
        "/home/dev/tools/x",
        "/home/dev/app/id_rsa",
        "/home/dev/.tmux.conf",
        "/home/dev/.inputrc",
    ] {
        assert_eq!(assess_write(Path::new(path), &scene()).verdict(), Verdict::Deny, "{path}");
    }
}

#[test]
fn file_tools_ask_outside_and_for_files_that_others_run() {
    for path in [
        "/home/dev/other/x",
        "/home/dev/notes.txt",
        "/opt/x",
        "/srv/x",
        "/tmp/x",
        "/usr/share/x",
        "/home/dev/app/.git/config",
        "/home/dev/app/.git/hooks/pre-commit",
        "/home/dev/app/.git/commondir",
        "/home/dev/app/.git/modules/a/config",
        "/home/dev/app/.git/worktrees/a/gitdir",
        "/home/dev/app/.git/info/attributes",
        "/home/dev/app/.git/objects/info/alternates",
        "/home/dev/app/.git/HEAD",
        "/home/dev/app/.git",
        "/home/dev/app/sub/.git/config",
        "/home/dev/app/x.git/config",
        "/home/dev/app/x.git/hooks/update",
        "/home/dev/app/bare/HEAD",
        "/home/dev/app/hooks/pre-commit",
        "/home/dev/app/.envrc",
        "/home/dev/app/.husky/pre-commit",
        "/home/dev/app/.vscode/tasks.json",
        "/home/dev/app/.vscode/settings.json",
        "/home/dev/app/.idea/runConfigurations/x.xml",
        "/home/dev/app/.github/workflows/ci.yml",
        "/home/dev/app/.gitlab-ci.yml",
        "/home/dev/app/.circleci/config.yml",
        "/home/dev/app/Jenkinsfile",
        "/home/dev/app/.npmrc",
        "/home/dev/app/.cargo/config.toml",
        "/home/dev/app/.claude/settings.json",
        "/home/dev/app/.cursor/rules",
        "/home/dev/app/.codex/config.toml",
        "/home/dev/app/.mcp.json",
        "/home/dev/app/.pre-commit-config.yaml",
        "/home/dev/app/.env",
        "/home/dev/app/.env.local",
        "/home/dev/app/lib/site.pth",
        "/home/dev/app/.venv/bin/python",
        "/home/dev/app/sub/.envrc",
        "/home/dev/app/.gitmodules",
        "/home/dev/app/.devcontainer/devcontainer.json",
        "/home/dev/app/.hermes/config.yaml",
        "/tmp/session/repo/.git/config",
    ] {
        assert_eq!(assess_write(Path::new(path), &scene()).verdict(), Verdict::Ask, "{path}");
    }
}

#[test]
fn file_tools_write_ordinary_files_of_the_project() {
    for path in [
        "/home/dev/app/src/main.rs",
        "/home/dev/app/README.md",
        "/home/dev/app/.gitignore",
        "/home/dev/app/.gitattributes",
        "/home/dev/app/.env.example",
        "/home/dev/app/Makefile",
        "/home/dev/app/package.json",
        "/home/dev/app/.github/ISSUE_TEMPLATE.md",
        "/home/dev/app/.vscode/README.md",
        "/home/dev/app/config.yaml",
        "/tmp/session/x",
        "/home/dev/.hermes/cache/terminal/out.txt",
        "/home/dev/app/docs/.envrc.md",
    ] {
        assert_eq!(assess_write(Path::new(path), &scene()).verdict(), Verdict::Allow, "{path}");
    }
}

#[test]
fn attributes_with_filters_ask() {
    let path = Path::new("/home/dev/app/.gitattributes");
    assert_eq!(assess_write_content(path, b"*.png binary\n", &scene()).verdict(), Verdict::Allow);
    assert_eq!(assess_write_content(path, b"*.c filter=evil\n", &scene()).verdict(), Verdict::Ask);
}

#[test]
fn secrets_are_not_read() {
    for (path, want) in [
        ("/home/dev/app/src/main.rs", Verdict::Allow),
        ("/etc/hosts", Verdict::Allow),
        ("/home/dev/notes.txt", Verdict::Allow),
        ("/home/dev/.bashrc", Verdict::Allow),
        ("/home/dev/.ssh/id_rsa.pub", Verdict::Allow),
        ("/home/dev/.ssh/config", Verdict::Allow),
        ("/home/dev/app/.env.example", Verdict::Allow),
        ("/home/alice/notes.txt", Verdict::Ask),
        ("/home/dev/.ssh/id_ed25519", Verdict::Deny),
        ("/home/dev/app/.env", Verdict::Deny),
        ("/etc/shadow", Verdict::Deny),
        ("/proc/1/environ", Verdict::Deny),
        ("/dev/zero", Verdict::Deny),
        ("/home/dev/.hermes/auth.json", Verdict::Deny),
        ("/home/dev/.hermes/state.db", Verdict::Deny),
        ("/home/dev/.mozilla/firefox/x/key4.db", Verdict::Deny),
    ] {
        assert_eq!(assess_read(Path::new(path), &scene()).verdict(), want, "{path}");
    }
}

#[test]
fn deleting_follows_writing_and_spares_directories() {
    for (path, want) in [
        ("/home/dev/app/src/main.rs", Verdict::Allow),
        ("/home/dev/app", Verdict::Ask),
        ("/home/dev", Verdict::Deny),
        ("/usr", Verdict::Deny),
        ("/home/dev/.bashrc", Verdict::Deny),
        ("/home/dev/app/.git/hooks/x", Verdict::Ask),
        ("/home/dev/other/x", Verdict::Ask),
    ] {
        assert_eq!(assess_delete(Path::new(path), &scene()).verdict(), want, "{path}");
    }
}
