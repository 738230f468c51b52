//! The entry point of processes that the tests start.

use super::case::{Plan, ROLE};
use hermes_exec::supervisor::supervise;

/// Not a test: the entry point for the processes that tests start.
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
