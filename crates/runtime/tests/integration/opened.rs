//! A runtime on a temporary home, as a terminal would open it.

use hermes_runtime::{Home, Launch, Runtime};
use std::collections::BTreeMap;
use std::path::Path;

/// With nothing in the environment but a way to find programs.
pub(crate) fn opened(home: &Path, cwd: &Path) -> Runtime {
    let shell = BTreeMap::from([("PATH".to_owned(), "/usr/bin:/bin".to_owned())]);
    Runtime::open(Launch {
        home: Home::at(home),
        flags: Vec::new(),
        shell,
        cwd: cwd.to_owned(),
        source: "cli".to_owned(),
        supervisor: None,
    })
    .unwrap()
}
