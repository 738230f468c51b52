//! The keys of a pool, for one provider at one origin.
//!
//! Chooses and renews credentials and sets cooldowns, as the plain functions of this module decide, and updates
//! `auth.json`. If the file cannot be written, the state is kept in memory.

use super::store::is_same;
use super::{
    AuthError, Availability, Case, Choosing, Consequence, Credentials, Entry, KeyChange, Keys, LastError,
    Lease, Pool, Refresh, RefreshError, Seed, Status, Strategy, after, choose, notes, renewal,
};
use hermes_conversation::BoxFuture;
use hermes_wire::{Failure, Fault};
use secrecy::SecretString;
use std::sync::Arc;
use tokio::sync::Mutex;

/// The provider and the origin of the keys.
#[derive(Debug, Clone)]
pub struct Binding {
    /// The id of a provider, or `custom:NAME`.
    pub provider: String,
    /// The only origin that they are sent to.
    pub origin: String,
    /// True for the provider's own origin, to which credentials without an address belong.
    pub is_own: bool,
    pub strategy: Strategy,
    /// Keys of the same provider from elsewhere.
    pub seeds: Vec<Seed>,
}

/// Keys from a pool.
pub struct PooledKeys {
    credentials: Arc<Credentials>,
    binding: Binding,
    refresh: Arc<dyn Refresh>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    held: Option<(Entry, Lease)>,
    /// Requests since the last fault; more than one clears it.
    requests: u32,
    strikes: u32,
    refreshes: u32,
    /// Changes that could not be written to the file.
    unwritten: Vec<(String, Status, LastError)>,
}

impl PooledKeys {
    pub fn new(credentials: Arc<Credentials>, binding: Binding, refresh: Arc<dyn Refresh>) -> Self {
        Self { credentials, binding, refresh, state: Mutex::default() }
    }

    /// The available credentials for this origin.
    fn pool(&self, state: &State) -> Pool {
        let Binding { provider, origin, is_own, seeds, .. } = &self.binding;
        let mut pool = Pool::of(&self.credentials.data(), provider, seeds).at(origin, *is_own);
        for entry in &mut pool.entries {
            let noted = state.unwritten.iter().rev().find(|(id, _, _)| *id == entry.id);
            if let Some((_, status, error)) = noted {
                (entry.status, entry.last_error) = (*status, error.clone());
            }
        }
        pool
    }

    fn pick(&self, pool: &Pool) -> Option<Entry> {
        let Binding { provider, origin, strategy, .. } = &self.binding;
        let by = Choosing {
            strategy: *strategy,
            now: self.credentials.now(),
            random: self.credentials.random(),
            taken: &|id| self.credentials.leases.count(provider, origin, id),
        };
        choose(&pool.entries, &by).cloned()
    }

    /// Takes the next available key.
    async fn take(&self, state: &mut State) -> Result<Entry, Failure> {
        state.held = None;
        let pool = self.pool(state);
        let entry = self
            .pick(&pool)
            .ok_or_else(|| notes::nothing_ready(&self.binding, &pool, self.credentials.now()))?;
        self.hold(state, entry.clone());
        let strategy = self.binding.strategy;
        if strategy.is_noted() && pool.entries.len() > 1 {
            let taken = entry.clone();
            // The choice is used even if it cannot be stored.
            let _ = self.write(move |data, _| data.note_taken(&pool, &taken, strategy)).await;
        }
        Ok(entry)
    }

    async fn current_key(&self) -> Result<Option<SecretString>, Failure> {
        let mut state = self.state.lock().await;
        state.requests += 1;
        loop {
            let held = state.held.as_ref().map(|(entry, _)| entry.clone());
            let entry = match held {
                Some(entry) => entry,
                None => self.take(&mut state).await?,
            };
            let now = self.credentials.now();
            if !entry.needs_renewal(now) {
                return Ok(Some(entry.key));
            }
            match self.renew(&entry).await {
                Ok(new) => {
                    self.hold(&mut state, new.clone());
                    // A key that is not renewed is sent anyway: the server decides.
                    return Ok(Some(new.key));
                }
                // It may still work for this request.
                Err(RefreshError::Failed { .. }) if entry.expires_at.is_some_and(|at| at > now) => {
                    return Ok(Some(entry.key));
                }
                // It is now disabled or in cooldown and is not taken again.
                Err(error) => {
                    self.give_up(&mut state, &entry, &error).await;
                    state.held = None;
                }
            }
        }
    }

    async fn after_fault(&self, fault: &Fault) -> KeyChange {
        let mut state = self.state.lock().await;
        if std::mem::take(&mut state.requests) > 1 {
            (state.strikes, state.refreshes) = (0, 0);
        }
        let Some((held, _)) = &state.held else { return KeyChange::Nothing };
        let (held, now) = (held.clone(), self.credentials.now());
        let pool = self.pool(&state);
        let stored = pool.get(&held.id);
        if let Some(newer) = stored.filter(|stored| !is_same(&stored.key, &held.key)) {
            // Another process has renewed or replaced it.
            self.hold(&mut state, newer.clone());
            return KeyChange::Another;
        }
        let others = pool
            .entries
            .iter()
            .filter(|entry| entry.id != held.id && entry.availability(now) == Availability::Ready);
        let case = Case {
            fault,
            entry: stored.unwrap_or(&held),
            now,
            strikes: state.strikes,
            refreshes: state.refreshes,
            others: others.count(),
        };
        match after(&case) {
            Consequence::LeaveAlone => KeyChange::Nothing,
            Consequence::RetrySame => {
                state.strikes += 1;
                KeyChange::Same
            }
            Consequence::Refresh => {
                state.refreshes += 1;
                let is_last = case.others == 0;
                self.refresh_held(&mut state, &held, is_last).await
            }
            Consequence::MarkAndRotate { until } => {
                let error = notes::refusal(fault, &held, now, until);
                self.mark(&mut state, &held, Status::Exhausted, error).await;
                self.rotate(&mut state).await
            }
            Consequence::MarkDead => {
                let error = notes::refusal(fault, &held, now, None);
                self.mark(&mut state, &held, Status::Dead, error).await;
                self.rotate(&mut state).await
            }
        }
    }

    async fn refresh_held(&self, state: &mut State, held: &Entry, is_last: bool) -> KeyChange {
        match self.renew(held).await {
            Ok(new) => {
                tracing::info!(provider = %held.provider, credential = held.label, "a login was renewed");
                self.hold(state, new);
                KeyChange::Another
            }
            // A server that is unreachable now does not disable the only login.
            Err(RefreshError::Failed { .. }) if is_last => KeyChange::Nothing,
            Err(error) => {
                self.give_up(state, held, &error).await;
                self.rotate(state).await
            }
        }
    }

    async fn rotate(&self, state: &mut State) -> KeyChange {
        (state.strikes, state.refreshes) = (0, 0);
        match self.take(state).await {
            Ok(_) => KeyChange::Another,
            Err(_) => KeyChange::Nothing,
        }
    }

    fn hold(&self, state: &mut State, entry: Entry) {
        match &mut state.held {
            Some((held, _)) if held.id == entry.id => *held = entry,
            held => {
                let lease = self.credentials.leases.take(&entry.provider, &self.binding.origin, &entry.id);
                *held = Some((entry, lease));
            }
        }
    }

    /// Disables a login that cannot be renewed, or sets its cooldown.
    async fn give_up(&self, state: &mut State, entry: &Entry, error: &RefreshError) {
        let (status, error) = notes::not_renewed(error, self.credentials.now());
        self.mark(state, entry, status, error).await;
    }

    async fn mark(&self, state: &mut State, entry: &Entry, status: Status, error: LastError) {
        let (provider, credential) = (&entry.provider, &entry.label);
        tracing::warn!(%provider, credential, ?status, code = error.code, "credential disabled or in cooldown");
        let (noted, marked) = (error.clone(), entry.clone());
        let written = self.write(move |data, now| {
            data.mark(&marked, status, &noted);
            data.prune(&marked.provider, now);
        });
        if written.await.is_err() {
            tracing::warn!("auth.json could not be changed; other processes will try this credential");
            state.unwritten.push((entry.id.clone(), status, error));
        }
    }

    async fn renew(&self, entry: &Entry) -> Result<Entry, RefreshError> {
        let (credentials, binding) = (self.credentials.clone(), self.binding.clone());
        renewal::renew(credentials, binding, self.refresh.clone(), entry.clone()).await
    }

    /// Changes the file on a thread that may wait for its lock.
    async fn write(
        &self,
        change: impl FnOnce(&mut super::AuthData, f64) + Send + 'static,
    ) -> Result<(), Option<AuthError>> {
        let file = self.credentials.file().cloned().ok_or(None)?;
        let now = self.credentials.now();
        let writing = tokio::task::spawn_blocking(move || file.change(now, |data| change(data, now)));
        writing.await.map_err(|_| None)?.map_err(Some)
    }
}

impl Keys for PooledKeys {
    fn current(&self) -> BoxFuture<'_, Result<Option<SecretString>, Failure>> {
        Box::pin(self.current_key())
    }

    fn after<'a>(&'a self, fault: &'a Fault) -> BoxFuture<'a, KeyChange> {
        Box::pin(self.after_fault(fault))
    }
}
