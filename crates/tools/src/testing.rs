//! A session with a temporary directory, for tests of this crate.

use crate::far::testing::Loopback;
use crate::{
    Action, ActionKind, ApprovalMode, AskUser, CallScope, Caller, FarPlace, Finished, NoUser, Prepared,
    Registry, RunScope, Safety, ToolContext, ToolSettings, ToolSetup,
};
use hermes_conversation::{
    AssistantMessage, BoxFuture, CallId, Closing, Compaction, FileChange, InnerCall, InnerEnd, Intent,
    IntentId, Lease, Message, Node, OpenTurn, Opening, Permits, ProcessMark, RecordError, Settlement,
    SpentCall, StartPermit, ToolCall, ToolMessage, Transcript,
};
use hermes_exec::Local;
use hermes_gate::{Assessment, Effect, EffectKind, Finding};
use hermes_guard::FenceKey;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

pub(crate) struct Bench {
    pub(crate) dir: TempDir,
    pub(crate) cx: ToolContext,
    pub(crate) registry: Registry,
    pub(crate) cancel: CancellationToken,
    pub(crate) transcript: Arc<Notebook>,
    pub(crate) ask: Arc<dyn AskUser>,
    pub(crate) caller: Caller,
}

impl Bench {
    pub(crate) fn new() -> Self {
        Self::with(ToolSettings::with_approvals(ApprovalMode::Off))
    }

    pub(crate) fn with(settings: ToolSettings) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        for name in ["work", "home", "user"] {
            std::fs::create_dir(root.join(name)).unwrap();
        }
        let cx = ToolContext::new(ToolSetup { settings, ..Self::setup(&root) });
        Self {
            dir,
            cx,
            registry: Registry::builtin(),
            cancel: CancellationToken::new(),
            transcript: Arc::default(),
            ask: Arc::new(NoUser),
            caller: Caller::Model(None),
        }
    }

    /// A session whose commands run at a place that is this machine under another name. Its project is `work`.
    pub(crate) fn far(settings: ToolSettings) -> (Self, Arc<Loopback>) {
        let mut bench = Self::with(settings.clone());
        let root = bench.root();
        let place = Arc::new(Loopback::new(root.join("user")));
        let far = FarPlace {
            label: "there".to_owned(),
            directory: root.join("work"),
            reaches: Some("all".to_owned()),
        };
        let safety = Safety { far: Some(far), ..Safety::default() };
        bench.cx =
            ToolContext::new(ToolSetup { settings, safety, backend: place.clone(), ..Self::setup(&root) });
        (bench, place)
    }

    /// A session in the directories below `root`.
    pub(crate) fn setup(root: &std::path::Path) -> ToolSetup {
        ToolSetup {
            session: "session".to_owned(),
            cwd: root.join("work"),
            home: root.join("home"),
            user_home: Some(root.join("user")),
            scratch: root.join("scratch"),
            backend: Arc::new(Local),
            delegate: None,
            memory: None,
            skills: None,
            record: None,
            library: None,
            checkpoints: None,
            processes: None,
            web: None,
            vision: None,
            child_env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            secrets: Arc::default(),
            fence_key: Arc::new(|| FenceKey::new([7; 32])),
            settings: ToolSettings::with_approvals(ApprovalMode::Off),
            locks: Arc::default(),
            safety: Safety::default(),
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    /// The one long result that was kept.
    pub(crate) fn result_file(&self) -> PathBuf {
        let mut files = std::fs::read_dir(self.cx.results_dir()).unwrap();
        let path = files.next().unwrap().unwrap().path();
        assert!(files.next().is_none(), "more than one");
        path
    }

    /// A path in the working directory the session starts in.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.root().join("work").join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn prepare(&self, name: &str, arguments: impl ToString) -> Prepared {
        let call = ToolCall::new(CallId::new("call/1"), name, arguments.to_string());
        self.registry.prepare(&call, &self.cx)
    }

    pub(crate) fn run_scope(&self) -> RunScope {
        RunScope {
            cancel: self.cancel.clone(),
            transcript: self.transcript.clone(),
            events: hermes_conversation::events().0.relay(),
            ask: self.ask.clone(),
            result_limit: crate::result_limit(None),
            sees_images: false,
            caller: self.caller.clone(),
        }
    }

    pub(crate) fn scope(&self) -> CallScope {
        CallScope {
            call_id: CallId::new("call/1"),
            intent: IntentId(7),
            cwd: self.cx.cwd(),
            environment: self.cx.environment(),
            cancel: self.cancel.clone(),
            transcript: self.transcript.clone(),
            events: hermes_conversation::events().0.relay(),
            ask: self.ask.clone(),
            result_limit: crate::result_limit(None),
            sees_images: false,
            grants: Vec::new(),
            asked: Vec::new(),
            caller: self.caller.clone(),
        }
    }

    pub(crate) async fn finish(&self, name: &str, arguments: impl ToString) -> Finished {
        let prepared = self.prepare(name, arguments);
        prepared.run(StartPermit::issue(IntentId(7)), &self.cx, self.run_scope()).await
    }

    /// Prepares and runs a call, and reads its result.
    pub(crate) async fn call(&self, name: &str, arguments: impl ToString) -> Value {
        self.answer(name, arguments).await.1
    }

    /// The message of a call and its result.
    pub(crate) async fn answer(&self, name: &str, arguments: impl ToString) -> (ToolMessage, Value) {
        let finished = self.finish(name, arguments).await;
        let value = serde_json::from_str(finished.message.content.as_text()).unwrap();
        (finished.message, value)
    }
}

/// A record that keeps process marks and fails on request.
#[derive(Default)]
pub(crate) struct Notebook {
    pub(crate) marks: Mutex<Vec<(IntentId, ProcessMark)>>,
    pub(crate) changes: Mutex<Vec<(IntentId, FileChange)>>,
    pub(crate) fails: Mutex<bool>,
}

type Answer<'a, T> = BoxFuture<'a, Result<T, RecordError>>;

impl Transcript for Notebook {
    fn open_turn<'a>(&'a self, _: &'a Lease, _: Opening) -> Answer<'a, OpenTurn> {
        unimplemented!("tools open no turns")
    }

    fn annotate<'a>(&'a self, _: &'a Lease, _: &'a OpenTurn, _: &'a str) -> Answer<'a, ()> {
        unimplemented!("tools open no turns")
    }

    fn plan<'a>(
        &'a self,
        _: &'a Lease,
        _: &'a OpenTurn,
        _: &'a AssistantMessage,
        _: Option<&'a SpentCall>,
        _: &'a [Intent],
    ) -> Answer<'a, Permits> {
        unimplemented!("tools plan nothing")
    }

    fn settle<'a>(&'a self, _: &'a Lease, _: &'a OpenTurn, _: Settlement) -> Answer<'a, Vec<StartPermit>> {
        unimplemented!("tools settle nothing")
    }

    fn extend<'a>(
        &'a self,
        _: &'a Lease,
        _: &'a OpenTurn,
        _: &'a [Message],
        _: Option<&'a SpentCall>,
    ) -> Answer<'a, ()> {
        unimplemented!("tools say nothing")
    }

    fn compact<'a>(
        &'a self,
        _: &'a Lease,
        _: Option<&'a OpenTurn>,
        _: &'a Compaction,
    ) -> Answer<'a, Vec<Node>> {
        unimplemented!("tools compact nothing")
    }

    fn begin_inner<'a>(
        &'a self,
        _: &'a Lease,
        _: &'a OpenTurn,
        _: InnerCall,
    ) -> Answer<'a, (IntentId, Option<StartPermit>)> {
        unimplemented!("tools record no calls")
    }

    fn end_inner<'a>(&'a self, _: &'a Lease, _: &'a OpenTurn, _: InnerEnd) -> Answer<'a, ()> {
        unimplemented!("tools record no calls")
    }

    fn note_process<'a>(&'a self, intent: IntentId, mark: &'a ProcessMark) -> Answer<'a, ()> {
        Box::pin(async move {
            if *self.fails.lock().unwrap() {
                return Err(RecordError::Store { cause: "disk full".into() });
            }
            self.marks.lock().unwrap().push((intent, mark.clone()));
            Ok(())
        })
    }

    fn note_change<'a>(&'a self, intent: IntentId, change: &'a FileChange) -> Answer<'a, ()> {
        Box::pin(async move {
            if *self.fails.lock().unwrap() {
                return Err(RecordError::Store { cause: "disk full".into() });
            }
            self.changes.lock().unwrap().push((intent, change.clone()));
            Ok(())
        })
    }

    fn close<'a>(&'a self, _: &'a Lease, _: OpenTurn, _: Closing) -> Answer<'a, ()> {
        unimplemented!("tools close no turns")
    }
}

/// An action that needs approval.
pub(crate) fn asking_action(text: &str, cx: &ToolContext) -> Action {
    let finding = Finding {
        effect: Effect { kind: EffectKind::Write, target: None },
        verdict: hermes_gate::Verdict::Ask,
        rule: "test rule".into(),
        reason: text.to_owned(),
        grants: Vec::new(),
    };
    let assessment = Assessment { findings: vec![finding], ..Assessment::default() };
    let environment = Arc::default();
    Action { kind: ActionKind::Access, text: text.to_owned(), cwd: cx.cwd(), environment, assessment }
}
