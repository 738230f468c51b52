//! The pace of requests to one host.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time between two requests to one host.
const BETWEEN: Duration = Duration::from_millis(250);
/// The longest wait for a turn.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest pause that a host can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(600);
/// Hosts that are remembered.
const MOST_HOSTS: usize = 1_000;

/// The earliest time of the next request to each host.
#[derive(Default)]
pub(crate) struct Pace(Mutex<HashMap<String, Instant>>);

impl Pace {
    /// Waits for the turn of a request to a host.
    pub(crate) async fn turn(&self, host: &str) -> Result<(), String> {
        let at = self.reserve(host, Instant::now())?;
        tokio::time::sleep_until(at).await;
        Ok(())
    }

    fn reserve(&self, host: &str, now: Instant) -> Result<Instant, String> {
        let mut hosts = self.lock();
        if hosts.len() >= MOST_HOSTS {
            hosts.retain(|_, next| *next > now);
        }
        let at = hosts.get(host).copied().unwrap_or(now).max(now);
        if at - now > PATIENCE {
            let seconds = (at - now).as_secs() + 1;
            return Err(format!("{host} gets too many requests; try again in {seconds} s"));
        }
        hosts.insert(host.to_owned(), at + BETWEEN);
        Ok(at)
    }

    /// Notes that a host asked for a pause.
    pub(crate) fn pause(&self, host: &str, pause: Option<Duration>) {
        const USUAL: Duration = Duration::from_secs(30);
        let until = Instant::now() + pause.unwrap_or(USUAL).min(LONGEST_PAUSE);
        let mut hosts = self.lock();
        let next = hosts.entry(host.to_owned()).or_insert(until);
        *next = until.max(*next);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Instant>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn requests_to_one_host_keep_their_distance() {
        let (pace, start) = (Pace::default(), Instant::now());
        for (host, want) in [("a", 0), ("a", 250), ("b", 250), ("a", 500)] {
            pace.turn(host).await.unwrap();
            assert_eq!((Instant::now() - start).as_millis(), want, "{host}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn pauses_and_long_queues_are_errors() {
        let pace = Pace::default();
        pace.pause("a", Some(Duration::from_secs(90)));
        assert_eq!(pace.turn("a").await.unwrap_err(), "a gets too many requests; try again in 91 s");
        pace.pause("b", Some(Duration::from_secs(1_000_000)));
        assert!(pace.turn("b").await.unwrap_err().contains("601 s"));
        let now = Instant::now();
        let taken = (0..100).take_while(|_| pace.reserve("c", now).is_ok()).count();
        assert_eq!(taken, 41);
    }
}
