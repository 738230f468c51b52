//! Settings of the compressor, and the limits that follow for a context window.
//!
//! A value of the user is applied exactly. Defaults are adjusted: a small context window is used further
//! before it is compacted, and some of it is always left to work in.

use crate::Window;
use hermes_conversation::ModelName;
use serde::{Deserialize, Serialize};

/// The window of a model about which nothing is known.
pub const UNKNOWN_WINDOW: u64 = 256_000;
/// The share of the window at which compaction begins, before any adjustment.
const DEFAULT_THRESHOLD: f64 = 0.50;
/// Below this window the share is raised, because little is left otherwise.
const SMALL_WINDOW: u64 = 512_000;
const SMALL_WINDOW_THRESHOLD: f64 = 0.75;
/// Compaction never begins below this many tokens by itself, in windows that have them.
const LOWEST_THRESHOLD: u64 = 64_000;
/// Windows below this are in reduced mode: a share of them stays free for the reply.
const REDUCED_WINDOW: u64 = 64_000;
const REDUCED_THRESHOLD: f64 = 0.75;
/// The share of the context window if the threshold does not fit into it.
const SQUEEZED_THRESHOLD: f64 = 0.85;
const HYGIENE_THRESHOLD: f64 = 0.85;
const SUMMARY_SHARE_OF_WINDOW: f64 = 0.05;
/// In a small window 5 % are too few for the sections of a summary.
const SUMMARY_SHARE_OF_REDUCED: f64 = 0.10;
const MOST_SUMMARY_TOKENS: u64 = 10_000;
const LEAST_SUMMARY_TOKENS: u64 = 2_000;
const SUMMARY_SHARE_OF_COMPACTED: f64 = 0.20;
const DEFAULT_PROTECT_LAST: usize = 20;

/// The settings; see `docs/context.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompressorSettings {
    /// False: no automatic compaction. The user can still ask for one.
    pub enabled: bool,
    /// The share of the context window at which compaction begins; `Some` if the user set it.
    pub threshold: Option<f64>,
    /// The share of the threshold that is kept as it is at the end.
    pub target_ratio: f64,
    /// Messages at the end that are kept even if they are large; `Some` if the user set it.
    pub protect_last_n: Option<usize>,
    /// Messages at the beginning that the first compaction keeps.
    pub protect_first_n: usize,
    /// An unattended session is compacted from this many messages on.
    pub hygiene_hard_message_limit: usize,
    /// The model that is spoken to, as `provider/name`: some have thresholds of their own.
    pub model: String,
    /// True if those thresholds apply where the user set none.
    pub model_thresholds: bool,
    /// Estimated tokens that people must have said since the last compaction before a turn begins with
    /// another one.
    pub min_user_tokens: u64,
}

impl Default for CompressorSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            threshold: None,
            target_ratio: 0.20,
            protect_last_n: None,
            protect_first_n: 3,
            hygiene_hard_message_limit: 5_000,
            model: String::new(),
            model_thresholds: true,
            min_user_tokens: 1,
        }
    }
}

/// The numbers for one window, in tokens as the model counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// The whole window, or what is taken for it.
    pub window_tokens: u64,
    /// Compaction begins here.
    pub threshold_tokens: u64,
    /// The size of the tail.
    pub tail_tokens: u64,
    /// Messages that are kept at the end although they are heavier than that.
    pub tail_messages: usize,
    pub max_summary_tokens: u64,
    /// An unattended session is compacted from here on.
    pub hygiene_tokens: u64,
}

/// The numbers that follow from what is set.
pub fn limits(settings: &CompressorSettings, window: Window) -> Limits {
    let size = window.tokens.filter(|tokens| *tokens > 0).unwrap_or(UNKNOWN_WINDOW);
    let written = settings.threshold.filter(|share| share.is_finite());
    let threshold = match written {
        Some(share) => part(size, share.clamp(0.01, 1.0)),
        None => default_threshold(settings, size, window.output.unwrap_or_default()),
    };
    let threshold_tokens = readable_by(window.summariser, threshold).max(1);
    let ratio = if settings.target_ratio.is_finite() { settings.target_ratio } else { 0.20 };
    Limits {
        window_tokens: size,
        threshold_tokens,
        tail_tokens: part(threshold_tokens, ratio.clamp(0.10, 0.80)),
        tail_messages: match settings.protect_last_n {
            Some(messages) => messages.max(1),
            None => DEFAULT_PROTECT_LAST.clamp(3, 8),
        },
        max_summary_tokens: part(size, summary_share(size)).min(MOST_SUMMARY_TOKENS),
        hygiene_tokens: part(size, HYGIENE_THRESHOLD),
    }
}

impl Limits {
    /// The maximum size of a summary of so many tokens.
    pub fn summary_budget(&self, compacted: u64) -> u64 {
        let share = part(compacted, SUMMARY_SHARE_OF_COMPACTED);
        share.max(LEAST_SUMMARY_TOKENS).min(self.max_summary_tokens).max(1)
    }
}

fn default_threshold(settings: &CompressorSettings, size: u64, output: u64) -> u64 {
    let own =
        settings.model_thresholds.then(|| ModelName::of(&settings.model).compaction_threshold()).flatten();
    let share = match own {
        Some(share) => share,
        None if size < SMALL_WINDOW => DEFAULT_THRESHOLD.max(SMALL_WINDOW_THRESHOLD),
        None => DEFAULT_THRESHOLD,
    };
    // A reservation as large as the window says nothing about what fits.
    let room = size.checked_sub(output).filter(|room| *room > 0).unwrap_or(size);
    if size < REDUCED_WINDOW {
        // What a reply may have is often most of a small window; the history needs half of it.
        return part(room, REDUCED_THRESHOLD).max(size / 2).min(part(size, REDUCED_THRESHOLD));
    }
    match part(room, share).max(LOWEST_THRESHOLD) {
        threshold if threshold >= room => part(room, SQUEEZED_THRESHOLD),
        threshold => threshold,
    }
}

fn summary_share(size: u64) -> f64 {
    if size < REDUCED_WINDOW { SUMMARY_SHARE_OF_REDUCED } else { SUMMARY_SHARE_OF_WINDOW }
}

/// The model that writes the summary must be able to read the range. A very small context window does not
/// lower the threshold: then the text of the range is shortened.
fn readable_by(summariser: Option<u64>, threshold: u64) -> u64 {
    match summariser {
        Some(window) if window < threshold => window.max(LOWEST_THRESHOLD.min(threshold)),
        _ => threshold,
    }
}

fn part(whole: u64, share: f64) -> u64 {
    (whole as f64 * share) as u64
}

#[cfg(test)]
#[path = "settings_tests.rs"]
mod tests;
