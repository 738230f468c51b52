//! The engine that summarises the middle of a conversation.
//!
//! Planning is fast and makes no model call: it decides whether to compact, which range, and the question
//! to the auxiliary model. Assembling checks the model's answer, and uses excerpts if it is not acceptable.

use crate::compaction::assembling::{FILES_CHARS, NOTHING_SHORTER, Work};
use crate::compaction::boundaries::before_longest_tail;
use crate::compaction::checks::check;
use crate::compaction::fallback::{self, carrying, excerpts};
use crate::compaction::mechanical::mechanical;
use crate::compaction::planning::{Manner, decide, limits_for};
use crate::compaction::reading::Reading;
use crate::compaction::sections::{SNAPSHOT, Sections};
use crate::compaction::settings::{CompressorSettings, Limits, limits};
use crate::compaction::summary::{Earlier, previous, question};
use crate::compaction::template::INTRODUCTION;
use crate::compaction::{estimated, scale, weighed};
use crate::{Answer, Assembled, ContextEngine, Decision, Plan, Question, View, Window};
use hermes_conversation::{NewNode, SummaryBy, Trigger};
use std::ops::Range;

/// The minimum size of a summary besides pins and task list: introduction, headings, excerpts.
const LIGHTEST_SUMMARY: u64 = 700;
/// Characters of excerpts and of the list of files that are tried, longest first.
const EXCERPTS: [(usize, usize); 4] =
    [(fallback::MOST, FILES_CHARS), (3_000, 4_000), (1_000, 1_500), (300, 600)];

/// Characters of each section of an earlier summary that excerpts leave as they are, if there is room.
const CARRIED: usize = 4_000;

/// Summarises the middle of a conversation; the newest messages stay as they are.
#[derive(Debug, Clone, Default)]
pub struct Compressor {
    pub settings: CompressorSettings,
}

impl Compressor {
    pub fn new(settings: CompressorSettings) -> Self {
        Self { settings }
    }

    /// The numbers for this session.
    pub fn limits(&self, view: &View<'_>) -> Limits {
        limits_for(&self.settings, view)
    }
}

impl ContextEngine for Compressor {
    fn name(&self) -> &str {
        "compressor"
    }

    fn plan(&self, view: &View<'_>) -> Decision {
        decide(self, view)
    }

    fn threshold(&self, window: &Window) -> Option<u64> {
        self.settings.enabled.then(|| limits(&self.settings, *window).threshold_tokens)
    }

    fn assemble(&self, view: &View<'_>, plan: &Plan, answer: Answer<'_>) -> Result<Assembled, String> {
        let asked = plan.question.as_ref().map(|question| question.max_output_tokens);
        let most = asked.unwrap_or_else(|| self.limits(view).max_summary_tokens.saturating_mul(3) / 2);
        // What the second model counts as tokens is scaled too.
        let most = (most as f64 / scale(view)).ceil() as u64;
        weighed(view, |view| assemble(view, plan, answer, most, &self.limits(view)))
    }
}

impl Manner for Compressor {
    fn settings(&self) -> &CompressorSettings {
        &self.settings
    }

    fn head_messages(&self) -> usize {
        self.settings.protect_first_n
    }

    fn summary_tokens(&self, limits: &Limits) -> u64 {
        limits.max_summary_tokens
    }

    fn lightest(&self) -> u64 {
        LIGHTEST_SUMMARY
    }

    fn question(
        &self,
        view: &View<'_>,
        reading: &Reading,
        limits: &Limits,
        range: Range<usize>,
    ) -> Option<Question> {
        let earlier = previous(view, reading, &range).map_or(Earlier::None, Earlier::Updated);
        question(view, reading, limits, range, &earlier)
    }
}

/// `most` is what a model's summary may have.
fn assemble(
    view: &View<'_>,
    plan: &Plan,
    answer: Answer<'_>,
    most: u64,
    limits: &Limits,
) -> Result<Assembled, String> {
    let work = Work::new(view, plan)?;
    let why = match answer {
        Answer::NotAsked => None,
        Answer::Failed(why) => Some(why.to_owned()),
        Answer::Said { model, text } => match check(text, most) {
            Err(why) => Some(why),
            Ok(sections) => {
                let by = SummaryBy::Model(model.to_owned());
                match with(&work, sections, FILES_CHARS, by) {
                    Some(assembled) => return Ok(assembled),
                    None => Some("the summary was not shorter than what it stands for".to_owned()),
                }
            }
        },
    };
    let by = why.map_or(SummaryBy::Excerpts, |why| SummaryBy::Fallback { why });
    let longer = longer_tail(&work, plan, &by, limits);
    let longer = longer.as_ref().map(|plan| Work::new(view, plan)).transpose()?;
    // Half of the room is for what comes.
    let has_room = |with: &Assembled| with.after.value() <= limits.threshold_tokens / 2;
    let whole = longer.iter().chain([&work]).filter_map(|work| {
        with(work, excerpted(work, fallback::MOST, Some(CARRIED)), FILES_CHARS, by.clone()).filter(has_room)
    });
    let shorter = EXCERPTS
        .iter()
        .filter_map(|(most, files)| with(&work, excerpted(&work, *most, None), *files, by.clone()));
    whole.chain(shorter).next().ok_or_else(|| NOTHING_SHORTER.to_owned())
}

/// Excerpts of the range that a plan replaces; see [`carrying`] for `carried`.
fn excerpted(work: &Work<'_>, most: usize, carried: Option<usize>) -> Sections {
    let (material, range) = (work.material(), work.plan.replace.clone());
    let earlier = work.previous.as_ref().map(|previous| previous.text.as_str());
    match carried {
        Some(carried) => carrying(material, range, earlier, most, carried),
        None => excerpts(material, range, earlier, most),
    }
}

/// The plan with the longest tail that fits, if no model wrote a summary of the rest: then every message
/// that stays counts. A smaller limit of the user applies.
fn longer_tail(work: &Work<'_>, plan: &Plan, by: &SummaryBy, limits: &Limits) -> Option<Plan> {
    let view = work.view;
    if !matches!(by, SummaryBy::Fallback { .. }) || view.trigger == Trigger::Manual {
        return None;
    }
    let summary = limits.max_summary_tokens;
    let most =
        estimated(view, (limits.threshold_tokens / 2).saturating_sub(summary)).saturating_sub(view.fixed);
    let most = most.min(view.weights.tokens(0..view.history.len()) / 2);
    let range = plan.replace.clone();
    let replace = before_longest_tail(view.history, view.weights, &work.reading, range, most);
    (replace != plan.replace).then(|| Plan { replace, ..plan.clone() })
}

/// The history with this summary; `None` if it is not smaller.
fn with(work: &Work<'_>, mut sections: Sections, files: usize, by: SummaryBy) -> Option<Assembled> {
    sections.set(SNAPSHOT, work.snapshot.clone());
    let kept = mechanical(work.view.keep, &work.files, files);
    let own = [sections.text(), kept.text].join("\n\n").trim_end().to_owned();
    let nodes = vec![NewNode { children: Vec::new(), text: own.clone() }];
    let assembled = work.with(INTRODUCTION, &own, kept.files)?;
    Some(Assembled { nodes, by, ..assembled })
}

#[cfg(test)]
#[path = "compressor_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "compressor_planning_tests.rs"]
mod planning_tests;
