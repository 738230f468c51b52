//! Files that a project brings along cannot reach outside it.

use super::scene::Scene;
use crate::command_log::masked;
use crate::process::{code, custom_model, stderr};
use hermes_testkit::ReplyScript;
use serde_json::json;
use std::os::unix::fs::symlink;

const PRIVATE: &str = "the-private-text-of-the-user";

#[tokio::test]
async fn context_files_outside_the_project_are_not_sent() {
    for (link, target) in [
        ("AGENTS.md", "../private.txt"),
        (".hermes.md", "../private.txt"),
        ("CLAUDE.md", "../private.txt"),
        (".cursorrules", "../private.txt"),
        (".cursor/rules/a.mdc", "../../../private.txt"),
        (".cursor/rules", "../../rules"),
        ("AGENTS.md", ".env"),
        ("AGENTS.md", "/proc/self/environ"),
    ] {
        let scene = Scene::new().await;
        scene.home.write("private.txt", PRIVATE);
        scene.home.write("rules/a.mdc", PRIVATE);
        scene.home.write("work/.env", PRIVATE);
        let link = scene.work().join(link);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(target, &link).unwrap();
        let out = scene.run(&["chat", "-q", "hi"]).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        assert!(!scene.sent().contains(PRIVATE), "{link:?} -> {target}");
        // The kernel calls its own files empty, so that one is passed over silently.
        let is_named = stderr(&out).contains("is left out");
        assert_eq!(is_named, !target.starts_with("/proc"), "{link:?} -> {target}: {}", stderr(&out));
    }
}

#[tokio::test]
async fn links_inside_the_repository_are_followed() {
    let scene = Scene::new().await;
    scene.home.write("work/.git/HEAD", "x");
    scene.home.write("work/docs/rules.md", "Use tabs.");
    std::fs::create_dir(scene.work().join("sub")).unwrap();
    symlink("../docs/rules.md", scene.work().join("sub/AGENTS.md")).unwrap();
    let command = crate::process::hermes(scene.home.path(), &scene.work().join("sub"), &["-z", "hi"]);
    crate::process::finished(command).await;
    assert!(scene.sent().contains("Use tabs."));
}

#[tokio::test]
async fn directory_instructions_outside_the_project_are_not_sent() {
    let scene = Scene::new().await;
    scene.home.write("private.txt", PRIVATE);
    scene.home.write("work/sub/a.txt", "plain");
    symlink("../../private.txt", scene.work().join("sub/AGENTS.md")).unwrap();
    scene.home.write("work/other/AGENTS.md", "Other rules.");
    scene.home.write("work/other/a.txt", "plain");
    let read = |path: &str| ReplyScript::call("read_file", json!({ "path": path }));
    scene.provider.reply(read("sub/a.txt"));
    scene.provider.reply(read("other/a.txt"));
    scene.provider.reply(ReplyScript::text("Done."));
    let out = scene.run(&["-z", "read"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert!(scene.sent().contains("Other rules.") && !scene.sent().contains(PRIVATE));
}

#[tokio::test]
async fn references_attach_no_credentials_and_no_outside_files() {
    let scene = Scene::new().await;
    scene.home.write("private.txt", PRIVATE);
    scene.home.write("work/.env.local", PRIVATE);
    symlink("../private.txt", scene.work().join("link.txt")).unwrap();
    for written in ["link.txt", "../private.txt", ".env.local", "~/private.txt"] {
        let out = scene.run(&["chat", "-q", &format!("look @file:{written}")]).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        assert!(stderr(&out).contains(&format!("@file:{written}: ")), "{}", stderr(&out));
    }
    assert!(!scene.sent().contains(PRIVATE));
}

#[tokio::test]
async fn known_secrets_in_context_files_are_redacted() {
    let scene = Scene::new().await;
    let key = "wholly-unremarkable-value";
    let config = custom_model(&scene.provider.base_url())
        .replace("default: m", &format!("default: m\n  api_key: {key}"));
    scene.home.write_config(&config);
    scene.home.write("SOUL.md", &format!("You are kind. {key}"));
    scene.home.write("work/AGENTS.md", &format!("Use {key} here."));
    scene.home.write("work/sub/AGENTS.md", &format!("Use {key} there."));
    scene.home.write("work/sub/a.txt", "plain");
    scene.provider.reply(ReplyScript::call("read_file", json!({ "path": "sub/a.txt" })));
    scene.provider.reply(ReplyScript::text("Done."));
    let out = scene.run(&["-z", "hi"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    let sent = scene.sent();
    assert!(sent.contains("You are kind.") && sent.contains("there."), "{sent}");
    assert!(!sent.contains(key), "{sent}");
}

#[tokio::test]
async fn huge_context_file_is_read_in_part() {
    let scene = Scene::new().await;
    let file = std::fs::File::create(scene.work().join("AGENTS.md")).unwrap();
    file.set_len(3 << 30).unwrap();
    let out = scene.run(&["chat", "-q", "hi"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    insta::assert_snapshot!("huge_file", masked(&stderr(&out)));
}

/// A repository that comes in an archive brings settings along that clones do not.
#[tokio::test]
async fn repository_settings_run_no_programs() {
    let scene = Scene::new().await;
    scene.home.write("outside/notes.txt", PRIVATE);
    let work = scene.work();
    let git = |args: &[&str]| {
        let mut command = std::process::Command::new("git");
        command.args(["-c", "user.name=a", "-c", "user.email=a@example.com"]).args(args).current_dir(&work);
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").stdout(std::process::Stdio::null());
        assert!(command.status().unwrap().success(), "{args:?}");
    };
    scene.home.write("work/notes.txt", "first\n");
    scene.home.write("work/.env", "A=1\n");
    scene.home.write("work/.gitattributes", "*.txt filter=bad diff=bad\n");
    git(&["init", "-q", "."]);
    git(&["add", "-f", "."]);
    git(&["commit", "-qm", "first"]);
    scene.home.write("work/notes.txt", "second\n");
    scene.home.write("work/.env", "A=hunter2hunter2\n");
    let mark = scene.home.path().join("pwned");
    let run = format!("touch {}; cat", mark.display());
    for (key, value) in [
        ("filter.bad.clean", run.as_str()),
        ("filter.bad.required", "true"),
        ("diff.bad.textconv", &run),
        ("diff.bad.command", &run),
        ("diff.external", &run),
        ("core.fsmonitor", &run),
        ("core.pager", &run),
        ("gpg.program", &run),
        ("log.showSignature", "true"),
    ] {
        git(&["config", key, value]);
    }
    for reference in ["@diff", "@staged", "@git:1"] {
        let out = scene.run(&["chat", "-q", &format!("look {reference}")]).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        assert!(!mark.exists(), "{reference} ran a program");
    }
    assert!(scene.sent().contains("+second") && !scene.sent().contains("hunter2hunter2"));
    git(&["config", "core.worktree", scene.home.path().join("outside").to_str().unwrap()]);
    scene.run(&["chat", "-q", "look @diff"]).await;
    assert!(!scene.sent().contains(PRIVATE), "core.worktree leads outside");
}

/// Pipes and devices in place of files neither hang nor are read.
#[tokio::test]
async fn pipes_in_place_of_context_files_are_skipped() {
    let scene = Scene::new().await;
    let pipe = |name: &str| {
        let path = scene.work().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    for name in ["HERMES.md", "AGENTS.md", ".cursorrules", ".cursor/rules/a.mdc", "sub/AGENTS.md"] {
        pipe(name);
    }
    symlink("/dev/zero", scene.work().join("CLAUDE.md")).unwrap();
    scene.home.write("work/sub/a.txt", "plain");
    scene.provider.reply(ReplyScript::call("read_file", json!({ "path": "sub/a.txt" })));
    scene.provider.reply(ReplyScript::call("read_file", json!({ "path": "AGENTS.md" })));
    scene.provider.reply(ReplyScript::text("Done."));
    let out = scene.run(&["chat", "-q", "look @file:AGENTS.md and read"]).await;
    assert_eq!(code(&out), 0, "{}", stderr(&out));
    assert!(scene.sent().contains("is a named pipe, not a regular file"), "{}", scene.sent());
}
