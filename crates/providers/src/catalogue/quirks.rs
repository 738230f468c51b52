//! The peculiarities of a provider beside its chat completions, as data on its row.

use crate::login::VendorTool;
use hermes_wire::{MessagesServer, ModelDots, ResponsesBackend};

/// The peculiarities of one provider in every format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProviderQuirks {
    /// Families of models whose chat completions carry cache marks.
    pub cache_marks: &'static [&'static str],
    pub messages: MessagesQuirks,
    /// The kind of server behind its Responses format.
    pub responses: ResponsesBackend,
    /// It takes the headers of OpenRouter: a cache of replies, the betas of Claude, the session of Grok.
    pub router_headers: bool,
    /// The header that names the account of a login.
    pub account_header: Option<&'static str>,
    /// The cost in its replies is in dollars.
    pub states_cost: bool,
    /// A subscription covers its calls.
    pub is_subscription: bool,
    /// The largest window that it offers.
    pub window_cap: Option<u64>,
    /// A reply may begin late and have long pauses.
    pub answers_slowly: bool,
    /// Its rate limit is shared by all sessions of a home, through a file.
    pub shares_limit: bool,
    /// Its API reports another name than the model has.
    pub misnames_models: bool,
    /// Names of its models may have a colon, so that only ids of providers are prefixes.
    pub tags_models: bool,
    /// Variables that select it if the settings name no provider.
    pub chosen_by: &'static [&'static str],
    /// A stored credential selects it as well, after the variables of others.
    pub is_chosen_when_stored: bool,
    /// First choice for auxiliary tasks.
    pub is_first_for_tasks: bool,
    pub login: LoginQuirks,
}

/// The peculiarities of a provider in the Messages format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MessagesQuirks {
    pub server: MessagesServer,
    pub dots: ModelDots,
    /// Every model takes cache marks.
    pub takes_cache_marks: bool,
    /// The key is sent as a bearer token.
    pub takes_bearer: bool,
    /// It refuses the option for tool arguments in small pieces.
    pub refuses_tool_streaming: bool,
}

/// The peculiarities of a provider's logins and stored credentials.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoginQuirks {
    /// The vendor's program whose login it accepts.
    pub vendor_tool: Option<VendorTool>,
    /// The source of a login whose tokens Hermes stores itself.
    pub kept_source: Option<&'static str>,
    /// The token of the login is exchanged for an API key.
    pub buys_key: bool,
    /// The prefix of tokens that come from a login.
    pub token_prefix: Option<&'static str>,
    /// Sources of found credentials, in the order in which they are tried.
    pub found_order: &'static [&'static str],
    pub forbidden: Forbidden,
    /// The prefix of another kind of key, and the address that it belongs to.
    pub other_address: Option<(&'static str, &'static str)>,
}

/// The meaning of a status 403.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forbidden {
    /// The account, if the text says that logins are not accepted.
    ByText,
    /// The account.
    Account,
    /// The account, unless the text says that the token is stale.
    UnlessStale,
}

impl ProviderQuirks {
    /// A provider without peculiarities.
    pub(super) const COMMON: Self = Self {
        cache_marks: &[],
        messages: MessagesQuirks::COMMON,
        responses: ResponsesBackend::Other,
        router_headers: false,
        account_header: None,
        states_cost: false,
        is_subscription: false,
        window_cap: None,
        answers_slowly: false,
        shares_limit: false,
        misnames_models: false,
        tags_models: false,
        chosen_by: &[],
        is_chosen_when_stored: false,
        is_first_for_tasks: false,
        login: LoginQuirks::COMMON,
    };
    /// A provider that writes the versions of Claude with a dot.
    pub(super) const DOTTED: Self = Self { messages: MessagesQuirks::DOTTED, ..Self::COMMON };
}

impl MessagesQuirks {
    pub(super) const COMMON: Self = Self {
        server: MessagesServer::Other,
        dots: ModelDots::ToDashes,
        takes_cache_marks: false,
        takes_bearer: false,
        refuses_tool_streaming: false,
    };
    pub(super) const DOTTED: Self = Self { dots: ModelDots::Keep, ..Self::COMMON };
    pub(super) const MINIMAX: Self =
        Self { takes_cache_marks: true, takes_bearer: true, refuses_tool_streaming: true, ..Self::DOTTED };
}

impl LoginQuirks {
    pub(super) const COMMON: Self = Self {
        vendor_tool: None,
        kept_source: None,
        buys_key: false,
        token_prefix: None,
        found_order: &[],
        forbidden: Forbidden::ByText,
        other_address: None,
    };
}
