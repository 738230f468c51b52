//! One store, used by this build and by the Python release.
//!
//! `HERMES_PYTHON` names a Python with release 0.19; `.ci/python` installs it. Without it the test is skipped with a
//! message, except in CI.

use crate::bench::Bench;
use serde_json::Value;
use std::path::PathBuf;
use std::process::Command;

const VARIABLE: &str = "HERMES_PYTHON";
const PEER: &str = "
import json, sys, types
# The release is installed without its dependencies; the store needs none of them.
class Stub(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith('__'):
            raise AttributeError(name)
        return type(name, (), {'add_representer': classmethod(lambda *_: None)})
for name in ['yaml', 'ruamel', 'ruamel.yaml', 'dotenv', 'httpx', 'requests', 'rich']:
    try:
        __import__(name)
    except ImportError:
        sys.modules[name] = Stub(name)
from tools import checkpoint_manager as m
manager = m.CheckpointManager(enabled=True)
action, project = sys.argv[1], sys.argv[2]
if action == 'take':
    manager.new_turn()
    print(json.dumps(manager.ensure_checkpoint(project, sys.argv[3])))
elif action == 'list':
    print(json.dumps(manager.list_checkpoints(project)))
elif action == 'restore':
    print(json.dumps(manager.restore(project, sys.argv[3])))
else:
    print(json.dumps(m.store_status()))
";

#[expect(clippy::print_stdout, reason = "a test that is skipped says so")]
fn python() -> Option<PathBuf> {
    match std::env::var_os(VARIABLE).filter(|path| !path.is_empty()) {
        Some(path) => Some(path.into()),
        None => {
            assert!(std::env::var_os("CI").is_none(), "{VARIABLE} is not set");
            println!("skipped: {VARIABLE} names no Python with release 0.19");
            None
        }
    }
}

impl Bench {
    fn ask(&self, python: &PathBuf, arguments: &[&str]) -> Value {
        let [action, rest @ ..] = arguments else { panic!() };
        let output = Command::new(python)
            .args(["-c", PEER, action])
            .arg(&self.project)
            .args(rest)
            .env("HERMES_HOME", self.dir.path().join("home"))
            .env("HOME", self.dir.path().join("user"))
            .current_dir(&self.project)
            .output()
            .unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments:?}: {errors}");
        let text = String::from_utf8(output.stdout).unwrap();
        serde_json::from_str(text.lines().last().unwrap())
            .unwrap_or_else(|error| panic!("{error}: {text}{errors}"))
    }
}

#[tokio::test]
async fn store_is_shared_with_the_python_release() {
    let Some(python) = python() else { return };
    for is_ours_first in [true, false] {
        let bench = Bench::new();
        bench.write("a", "1\n");
        if is_ours_first {
            bench.turn();
            bench.edit("a", "2\n").await;
        } else {
            assert_eq!(bench.ask(&python, &["take", "by python"]), true);
            bench.write("a", "2\n");
        }
        assert_eq!(bench.ask(&python, &["take", "by python again"]), true);
        bench.turn();
        bench.edit("a", "3\n").await;
        bench.turn();
        bench.edit("a", "4\n").await;
        let (ours, theirs) = (bench.list().await, bench.ask(&python, &["list"]));
        let theirs = theirs.as_array().unwrap();
        assert_eq!(ours.len(), 3, "{ours:?}");
        for (our, their) in ours.iter().zip(theirs) {
            assert_eq!(their["hash"], our.hash.as_str());
            assert_eq!(their["short_hash"], our.short_hash.as_str());
            assert_eq!(their["timestamp"], our.timestamp.as_str());
            assert_eq!(their["reason"], our.reason.as_str());
            assert_eq!(their["files_changed"], our.files_changed);
            assert_eq!(their["insertions"], our.insertions);
            assert_eq!(their["deletions"], our.deletions);
        }
        assert_eq!(theirs.len(), 3);
        let status = bench.ask(&python, &["status"]);
        assert_eq!(status["project_count"], 1, "{status}");
        assert_eq!(status["projects"][0]["workdir"], bench.project.to_str().unwrap());
        assert_eq!(status["projects"][0]["commits"], 3);
        // Each restores a checkpoint of the other. One of Python has no record of changes, so it needs force.
        let by_python = ours.iter().find(|one| one.reason == "by python again").unwrap();
        bench.restore(by_python.number).await.unwrap_err();
        bench.restore_files(by_python.number, &[], true).await.unwrap();
        assert_eq!(bench.read("a").as_deref(), Some("2\n"));
        let list = bench.list().await;
        assert_eq!(bench.ask(&python, &["restore", &list[0].hash])["success"], true);
        assert_eq!(bench.read("a").as_deref(), Some("4\n"));
    }
}
