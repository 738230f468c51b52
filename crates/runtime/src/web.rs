//! The settings of the web tools.

use crate::RuntimeError;
use crate::approvals::network;
use hermes_config::Config;
use hermes_config::home::Home;
use hermes_sandbox::Network as CommandNetwork;
use hermes_web::{BlocklistSettings, Network, Variables, WebSettings, search_problem, variables};

/// The settings of the web tools of a home directory.
pub(crate) fn settings(config: &Config, home: &Home) -> Result<WebSettings, RuntimeError> {
    let (settings, list) = (&config.settings, &config.settings.security.website_blocklist);
    Ok(WebSettings {
        allows_private: settings.security.allow_private_urls.value()?,
        network: match network(settings.sandbox.network.get()?) {
            CommandNetwork::On => Network::On,
            CommandNetwork::Off => Network::Off,
            CommandNetwork::Allow(hosts) => Network::Hosts(hosts),
        },
        blocklist: BlocklistSettings {
            is_enabled: list.enabled.value()?,
            domains: list.domains.get()?.clone(),
            files: list.shared_files.get()?.iter().map(|path| home.path().join(path)).collect(),
        },
        ..services(config)?
    })
}

/// Returns true if no service for searching can be used, so that the tool is not offered.
pub(crate) fn cannot_search(config: &Config) -> Result<bool, RuntimeError> {
    Ok(search_problem(&services(config)?).is_some())
}

fn services(config: &Config) -> Result<WebSettings, RuntimeError> {
    let web = &config.settings.web;
    let variable = |name: &str| config.variable(name).map(|value| (name.to_owned(), value.to_owned()));
    let all: Variables = variables().filter_map(variable).collect();
    Ok(WebSettings {
        backend: web.backend.get()?.as_deref().unwrap_or_default().to_owned(),
        search_backend: web.search_backend.get()?.as_deref().unwrap_or_default().to_owned(),
        extract_backend: web.extract_backend.get()?.as_deref().unwrap_or_default().to_owned(),
        variables: all,
        ..WebSettings::default()
    })
}
