//! The tools that a session is offered: by platform, by settings, and by what is available.
//!
//! [`Offers`] makes the registry of a session. It never changes during a session, so that the prompt prefix stays the
//! same; sessions that start later see tools that became available meanwhile. [`report`] says for the user which
//! toolsets there are, which are enabled, and what a missing one needs; [`enable`] and [`disable`] write the list of a
//! platform.

mod availability;
mod checks;
mod configurable;
mod error;
mod offers;
mod report;

pub use availability::{Machine, Scope, Unavailable};
pub use configurable::{CONFIGURABLE, ToolsetChange, disable, enable, is_platform};
pub use error::ToolChoiceError;
pub use offers::{Offered, Offers};
pub use report::{PlatformReport, ToolRow, ToolsetRow, ToolsetState, report};
