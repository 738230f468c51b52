//! The models that write summaries: those of `auxiliary.compression`, in their order.

use crate::{Runtime, model_facts};
use hermes_agent::auxiliary::{AuxFailure, AuxLimits, answer_in_order};
use hermes_config::AuxProvider;
use hermes_context::{Question, Summarise, Summary, SummaryFailure, SummaryFailureKind};
use hermes_conversation::{AuxRequest, AuxTask, BoxFuture, Message, SessionId};
use hermes_guard::redact;
use hermes_providers::Endpoint;
use hermes_wire::{FaultClass, Model};
use std::sync::{Arc, OnceLock};

/// The models for summaries, prepared when the first summary is near.
pub(crate) struct Summaries {
    runtime: Runtime,
    own: Endpoint,
    found: OnceLock<Result<Stops, String>>,
    window: OnceLock<Option<u64>>,
}

/// Models in the order of their calls, and the limits of a call.
type Stops = (Vec<Arc<dyn Model>>, AuxLimits);

impl Summaries {
    pub(crate) fn of(runtime: &Runtime, own: &Endpoint) -> Self {
        Self { runtime: runtime.clone(), own: own.clone(), found: OnceLock::new(), window: OnceLock::new() }
    }

    fn first_window(&self) -> Option<u64> {
        let settings = self.runtime.config.settings.auxiliary.task(AuxTask::Compression).ok()?;
        let is_own = settings.model.is_none() && !matches!(settings.provider, AuxProvider::Named(_));
        if is_own {
            // The session's model is called first; its window is known without preparing it.
            return Some(model_facts::known(self.runtime.home(), &self.own).window.value);
        }
        self.found().ok()?.0.first()?.profile().context_length
    }

    fn found(&self) -> Result<&Stops, &String> {
        let find = || {
            let found = self.runtime.models().auxiliary(&self.own).prepare(AuxTask::Compression);
            found.map_err(|error| error.to_string())
        };
        self.found.get_or_init(find).as_ref()
    }
}

impl Summarise for Summaries {
    fn window(&self) -> Option<u64> {
        *self.window.get_or_init(|| self.first_window())
    }

    fn flush_memory<'a>(&'a self, session: &'a SessionId) -> BoxFuture<'a, Option<String>> {
        Box::pin(async move {
            let provider = self.runtime.memory_provider().ok().flatten()?;
            provider.before_compaction(session).await
        })
    }

    fn ask<'a>(
        &'a self,
        session: &'a SessionId,
        question: &'a Question,
    ) -> BoxFuture<'a, Result<Summary, SummaryFailure>> {
        let request = AuxRequest {
            task: AuxTask::Compression,
            session: Some(session.clone()),
            system: question.system.clone(),
            messages: vec![Message::user(question.text.clone())],
            max_output_tokens: question.max_output_tokens,
        };
        Box::pin(async move {
            let (stops, limits) = self
                .found()
                .map_err(|why| SummaryFailure { kind: SummaryFailureKind::NoModel, why: why.clone() })?;
            match answer_in_order(stops, &self.runtime.cooldowns, limits, &request).await {
                Ok(answer) => Ok(Summary {
                    model: answer.model,
                    // A key in the messages must not get into the summary.
                    text: redact(&self.runtime.secrets, &answer.text).into_owned(),
                    was_cut: answer.was_cut,
                    cost_usd: answer.cost.known().map(|money| money.dollars()),
                    instead_of: answer.instead_of,
                }),
                Err(AuxFailure { class, why, .. }) => Err(SummaryFailure { kind: kind(class), why }),
            }
        })
    }
}

fn kind(class: Option<FaultClass>) -> SummaryFailureKind {
    use FaultClass::*;
    match class {
        None => SummaryFailureKind::NoModel,
        Some(Timeout) => SummaryFailureKind::Timeout,
        Some(Garbled | StreamCut) => SummaryFailureKind::Unreadable,
        Some(Auth | Billing | Budget | RateLimited | UpstreamRateLimited | Unreachable | Certificate) => {
            SummaryFailureKind::Unavailable
        }
        Some(_) => SummaryFailureKind::Other,
    }
}
