//! The settings of the web tools.

use crate::RuntimeError;
use crate::approvals::network;
use hermes_config::Config;
use hermes_config::home::Home;
use hermes_sandbox::Network as CommandNetwork;
use hermes_web::{BlocklistSettings, Network, WebSettings};

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
        ..WebSettings::services(config)?
    })
}
