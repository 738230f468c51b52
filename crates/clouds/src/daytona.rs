//! Daytona: sandboxes are found by name, and run commands through a toolbox with an address of its own.

use crate::api::{Api, Request, below, is_id};
use crate::error::CloudError;
use crate::record;
use crate::service::Found;
use crate::settings::CloudSettings;
use hermes_providers::ApiMethod;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use url::Url;

/// GiB of disk that Daytona gives, at most.
const MOST_DISK: u64 = 10;
/// The time in which an image is fetched and a sandbox starts.
const START_LIMIT: Duration = Duration::from_secs(8 * 60);
/// Looks at a sandbox that changes its state, per pause.
const LOOKS: u32 = 2;

pub(crate) struct Daytona {
    settings: CloudSettings,
    api: Api,
    home: PathBuf,
    base: Url,
    toolbox: Option<Url>,
}

/// A sandbox as the service describes it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Sandbox {
    id: String,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    error_reason: Option<String>,
    #[serde(default)]
    auto_stop_interval: Option<f64>,
    #[serde(default)]
    toolbox_proxy_url: Option<String>,
}

#[derive(Deserialize)]
struct ProxyUrl {
    url: String,
}

#[derive(Deserialize)]
struct Executed {
    #[serde(default)]
    result: Option<String>,
}

/// The next step towards a sandbox that runs.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    Use,
    Start,
    Wait,
    /// Nothing of value is in it.
    Delete,
    Fail,
}

impl Daytona {
    pub(crate) fn new(settings: CloudSettings, api: Api, home: PathBuf) -> Result<Self, CloudError> {
        let (base, toolbox) = (settings.address()?, settings.toolbox_address()?);
        Ok(Self { settings, api, home, base, toolbox })
    }

    pub(crate) async fn ready(&self) -> Result<Found, CloudError> {
        if let Some(sandbox) = self.look().await?
            && step(sandbox.state.as_deref().unwrap_or_default()) == Step::Use
        {
            return self.found(sandbox).await;
        }
        let _alone = record::lock(&self.home, &self.settings).await?;
        let begun = Instant::now();
        loop {
            let sandbox = self.look().await?;
            let state = sandbox.as_ref().and_then(|sandbox| sandbox.state.clone()).unwrap_or_default();
            match (sandbox, step(&state)) {
                (None, _) => self.make().await?,
                (Some(sandbox), Step::Use) => return self.found(sandbox).await,
                (Some(_), Step::Start) => self.order(&["start"]).await?,
                (Some(_), Step::Delete) => self.api.delete(self.of_sandbox(&[])).await?,
                (Some(_), Step::Wait) if begun.elapsed() < START_LIMIT => {}
                (Some(sandbox), Step::Wait | Step::Fail) => return Err(self.broken(&sandbox, &state)),
            }
            if begun.elapsed() > START_LIMIT {
                return Err(CloudError::NoAnswer {
                    service: self.api.title(),
                    cause: "the sandbox does not start".to_owned(),
                });
            }
            tokio::time::sleep(self.settings.timing.pause() / LOOKS).await;
        }
    }

    pub(crate) async fn run(&self, found: &Found, command: &str) -> Result<String, CloudError> {
        let toolbox = found.toolbox.as_deref().unwrap_or_default();
        // It was checked when the sandbox was found; the client gets it as an argument.
        let url = below(&self.trusted(toolbox)?, &[&found.id, "process", "execute"]);
        let limit = self.settings.timing.request() + self.settings.timing.wait();
        let body = json!({ "command": command, "timeout": limit.as_secs().max(1) });
        let ran: Executed = self.api.post(url, &body, limit).await?;
        ran.result.ok_or_else(|| self.api.garbled("no `result`"))
    }

    pub(crate) async fn stop(&self) -> Result<bool, CloudError> {
        let _alone = record::lock(&self.home, &self.settings).await?;
        if self.look().await?.is_none() {
            return Ok(false);
        }
        match self.settings.persistent {
            true => self.order(&["stop"]).await?,
            false => self.api.delete(self.of_sandbox(&[])).await?,
        }
        Ok(true)
    }

    /// The sandbox of this name.
    async fn look(&self) -> Result<Option<Sandbox>, CloudError> {
        match self.api.get::<Sandbox>(self.of_sandbox(&[])).await {
            // A destroyed one may be shown for a while.
            Ok(sandbox) if sandbox.state.as_deref() == Some("destroyed") => Ok(None),
            Ok(sandbox) if is_id(&sandbox.id) => Ok(Some(sandbox)),
            Ok(_) => Err(self.api.garbled("the id of the sandbox")),
            Err(CloudError::Gone { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn make(&self) -> Result<(), CloudError> {
        let url = below(&self.base, &["sandbox"]);
        let limit = self.settings.timing.request();
        match self.api.post::<Value>(url, &creation(&self.settings), limit).await {
            // Another machine made it just then.
            Ok(_) | Err(CloudError::Taken { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends an order that needs no answer. Another process may have sent it already.
    async fn order(&self, parts: &[&str]) -> Result<(), CloudError> {
        let (url, nothing) = (self.of_sandbox(parts), json!({}));
        let (method, limit) = (ApiMethod::ByBody, self.settings.timing.request());
        let request = Request { method, body: Some(&nothing), headers: Vec::new(), limit };
        match self.api.send(url, request).await {
            Ok(_) | Err(CloudError::Taken { .. } | CloudError::Gone { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn of_sandbox(&self, parts: &[&str]) -> Url {
        let name = self.settings.name();
        let all: Vec<&str> = ["sandbox", &name].into_iter().chain(parts.iter().copied()).collect();
        below(&self.base, &all)
    }

    async fn found(&self, sandbox: Sandbox) -> Result<Found, CloudError> {
        let minutes = minutes(self.settings.lifetime);
        // One that the Python release made is never stopped.
        if sandbox.auto_stop_interval.is_some_and(|found| (found - minutes as f64).abs() > 0.5) {
            self.order(&["autostop", &minutes.to_string()]).await?;
        }
        let toolbox = match sandbox.toolbox_proxy_url.filter(|url| !url.is_empty()) {
            Some(url) => url,
            None => self.api.get::<ProxyUrl>(self.of_sandbox(&["toolbox-proxy-url"])).await?.url,
        };
        self.trusted(&toolbox)?;
        Ok(Found { id: sandbox.id, toolbox: Some(toolbox) })
    }

    /// The address of the toolbox, if the key may be sent there.
    fn trusted(&self, text: &str) -> Result<Url, CloudError> {
        if let Some(set) = &self.toolbox {
            return Ok(set.clone());
        }
        let url = text.parse::<Url>().ok().filter(|url| is_below(url, &self.base));
        url.ok_or_else(|| CloudError::Invalid {
            setting: "DAYTONA_TOOLBOX_URL",
            value: text.chars().filter(|char| !char.is_control()).take(200).collect(),
            why: "the service names this address for commands, but it is not below the host of DAYTONA_API_URL; set the \
                  variable to send your key there",
        })
    }

    fn broken(&self, sandbox: &Sandbox, state: &str) -> CloudError {
        let plain = |text: &str| text.chars().filter(|char| !char.is_control()).take(300).collect::<String>();
        let reason = sandbox.error_reason.as_deref().map(plain).filter(|reason| !reason.is_empty());
        CloudError::Broken {
            name: self.settings.name(),
            state: plain(state),
            reason: reason.unwrap_or_else(|| "the service gives no reason".to_owned()),
        }
    }
}

/// The next step for a sandbox in this state.
fn step(state: &str) -> Step {
    match state {
        "started" => Step::Use,
        "stopped" | "archived" | "paused" => Step::Start,
        "build_failed" => Step::Delete,
        "error" => Step::Fail,
        // It changes its state; one that this version does not know may do so, too.
        _ => Step::Wait,
    }
}

/// Returns true for the host of the service and those below it, with the same scheme.
fn is_below(url: &Url, base: &Url) -> bool {
    let (Some(host), Some(above)) = (url.host_str(), base.host_str()) else { return false };
    let is_same = host == above && url.port_or_known_default() == base.port_or_known_default();
    let is_name = matches!(base.host(), Some(url::Host::Domain(_)));
    let is_sub = is_name && host.strip_suffix(above).is_some_and(|rest| rest.ends_with('.'));
    let is_open = url.username().is_empty() && url.password().is_none() && url.query().is_none();
    url.scheme() == base.scheme() && is_open && (is_same || is_sub)
}

/// The body of the request that makes a sandbox.
///
/// The Python release never lets the service stop it, and stops it at its own end. Here the service stops it, because it
/// must end even if Hermes is killed; without `persistent`, a stopped sandbox is deleted.
fn creation(settings: &CloudSettings) -> Value {
    let mut body = json!({
        "name": settings.name(),
        "labels": { "hermes_task_id": settings.task },
        "buildInfo": { "dockerfileContent": format!("FROM {}\n", settings.image) },
        "autoStopInterval": minutes(settings.lifetime),
    });
    let gib = |mib: u64| mib.div_ceil(1024);
    let limits = [("cpu", settings.cpu), ("memory", gib(settings.memory))];
    let disk = ("disk", gib(settings.disk).min(MOST_DISK));
    for (name, number) in limits.into_iter().chain([disk]).filter(|(_, number)| *number > 0) {
        body[name] = json!(number);
    }
    if !settings.persistent {
        body["autoDeleteInterval"] = json!(0);
    }
    if let Some(target) = &settings.target {
        body["target"] = json!(target);
    }
    body
}

/// Whole minutes; 0 means never.
fn minutes(seconds: u64) -> u64 {
    seconds.div_ceil(60)
}

#[cfg(test)]
#[path = "daytona_tests.rs"]
mod tests;
