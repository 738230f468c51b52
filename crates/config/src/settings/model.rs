//! Settings of models: the model and its provider, prices, budgets, routers, prompt caches and proxies.

use super::declare::{choice, section};
use super::types::{Dollars, List, Secret, Share, Text};
use crate::keys::Env::Value;
use crate::keys::Order::FileFirst;

section! {
    /// The model of a session.
    ModelSettings in [model] {
        /// model to use; `model: NAME` means the same
        default: Text, env: &[Value("HERMES_INFERENCE_MODEL")], order: FileFirst;
        /// provider to use; `auto` picks by available keys
        provider: Text = "auto", env: &[Value("HERMES_INFERENCE_PROVIDER")], order: FileFirst;
        /// endpoint of a custom provider
        base_url: Text;
        /// key sent to model.base_url only
        api_key: Secret, secret: true;
        /// format of model.base_url: chat_completions, codex_responses, anthropic_messages
        api_mode: Text;
        /// context window of the model in tokens
        context_length: u64;
        /// context window that Ollama loads model.default with; by default asked of the server
        ollama_num_ctx: u64;
        /// maximum tokens of one reply
        max_tokens: u64, env: &[Value("HERMES_MAX_TOKENS")];
    }
    sections {
        pricing: ModelPricing,
    }
}

section! {
    /// Prices of the model in dollars.
    ModelPricing in [model.pricing] {
        /// dollars for a million tokens sent to model.default
        input: Dollars;
        /// dollars for a million tokens written by model.default
        output: Dollars;
        /// dollars for a million tokens that model.default reads from its cache
        cache_read: Dollars;
        /// dollars for a million tokens that model.default writes to its cache
        cache_write: Dollars;
    }
}

section! {
    /// Limits of costs.
    BudgetSettings in [budget] {
        /// maximum cost of a session and its sub-agents in dollars; empty means no limit
        session_usd: Dollars;
        /// maximum cost of all sessions of a day in dollars; empty means no limit
        day_usd: Dollars;
        /// allow or block models without a known price when a budget is set
        unknown_price: UnknownPrice = Block;
    }
}

choice! {
    /// Use of models without a known price when a budget is set.
    UnknownPrice {
        Allow = "allow",
        Block = "block",
    }
}

section! {
    /// Prompt caches of providers.
    PromptCachingSettings in [prompt_caching] {
        /// lifetime of cached prompt prefixes at the provider
        cache_ttl: CacheTtl = FiveMinutes;
    }
}

choice! {
    /// Lifetime of a cached prompt prefix.
    CacheTtl {
        FiveMinutes = "5m",
        OneHour = "1h",
    }
}

section! {
    /// Preferences for the servers that a router chooses.
    ProviderRoutingSettings in [provider_routing] {
        /// sort order of a model's servers at OpenRouter and Nous: price, throughput or latency
        sort: ServerSort = Default;
        /// only servers that a router may use
        only: List = [];
        /// servers that a router never uses
        ignore: List = [];
        /// servers that a router tries first, in order
        order: List = [];
        /// use only servers that support every parameter of a request
        require_parameters: bool = false;
        /// allow or deny servers that store prompts; empty for the account's default
        data_collection: DataCollection = Default;
    }
}

choice! {
    /// Sort order of the servers of a model.
    ServerSort {
        Default = "",
        Price = "price",
        Throughput = "throughput",
        Latency = "latency",
    }
}

choice! {
    /// Use of servers that store prompts.
    DataCollection {
        Default = "",
        Allow = "allow",
        Deny = "deny",
    }
}

section! {
    /// Options of OpenRouter.
    OpenRouterSettings in [openrouter] {
        /// let OpenRouter answer an identical request from its cache, free of charge
        response_cache: bool = true, env: &[Value("HERMES_OPENROUTER_CACHE")];
        /// lifetime of OpenRouter's cached replies in seconds, 1 to 86400
        response_cache_ttl: u64 = 300, env: &[Value("HERMES_OPENROUTER_CACHE_TTL")];
        /// lowest coding score for the model openrouter/pareto-code, 0 to 1; default 0.65
        min_coding_score: Share;
    }
}

section! {
    /// Proxies.
    NetworkSettings in [network] {
        /// proxy for outgoing requests
        proxy: Text, env: &[
            Value("HTTPS_PROXY"),
            Value("https_proxy"),
            Value("ALL_PROXY"),
            Value("all_proxy"),
            Value("HTTP_PROXY"),
            Value("http_proxy"),
        ];
        /// hosts reached without the proxy, separated by commas
        no_proxy: Text, env: &[Value("NO_PROXY"), Value("no_proxy")];
    }
}
