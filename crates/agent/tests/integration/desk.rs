//! Setup that all turns of these tests share.

use hermes_agent::Ports;
use hermes_context::{NeverCompact, NoSummaries, here};
use hermes_conversation::{EventSink, NoHooks};
use hermes_exec::Local;
use hermes_testkit::MemoryTranscript;
use hermes_tools::{ApprovalMode, FenceKey, NoUser, Registry, Safety, ToolContext, ToolSettings, ToolSetup};
use hermes_wire::ModelRoute;
use std::path::Path;
use std::sync::{Arc, LazyLock};

/// Made once: there may be thousands of turns. The windows of these tests are small, so the larger definitions are left
/// out.
pub(crate) static TOOLS: LazyLock<Arc<Registry>> = LazyLock::new(|| {
    let without = ["web", "code_execution"].map(str::to_owned);
    Arc::new(Registry::builtin().select(None, &without).unwrap())
});

/// Real tools in a directory, without a user to ask.
pub(crate) fn ports(
    folder: &Path,
    approvals: ApprovalMode,
    route: Arc<dyn ModelRoute>,
    transcript: Arc<MemoryTranscript>,
    events: EventSink,
) -> Ports {
    let context = ToolContext::new(ToolSetup {
        session: "s".to_owned(),
        delegate: None,
        memory: None,
        skills: None,
        record: None,
        library: None,
        checkpoints: None,
        processes: None,
        web: None,
        vision: None,
        cwd: folder.to_owned(),
        home: folder.join("home"),
        user_home: None,
        scratch: folder.join("scratch"),
        backend: Arc::new(Local),
        child_env: vec![("PATH".into(), "/usr/bin:/bin".into())],
        secrets: Arc::default(),
        fence_key: Arc::new(|| FenceKey::new([7; 32])),
        settings: ToolSettings::with_approvals(approvals),
        locks: Arc::default(),
        safety: Safety::default(),
    });
    Ports {
        route,
        tools: TOOLS.clone(),
        tool_context: Arc::new(context),
        ask: Arc::new(NoUser),
        mailbox: transcript.clone(),
        transcript,
        hooks: Arc::new(NoHooks),
        engine: here(NeverCompact),
        summaries: Arc::new(NoSummaries),
        jitter: Arc::new(|| 0.0),
        pause: hermes_agent::sleep(),
        for_scripts: None,
        events,
    }
}
