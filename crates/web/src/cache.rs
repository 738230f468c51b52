//! Results that are kept for a while, so that a repeated question costs no request.
//!
//! A cache belongs to one [`WebClient`](crate::WebClient) and is gone with it, so that it never answers for other
//! settings.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// Entries of one cache, and bytes of all of them.
const MOST_ENTRIES: usize = 100;
const MOST_BYTES: usize = 16 << 20;

pub(crate) struct Cache<T> {
    fresh: Duration,
    entries: Mutex<VecDeque<Entry<T>>>,
}

struct Entry<T> {
    key: String,
    at: Instant,
    bytes: usize,
    value: T,
}

impl<T: Clone> Cache<T> {
    pub(crate) fn new(fresh: Duration) -> Self {
        Self { fresh, entries: Mutex::default() }
    }

    pub(crate) fn get(&self, key: &str) -> Option<T> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let found = entries.iter().find(|entry| entry.key == key && entry.at.elapsed() < self.fresh);
        found.map(|entry| entry.value.clone())
    }

    /// Keeps a value of so many bytes; the oldest ones make room.
    pub(crate) fn put(&self, key: String, value: T, bytes: usize) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|entry| entry.key != key && entry.at.elapsed() < self.fresh);
        entries.push_back(Entry { key, at: Instant::now(), bytes, value });
        let total = |entries: &VecDeque<Entry<T>>| entries.iter().map(|entry| entry.bytes).sum::<usize>();
        while entries.len() > MOST_ENTRIES || total(&entries) > MOST_BYTES {
            entries.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn values_expire_and_make_room() {
        let cache = Cache::new(Duration::from_secs(60));
        cache.put("a".into(), 1, 10);
        cache.put("b".into(), 2, MOST_BYTES - 5);
        assert_eq!((cache.get("a"), cache.get("b")), (None, Some(2)));
        cache.put("b".into(), 3, 1);
        assert_eq!(cache.get("b"), Some(3));
        tokio::time::advance(Duration::from_secs(61)).await;
        assert_eq!(cache.get("b"), None);
        for n in 0..200 {
            cache.put(n.to_string(), n, 1);
        }
        assert_eq!((cache.get("99"), cache.get("100")), (None, Some(100)));
    }
}
