//! Stand-ins for a build without the feature `otlp`: the same names, no traces.

use crate::{Clock, Collector};
use hermes_guard::Secrets;
use tracing::Event;
use tracing::span::{Attributes, Record};

/// The traced part of an open span: empty in this build.
pub(crate) struct Traced;

/// The end of a span: never constructed in this build.
pub(crate) enum Ending {}

/// An outlet that drops spans.
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

/// The task that sends spans: never constructed in this build.
pub enum Exporter {}

impl Exporter {
    /// Sends the spans that are left.
    pub async fn leave(&self) {
        match *self {}
    }
}

pub(crate) fn start(_collector: Collector, _clock: Clock) -> Option<(Outlet, Exporter)> {
    None
}
