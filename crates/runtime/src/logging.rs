//! From settings to the log file and the collector of traces.

use crate::model_choice::http_clients;
use crate::{Runtime, RuntimeError, clock};
use futures::future::BoxFuture;
use hermes_config::{Config, OtlpSettings};
use hermes_guard::Secrets;
use hermes_providers::{Fetcher, Outbox};
use hermes_telemetry::{Collector, LogLevel, LogLimits, LogSettings, OTLP_IS_BUILT_IN, OnFailure};
use std::time::Duration;

/// Limit of one delivery to the collector. The exit has a shorter one.
const LIMIT: Duration = Duration::from_secs(10);

/// The reason why traces are not sent although the settings ask for them.
pub fn telemetry_problem(config: &Config) -> Option<String> {
    let settings = match config.otlp() {
        Ok(settings) => settings?,
        Err(error) => return Some(error.to_string()),
    };
    let clients = match http_clients(config) {
        Ok(clients) => clients,
        Err(error) => return Some(error.to_string()),
    };
    let fetcher = Fetcher { clients, secrets: config.secrets(), limit: LIMIT };
    collector(settings, fetcher).err().map(|why| format!("telemetry.otlp: {why}"))
}

/// The collector that the settings name. Nothing is connected yet.
fn collector(settings: OtlpSettings, fetcher: Fetcher) -> Result<Collector, String> {
    if !OTLP_IS_BUILT_IN {
        return Err("not built in; build with --features otlp".to_owned());
    }
    let outbox = Outbox::new(fetcher, &settings.endpoint, "v1/traces", &settings.headers)
        .map_err(|error| error.to_string())?;
    let post = move |body| -> BoxFuture<'static, Result<Vec<u8>, String>> {
        let outbox = outbox.clone();
        Box::pin(async move { outbox.post(body).await.map_err(|failure| failure.to_string()) })
    };
    Ok(Collector { service: settings.service_name, post: Box::new(post) })
}

impl Runtime {
    /// Starts the log file of this home, and sends traces if the settings name a collector (see
    /// [`telemetry_problem`]). A second call in the same process does nothing.
    pub fn start_logging(&self, failed: OnFailure) -> Result<(), RuntimeError> {
        let config = self.config();
        let logging = &config.settings.logging;
        let level = LogLevel::parse(logging.level.value()?.as_str());
        let settings = LogSettings {
            dir: self.home().logs_dir(),
            level: level.unwrap_or(LogLevel::Info),
            limits: LogLimits {
                max_bytes: logging.max_size_mb.value()?.saturating_mul(1 << 20),
                backups: u32::try_from(logging.backup_count.value()?).unwrap_or(u32::MAX),
            },
            secrets: Secrets::clone(&self.secrets),
            clock: clock::timestamp,
            zone: clock::local_zone,
        };
        let fetcher =
            Fetcher { clients: self.clients.clone(), secrets: (*self.secrets).clone(), limit: LIMIT };
        let otlp = config.otlp().ok().flatten();
        let collector = otlp.and_then(|settings| collector(settings, fetcher).ok());
        if let Some(exporter) = hermes_telemetry::init(settings, collector, failed) {
            let _ = self.exporter.set(exporter);
        }
        Ok(())
    }
}
