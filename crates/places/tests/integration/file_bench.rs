//! A session whose file tools and terminal work at one place.

use crate::file_record::Record;
use hermes_conversation::{CallId, IntentId, StartPermit, ToolCall};
use hermes_exec::{Backend, Local};
use hermes_places::{FarBackend, Place};
use hermes_tools::{
    ApprovalMode, Caller, FarPlace, FenceKey, NoUser, Registry, RunScope, Safety, ToolContext, ToolSettings,
    ToolSetup, result_limit,
};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct FileBench {
    pub(crate) cx: ToolContext,
    /// The directory of the case, at the place.
    pub(crate) root: String,
    pub(crate) cancel: CancellationToken,
    home: String,
    registry: Registry,
    /// Removed with the value.
    _dir: TempDir,
}

/// The facts about a place for tools.
fn facts(place: &Place) -> FarPlace {
    let reaches = Some(place.label());
    FarPlace { label: place.label(), directory: place.directory(), reaches }
}

impl FileBench {
    /// A session at a place; `None` is this machine.
    pub(crate) async fn at(place: Option<&Arc<Place>>) -> Self {
        let backend: Arc<dyn Backend> = match place {
            Some(place) => Arc::new(FarBackend::new(place.clone(), Arc::new(Local))),
            None => Arc::new(Local),
        };
        Self::with(backend, place.map(|place| facts(place))).await
    }

    pub(crate) async fn with(backend: Arc<dyn Backend>, far: Option<FarPlace>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = dir.path().canonicalize().unwrap();
        for name in ["work", "home", "user"] {
            std::fs::create_dir(base.join(name)).unwrap();
        }
        let mut bench = Self {
            cx: ToolContext::new(setup(&base, backend, far)),
            root: String::new(),
            home: String::new(),
            cancel: CancellationToken::new(),
            registry: Registry::builtin(),
            _dir: dir,
        };
        bench.home = bench.script("cd && pwd -P && cd - >/dev/null").await.trim().to_owned();
        bench
    }

    /// Begins in a new directory, with what a script makes there.
    pub(crate) async fn enter_new_directory(&mut self, setup: &str) {
        self.cx.forget_reads();
        let entered = self.script(&format!("cd \"$(mktemp -d)\" && pwd -P\n{setup}")).await;
        self.root = entered.lines().next().unwrap().to_owned();
    }

    /// Runs a script in the directory of the session, with the tool.
    pub(crate) async fn script(&self, script: &str) -> String {
        let result = self.call("terminal", &json!({"command": script})).await;
        result["output"].as_str().unwrap_or_default().to_owned()
    }

    pub(crate) async fn call(&self, tool: &str, arguments: &Value) -> Value {
        let call = ToolCall::new(CallId::new("call/1"), tool, arguments.to_string());
        let prepared = self.registry.prepare(&call, &self.cx);
        let scope = RunScope {
            cancel: self.cancel.clone(),
            transcript: Arc::new(Record),
            events: hermes_conversation::events().0.relay(),
            ask: Arc::new(NoUser),
            result_limit: result_limit(None),
            caller: Caller::Model(None),
            sees_images: false,
        };
        let finished = prepared.run(StartPermit::issue(IntentId(7)), &self.cx, scope).await;
        serde_json::from_str(finished.message.content.as_text()).unwrap()
    }

    /// A text of the place with the directories named as on every place.
    pub(crate) fn masked(&self, text: &str) -> String {
        text.replace(&self.root, "ROOT").replace(&self.home, "HOME")
    }
}

fn setup(base: &Path, backend: Arc<dyn Backend>, far: Option<FarPlace>) -> ToolSetup {
    let user = base.join("user").display().to_string();
    let path = std::env::var("PATH").unwrap();
    let child_env = match far {
        None => vec![("PATH".to_owned(), path.clone()), ("HOME".to_owned(), user)],
        Some(_) => Vec::new(),
    };
    ToolSetup {
        session: "session".to_owned(),
        cwd: base.join("work"),
        home: base.join("home"),
        user_home: Some(base.join("user")),
        scratch: base.join("scratch"),
        backend,
        delegate: None,
        memory: None,
        skills: None,
        record: None,
        library: None,
        checkpoints: None,
        processes: None,
        web: None,
        vision: None,
        child_env,
        secrets: Arc::default(),
        fence_key: Arc::new(|| FenceKey::new([7; 32])),
        settings: ToolSettings::with_approvals(ApprovalMode::Off),
        locks: Arc::default(),
        safety: Safety {
            far,
            path_dirs: std::env::split_paths(&path).collect(),
            project: Some("/nonexistent/no-project".into()),
            ..Safety::default()
        },
    }
}
