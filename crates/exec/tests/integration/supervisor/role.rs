//! What this program does when a test starts it again.

use super::case::{Plan, ROLE};
use hermes_exec::supervisor::supervise;

/// Not a test of its own: the entry for the processes that tests start.
#[test]
fn role() {
    match std::env::var(ROLE).as_deref() {
        Ok("supervisor") => supervise().unwrap(),
        Ok(plan) => {
            let plan: Plan = serde_json::from_str(plan).unwrap();
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(plan.carry_out());
        }
        Err(_) => {}
    }
}
