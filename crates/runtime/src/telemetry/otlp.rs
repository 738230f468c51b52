//! OTLP over HTTP: spans are gathered (`span`), written as JSON (`encode`) and sent (`export`).

mod encode;
mod export;
mod span;

pub(crate) use export::{Collector, Exporter, Outlet, start};
pub(crate) use span::Traced;
