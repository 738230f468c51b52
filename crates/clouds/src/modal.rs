//! Modal behind its gateway: a sandbox is known by the id that the gateway gave, and recorded in the home directory.

use crate::api::{Api, Request, below, is_id};
use crate::error::CloudError;
use crate::record::{self, Record};
use crate::service::Found;
use crate::settings::CloudSettings;
use hermes_providers::ApiMethod;
use serde::Deserialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use url::Url;

/// The time in which an image is fetched and a sandbox starts.
const START_LIMIT: Duration = Duration::from_secs(8 * 60);
/// The longest life of a sandbox.
const LIFE_MS: u64 = 3_600_000;
/// The shortest time without a command after which a sandbox is ended.
const IDLE_MS: u64 = 300_000;
/// The pause between two looks at a command.
const LOOK: Duration = Duration::from_millis(250);

pub(crate) struct Modal {
    settings: CloudSettings,
    api: Api,
    home: PathBuf,
    base: Url,
}

#[derive(Deserialize)]
struct Made {
    id: String,
}

/// A command as the gateway describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Exec {
    #[serde(default)]
    status: Option<String>,
    #[serde(default)]
    output: Option<String>,
}

impl Exec {
    /// Its text, if it has ended.
    fn text(self) -> Option<String> {
        let has_ended =
            matches!(self.status.as_deref(), Some("completed" | "failed" | "cancelled" | "timeout"));
        has_ended.then(|| self.output.unwrap_or_default())
    }
}

impl Modal {
    pub(crate) fn new(settings: CloudSettings, api: Api, home: PathBuf) -> Result<Self, CloudError> {
        let base = settings.address()?;
        Ok(Self { settings, api, home, base })
    }

    pub(crate) async fn ready(&self) -> Result<Found, CloudError> {
        if let Some(found) = self.living().await? {
            return Ok(found);
        }
        let _alone = record::lock(&self.home, &self.settings).await?;
        // Another process may have made it meanwhile.
        if let Some(found) = self.living().await? {
            return Ok(found);
        }
        let mut record = match Record::load(&self.home, &self.settings) {
            // The answer to this request was lost.
            Some(record) if record.id.is_none() && record.is_of(&self.settings) => record,
            Some(Record { id: Some(old), .. }) => {
                self.terminate(&old).await?;
                Record::begin(&self.settings)
            }
            _ => Record::begin(&self.settings),
        };
        record.save(&self.home, &self.settings)?;
        let made = self.make(&record.request).await;
        if let Err(CloudError::Refused { .. } | CloudError::Taken { .. } | CloudError::Gone { .. }) = made {
            record::remove(&self.home, &self.settings);
        }
        let id = made?;
        record.id = Some(id.clone());
        record.save(&self.home, &self.settings)?;
        Ok(Found { id, toolbox: None })
    }

    pub(crate) async fn run(&self, found: &Found, command: &str) -> Result<String, CloudError> {
        if !is_id(&found.id) {
            return Err(self.api.garbled("the id of the sandbox"));
        }
        let name = format!("{:032x}", rand::random::<u128>());
        let execs = below(&self.base, &["v1", "sandboxes", &found.id, "execs"]);
        let exec = below(&execs, &[&name]);
        let limit = self.settings.timing.request() + self.settings.timing.wait();
        let milliseconds = u64::try_from(limit.as_millis()).unwrap_or(u64::MAX);
        let body = json!({ "execId": name, "command": command, "cwd": "/", "timeoutMs": milliseconds });
        let started = match self.api.post::<Exec>(execs, &body, limit).await {
            // A repeated request, whose first answer was lost.
            Err(CloudError::Taken { .. }) => Exec { status: None, output: None },
            started => started?,
        };
        let mut text = started.text();
        let begun = Instant::now();
        loop {
            if let Some(text) = text {
                return Ok(text);
            }
            if begun.elapsed() > limit * 2 {
                self.cancel(&exec).await;
                let cause = "a command of the client does not end".to_owned();
                return Err(CloudError::NoAnswer { service: self.api.title(), cause });
            }
            tokio::time::sleep(LOOK).await;
            text = match self.api.get::<Exec>(exec.clone()).await {
                // The command was taken, so it may have run.
                Err(CloudError::Gone { service }) => {
                    let cause = "it does not know the command any more".to_owned();
                    return Err(CloudError::NoAnswer { service, cause });
                }
                found => found?.text(),
            };
        }
    }

    pub(crate) async fn stop(&self) -> Result<bool, CloudError> {
        let _alone = record::lock(&self.home, &self.settings).await?;
        let Some(Record { id: Some(id), .. }) = Record::load(&self.home, &self.settings) else {
            return Ok(false);
        };
        self.terminate(&id).await?;
        record::remove(&self.home, &self.settings);
        Ok(true)
    }

    /// The recorded sandbox, if it still runs commands.
    async fn living(&self) -> Result<Option<Found>, CloudError> {
        let record = Record::load(&self.home, &self.settings).filter(|record| record.is_of(&self.settings));
        let Some(id) = record.and_then(|record| record.id) else { return Ok(None) };
        let found = Found { id, toolbox: None };
        match self.run(&found, "true").await {
            Ok(_) => Ok(Some(found)),
            // One that has ended may be refused; what is wrong otherwise, the next request shows.
            Err(CloudError::Gone { .. } | CloudError::Refused { .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    async fn make(&self, request: &str) -> Result<String, CloudError> {
        let body = creation(&self.settings);
        let request = Request {
            method: ApiMethod::ByBody,
            body: Some(&body),
            headers: vec![("x-idempotency-key", request.to_owned())],
            limit: START_LIMIT.min(self.settings.timing.request() * 12),
        };
        let made: Made = self.api.json(below(&self.base, &["v1", "sandboxes"]), request).await?;
        match is_id(&made.id) {
            true => Ok(made.id),
            false => Err(self.api.garbled("the id of the sandbox")),
        }
    }

    /// Ends a sandbox, which may be gone.
    async fn terminate(&self, id: &str) -> Result<(), CloudError> {
        let url = below(&self.base, &["v1", "sandboxes", id, "terminate"]);
        let body = json!({ "snapshotBeforeTerminate": self.settings.persistent });
        let limit = self.settings.timing.request() * 3;
        let request = Request { method: ApiMethod::ByBody, body: Some(&body), headers: Vec::new(), limit };
        match self.api.send(url, request).await {
            Ok(_) | Err(CloudError::Gone { .. }) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Ends a command whose result no longer matters.
    async fn cancel(&self, exec: &Url) {
        let limit = self.settings.timing.request();
        let nothing = json!({});
        let request = Request { method: ApiMethod::ByBody, body: Some(&nothing), headers: Vec::new(), limit };
        // It ends at its own limit otherwise.
        let _ = self.api.send(below(exec, &["cancel"]), request).await;
    }
}

/// The body of the request that makes a sandbox.
fn creation(settings: &CloudSettings) -> Value {
    let idle = match settings.lifetime {
        0 => LIFE_MS,
        seconds => seconds.saturating_mul(1000).clamp(IDLE_MS, LIFE_MS),
    };
    let mut body = json!({
        "image": settings.image,
        "cwd": "/root",
        "timeoutMs": LIFE_MS,
        "idleTimeoutMs": idle,
        "persistentFilesystem": settings.persistent,
        "logicalKey": settings.task,
    });
    let limits = [("cpu", settings.cpu), ("memoryMiB", settings.memory), ("diskMiB", settings.disk)];
    for (name, number) in limits.into_iter().filter(|(_, number)| *number > 0) {
        body[name] = json!(number);
    }
    body
}

#[cfg(test)]
#[path = "modal_tests.rs"]
mod tests;
