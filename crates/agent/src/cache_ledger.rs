//! Compares each request with the one before it at the same model, and says whether a change was meant.

use hermes_conversation::{CacheBreak, CacheEntry, PrefixDigest, PrefixStatus, PromptPart};
use hermes_wire::{ModelProfile, Segment, SegmentKind};

/// The last request per model. A fallback model has a cache of its own.
#[derive(Debug, Default)]
pub struct CacheLedger {
    lines: Vec<Line>,
    /// Changes that were meant and that no request has shown yet.
    declared: Vec<CacheBreak>,
    unexplained: u32,
}

#[derive(Debug)]
struct Line {
    of: CacheOf,
    mark: PrefixDigest,
    /// It was sent by another run of the program, perhaps with other settings.
    is_remembered: bool,
}

/// Whose cache.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CacheOf {
    pub provider: String,
    pub model: String,
    pub has_tools: bool,
}

impl CacheOf {
    pub(crate) fn of(profile: &ModelProfile, has_tools: bool) -> Self {
        Self { provider: profile.issuer.provider.clone(), model: profile.model.to_string(), has_tools }
    }
}

impl CacheLedger {
    /// Takes up what was sent before this process began.
    pub fn remember(&mut self, of: CacheOf, mark: PrefixDigest) {
        if !self.lines.iter().any(|line| line.of == of) {
            self.lines.push(Line { of, mark, is_remembered: true });
        }
    }

    /// Something that was already sent will change, and is meant to.
    pub fn declare(&mut self, reason: CacheBreak) {
        if !self.declared.contains(&reason) {
            self.declared.push(reason);
        }
    }

    /// The number of requests that changed the prefix without a declared cache break.
    pub fn unexplained(&self) -> u32 {
        self.unexplained
    }

    /// Enters a request.
    pub(crate) fn enter(&mut self, of: CacheOf, segments: &[Segment]) -> CacheEntry {
        let has_tools = of.has_tools;
        let place = self.lines.iter().position(|line| line.of == of);
        let before = place.map(|place| self.lines[place].mark);
        let is_remembered = place.is_some_and(|place| self.lines[place].is_remembered);
        let (mark, kept, differs) = compared(before, segments);
        let status = match (before, differs) {
            // Everything is sent once more, for one answer.
            (None, _) if self.has_tools_elsewhere(&of) => PrefixStatus::Broken(CacheBreak::WithoutTools),
            (None, _) if self.is_switch(&of) => PrefixStatus::Broken(CacheBreak::ModelSwitch),
            (None, _) => PrefixStatus::First,
            (Some(_), None) => PrefixStatus::Extends,
            (Some(_), Some(part)) => match (self.declared.first(), part) {
                (Some(reason), _) => PrefixStatus::Broken(*reason),
                // The stored prompt is used as it is: only what the settings add to it can be different.
                (None, PromptPart::Tools) if is_remembered => PrefixStatus::Broken(CacheBreak::ToolSet),
                (None, PromptPart::System) if is_remembered => PrefixStatus::Broken(CacheBreak::Settings),
                (None, part) => PrefixStatus::Unexplained(part),
            },
        };
        let lost = match before {
            Some(before) => before.bytes.saturating_sub(kept),
            None => 0,
        };
        self.declared.clear();
        self.unexplained += u32::from(matches!(status, PrefixStatus::Unexplained(_)));
        match place {
            Some(place) => self.lines[place] = Line { of, mark, is_remembered: false },
            None => self.lines.push(Line { of, mark, is_remembered: false }),
        }
        CacheEntry { status, kept, lost, has_tools, mark }
    }

    /// The same model is asked with tools, and now without.
    fn has_tools_elsewhere(&self, of: &CacheOf) -> bool {
        !of.has_tools && self.lines.iter().any(|line| line.of == CacheOf { has_tools: true, ..of.clone() })
    }

    /// A conversation that another model was in before.
    fn is_switch(&self, of: &CacheOf) -> bool {
        self.lines.iter().any(|line| line.of.model != of.model || line.of.provider != of.provider)
    }
}

/// The mark of a request, how many bytes of the one before it begins with, and from which part on it
/// does not.
fn compared(before: Option<PrefixDigest>, segments: &[Segment]) -> (PrefixDigest, u64, Option<PromptPart>) {
    let mut mark = PrefixDigest::default();
    let mut kept_tools = 0;
    let mut kept_system = 0;
    // After as many messages as the one before had.
    let mut at_end = (before.is_some_and(|before| before.count == 0)).then_some((0, 0));
    for segment in segments {
        let len = segment.len as u64;
        mark.bytes += len;
        match segment.kind {
            SegmentKind::Tools => {
                mark.tools = rolled(mark.tools, &segment.hash);
                kept_tools += len;
            }
            SegmentKind::System => {
                mark.system = rolled(mark.system, &segment.hash);
                kept_system += len;
            }
            SegmentKind::Message => {
                mark.messages = rolled(mark.messages, &segment.hash);
                mark.count += 1;
                if before.is_some_and(|before| before.count == mark.count) {
                    at_end = Some((mark.messages, mark.bytes - kept_tools - kept_system));
                }
            }
        }
    }
    let Some(before) = before else { return (mark, 0, None) };
    let (kept, differs) = match () {
        () if mark.tools != before.tools => (0, Some(PromptPart::Tools)),
        () if mark.system != before.system => (kept_tools, Some(PromptPart::System)),
        () => match at_end {
            Some((messages, bytes)) if messages == before.messages => {
                (kept_tools + kept_system + bytes, None)
            }
            // Which of the messages is not known; none of them counts.
            _ => (kept_tools + kept_system, Some(PromptPart::Messages)),
        },
    };
    (mark, kept, differs)
}

/// One number for one more segment behind others.
fn rolled(before: u64, hash: &[u8; 16]) -> u64 {
    let (first, last) = hash.split_at(8);
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap_or_default());
    let mixed = u128::from(before ^ word(first)) * u128::from(0xd1b5_4a32_d192_ed03_u64 ^ word(last));
    (mixed >> 64) as u64 ^ mixed as u64 ^ before.rotate_left(23) ^ word(last)
}

#[cfg(test)]
#[path = "cache_ledger_tests.rs"]
mod tests;
