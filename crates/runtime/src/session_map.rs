//! The sessions of one process by key, for front ends with many of them.
//!
//! A key that is not resident costs its name and its session id. Sessions are opened on demand; when
//! more than [`MapLimits::resident`] are open, the longest idle ones are closed. Nothing is lost by that: the
//! state of a session is in the store before it is closed.

use crate::handle::SessionHandle;
use crate::{Opening, Parting, Prompt, Resuming, Runtime, RuntimeError, Session, Submitted};
use hermes_conversation::SessionId;
use hermes_observers::{Observer, Snapshot};
use hermes_tools::NoUser;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use tokio_util::sync::CancellationToken;

/// The name of a session for a front end.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SessionKey {
    /// A stored session.
    Id(SessionId),
    /// A chat of a platform, and its thread if it has one.
    Chat { platform: String, chat: String, thread: Option<String> },
}

/// The size of a [`SessionMap`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapLimits {
    /// Sessions that are kept open at once. Busy and observed ones are never closed, so there may be more.
    pub resident: usize,
}

impl Default for MapLimits {
    fn default() -> Self {
        Self { resident: 64 }
    }
}

/// Sessions by key.
pub struct SessionMap {
    runtime: Runtime,
    limits: MapLimits,
    slots: Mutex<HashMap<SessionKey, Arc<Slot>>>,
    /// The resident keys, the one used last at the end.
    recent: Mutex<Vec<SessionKey>>,
}

/// One key. Its lock is held while the session is opened, so that two callers get one session.
#[derive(Default)]
struct Slot(tokio::sync::Mutex<SlotState>);

#[derive(Default)]
struct SlotState {
    /// Known once the session has been open.
    id: Option<SessionId>,
    handle: Option<SessionHandle>,
}

impl SessionMap {
    pub fn new(runtime: Runtime, limits: MapLimits) -> Self {
        Self { runtime, limits, slots: Mutex::default(), recent: Mutex::default() }
    }

    /// The session of a key: the open one, the stored one, or a new one. `opening` says how it is opened if it is not open.
    pub async fn open(
        &self,
        key: &SessionKey,
        opening: impl FnOnce() -> Opening,
    ) -> Result<SessionHandle, RuntimeError> {
        Ok(self.observe(key, opening).await?.0)
    }

    /// As [`open`](Self::open), with an observer. An observed session is not evicted, so a prompt that is
    /// submitted next meets it open.
    pub async fn observe(
        &self,
        key: &SessionKey,
        opening: impl FnOnce() -> Opening,
    ) -> Result<(SessionHandle, Snapshot, Observer), RuntimeError> {
        let slot = self.slot(key);
        let mut state = slot.0.lock().await;
        let handle = match state.handle.clone().filter(|handle| !handle.is_closed()) {
            Some(handle) => handle,
            None => {
                // One that was closed by its front end is resumed like one that was evicted.
                let closed = state.handle.take().map(|handle| handle.id());
                state.id = closed.or(state.id.take());
                let session = match (&state.id, key) {
                    (Some(id), _) | (None, SessionKey::Id(id)) => self.resume(id, &opening()).await?,
                    (None, SessionKey::Chat { .. }) => self.runtime.open_session(opening(), no_user())?,
                };
                let handle = SessionHandle::spawn(session);
                state.handle = Some(handle.clone());
                handle
            }
        };
        // Under the slot's lock, which eviction takes as well.
        let (snapshot, observer) = handle.subscribe();
        drop(state);
        self.use_now(key);
        self.evict().await;
        Ok((handle, snapshot, observer))
    }

    /// Submits a prompt to the session of a key, which is opened if it is not.
    pub async fn submit(
        &self,
        key: &SessionKey,
        prompt: Prompt,
        opening: impl Fn() -> Opening,
    ) -> Result<(SessionHandle, Submitted), RuntimeError> {
        loop {
            let handle = self.open(key, &opening).await?;
            match handle.submit(prompt.clone()).await {
                // It was evicted between the two calls.
                Err(RuntimeError::SessionClosed) => {}
                other => return Ok((handle, other?)),
            }
        }
    }

    /// The open session of a key, if it is resident.
    pub async fn resident(&self, key: &SessionKey) -> Option<SessionHandle> {
        let slot = lock(&self.slots).get(key).cloned()?;
        let state = slot.0.lock().await;
        state.handle.clone().filter(|handle| !handle.is_closed())
    }

    /// The number of keys, and how many of their sessions are open.
    pub fn counts(&self) -> (usize, usize) {
        (lock(&self.slots).len(), lock(&self.recent).len())
    }

    /// Closes every session and forgets the keys.
    pub async fn close(&self) {
        lock(&self.recent).clear();
        let slots: Vec<Arc<Slot>> = lock(&self.slots).drain().map(|(_, slot)| slot).collect();
        for slot in slots {
            if let Some(handle) = slot.0.lock().await.handle.take() {
                handle.close(Parting::Left).await;
            }
        }
    }

    fn slot(&self, key: &SessionKey) -> Arc<Slot> {
        lock(&self.slots).entry(key.clone()).or_default().clone()
    }

    async fn resume(&self, id: &SessionId, opening: &Opening) -> Result<Session, RuntimeError> {
        let how = Resuming { restores_cwd: true, stop: &CancellationToken::new(), tell: &|_| {} };
        self.runtime.resume_on(id.as_str(), opening, no_user(), how).await
    }

    fn use_now(&self, key: &SessionKey) {
        let mut recent = lock(&self.recent);
        recent.retain(|known| known != key);
        recent.push(key.clone());
    }

    /// Closes the sessions that were used longest ago, until no more than the limit are open.
    async fn evict(&self) {
        let candidates: Vec<SessionKey> = {
            let recent = lock(&self.recent);
            let excess = recent.len().saturating_sub(self.limits.resident);
            match excess {
                0 => return,
                _ => recent[..recent.len() - 1].to_vec(),
            }
        };
        for key in candidates {
            if lock(&self.recent).len() <= self.limits.resident {
                return;
            }
            if self.evict_one(&key).await {
                lock(&self.recent).retain(|known| *known != key);
            }
        }
    }

    /// Closes one session if it is idle and not observed.
    async fn evict_one(&self, key: &SessionKey) -> bool {
        let Some(slot) = lock(&self.slots).get(key).cloned() else { return true };
        // A slot that is in use now is not idle.
        let Ok(mut state) = slot.0.try_lock() else { return false };
        let Some(handle) = state.handle.clone() else { return true };
        // The id of a session that was continued in a new one is that of the new one.
        let id = handle.id();
        let Some(is_stored) = handle.close_if_idle().await else { return false };
        *state = SlotState { id: is_stored.then_some(id), handle: None };
        true
    }
}

fn no_user() -> Arc<NoUser> {
    Arc::new(NoUser)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
