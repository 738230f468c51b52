//! Endpoints, keys and API modes, and the HTTP call itself.
//!
//! [`resolve`] decides from values; [`HttpModel`] sends. A key is bound to one origin when it is resolved and sent
//! nowhere else: clients follow no redirects.

mod address;
mod address_guard;
mod catalogue;
mod client;
pub mod credentials;
mod custom;
mod deadlines;
mod download;
mod facts;
mod fetch;
mod http_model;
mod key_check;
mod lm_studio;
mod local;
pub mod login;
mod metered;
mod mode;
mod models_list;
mod outbox;
mod page;
mod probe;
mod public_address;
mod receive;
mod request_extras;
mod resolve;
mod shared_limit;
mod tap;
mod transport;

pub use address::{is_loopback, parse_base_url, proxy_problem, shown as shown_url};
pub use address_guard::{AddressGuard, Names, is_metadata};
pub use catalogue::chat_reasoning::{ReasoningRule, reasoning_fields};
pub use catalogue::{
    Auth, ChatQuirks, Forbidden, KeyProof, LoginQuirks, MessagesQuirks, ModeRule, Models, Provider,
    ProviderQuirks, custom as custom_provider, custom_label, custom_name, find as find_provider,
    is_custom_id, misnames_models, providers,
};
pub use client::{HttpClients, HttpSettings, install_tls};
pub use custom::{CustomModel, CustomProvider};
pub use deadlines::{CallSize, Deadlines, TimeLimits};
pub use download::download;
pub use facts::{
    EndpointFacts, Fact, FactSource, ModelFacts, Prices, Stated, StoredModels, Tariff, facts, models_file,
    per_million, per_token,
};
pub use fetch::{ApiMethod, ApiRequest, Fetcher};
pub use http_model::HttpModel;
pub use key_check::{KeyCheck, check_key};
pub use lm_studio::lm_studio_efforts;
pub use local::{LocalServer, find_local_servers};
pub use metered::{AskPrices, Metered};
pub use mode::{ChosenMode, ModeName, ModeReason, api_mode};
pub use models_list::{ListedModel, list_models};
pub use outbox::{Outbox, OutboxError};
pub use page::{Page, PageError, PageFetcher};
pub use probe::{Basis, ProbedServer, ServedWindow, ServerKind, Window, probe, served_window};
pub use public_address::{Reach, is_public, public_addresses, repository_host};
pub use request_extras::{ExtraHeaders, RequestExtras, RouterSettings, Thinking, TlsOptions, unsent_extras};
pub use resolve::{
    Endpoint, GivenKey, KeySource, Lookups, Place, PooledKey, Prefixes, Reason, ResolveError, SettingSources,
    Wanted, is_own_address, locate, own_address, resolve, resolve_with, split_provider,
};
pub use shared_limit::SharedLimit;
pub use tap::{CallTap, Tap, read_stream, read_whole};
pub use transport::caching_note;
