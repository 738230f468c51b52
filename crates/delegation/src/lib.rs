//! Sub-agents of a session: their tasks, their reports, and running them in the background.
//!
//! This crate decides when and where a sub-agent runs; opening its session and running its turn is the work of
//! [`SubAgentSessions`], which the code that assembles sessions implements.

mod background;
mod delegator;
mod notice;
mod report;
mod roster;
mod settings;
mod texts;

pub use background::Background;
pub use delegator::{Delegator, Job, SubAgentSessions};
pub use notice::cut_off;
pub use report::{SubAgentEnd, Trace, Turn, interrupted, not_begun};
pub use roster::{Roster, Running, RunningSubAgent};
pub use settings::SubAgentSettings;
pub use texts::{instructions, task};
