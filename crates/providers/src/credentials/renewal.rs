//! Renews a login under the lock of the file.

use super::store::is_same;
use super::{AuthData, Binding, Credentials, Entry, Pool, Refresh, RefreshError};
use std::sync::Arc;

/// Renews a login, unless another process has just done so. It completes even if its caller is dropped: a used
/// single-use token must not be lost.
pub(super) async fn renew(
    credentials: Arc<Credentials>,
    binding: Binding,
    refresh: Arc<dyn Refresh>,
    entry: Entry,
) -> Result<Entry, RefreshError> {
    let renewing = tokio::spawn(async move { under_lock(&credentials, &binding, &*refresh, entry).await });
    renewing.await.unwrap_or_else(|error| Err(failed(error)))
}

async fn under_lock(
    credentials: &Credentials,
    binding: &Binding,
    refresh: &dyn Refresh,
    entry: Entry,
) -> Result<Entry, RefreshError> {
    let file = credentials.file().cloned().ok_or_else(|| failed("there is no home"))?;
    // Held until the new tokens are written, so that no other process uses the old ones again.
    let locked = tokio::task::spawn_blocking(move || file.lock()).await.map_err(failed)?.map_err(failed)?;
    let mut data = locked.read().map_err(failed)?;
    let find = |data: &AuthData| {
        let pool = Pool::of(data, &binding.provider, &binding.seeds).at(&binding.origin, binding.is_own);
        pool.get(&entry.id).cloned()
    };
    let stored = find(&data).unwrap_or_else(|| entry.clone());
    if !is_same(&stored.key, &entry.key) {
        return Ok(stored);
    }
    let new = refresh.refresh(&stored).await?;
    let now = credentials.now();
    data.renew(&stored, &new, now);
    refresh.note(&mut data, &stored, &new);
    let read = find(&data).filter(|read| !is_same(&read.key, &stored.key));
    locked.write(data, now).map_err(failed)?;
    Ok(read.unwrap_or(Entry { key: new.access_token, expires_at: new.expires_at, ..stored }))
}

fn failed(error: impl ToString) -> RefreshError {
    RefreshError::Failed { cause: error.to_string() }
}
