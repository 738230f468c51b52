//! Hermes is killed while it writes a file at another place: the resumed session finds out there what became of it.
//!
//! The place is the stand-in for Singularity, so it is always available. A program between Hermes and the stand-in kills
//! Hermes at the chosen point.

use crate::process::{custom_model, finished, hermes, stderr, stdout};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The stand-in, with what happens before and after each of its programs.
fn install(home: &Path, work: &Path, before: &str, after: &str) {
    let program = home.join("bin/singularity");
    std::fs::create_dir_all(program.parent().unwrap()).unwrap();
    let stand_in = concat!(env!("CARGO_MANIFEST_DIR"), "/../places/tests/singularity-stand-in");
    let (home, work) = (home.display(), work.display());
    let script = format!(
        "#!/bin/bash\nwork={work}\nexport APPTAINER_STAND_IN_STATE={home}/instances\n\
         [ \"$1\" = exec ] || exec {stand_in} \"$@\"\n\
         IFS= read -r -d '' program\n\
         kill_hermes() {{ until [ -s {home}/pid ]; do sleep 0.02; done; kill -KILL \"$(cat {home}/pid)\"; }}\n\
         {before}\n\
         {stand_in} \"$@\" < <(printf '%s\\0' \"$program\"; cat)\ncode=$?\n{after}\nexit $code\n"
    );
    std::fs::write(&program, script).unwrap();
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
}

struct Killed {
    home: TempHome,
    work: tempfile::TempDir,
    provider: FakeProvider,
}

impl Killed {
    /// A session that was killed before or after its write of `a` was made.
    async fn during(before: &str, after: &str) -> Self {
        let (home, work) = (TempHome::new(), tempfile::tempdir().unwrap());
        let killed = Self { home, work, provider: FakeProvider::start().await };
        std::fs::write(killed.file(), "old\n").unwrap();
        let settings =
            format!("terminal:\n  backend: singularity\n  cwd: {}\n", killed.work.path().display());
        killed.home.write_config(&format!("{}{settings}", custom_model(&killed.provider.base_url())));
        killed.install(before, after);
        let write = json!({"path": "a", "content": "new\n"});
        killed.provider.reply(ReplyScript::call("write_file", write));
        let mut child = killed.command(&["--yolo", "-z", "go"]).stdin(Stdio::null()).spawn().unwrap();
        std::fs::write(killed.home.path().join("pid"), child.id().to_string()).unwrap();
        let status = tokio::task::spawn_blocking(move || child.wait().unwrap()).await.unwrap();
        assert!(!status.success() && status.code().is_none(), "it was not killed: {status}");
        killed
    }

    fn install(&self, before: &str, after: &str) {
        install(self.home.path(), self.work.path(), before, after);
    }

    fn file(&self) -> PathBuf {
        self.work.path().join("a")
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = hermes(self.home.path(), self.home.path(), args);
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.home.path().join("bin").display()));
        command.env("TMPDIR", self.home.path());
        command
    }

    /// The result of the write, as the resumed session sends it.
    async fn result(&self) -> Value {
        self.provider.reply(ReplyScript::text("I see."));
        let out = finished(self.command(&["--yolo", "--resume", "latest", "-z", "what happened?"])).await;
        assert_eq!(stdout(&out), "I see.\n", "{}", stderr(&out));
        let request = self.provider.requests().pop().unwrap();
        let messages = request.messages();
        let tool = messages.iter().find(|message| message["role"] == "tool").unwrap();
        serde_json::from_str(tool["content"].as_str().unwrap()).unwrap()
    }
}

const BEFORE_THE_WRITE: &str = "case $program in *'Replaces a file'*) kill_hermes; exit 1 ;; esac";

const AFTER_THE_WRITE: &str = "[ \"$(cat \"$work/a\")\" != new ] || kill_hermes";

#[tokio::test(flavor = "multi_thread")]
async fn lost_write_was_not_made() {
    let killed = Killed::during(BEFORE_THE_WRITE, "").await;
    killed.install("", "");
    let result = killed.result().await;
    assert!(result["error"].as_str().unwrap().contains("was not run"), "{result}");
    assert_eq!(std::fs::read_to_string(killed.file()).unwrap(), "old\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn write_that_was_made_has_its_result() {
    let killed = Killed::during("", AFTER_THE_WRITE).await;
    killed.install("", "");
    let result = killed.result().await;
    assert_eq!(result["bytes_written"], 4, "{result}");
    assert_eq!(std::fs::read_to_string(killed.file()).unwrap(), "new\n");
}

/// The file of this machine with the same path shows that the write was made, but it says nothing about the place.
#[tokio::test(flavor = "multi_thread")]
async fn write_is_unknown_if_the_place_cannot_be_asked() {
    let killed = Killed::during(BEFORE_THE_WRITE, "").await;
    std::fs::write(killed.file(), "new\n").unwrap();
    killed.install("exit 1", "");
    let result = killed.result().await;
    assert!(result["error"].as_str().unwrap().contains("may or may not"), "{result}");
}
