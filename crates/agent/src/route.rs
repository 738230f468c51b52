//! A route with several models, asked in order.

use crate::recovery::{LAST_MODEL_HOLD, cooldown_after};
use hermes_wire::{FaultClass, Model, ModelRoute};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::time::Instant;

/// The session's own model, and those that step in for it.
pub struct FallbackRoute {
    /// Never empty: the session's own model is the first.
    stops: Vec<Arc<dyn Model>>,
    standing: Mutex<Standing>,
}

#[derive(Default)]
struct Standing {
    at: usize,
    /// Until when turns begin where the last one ended.
    stays_until: Option<Instant>,
}

impl Standing {
    /// A longer stay is not cut short by another reason to stay.
    fn stay_until(&mut self, until: Instant) {
        self.stays_until = self.stays_until.max(Some(until));
    }
}

impl FallbackRoute {
    pub fn new(own: Arc<dyn Model>, fallbacks: impl IntoIterator<Item = Arc<dyn Model>>) -> Self {
        Self { stops: std::iter::once(own).chain(fallbacks).collect(), standing: Mutex::default() }
    }

    fn standing<T>(&self, look: impl FnOnce(&mut Standing) -> T) -> T {
        look(&mut self.standing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn is_end(&self, at: usize) -> bool {
        at + 1 >= self.stops.len()
    }
}

impl ModelRoute for FallbackRoute {
    fn current(&self) -> Arc<dyn Model> {
        self.stops[self.standing(|standing| standing.at)].clone()
    }

    fn restore(&self) -> bool {
        self.standing(|standing| {
            let stays = standing.stays_until.is_some_and(|until| Instant::now() < until);
            if !stays {
                *standing = Standing::default();
            }
            standing.at == 0
        })
    }

    fn stops_left(&self) -> u32 {
        let left = self.stops.len() - 1 - self.standing(|standing| standing.at);
        u32::try_from(left).unwrap_or(u32::MAX)
    }

    fn advance(&self, because: FaultClass) -> Option<Arc<dyn Model>> {
        self.standing(|standing| {
            if self.is_end(standing.at) {
                return None;
            }
            standing.at += 1;
            if let Some(rest) = cooldown_after(because) {
                standing.stay_until(Instant::now() + rest);
            }
            Some(self.stops[standing.at].clone())
        })
    }

    fn stops(&self) -> Vec<Arc<dyn Model>> {
        self.stops.clone()
    }

    fn turn_failed(&self) {
        self.standing(|standing| {
            if standing.at > 0 && self.is_end(standing.at) {
                standing.stay_until(Instant::now() + LAST_MODEL_HOLD);
            }
        });
    }
}
