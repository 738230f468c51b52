//! Domains that the user does not want to be fetched: from the settings and from shared files.

use crate::settings::BlocklistSettings;
use std::collections::BTreeSet;
use std::io::Read;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time after which shared files are read again.
const FRESH: Duration = Duration::from_secs(30);
/// Bytes of a shared file that are read.
const MOST_BYTES: u64 = 16 << 20;

/// The blocked domains.
pub(crate) struct Blocklist {
    settings: BlocklistSettings,
    read: Mutex<Option<(Instant, BTreeSet<String>)>>,
}

impl Blocklist {
    pub(crate) fn new(settings: BlocklistSettings) -> Self {
        Self { settings, read: Mutex::default() }
    }

    /// The blocked domain that a host is, or is below.
    pub(crate) fn blocks(&self, host: &str) -> Option<String> {
        if !self.settings.is_enabled {
            return None;
        }
        let mut read = self.read.lock().unwrap_or_else(PoisonError::into_inner);
        if read.as_ref().is_none_or(|(at, _)| at.elapsed() > FRESH) {
            *read = Some((Instant::now(), domains(&self.settings)));
        }
        let domains = read.as_ref().map(|(_, domains)| domains)?;
        let host = host.trim_end_matches('.').to_ascii_lowercase();
        let ends =
            std::iter::successors(Some(host.as_str()), |rest| rest.split_once('.').map(|(_, rest)| rest));
        ends.into_iter().find(|end| domains.contains(*end)).map(str::to_owned)
    }
}

fn domains(settings: &BlocklistSettings) -> BTreeSet<String> {
    let mut all: BTreeSet<String> = settings.domains.iter().filter_map(|line| domain(line)).collect();
    for path in &settings.files {
        let mut text = Vec::new();
        let read = std::fs::File::open(path).and_then(|file| file.take(MOST_BYTES).read_to_end(&mut text));
        match read {
            Ok(_) => all.extend(String::from_utf8_lossy(&text).lines().filter_map(domain)),
            Err(error) => tracing::warn!(%error, path = %path.display(), "a blocklist cannot be read"),
        }
    }
    all
}

/// The domain of a line, which may also be an address, a line of a hosts file, or have a comment.
fn domain(line: &str) -> Option<String> {
    let line = line.split('#').next().unwrap_or_default().trim().to_ascii_lowercase();
    let word = line.split_whitespace().last()?;
    let word = word.split_once("://").map_or(word, |(_, rest)| rest);
    let host = word.split(['/', ':', '?']).next().unwrap_or_default();
    let host = host.trim_start_matches("*.").trim_matches('.');
    (!host.is_empty()).then(|| idna(host))
}

/// The form of a name in URLs.
fn idna(host: &str) -> String {
    url::Host::parse(host).map_or_else(|_| host.to_owned(), |host| host.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_block_what_is_below_them() {
        let dir = tempfile::tempdir().unwrap();
        let shared = dir.path().join("shared.txt");
        std::fs::write(&shared, "# comment\n0.0.0.0 ads.example\nhttps://evil.test/path # why\n\n").unwrap();
        let settings = BlocklistSettings {
            is_enabled: true,
            domains: vec!["*.Blocked.example".into(), "bücher.example".into()],
            files: vec![shared, dir.path().join("missing.txt")],
        };
        let list = Blocklist::new(settings.clone());
        for (host, want) in [
            ("blocked.example", Some("blocked.example")),
            ("a.b.BLOCKED.example.", Some("blocked.example")),
            ("notblocked.example", None),
            ("ads.example", Some("ads.example")),
            ("www.evil.test", Some("evil.test")),
            ("xn--bcher-kva.example", Some("xn--bcher-kva.example")),
            ("example", None),
            ("", None),
        ] {
            assert_eq!(list.blocks(host).as_deref(), want, "{host}");
        }
        let disabled = Blocklist::new(BlocklistSettings { is_enabled: false, ..settings });
        assert_eq!(disabled.blocks("blocked.example"), None);
    }
}
