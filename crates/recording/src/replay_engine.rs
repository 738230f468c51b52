//! An engine whose decisions come from a recording. The program that made them is not started.

use super::cursor::Cursor;
use super::engine_line::{EngineDid, EngineLine};
use super::line::What;
use super::recorded_answer::RecordedAnswer;
use hermes_context::{
    Answer, Assembled, Compressor, ContextEngine as _, Decision, EnginePort, Plan, View, Window,
};
use hermes_conversation::BoxFuture;
use hermes_plugins::context_engine::{EngineSettings, EngineStatus, threshold};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The engine of a recorded session.
pub(crate) fn replayed_engine(cursor: Arc<Cursor>, settings: &EngineSettings) -> Arc<dyn EnginePort> {
    match settings {
        EngineSettings::External(settings) => Arc::new(ReplayedEngine {
            cursor,
            name: settings.name.clone(),
            compressor: Compressor::new(settings.compressor.clone()),
            status: Mutex::new(settings.status),
        }),
        // With the same settings built-in engines decide the same.
        built_in => built_in.engine(),
    }
}

struct ReplayedEngine {
    cursor: Arc<Cursor>,
    name: String,
    /// Used after a fork.
    compressor: Compressor,
    status: Mutex<EngineStatus>,
}

impl ReplayedEngine {
    fn status(&self) -> MutexGuard<'_, EngineStatus> {
        self.status.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn did(&self, answer: RecordedAnswer<EngineLine>) -> EngineDid {
        let line = answer.answer().await;
        *self.status() = line.status;
        line.did
    }

    fn recorded(&self) -> RecordedAnswer<EngineLine> {
        let pick = |what: &What| match what {
            What::Engine { answer } => Some(answer.clone()),
            _ => None,
        };
        RecordedAnswer::new(self.cursor.clone(), "a decision of the engine", Box::new(pick))
    }
}

impl EnginePort for ReplayedEngine {
    fn name(&self) -> &str {
        match self.status().has_failed || self.cursor.is_live() {
            true => self.compressor.name(),
            false => &self.name,
        }
    }

    fn threshold(&self, window: &Window) -> Option<u64> {
        threshold(*self.status(), &self.compressor, window)
    }

    fn plan<'a>(&'a self, view: &'a View<'a>) -> BoxFuture<'a, Decision> {
        if self.cursor.is_live() {
            let decision = self.compressor.plan(view);
            return Box::pin(async { decision });
        }
        let answer = self.recorded();
        Box::pin(async move {
            let did = self.did(answer).await;
            did.into_decision().unwrap_or_else(|| {
                self.cursor.differs("a history that was put together", "a plan is asked for");
                Decision::Leave
            })
        })
    }

    fn assemble<'a>(
        &'a self,
        view: &'a View<'a>,
        plan: &'a Plan,
        answer: Answer<'a>,
    ) -> BoxFuture<'a, Result<Assembled, String>> {
        if self.cursor.is_live() {
            let assembled = self.compressor.assemble(view, plan, answer);
            return Box::pin(async { assembled });
        }
        let answer = self.recorded();
        Box::pin(async move {
            let did = self.did(answer).await;
            did.into_assembled(view).unwrap_or_else(|| {
                self.cursor.differs("a plan", "a history is to be put together");
                Err("the replay has ended".to_owned())
            })
        })
    }
}
