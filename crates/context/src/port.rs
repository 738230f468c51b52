//! An engine as the agent holds it: it may take time to decide, and it may have tools of its own.

use crate::{Answer, Assembled, ContextEngine, Decision, Plan, View, Window};
use hermes_conversation::{BoxFuture, Usage};
use std::sync::Arc;

/// An engine that may be somewhere else. Everything that is an engine here is one of these, see [`here`].
pub trait EnginePort: Send + Sync {
    fn name(&self) -> &str;

    fn threshold(&self, window: &Window) -> Option<u64>;

    fn plan<'a>(&'a self, view: &'a View<'a>) -> BoxFuture<'a, Decision>;

    fn assemble<'a>(
        &'a self,
        view: &'a View<'a>,
        plan: &'a Plan,
        answer: Answer<'a>,
    ) -> BoxFuture<'a, Result<Assembled, String>>;

    /// A request was answered, and this is what it took.
    fn measured(&self, _usage: &Usage) {}
}

/// An engine that decides at once.
pub fn here(engine: impl ContextEngine + 'static) -> Arc<dyn EnginePort> {
    Arc::new(Here(engine))
}

struct Here<E>(E);

impl<E: ContextEngine> EnginePort for Here<E> {
    fn name(&self) -> &str {
        self.0.name()
    }

    fn threshold(&self, window: &Window) -> Option<u64> {
        self.0.threshold(window)
    }

    fn plan<'a>(&'a self, view: &'a View<'a>) -> BoxFuture<'a, Decision> {
        let decision = self.0.plan(view);
        Box::pin(async { decision })
    }

    fn assemble<'a>(
        &'a self,
        view: &'a View<'a>,
        plan: &'a Plan,
        answer: Answer<'a>,
    ) -> BoxFuture<'a, Result<Assembled, String>> {
        let assembled = self.0.assemble(view, plan, answer);
        Box::pin(async { assembled })
    }
}
