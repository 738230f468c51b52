//! `logs/agent.log`: what happened, for whoever asks at three in the morning.
//!
//! Events and spans of `tracing` become lines in the format of the Python release, with the fields
//! behind the message. Taking secrets out is a part of writing a line and cannot be switched off.
//! Nothing is opened before the first line, there is no thread, and a log that cannot be written
//! costs one warning and never a turn.

pub(crate) mod fields;
mod file;
mod line;
mod open_spans;
mod subscriber;

pub use file::{AGENT_LOG, LogFile, LogLimits, log_files};
pub use line::{LogLevel, LogLine, parse_line};

use crate::{Runtime, RuntimeError};
use subscriber::LogSubscriber;

/// Told once why nothing is logged.
pub type Trouble = Box<dyn Fn(&str) + Send + Sync>;

impl Runtime {
    /// From now on, what happens in this process is logged in this home. The first home counts.
    pub fn start_logging(&self, trouble: Trouble) -> Result<(), RuntimeError> {
        let config = self.config();
        let level = config.text("logging.level")?.as_deref().and_then(LogLevel::parse);
        let number = |key: &str, default: u64| -> Result<u64, RuntimeError> {
            Ok(config.integer(key)?.map_or(default, |value| u64::try_from(value).unwrap_or(0)))
        };
        let default = LogLimits::default();
        let limits = LogLimits {
            max_bytes: number("logging.max_size_mb", default.max_bytes >> 20)?.saturating_mul(1 << 20),
            backups: u32::try_from(number("logging.backup_count", default.backups.into())?)
                .unwrap_or(u32::MAX),
        };
        let file = LogFile::new(self.home().logs_dir(), limits);
        let level = level.unwrap_or(LogLevel::Info);
        let (outlet, exporter) = self.outlet();
        let secrets = hermes_guard::Secrets::clone(&self.secrets);
        let subscriber = LogSubscriber::new(level, file, secrets, trouble).with_outlet(outlet);
        // A second home in the same process is logged, and traced, with the first.
        if tracing::subscriber::set_global_default(subscriber).is_ok()
            && let Some(exporter) = exporter
        {
            let _ = self.exporter.set(exporter);
        }
        Ok(())
    }
}
