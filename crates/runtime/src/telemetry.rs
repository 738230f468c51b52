//! Traces for whoever collects them: turns, model calls and tool calls, as OTLP over HTTP.
//!
//! The subscriber of the log sees every span; it tells an [`Outlet`] about them. Without the feature
//! `otlp` an outlet is nothing at all, and a setting that asks for one is answered with a plain word.

#[cfg(not(feature = "otlp"))]
mod not_built_in;
#[cfg(feature = "otlp")]
mod otlp;

#[cfg(not(feature = "otlp"))]
use not_built_in as otlp;

pub(crate) use otlp::{Exporter, Outlet, Traced};

use crate::config::Config;
use crate::{Runtime, model_choice};
use hermes_providers::Asker;
use std::time::Duration;

/// For one delivery. Nobody waits for it; leaving has a limit of its own.
const LIMIT: Duration = Duration::from_secs(10);

/// Why traces are not sent although the settings ask for that.
pub fn telemetry_problem(config: &Config) -> Option<String> {
    let settings = match config.otlp() {
        Ok(settings) => settings?,
        Err(error) => return Some(error.to_string()),
    };
    let clients = match model_choice::http_clients(config) {
        Ok(clients) => clients,
        Err(error) => return Some(error.to_string()),
    };
    let asker = Asker { clients, secrets: config.secrets(), limit: LIMIT };
    otlp::Collector::new(settings, asker).err().map(|why| format!("telemetry.otlp: {why}"))
}

impl Runtime {
    /// Where spans go from here; nowhere when nobody asks for them, or it cannot be done. In that case
    /// [`telemetry_problem`] says why.
    pub(crate) fn outlet(&self) -> (Outlet, Option<Exporter>) {
        let asker = Asker { clients: self.clients.clone(), secrets: (*self.secrets).clone(), limit: LIMIT };
        let settings = self.config.otlp().ok().flatten();
        let collector = settings.and_then(|settings| otlp::Collector::new(settings, asker).ok());
        match collector.and_then(otlp::start) {
            Some((outlet, exporter)) => (outlet, Some(exporter)),
            None => (Outlet::off(), None),
        }
    }
}
