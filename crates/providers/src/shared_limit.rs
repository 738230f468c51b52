//! A rate limit of an account that all sessions of a home share: `rate_limits/nous.json`.
//!
//! The Nous portal counts every request against the limit, also refused ones. A session that reaches the limit stores
//! its end; the others, also those of the Python release, send nothing before that.

use crate::catalogue;
use crate::http_model::seconds_since_1970;
use hermes_wire::Failure;
use reqwest::header::HeaderMap;
use serde::{Deserialize, Serialize};
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Shorter waits concern one model behind the portal and are not stored.
const SHORTEST: f64 = 60.0;
/// The counters that the portal reports.
const BUCKETS: [&str; 4] = ["requests", "requests-1h", "tokens", "tokens-1h"];

/// The file of one provider.
#[derive(Debug, Clone)]
pub struct SharedLimit {
    file: PathBuf,
}

/// Its content; the names are those of the Python release.
#[derive(Debug, Serialize, Deserialize)]
struct Recorded {
    reset_at: f64,
    recorded_at: f64,
    reset_seconds: f64,
}

impl SharedLimit {
    /// Returns the shared limit of a provider, if it has one.
    pub fn of(home: &Path, provider: &str) -> Option<Self> {
        let row = catalogue::find(provider).filter(|row| row.quirks.shares_limit)?;
        Some(Self { file: home.join("rate_limits").join(format!("{}.json", row.id)) })
    }

    /// Returns the refusal that a request would get now, without sending it.
    pub(crate) fn refusal(&self) -> Option<Failure> {
        let left = self.left(seconds_since_1970())?;
        let body = format!("the account's rate limit is used up ({}); nothing was sent", self.file.display());
        Some(Failure::Http { status: 429, retry_after: Some(left), body })
    }

    fn left(&self, now: f64) -> Option<Duration> {
        let recorded: Recorded = serde_json::from_slice(&fs::read(&self.file).ok()?).ok()?;
        Duration::try_from_secs_f64(recorded.reset_at - now).ok().filter(|left| !left.is_zero())
    }

    /// Stores the end of the limit after a refusal with these headers, if it is about the account. A failure is logged.
    pub(crate) fn refused(&self, status: u16, headers: &HeaderMap) {
        let Some(seconds) = exhausted(headers).filter(|_| status == 429) else { return };
        match self.record(seconds_since_1970(), seconds) {
            Ok(()) => tracing::info!(seconds, "rate limit recorded for all sessions"),
            Err(error) => tracing::warn!(%error, "a rate limit could not be recorded"),
        }
    }

    fn record(&self, now: f64, seconds: f64) -> io::Result<()> {
        if let Some(folder) = self.file.parent() {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let scratch = self.file.with_extension(format!("{}.tmp", std::process::id()));
        let mut file =
            OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&scratch)?;
        let recorded = Recorded { reset_at: now + seconds, recorded_at: now, reset_seconds: seconds };
        file.write_all(&serde_json::to_vec(&recorded)?)?;
        fs::rename(&scratch, &self.file)
    }

    /// Removes the stored limit after an answered request.
    pub(crate) fn answered(&self) {
        let _ = fs::remove_file(&self.file);
    }
}

/// The seconds until the last exhausted counter is reset, if that takes long.
fn exhausted(headers: &HeaderMap) -> Option<f64> {
    let number = |name: String| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok();
    let resets = BUCKETS.iter().filter_map(|bucket| {
        let remaining = number(format!("x-ratelimit-remaining-{bucket}"))?;
        let reset = number(format!("x-ratelimit-reset-{bucket}"))?;
        (remaining < 1.0 && reset.is_finite() && reset >= SHORTEST).then_some(reset)
    });
    resets.reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::{HeaderName, HeaderValue};

    fn headers(list: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), HeaderValue::from_static(value))
        };
        list.iter().map(pair).collect()
    }

    #[test]
    fn only_an_exhausted_counter_with_a_long_wait_is_about_the_account() {
        let empty = ("x-ratelimit-remaining-requests-1h", "0");
        for (list, want) in [
            (vec![], None),
            (vec![("retry-after", "3600")], None),
            (vec![empty], None),
            (vec![empty, ("x-ratelimit-reset-requests-1h", "59")], None),
            (vec![empty, ("x-ratelimit-reset-requests-1h", "x")], None),
            (vec![empty, ("x-ratelimit-reset-requests-1h", "inf")], None),
            (vec![empty, ("x-ratelimit-reset-requests-1h", "60.5")], Some(60.5)),
            (vec![("x-ratelimit-remaining-tokens", "7"), ("x-ratelimit-reset-tokens", "900")], None),
            (
                vec![
                    empty,
                    ("x-ratelimit-reset-requests-1h", "600"),
                    ("x-ratelimit-remaining-tokens", "0"),
                    ("x-ratelimit-reset-tokens", "900"),
                ],
                Some(900.0),
            ),
        ] {
            assert_eq!(exhausted(&headers(&list)), want, "{list:?}");
        }
    }

    #[test]
    fn limit_lasts_until_its_end_or_an_answer() {
        let folder = tempfile::tempdir().unwrap();
        assert!(SharedLimit::of(folder.path(), "openrouter").is_none());
        let limit = SharedLimit::of(folder.path(), "nous").unwrap();
        assert_eq!(limit.left(1_000.0), None);
        limit.record(1_000.0, 90.0).unwrap();
        assert_eq!(limit.left(1_030.0), Some(Duration::from_secs(60)));
        assert_eq!(limit.left(1_090.0), None);
        let text = fs::read_to_string(folder.path().join("rate_limits/nous.json")).unwrap();
        assert_eq!(text, r#"{"reset_at":1090.0,"recorded_at":1000.0,"reset_seconds":90.0}"#);
        // The Python release may have written whole numbers.
        fs::write(
            &limit.file,
            r#"{"reset_at": 2000, "recorded_at": 1, "reset_seconds": 1999, "more": null}"#,
        )
        .unwrap();
        assert_eq!(limit.left(1_500.0), Some(Duration::from_secs(500)));
        for broken in ["", "[]", r#"{"reset_at": "soon"}"#] {
            fs::write(&limit.file, broken).unwrap();
            assert_eq!(limit.left(1.0), None, "{broken}");
        }
        limit.answered();
        assert!(!limit.file.exists());
        limit.answered();
    }
}
