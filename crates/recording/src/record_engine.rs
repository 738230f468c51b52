//! Records the decisions of an external context engine, which are inputs of a turn.

use super::engine_line::{EngineDid, EngineLine};
use super::line::What;
use super::record_model::OnEnd;
use super::recorder::Recorder;
use hermes_context::{Answer, Assembled, Decision, EnginePort, Plan, View, Window};
use hermes_conversation::{BoxFuture, Usage};
use hermes_plugins::context_engine::ExternalPort;
use std::sync::Arc;

impl Recorder {
    /// Wraps an external engine. Built-in engines decide the same in a replay and are not recorded.
    pub fn engine(self: &Arc<Self>, inner: Arc<ExternalPort>) -> Arc<dyn EnginePort> {
        Arc::new(RecordedEngine { inner, recorder: self.clone() })
    }
}

struct RecordedEngine {
    inner: Arc<ExternalPort>,
    recorder: Arc<Recorder>,
}

impl RecordedEngine {
    /// Records a cancelled decision, unless one is made.
    fn waiting(&self) -> OnEnd {
        OnEnd::new(self.recorder.clone(), What::Engine { answer: None })
    }

    fn line(&self, did: EngineDid) -> What {
        What::Engine { answer: Some(EngineLine { status: self.inner.engine.status(), did }) }
    }
}

impl EnginePort for RecordedEngine {
    fn name(&self) -> &str {
        self.inner.name()
    }

    fn threshold(&self, window: &Window) -> Option<u64> {
        self.inner.threshold(window)
    }

    fn plan<'a>(&'a self, view: &'a View<'a>) -> BoxFuture<'a, Decision> {
        let end = self.waiting();
        Box::pin(async move {
            let mut end = end;
            let decision = self.inner.plan(view).await;
            end.is(self.line(EngineDid::of_decision(&decision)));
            decision
        })
    }

    fn assemble<'a>(
        &'a self,
        view: &'a View<'a>,
        plan: &'a Plan,
        answer: Answer<'a>,
    ) -> BoxFuture<'a, Result<Assembled, String>> {
        let end = self.waiting();
        Box::pin(async move {
            let mut end = end;
            let assembled = self.inner.assemble(view, plan, answer).await;
            end.is(self.line(EngineDid::of_assembled(&assembled)));
            assembled
        })
    }

    fn measured(&self, usage: &Usage) {
        self.inner.measured(usage);
    }
}
