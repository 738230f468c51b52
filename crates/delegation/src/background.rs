//! The record of background sub-agents: a row before they begin, and their report as a queued message.

use crate::Job;
use crate::notice::Wording;
use hermes_conversation::SessionId;
use hermes_guard::Secrets;
use hermes_processes::StoreSource;
use hermes_store::{NewDelegation, this_process};
use hermes_tools::{FenceKeys, HelperReport};
use std::sync::Arc;
use std::time::Duration;

/// The pause before a report that could not be stored is stored again.
const PAUSE: Duration = Duration::from_secs(5);

/// The record of the background sub-agents of a home directory. Cheap to clone.
#[derive(Clone)]
pub struct Background {
    pub store: StoreSource,
    pub secrets: Arc<Secrets>,
    pub fence_key: FenceKeys,
    /// Characters of a summary.
    pub most: usize,
}

impl Background {
    /// Records the sub-agents before they begin. Returns the id of each.
    pub(crate) async fn record(
        &self,
        session: &SessionId,
        jobs: Vec<Job>,
    ) -> Result<Vec<(Job, String)>, String> {
        let jobs: Vec<(Job, String)> = jobs
            .into_iter()
            .map(|job| (job, format!("agent_{:012x}", rand::random::<u64>() >> 16)))
            .collect();
        let rows = jobs.iter().map(|(job, id)| NewDelegation {
            id: id.clone(),
            session: session.clone(),
            call: job.call.clone(),
            child: job.session.clone(),
            goal: job.task.goal.clone(),
            owner: this_process(),
        });
        let stored = (self.store)()?.begin_delegations(rows.collect()).await;
        stored.map_err(|error| format!("the sub-agents could not be recorded: {error}"))?;
        Ok(jobs)
    }

    /// Stores the report of a sub-agent as a message for its session, and tries again until that works. Returns the
    /// session; `None` if it is gone or needs no message.
    pub(crate) async fn report(&self, id: &str, goal: &str, report: &HelperReport) -> Option<SessionId> {
        loop {
            match self.store_report(id, goal, report).await {
                Ok(session) => return session,
                Err(error) => {
                    tracing::warn!(id, %error, "cannot store the report of a sub-agent; trying again");
                    tokio::time::sleep(PAUSE).await;
                }
            }
        }
    }

    async fn store_report(
        &self,
        id: &str,
        goal: &str,
        report: &HelperReport,
    ) -> Result<Option<SessionId>, String> {
        let key = (self.fence_key)();
        let wording = Wording { id, goal, secrets: &self.secrets, key: &key, most: self.most };
        let notice = wording.of_end(report);
        let ended = (self.store)()?.end_delegation(id, report.status, &notice).await;
        ended.map_err(|error| error.to_string())
    }
}
