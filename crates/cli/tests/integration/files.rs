//! The files of long tool results, from the command that made them to the session that takes them along.

use crate::command_log::{CommandLog, masked};
use crate::process::{self, code, json_of, run, stderr, stdout};
use hermes_testkit::{FakeProvider, ReplyScript, TempHome};
use serde_json::{Value, json};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

const LONG: &str = "seq 1 2000";
const DAY: u64 = 24 * 60 * 60;

struct World {
    home: TempHome,
    provider: FakeProvider,
}

impl World {
    async fn new() -> Self {
        let (home, provider) = (TempHome::new(), FakeProvider::start().await);
        let model = process::custom_model(&provider.base_url());
        home.write_config(&format!("{model}tool_output:\n  max_bytes: 1000\n"));
        Self { home, provider }
    }

    fn path(&self) -> &Path {
        self.home.path()
    }

    /// A session in which a command wrote much.
    async fn ran(&self, command: &str) -> String {
        self.provider.reply(ReplyScript::call("terminal", json!({ "command": command })));
        self.provider.reply(ReplyScript::text("Done."));
        let out = run(self.path(), &["--yolo", "-z", "Go"]).await;
        assert_eq!(code(&out), 0, "{}", stderr(&out));
        let list = json_of(self.path(), &["sessions", "list"]).await;
        list[0]["id"].as_str().unwrap().to_owned()
    }

    fn kept(&self) -> Vec<PathBuf> {
        let entries = std::fs::read_dir(results(self.path())).into_iter().flatten();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    async fn listed(&self) -> Value {
        json_of(self.path(), &["sessions", "files"]).await
    }
}

fn results(home: &Path) -> PathBuf {
    home.join("cache/terminal/hermes-results")
}

fn used_days_ago(path: &Path, days: u64) {
    let then = SystemTime::now() - Duration::from_secs(days * DAY);
    File::open(path).unwrap().set_modified(then).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_results_share_a_file_until_the_last_session() {
    let world = World::new().await;
    let (first, second) = (world.ran(LONG).await, world.ran(LONG).await);
    let [path] = world.kept().try_into().unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap().lines().count(), 2000);
    let shown = stdout(&run(world.path(), &["sessions", "export", "-", "--session-id", &first]).await);
    assert!(shown.contains(path.to_str().unwrap()), "{shown}");

    let listed = world.listed().await;
    let mut sessions = [first.as_str(), second.as_str()];
    sessions.sort_unstable();
    assert_eq!(listed[0]["sessions"], json!(sessions));
    assert_eq!((&listed[0]["kind"], &listed[0]["orphan"]), (&json!("content"), &json!(false)));
    let args = ["sessions", "files", "list"];
    let mut log = CommandLog::default();
    log.add(&args, &run(world.path(), &args).await);
    insta::assert_snapshot!("list", log);

    assert_eq!(code(&run(world.path(), &["sessions", "delete", &first, "-y"]).await), 0);
    assert!(path.exists());
    let pruned = json_of(world.path(), &["sessions", "prune", "--older-than", "0", "-y"]).await;
    assert_eq!(pruned["deleted"], json!([second]));
    assert!(world.kept().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_prune_lists_confirms_and_removes() {
    let world = World::new().await;
    let mut log = CommandLog::default();
    let empty = run(world.path(), &["sessions", "files"]).await;
    assert_eq!(code(&empty), 0, "{}", stderr(&empty));
    log.add(&["sessions", "files"], &empty);
    world.ran(LONG).await;
    let [path] = world.kept().try_into().unwrap();
    let prune = ["sessions", "files", "prune"];
    let args = [&prune[..], &["--orphans", "-y"]].concat();
    log.add(&args, &run(world.path(), &args).await);
    used_days_ago(&path, 20);
    let by_settings = json_of(world.path(), &[&prune[..], &["--dry-run"]].concat()).await;
    assert_eq!(by_settings["prunable"], json!([]));
    let asked = [&prune[..], &["--older-than", "19"]].concat();
    let would = json_of(world.path(), &[&asked[..], &["--dry-run"]].concat()).await;
    assert_eq!((&would["prunable"][0]["reason"], &would["removed"]), (&json!("old"), &json!([])));
    assert_eq!(would["prunable_bytes"], std::fs::metadata(&path).unwrap().len());
    let unsure = run(world.path(), &asked).await;
    assert!(code(&unsure) == 2 && path.exists(), "{}", stderr(&unsure));
    log.add(&asked, &unsure);
    let args = [&asked[..], &["-y"]].concat();
    log.add(&args, &run(world.path(), &args).await);
    insta::assert_snapshot!("prune", log);
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn old_files_are_removed_once_a_day() {
    let world = World::new().await;
    world.ran(LONG).await;
    let [path] = world.kept().try_into().unwrap();
    used_days_ago(&path, 31);
    // The first run has looked already.
    world.ran("echo short").await;
    assert!(path.exists());
    used_days_ago(&world.path().join("cache/results-checked"), 1);
    world.ran("echo short").await;
    assert!(!path.exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn files_follow_an_export() {
    let (world, other) = (World::new().await, TempHome::new());
    let id = world.ran(LONG).await;
    let [path] = world.kept().try_into().unwrap();
    let name = path.file_name().unwrap();
    let file = world.path().join("all.jsonl");
    let file = file.to_str().unwrap();
    let export = ["sessions", "export", file];
    let mut log = CommandLog::default();
    log.add(&export, &run(world.path(), &export).await);
    let nowhere = run(world.path(), &["sessions", "export", "-", "--files"]).await;
    assert_eq!((code(&nowhere), stdout(&nowhere).as_str()), (2, ""));
    let with = run(world.path(), &[&export[..], &["--files"]].concat()).await;
    assert_eq!(code(&with), 0, "{}", stderr(&with));
    log.add(&[&export[..], &["--files"]].concat(), &with);
    let copy = Path::new(&format!("{file}.files")).join(name);
    assert_eq!(std::fs::read(&copy).unwrap(), std::fs::read(&path).unwrap());

    std::fs::write(&copy, "forged").unwrap();
    let import = ["sessions", "import", file];
    let refused = run(other.path(), &import).await;
    assert_eq!(code(&refused), 1);
    log.add(&import, &refused);
    insta::assert_snapshot!("export_and_import", log);
    std::fs::copy(&path, &copy).unwrap();
    // The session is there by now; its file still comes.
    let taken = run(other.path(), &import).await;
    assert_eq!(code(&taken), 0, "{}", stderr(&taken));
    let theirs = results(other.path()).join(name);
    assert_eq!(std::fs::read(&theirs).unwrap(), std::fs::read(&path).unwrap());
    let listed = json_of(other.path(), &["sessions", "files"]).await;
    assert_eq!(listed[0]["sessions"], json!([id]));
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_reports_sizes_and_damage() {
    let world = World::new().await;
    world.ran(LONG).await;
    std::fs::write(world.path().join("state.db.bak-v6-1"), "copy").unwrap();
    let [path] = world.kept().try_into().unwrap();
    std::fs::write(results(world.path()).join("7-0.part"), "half").unwrap();
    let about = |rows: &Value, subject: &str| {
        rows.as_array().unwrap().iter().find(|row| row["subject"] == subject).unwrap().clone()
    };
    // Its exit code also speaks of the modes that a test's home has.
    let out = run(world.path(), &["doctor", "--json"]).await;
    let rows: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(about(&rows, "files")["ok"], true, "{rows}");
    let (files, sizes) = (about(&rows, "files"), about(&rows, "sizes"));
    assert_eq!((&files["details"]["files"], &files["details"]["growing"]), (&json!(2), &json!(1)));
    assert_eq!((&files["details"]["orphans"], &files["details"]["damaged"]), (&json!(0), &json!([])));
    assert_eq!((&sizes["details"]["backups"], &sizes["details"]["backup_bytes"]), (&json!(1), &json!(4)));
    assert!(sizes["details"]["state_db"].as_u64() > Some(0), "{sizes}");

    std::fs::write(&path, "something else").unwrap();
    let out = run(world.path(), &["doctor"]).await;
    assert_eq!(code(&out), 1);
    let page = stdout(&out);
    let line = page.lines().find(|line| line.contains(" files ")).unwrap_or_default();
    insta::assert_snapshot!("doctor_changed_file", masked(line));
}
