//! OTLP over HTTP: spans are gathered (`span`), written as JSON (`encode`) and sent (`export`).

mod encode;
mod export;
mod span;

pub use export::Exporter;
pub(crate) use export::{Outlet, start};
pub(crate) use span::Traced;
