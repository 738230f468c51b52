//! Log files and traces of one process.
//!
//! [`init`] installs one `tracing` subscriber that writes `logs/agent.log` and, if there is a
//! collector, hands finished spans to it as OTLP. Without the feature `otlp` no traces are sent;
//! [`OTLP_IS_BUILT_IN`] tells.

mod log;
#[cfg(not(feature = "otlp"))]
mod not_built_in;
#[cfg(feature = "otlp")]
mod otlp;

#[cfg(not(feature = "otlp"))]
use not_built_in as otlp;

pub use log::{AGENT_LOG, LogFile, LogLevel, LogLimits, LogLine, log_files, parse_line};
pub use otlp::Exporter;

use futures::future::BoxFuture;
use hermes_guard::Secrets;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use log::LogSubscriber;
use std::path::PathBuf;

/// True in builds with the feature `otlp`.
pub const OTLP_IS_BUILT_IN: bool = cfg!(feature = "otlp");

/// A source of the current time.
pub type Clock = fn() -> Timestamp;

/// A callback that gets the first reason why nothing can be logged.
pub type OnFailure = Box<dyn Fn(&str) + Send + Sync>;

/// A function that posts one body to the collector and returns its answer.
pub type Post = Box<dyn Fn(Vec<u8>) -> BoxFuture<'static, Result<Vec<u8>, String>> + Send + Sync>;

/// The log file and what goes into it.
pub struct LogSettings {
    pub dir: PathBuf,
    pub level: LogLevel,
    pub limits: LogLimits,
    /// Values that are redacted in every line and every span.
    pub secrets: Secrets,
    pub clock: Clock,
    /// The time zone of the lines.
    pub zone: fn() -> TimeZone,
}

/// The destination of traces.
pub struct Collector {
    /// The service name in every span.
    pub service: String,
    pub post: Post,
}

/// Installs the subscriber of this process. The first call counts: a second home in the same process
/// is logged, and traced, with the first.
pub fn init(settings: LogSettings, collector: Option<Collector>, failed: OnFailure) -> Option<Exporter> {
    let (outlet, exporter) = match collector.and_then(|collector| otlp::start(collector, settings.clock)) {
        Some((outlet, exporter)) => (outlet, Some(exporter)),
        None => (otlp::Outlet::off(), None),
    };
    let subscriber = LogSubscriber::new(settings, failed).with_outlet(outlet);
    tracing::subscriber::set_global_default(subscriber).ok().and(exporter)
}
