//! Compaction: epochs, summaries, pins, and failures of earlier attempts.

pub(super) mod epoch;
pub(super) mod failures;
pub(super) mod originals;
pub(super) mod pins;
pub(super) mod split;
pub(super) mod summaries;
