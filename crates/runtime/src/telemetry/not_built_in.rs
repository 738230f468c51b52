//! A build without OTLP: the same names, and nothing behind them.

use crate::config::OtlpSettings;
use hermes_guard::Secrets;
use hermes_providers::Asker;
use tracing::Event;
use tracing::span::{Attributes, Record};

/// What is known of an open span besides the log: nothing.
pub(crate) struct Traced;

/// Says how a span ended; there is none.
pub(crate) enum Ending {}

/// Takes no spans.
pub(crate) struct Outlet;

impl Outlet {
    pub(crate) fn off() -> Self {
        Self
    }

    pub(crate) fn is_on(&self) -> bool {
        false
    }

    pub(crate) fn opened(&self, _span: &Attributes<'_>, _secrets: &Secrets) -> Traced {
        Traced
    }

    pub(crate) fn ending(&self, _event: &Event<'_>, _secrets: &Secrets) -> Option<Ending> {
        None
    }

    pub(crate) fn closed(&self, _name: &'static str, _traced: Traced) {}
}

impl Traced {
    pub(crate) fn below(&mut self, _parent: &Traced) {}

    pub(crate) fn recorded(&mut self, _values: &Record<'_>, _secrets: &Secrets) {}

    pub(crate) fn ended(&mut self, _name: &str, ending: Ending) {
        match ending {}
    }
}

/// Sends nothing.
pub(crate) enum Exporter {}

impl Exporter {
    pub(crate) async fn leave(&self) {
        match *self {}
    }
}

/// A way to a collector; there is none.
pub(crate) enum Collector {}

impl Collector {
    pub(crate) fn new(_settings: OtlpSettings, _asker: Asker) -> Result<Self, String> {
        Err("not built in; build with --features otlp".to_owned())
    }
}

pub(crate) fn start(collector: Collector) -> Option<(Outlet, Exporter)> {
    match collector {}
}
