//! The table of the Python release's defaults against the release itself.
//!
//! `HERMES_PYTHON` names a Python that has release 0.19; `.ci/python` installs it. Without it this test says so
//! and does nothing, except in CI.

use serde_json::{Map, Value};
use std::process::Command;

const TABLE: &str = include_str!("../../../config/src/python_defaults.json");

/// The release reads files with a module that is not installed here; its defaults are in its code.
const DUMP: &str = r#"
import json, sys, types
yaml = types.ModuleType("yaml")
yaml.SafeDumper = yaml.Dumper = yaml.SafeLoader = yaml.CSafeLoader = object
yaml.YAMLError = Exception
sys.modules["yaml"] = yaml
from hermes_cli.config import DEFAULT_CONFIG

def leaves(tree, prefix=""):
    for key, value in tree.items():
        if isinstance(value, dict) and value:
            yield from leaves(value, prefix + key + ".")
        elif not (prefix + key).startswith("_"):
            yield prefix + key, value

print(json.dumps(dict(leaves(DEFAULT_CONFIG))))
"#;

#[test]
fn the_table_has_the_defaults_of_the_release() {
    let Some(python) = std::env::var_os("HERMES_PYTHON").filter(|path| !path.is_empty()) else {
        assert!(std::env::var("CI").as_deref() != Ok("true"), "HERMES_PYTHON must be set in CI");
        println!("skipped: HERMES_PYTHON is not set; `.ci/python` prints it");
        return;
    };
    let home = tempfile::tempdir().unwrap();
    let out = Command::new(python)
        .args(["-c", DUMP])
        .env("HERMES_HOME", home.path())
        .current_dir(home.path())
        .output()
        .unwrap();
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    let theirs: Map<String, Value> = serde_json::from_slice(&out.stdout).unwrap();
    let ours: Map<String, Value> = serde_json::from_str(TABLE).unwrap();
    assert_eq!(ours, theirs);
}
