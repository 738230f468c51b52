//! The credentials in use in this process.
//!
//! Several sessions of one process spread over the credentials of a provider. A lease is not a lock: if there are
//! more users than credentials, they share. Other processes only share cooldowns and counts, through the file.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// Provider, origin and id of a credential.
type Name = (String, String, String);

/// The leases of a process.
#[derive(Debug, Clone, Default)]
pub struct Leases(Arc<Mutex<HashMap<Name, usize>>>);

/// The use of one credential at one origin, until it is dropped.
#[derive(Debug)]
pub struct Lease {
    leases: Leases,
    name: Name,
}

impl Leases {
    pub fn take(&self, provider: &str, origin: &str, id: &str) -> Lease {
        let name = (provider.to_owned(), origin.to_owned(), id.to_owned());
        self.with(|held| *held.entry(name.clone()).or_default() += 1);
        Lease { leases: self.clone(), name }
    }

    /// The number of users of a credential.
    pub fn count(&self, provider: &str, origin: &str, id: &str) -> usize {
        let name = (provider.to_owned(), origin.to_owned(), id.to_owned());
        self.with(|held| held.get(&name).copied().unwrap_or(0))
    }

    fn with<T>(&self, look: impl FnOnce(&mut HashMap<Name, usize>) -> T) -> T {
        look(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        self.leases.with(|held| {
            if let Some(count) = held.get_mut(&self.name) {
                *count -= 1;
                if *count == 0 {
                    held.remove(&self.name);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lease_lasts_until_it_is_dropped_and_is_bound_to_its_origin() {
        let leases = Leases::default();
        let first = leases.take("p", "https://a", "1");
        let second = leases.take("p", "https://a", "1");
        let counts = || {
            [("https://a", "1"), ("https://b", "1"), ("https://a", "2")]
                .map(|(o, id)| leases.count("p", o, id))
        };
        assert_eq!(counts(), [2, 0, 0]);
        drop(first);
        assert_eq!(counts(), [1, 0, 0]);
        drop(second);
        assert_eq!(counts(), [0, 0, 0]);
        assert!(leases.0.lock().unwrap().is_empty());
    }
}
