//! Assembling a working Hermes: home directory, configuration, slash commands, wiring.
//!
//! Every front end starts here: it opens a [`Runtime`] on a home and speaks to sessions through
//! [`SessionHandle`]. This is the only library crate that reads `config.yaml` and `.env`.

mod aftermath;
pub mod auth;
mod auxiliary;
pub mod busy;
pub mod clock;
pub mod commands;
pub mod config;
mod context_engine;
mod conversing;
mod credentials;
mod delegation;
mod earlier;
mod error;
mod fallback;
mod fence_key;
pub mod home;
mod hooks;
mod images;
mod inspection;
mod learned_windows;
mod letterbox;
pub mod log;
mod memory;
mod meter;
pub mod model_choice;
pub mod model_facts;
mod model_switch;
mod models;
mod naming;
mod past;
mod personality;
mod prompting;
pub mod recording;
mod references;
mod request_dumps;
mod retention;
mod runtime;
mod session_handle;
pub mod skills;
mod small_window;
mod standing;
mod summaries;
mod telemetry;

pub use auxiliary::{AuxRoute, AuxStop, route as auxiliary_route};
pub use conversing::{Asked, Conversed, chat, run_conversation};
pub use credentials::credential_warnings;
pub use error::RuntimeError;
pub use fallback::{Fallbacks, fallbacks};
pub use hermes_agent::{Compacted, Input, NotCompacted, StandIn, TurnReport, UserInput, Weighed};
pub use hermes_exec::handover;
pub use hermes_exec::kill_all as kill_all_commands;
pub use hermes_exec::supervisor::{Program, supervise};
pub use hermes_guard::{Finding as ScanFinding, Scope as ScanScope, scan as scan_text};
pub use hermes_providers::credentials::{AuthError, Availability, LastError};
pub use hermes_providers::login;
pub use hermes_providers::{
    Asker, CustomProvider, Endpoint, Fact, KeyCheck, KeySource, ListedModel, LocalServer, ModeName,
    ModelFacts, Place, Prefixes, Prices, ProbedServer, Provider, Reach, Reason, ResolveError, Tariff,
    check_key, custom_label, custom_name, custom_provider, find_local_servers, find_provider, install_tls,
    is_custom_id, is_loopback, list_models, parse_base_url, probe, providers, shown_url, split_provider,
};
pub use hermes_wire::{Failure as CallFailure, FaultClass};
pub use home::{Home, WantedModes, modes_notice};
pub use hooks::{HookList, ListedHook, hooks, revoke_hook};
pub use images::{Image, ImageError, message_with_images};
pub use inspection::{LayerView, PromptTier, PromptView, ToolView};
pub use letterbox::Letterbox;
pub use memory::{
    MemoryProvider, PendingChange, SessionRecall, forget_pending, memory_book, pending, recalled,
};
pub use meter::{Budget, StoredMeter};
pub use model_facts::list_prices;
pub use model_switch::{Checked, ModelSwitch};
pub use personality::Personality;
pub use references::Referred;
pub use runtime::{Launch, Resuming, Runtime};
pub use session_handle::{ContextMeter, Parting, SessionHandle, SessionStatus};
pub use telemetry::telemetry_problem;
