//! The engine of sessions whose history is sent whole.

use crate::{Answer, Assembled, ContextEngine, Decision, Plan, View, Window};

/// Sends everything, always.
#[derive(Debug, Default)]
pub struct NeverCompact;

impl ContextEngine for NeverCompact {
    fn name(&self) -> &str {
        "none"
    }

    fn plan(&self, _: &View<'_>) -> Decision {
        Decision::Leave
    }

    fn threshold(&self, _: &Window) -> Option<u64> {
        None
    }

    fn assemble(&self, _: &View<'_>, _: &Plan, _: Answer<'_>) -> Result<Assembled, String> {
        Err("this session is always sent whole".to_owned())
    }
}
