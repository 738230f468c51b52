//! Projects that try to run programs, to reach files outside, or to change what is saved.

use crate::bench::Bench;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

fn git(directory: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"])
        .args(arguments)
        .current_dir(directory)
        .output()
        .unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Every way in which settings of a repository name a program, also in a nested repository.
#[tokio::test]
async fn repository_runs_no_program() {
    let bench = Bench::new();
    let proof = bench.dir.path().join("proof");
    let script = bench.path("evil.sh");
    bench.write("evil.sh", &format!("#!/bin/sh\necho \"$0 $*\" >> {}\ncat\n", proof.display()));
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    std::fs::create_dir(bench.path("nested")).unwrap();
    for directory in [bench.project.clone(), bench.path("nested")] {
        std::fs::write(directory.join("tracked"), "x").unwrap();
        git(&directory, &["init", "-q"]);
        git(&directory, &["add", "tracked"]);
        git(&directory, &["commit", "-qm", "first"]);
        let evil = script.display().to_string();
        for (key, value) in [
            ("core.fsmonitor", evil.as_str()),
            ("core.hooksPath", bench.project.to_str().unwrap()),
            ("core.editor", &evil),
            ("core.pager", &evil),
            ("diff.external", &evil),
            ("diff.evil.textconv", &evil),
            ("filter.evil.clean", &evil),
            ("filter.evil.smudge", &evil),
            ("filter.evil.process", &evil),
            ("filter.evil.required", "true"),
            ("gpg.program", &evil),
            ("commit.gpgsign", "true"),
            ("core.sshCommand", &evil),
        ] {
            git(&directory, &["config", key, value]);
        }
        std::fs::write(directory.join(".gitattributes"), "* filter=evil diff=evil merge=evil\n").unwrap();
    }
    for hook in ["pre-commit", "post-checkout", "post-index-change", "reference-transaction"] {
        std::fs::copy(&script, bench.path(hook)).unwrap();
        std::fs::copy(&script, bench.path(&format!(".git/hooks/{hook}"))).unwrap();
    }
    std::fs::copy(&script, bench.path("git")).unwrap();
    bench.turn();
    bench.edit("tracked", "y").await;
    bench.command(true, || bench.write("nested/tracked", "y")).await;
    bench.store.diff(&bench.project, "1").await.unwrap();
    let restored = bench.restore(1).await.unwrap();
    assert_eq!(restored.restored, ["nested/tracked", "tracked"], "nested repositories are saved as files");
    assert_eq!(std::fs::read_to_string(&proof).ok(), None);
}

/// Conversions that attributes ask for would change bytes.
#[tokio::test]
async fn content_is_saved_byte_for_byte() {
    let bench = Bench::new();
    let contents: [(&str, &[u8]); 4] = [
        ("crlf.txt", b"a\r\nb\r\n"),
        ("ident.txt", b"$Id$\n"),
        ("utf16.txt", b"\xff\xfea\0\n\0"),
        ("binary", b"\0\xff\x80\r\n"),
    ];
    bench.write(
        ".gitattributes",
        "* text=auto eol=crlf\n*.txt text eol=lf\nident.txt ident\nutf16.txt working-tree-encoding=UTF-16\n",
    );
    for (name, content) in contents {
        std::fs::write(bench.path(name), content).unwrap();
    }
    bench.turn();
    bench
        .command(true, || {
            for (name, _) in contents {
                std::fs::write(bench.path(name), "agent").unwrap();
            }
        })
        .await;
    bench.restore(1).await.unwrap();
    for (name, content) in contents {
        assert_eq!(std::fs::read(bench.path(name)).unwrap(), content, "{name}");
    }
}

#[tokio::test]
async fn links_lead_nowhere() {
    let bench = Bench::new();
    let outside = bench.dir.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    std::fs::write(outside.join("secret"), "secret").unwrap();
    bench.write("dir/secret", "project\n");
    bench.write("file", "project\n");
    bench.turn();
    bench.edit("dir/secret", "agent\n").await;
    bench.edit("file", "agent\n").await;
    // A directory and a file of the checkpoint become links out of the project.
    bench
        .command(true, || {
            std::fs::remove_dir_all(bench.path("dir")).unwrap();
            symlink(&outside, bench.path("dir")).unwrap();
            std::fs::remove_file(bench.path("file")).unwrap();
            symlink(outside.join("secret"), bench.path("file")).unwrap();
        })
        .await;
    bench.restore(1).await.unwrap();
    assert_eq!(std::fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    assert_eq!(bench.read("dir/secret").as_deref(), Some("project\n"));
    assert_eq!(bench.read("file").as_deref(), Some("project\n"));
    // A link is saved as a link: the file that it names is not read.
    bench.turn();
    bench.command(true, || symlink(&outside, bench.path("link")).unwrap()).await;
    bench.turn();
    bench.command(true, || std::fs::remove_file(bench.path("link")).unwrap()).await;
    let objects =
        Command::new("grep").args(["-r", "secret"]).arg(bench.dir.path().join("home")).output().unwrap();
    assert!(!String::from_utf8_lossy(&objects.stdout).contains("objects"), "{objects:?}");
    bench.restore(1).await.unwrap();
    assert_eq!(std::fs::read_link(bench.path("link")).unwrap(), outside);
}

#[tokio::test]
async fn odd_files_do_not_stop_a_checkpoint() {
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    for name in [
        "-rf",
        "--help",
        ":(top)x",
        "a\nb",
        "a\tb",
        " blank ",
        "*",
        "!not",
        "#x",
        "\u{1}",
        "git~1",
        "back\\slash",
    ] {
        bench.write(name, "1");
    }
    std::fs::write(bench.project.join(std::ffi::OsStr::from_bytes(b"bad\xff")), "1").unwrap();
    bench.write("unreadable", "1");
    std::fs::set_permissions(bench.path("unreadable"), PermissionsExt::from_mode(0o000)).unwrap();
    assert!(Command::new("mkfifo").arg(bench.path("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(bench.path("socket")).unwrap();
    bench.turn();
    bench
        .command(true, || {
            for name in ["-rf", ":(top)x", "a\nb", "*", "git~1", "back\\slash", " blank "] {
                bench.write(name, "2");
            }
        })
        .await;
    let restored = bench.restore(1).await.unwrap();
    assert_eq!(restored.restored.len(), 7, "{restored:?}");
    assert_eq!(bench.read("a\nb").as_deref(), Some("1"));
    assert_eq!(*bench.notices.lock().unwrap(), Vec::<String>::new());
}
