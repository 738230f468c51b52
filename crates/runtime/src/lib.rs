//! Composition of a working Hermes: opens a home, builds tools, models and engines from its settings, and owns
//! sessions and slash commands.
//!
//! Every front end starts here: it opens a [`Runtime`] on a home and drives a [`Session`] through its
//! [`SessionHandle`].

mod approvals;
mod background_processes;
pub mod busy;
mod checkpoints;
pub mod commands;
mod conversing;
mod crash_recovery;
mod delegation;
mod error;
mod forking;
mod handle;
mod inspection;
mod logging;
mod mailbox;
mod memory;
mod meter;
mod naming;
mod places;
mod prompting;
mod request_dumps;
mod retention;
mod runtime;
mod session;
mod session_library;
mod session_map;
mod session_record;
mod session_task;
pub mod skills;
mod submission;
mod summaries;
mod tool_setup;
mod web;

pub use approvals::{
    CommandCheck, SandboxStatus, approval_scene, command_check, sandbox_policy, sandbox_status,
};
pub use background_processes::{SessionProcess, duration};
pub use checkpoints::checkpoint_store;
pub use conversing::{ConversationRequest, ConversationResult, chat, run_conversation};
pub use error::{RuntimeError, with_causes};
pub use handle::{Delivered, RunningReport, SessionHandle, Submitted};
pub use hermes_agent::{Compacted, Input, NotCompacted, StandIn, TurnReport, UserInput, Weighed};
pub use hermes_attachments::{ExpandedPrompt, Image, ImageError, message_with_images};
pub use hermes_config::Personality;
pub use hermes_config::clock;
pub use hermes_config::home::Home;
pub use hermes_exec::environment_handover;
pub use hermes_exec::kill_all as kill_all_commands;
pub use hermes_exec::supervisor::{Program, supervise};
pub use hermes_exec::{TraceReport, Traced, child_env, run_traced};
pub use hermes_guard::{Finding as ScanFinding, Scope as ScanScope, scan as scan_text};
pub use hermes_memory::{
    MemoryProvider, PendingChange, SessionRecall, forget_pending, memory_book, pending, recalled,
};
pub use hermes_models::{
    AuxRoute, AuxStop, Checked, Fallbacks, ModelSwitch, ModelsError, auth, auxiliary_route,
    credential_warnings, fallbacks, list_prices, load_config, model_choice, model_facts,
};
pub use hermes_observers::{
    Answer, Observer, ObserverId, OpenCall, PendingQuestion, QuestionId, QuestionKind, RunningTurn,
    SessionEvent, Snapshot, TurnId,
};
pub use hermes_places::Checked as BackendCheck;
pub use hermes_providers::credentials::{AuthError, Availability, LastError};
pub use hermes_providers::login;
pub use hermes_providers::{
    CustomProvider, Endpoint, Fact, Fetcher, KeyCheck, KeySource, ListedModel, LocalServer, ModeName,
    ModelFacts, Place, Prefixes, Prices, ProbedServer, Provider, Reach, Reason, ResolveError, Tariff,
    check_key, custom_label, custom_name, custom_provider, find_local_servers, find_provider, install_tls,
    is_custom_id, is_loopback, list_models, parse_base_url, probe, providers, shown_url, split_provider,
};
pub use hermes_wire::{Failure as CallFailure, FaultClass};
pub use inspection::{LayerView, PromptTier, PromptView, ToolView};
pub use logging::telemetry_problem;
pub use mailbox::SessionMailbox;
pub use meter::{Budget, StoredMeter};
pub use places::{BackendReport, stop_backend, test_backend};
pub use runtime::{Launch, Resuming, Runtime};
pub use session::{ContextMeter, Parting, Session, SessionStatus, Undone, undo_last_turn};
pub use session_map::{MapLimits, SessionKey, SessionMap};
pub use submission::{Opening, Prompt, Surface};
