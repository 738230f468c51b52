//! Settings of the lossless engine.

use crate::compaction::settings::{CompressorSettings, Limits};
use serde::{Deserialize, Serialize};

/// The settings; see `docs/context.md`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LosslessSettings {
    /// When it is time, and what stays at the end: as for the compressor.
    pub compression: CompressorSettings,
    /// The number of summaries on a level before the oldest get a parent.
    pub fan_out: usize,
    /// The maximum size of the summary message, in tokens of the model; by default twice that of the
    /// compressor. Never more than a tenth of the context window.
    pub summary_tokens: Option<u64>,
    /// No model is asked: summaries are excerpts.
    pub extractive: bool,
}

impl Default for LosslessSettings {
    fn default() -> Self {
        Self {
            compression: CompressorSettings::default(),
            fan_out: 6,
            summary_tokens: None,
            extractive: false,
        }
    }
}

impl LosslessSettings {
    /// The maximum size of the summary message, in tokens of the model: twice that of the compressor, and
    /// at most a tenth of the context window.
    pub(crate) fn budget(&self, limits: &Limits) -> u64 {
        let usual = limits.max_summary_tokens.saturating_mul(2);
        self.summary_tokens.unwrap_or(usual).min(limits.window_tokens / 10).max(1)
    }

    /// At least two, or nothing would ever get fewer.
    pub(crate) fn fan_out(&self) -> usize {
        self.fan_out.clamp(2, 100)
    }
}
