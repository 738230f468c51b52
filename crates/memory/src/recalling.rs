//! Recall before a model call: the recalled text is recorded and sent like the context that hooks add.

use crate::{MemoryProvider, recalled};
use hermes_conversation::{BoxFuture, HookCall, HookEvent, HookPoint, HookVerdict, Hooks};
use std::sync::Arc;

/// Hooks that recall before a model call.
pub struct Recalling {
    pub hooks: Arc<dyn Hooks>,
    pub provider: Arc<dyn MemoryProvider>,
}

impl Hooks for Recalling {
    fn wants(&self, event: HookEvent) -> bool {
        event == HookEvent::PreLlmCall || self.hooks.wants(event)
    }

    fn fire(&self, call: HookCall) -> BoxFuture<'_, HookVerdict> {
        Box::pin(async move {
            let HookPoint::BeforeModel { user_message, .. } = &call.point else {
                return self.hooks.fire(call).await;
            };
            let found = recalled(&*self.provider, user_message, &call.session).await;
            let said = match self.hooks.wants(HookEvent::PreLlmCall) {
                true => self.hooks.fire(call).await,
                false => HookVerdict::Continue,
            };
            match (found, said) {
                (None, said) => said,
                (Some(found), HookVerdict::Context { text }) => {
                    HookVerdict::Context { text: format!("{found}\n\n{text}") }
                }
                (Some(found), HookVerdict::Continue | HookVerdict::Block { .. }) => {
                    HookVerdict::Context { text: found }
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_conversation::{NoHooks, SessionId};
    use std::path::PathBuf;

    struct Knows(Option<&'static str>);

    impl MemoryProvider for Knows {
        fn name(&self) -> &'static str {
            "test"
        }

        fn static_block(&self) -> Option<String> {
            None
        }

        fn recall<'a>(&'a self, message: &'a str, _: &'a SessionId) -> BoxFuture<'a, Option<String>> {
            Box::pin(async move { self.0.filter(|_| message == "which?").map(str::to_owned) })
        }
    }

    struct Adds;

    impl Hooks for Adds {
        fn wants(&self, event: HookEvent) -> bool {
            event == HookEvent::PreLlmCall
        }

        fn fire(&self, _: HookCall) -> BoxFuture<'_, HookVerdict> {
            Box::pin(async { HookVerdict::Context { text: "From a hook.".to_owned() } })
        }
    }

    #[tokio::test]
    async fn recalled_text_comes_before_context_of_hooks() {
        let hooks: [Arc<dyn Hooks>; 2] = [Arc::new(NoHooks), Arc::new(Adds)];
        for (known, hook, want) in [
            (None, 0, vec![]),
            (None, 1, vec!["From a hook."]),
            (Some("Blue."), 0, vec!["Blue."]),
            (Some("Blue."), 1, vec!["Blue.", "From a hook."]),
        ] {
            let recalling = Recalling { hooks: hooks[hook].clone(), provider: Arc::new(Knows(known)) };
            assert!(recalling.wants(HookEvent::PreLlmCall) && !recalling.wants(HookEvent::PostLlmCall));
            let point = HookPoint::BeforeModel {
                user_message: "which?".to_owned(),
                is_first_turn: true,
                model: "m".to_owned(),
            };
            let call = HookCall { session: SessionId::new("s"), cwd: PathBuf::from("/"), point };
            let text = match recalling.fire(call).await {
                HookVerdict::Context { text } => text,
                _ => String::new(),
            };
            let places: Vec<Option<usize>> = want.iter().map(|part| text.find(part)).collect();
            assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{text}");
            assert_eq!(text.is_empty(), want.is_empty());
        }
    }
}
