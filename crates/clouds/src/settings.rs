//! Settings of a sandbox. They are an argument of the client program, so nothing secret is in them.

use crate::error::CloudError;
use hermes_config::{Config, ConfigError};
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use std::time::Duration;
use url::Url;

/// A cloud service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Service {
    Daytona,
    Modal,
}

impl Service {
    /// The service that `terminal.backend` names.
    pub fn find(backend: &str) -> Option<Self> {
        [Self::Daytona, Self::Modal].into_iter().find(|service| service.backend() == backend)
    }

    pub(crate) fn backend(self) -> &'static str {
        match self {
            Self::Daytona => "daytona",
            Self::Modal => "modal",
        }
    }

    /// The name for messages.
    pub(crate) fn title(self) -> &'static str {
        match self {
            Self::Daytona => "Daytona",
            Self::Modal => "the Modal gateway",
        }
    }

    /// The variable with the key.
    pub(crate) fn key_variable(self) -> &'static str {
        match self {
            Self::Daytona => "DAYTONA_API_KEY",
            Self::Modal => "TOOL_GATEWAY_USER_TOKEN",
        }
    }

    /// The variable with the address.
    pub(crate) fn url_variable(self) -> &'static str {
        match self {
            Self::Daytona => "DAYTONA_API_URL",
            Self::Modal => "MODAL_GATEWAY_URL",
        }
    }
}

/// The settings of a sandbox.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CloudSettings {
    pub service: Service,
    /// The address of the service.
    pub url: String,
    /// The address of Daytona's toolbox, if it is not below that of the service.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub toolbox: Option<String>,
    /// The region of Daytona.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The name of the task; the sandbox is named after it.
    pub task: String,
    pub image: String,
    pub cpu: u64,
    /// MiB.
    pub memory: u64,
    /// MiB.
    pub disk: u64,
    /// Keep the files of a stopped sandbox.
    pub persistent: bool,
    /// Seconds without a command after which the service stops the sandbox; 0 means never.
    pub lifetime: u64,
    #[serde(default)]
    pub timing: Timing,
}

/// The pace of a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Timing {
    /// Milliseconds before the first repetition of a request; doubled each time.
    pub pause_ms: u64,
    /// Seconds without a request after which the far end ends the command.
    pub grace_s: u64,
    /// The time limit of a short request, in milliseconds.
    pub request_ms: u64,
}

impl Default for Timing {
    fn default() -> Self {
        Self { pause_ms: 1000, grace_s: 90, request_ms: 20_000 }
    }
}

impl Timing {
    pub(crate) fn pause(self) -> Duration {
        Duration::from_millis(self.pause_ms)
    }

    pub(crate) fn request(self) -> Duration {
        Duration::from_millis(self.request_ms)
    }

    pub(crate) fn grace(self) -> Duration {
        Duration::from_secs(self.grace_s)
    }

    /// The time that a request for output waits at the far end: several must fit into the grace.
    pub(crate) fn wait(self) -> Duration {
        Duration::from_secs((self.grace_s / 4).clamp(1, 8))
    }
}

impl CloudSettings {
    /// Reads the settings, and checks that a client program will find the key.
    pub fn of(config: &Config, service: Service, task: &str) -> Result<Self, CloudError> {
        let set = &config.settings.terminal;
        let image = match service {
            Service::Daytona => set.daytona_image.get(),
            Service::Modal => set.modal_image.get(),
        };
        let wrong = |error: ConfigError| CloudError::Settings(error.to_string());
        if service == Service::Modal {
            check_mode(set.modal_mode.get().map_err(wrong)?)?;
        }
        check_key(config, service)?;
        let settings = Self {
            service,
            url: url(config, service)?,
            toolbox: config.variable("DAYTONA_TOOLBOX_URL").map(str::to_owned),
            target: config.variable("DAYTONA_TARGET").map(str::to_owned),
            task: task.to_owned(),
            image: image.map_err(wrong)?.trim().to_owned(),
            cpu: set.container_cpu.value().map_err(wrong)?,
            memory: set.container_memory.value().map_err(wrong)?,
            disk: set.container_disk.value().map_err(wrong)?,
            persistent: set.container_persistent.value().map_err(wrong)?,
            lifetime: set.lifetime_seconds.value().map_err(wrong)?,
            timing: Timing::default(),
        };
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), CloudError> {
        self.address()?;
        self.toolbox_address()?;
        let is_plain = |char: char| char.is_ascii_alphanumeric() || "._-/:@".contains(char);
        if self.image.is_empty() || !self.image.chars().all(is_plain) {
            let setting = match self.service {
                Service::Daytona => "terminal.daytona_image",
                Service::Modal => "terminal.modal_image",
            };
            return Err(CloudError::Invalid {
                setting,
                value: self.image.clone(),
                why: "an image is a name such as debian:12",
            });
        }
        Ok(())
    }

    pub(crate) fn address(&self) -> Result<Url, CloudError> {
        parse(self.service.url_variable(), &self.url)
    }

    pub(crate) fn toolbox_address(&self) -> Result<Option<Url>, CloudError> {
        self.toolbox.as_deref().map(|text| parse("DAYTONA_TOOLBOX_URL", text)).transpose()
    }

    /// The name of the sandbox.
    pub(crate) fn name(&self) -> String {
        format!("hermes-{}", self.task)
    }

    /// The place, for messages.
    pub fn label(&self) -> String {
        let service = match self.service {
            Service::Daytona => "Daytona",
            Service::Modal => "Modal",
        };
        format!("the {service} sandbox {} ({})", self.name(), self.image)
    }

    /// The next step if the place cannot be used.
    pub fn advice(&self) -> String {
        let (key, url) = (self.service.key_variable(), self.service.url_variable());
        format!("check {key} and {url}, then run `hermes backend test {}`", self.service.backend())
    }

    /// The argument of the client program.
    pub fn argument(&self) -> String {
        serde_json::json!(self).to_string()
    }

    pub(crate) fn of_argument(text: &str) -> Result<Self, CloudError> {
        serde_json::from_str(text).map_err(|error| CloudError::Arguments(error.to_string()))
    }
}

/// The key of the service.
pub(crate) fn key(config: &Config, service: Service) -> Result<SecretString, CloudError> {
    let variable = service.key_variable();
    let key = config.variable(variable).map(str::trim).filter(|key| !key.is_empty());
    key.map(SecretString::from).ok_or(CloudError::NoKey { variable })
}

/// Client programs get no secrets of the environment, so the key must be in `.env`.
fn check_key(config: &Config, service: Service) -> Result<(), CloudError> {
    let variable = service.key_variable();
    key(config, service)?;
    match config.layers().dotenv.get(variable).is_some_and(|key| !key.trim().is_empty()) {
        true => Ok(()),
        false => Err(CloudError::KeyNotSaved { variable }),
    }
}

fn check_mode(mode: &str) -> Result<(), CloudError> {
    match mode.trim().to_ascii_lowercase().as_str() {
        "" | "auto" | "managed" => Ok(()),
        "direct" => Err(CloudError::NoDirectMode { variable: Service::Modal.key_variable() }),
        _ => Err(CloudError::Invalid {
            setting: "terminal.modal_mode",
            value: mode.to_owned(),
            why: "use auto or managed",
        }),
    }
}

/// The address of a service. That of a vendor's gateway is built from the shared domain, as in the Python release.
fn url(config: &Config, service: Service) -> Result<String, CloudError> {
    if let Some(url) = config.variable(service.url_variable()) {
        return Ok(url.trim().to_owned());
    }
    if service == Service::Daytona {
        return Ok("https://app.daytona.io/api".to_owned());
    }
    let scheme = config.variable("TOOL_GATEWAY_SCHEME").unwrap_or("https").trim().to_ascii_lowercase();
    if !["http", "https"].contains(&scheme.as_str()) {
        let (setting, why) = ("TOOL_GATEWAY_SCHEME", "use http or https");
        return Err(CloudError::Invalid { setting, value: scheme, why });
    }
    let domain = config.variable("TOOL_GATEWAY_DOMAIN").unwrap_or("nousresearch.com");
    Ok(format!("{scheme}://modal-gateway.{}", domain.trim().trim_matches('/')))
}

/// An address to which a key is sent: with a host, and with nothing that could be secret.
fn parse(setting: &'static str, text: &str) -> Result<Url, CloudError> {
    let wrong = |why| CloudError::Invalid { setting, value: shown(text), why };
    let url: Url = text.trim().parse().map_err(|_| wrong("it is not an address"))?;
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
        return Err(wrong("an address begins with https:// and a host"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.query().is_some() {
        return Err(wrong("it must not have a user name, a password or a query"));
    }
    Ok(url)
}

/// An address without what may be secret in it.
fn shown(text: &str) -> String {
    let kept = text.split('?').next().unwrap_or_default();
    match (kept.find("://"), kept.rfind('@')) {
        (Some(scheme), Some(at)) if at > scheme => format!("{}://{}", &kept[..scheme], &kept[at + 1..]),
        _ => kept.to_owned(),
    }
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
