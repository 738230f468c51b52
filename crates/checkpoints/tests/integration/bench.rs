//! A project, a store, and a session that changes files as an agent and as a user do.

use hermes_checkpoints::{
    Checkpoint, CheckpointError, CheckpointStore, Enabled, Restore, Restored, SessionCheckpoints,
    StoreOptions,
};
use hermes_tools::{Checkpoints, PlannedChange, Touches};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tempfile::TempDir;

pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    pub(crate) project: PathBuf,
    pub(crate) store: CheckpointStore,
    pub(crate) session: SessionCheckpoints,
    pub(crate) notices: Arc<Mutex<Vec<String>>>,
}

pub(crate) fn options(root: &Path) -> StoreOptions {
    StoreOptions {
        base: root.join("home/checkpoints"),
        hermes_home: root.join("home"),
        user_home: Some(root.join("user")),
        path: std::env::var("PATH").unwrap(),
        enabled: Enabled::Auto,
        max_snapshots: 20,
        max_total: 500 << 20,
        max_file: 10 << 20,
        auto_prune: false,
        retention: Duration::from_secs(7 * 24 * 60 * 60),
        delete_orphans: true,
        min_interval: Duration::from_secs(24 * 60 * 60),
        timeout: Duration::from_secs(30),
    }
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut StoreOptions)) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        let project = root.join("user/project");
        std::fs::create_dir_all(&project).unwrap();
        std::fs::create_dir_all(root.join("home")).unwrap();
        std::fs::write(project.join("Cargo.toml"), "[package]\n").unwrap();
        let mut options = options(&root);
        change(&mut options);
        let store = CheckpointStore::new(options);
        let notices: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = notices.clone();
        let session =
            SessionCheckpoints::new(store.clone(), Arc::new(move |text| seen.lock().unwrap().push(text)));
        Self { dir, project, store, session, notices }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.project.join(name)
    }

    /// An edit by hand.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> Option<String> {
        std::fs::read_to_string(self.path(name)).ok()
    }

    /// A call that changes one file.
    pub(crate) async fn edit(&self, name: &str, text: &str) {
        let touches = Touches::Files(vec![self.path(name)]);
        self.call(touches, "before write_file", || self.write(name, text)).await;
    }

    /// A command that changes anything.
    pub(crate) async fn command(&self, is_destructive: bool, act: impl FnOnce()) {
        let touches = Touches::Anything { directory: self.project.clone(), is_destructive };
        self.call(touches, "before terminal: rm a", act).await;
    }

    pub(crate) async fn call(&self, touches: Touches, reason: &str, act: impl FnOnce()) {
        let change = PlannedChange { touches, reason: reason.to_owned() };
        let before = self.session.before_change(&change).await;
        act();
        if let Some(before) = before {
            self.session.after_change(before).await;
        }
    }

    pub(crate) fn turn(&self) {
        self.session.begin_turn();
    }

    pub(crate) async fn list(&self) -> Vec<Checkpoint> {
        self.store.list(&self.project).await.unwrap()
    }

    pub(crate) async fn restore(&self, number: usize) -> Result<Restored, CheckpointError> {
        self.restore_files(number, &[], false).await
    }

    pub(crate) async fn restore_files(
        &self,
        number: usize,
        files: &[&str],
        force: bool,
    ) -> Result<Restored, CheckpointError> {
        let files = files.iter().map(|file| (*file).to_owned()).collect();
        self.store.restore(&self.project, &Restore { wanted: number.to_string(), files, force }).await
    }
}
