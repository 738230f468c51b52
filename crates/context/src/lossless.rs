//! The lossless engine: summaries form a tree, and each one knows the messages that it covers.
//!
//! Each compaction adds one leaf for the replaced range, with at most one model call. When there are too
//! many summaries on a level, the oldest get a parent, so that the summary message grows with the logarithm
//! of the conversation. The summary message is written anew each time within a budget; the messages
//! themselves stay in the record, where tools of the model read them.

mod display;
mod extract;
mod gist;
mod settings;
mod tree;

pub use settings::LosslessSettings;

use crate::compaction::assembling::{FILES_CHARS, NOTHING_SHORTER, Work};
use crate::compaction::checks::check;
use crate::compaction::fallback;
use crate::compaction::mechanical::mechanical;
use crate::compaction::planning::{Manner, decide, limits_for};
use crate::compaction::reading::Reading;
use crate::compaction::sections::{SNAPSHOT, Sections};
use crate::compaction::settings::{CompressorSettings, Limits, limits};
use crate::compaction::summary::{Earlier, Previous, previous, question};
use crate::compaction::template::INTRODUCTION;
use crate::compaction::{estimated, scale, thrash, weighed};
use crate::weights::text_tokens;
use crate::{Answer, Assembled, ContextEngine, Decision, Past, Plan, Question, View, Window};
use extract::{Stretch, extract};
use hermes_conversation::{NewNode, SummaryBy};
use std::ops::Range;

/// The minimum size of the summary message besides pins and task list.
const LIGHTEST_SUMMARY: u64 = 900;
/// The minimum budget of the summary message in any context window.
const LEAST_BUDGET: u64 = 700;

/// The name of [`Lossless`].
pub const LOSSLESS: &str = "lossless";

/// Keeps every message within reach of the model.
#[derive(Debug, Clone, Default)]
pub struct Lossless {
    pub settings: LosslessSettings,
}

impl Lossless {
    pub fn new(settings: LosslessSettings) -> Self {
        Self { settings }
    }

    /// The numbers for this session.
    pub fn limits(&self, view: &View<'_>) -> Limits {
        limits_for(&self.settings.compression, &View { window: self.window(view.window), ..*view })
    }

    /// The maximum size of the summary message, in tokens of the model.
    pub fn budget(&self, view: &View<'_>) -> u64 {
        self.settings.budget(&self.limits(view))
    }

    /// A model that is not called needs no window.
    fn window(&self, window: Window) -> Window {
        Window { summariser: window.summariser.filter(|_| !self.settings.extractive), ..window }
    }
}

impl ContextEngine for Lossless {
    fn name(&self) -> &str {
        LOSSLESS
    }

    fn plan(&self, view: &View<'_>) -> Decision {
        // A model that fails is no reason to stop: then it is not asked for a while.
        let past = Past { resting: None, fallbacks: 0, ..view.past.clone() };
        let window = self.window(view.window);
        let decision = decide(self, &View { past: &past, window, ..*view });
        match decision {
            Decision::Shrink(plan) if is_model_tired(view.past) => {
                Decision::Shrink(Plan { question: None, ..plan })
            }
            decided => decided,
        }
    }

    fn threshold(&self, window: &Window) -> Option<u64> {
        let compression = &self.settings.compression;
        compression.enabled.then(|| limits(compression, self.window(*window)).threshold_tokens)
    }

    fn assemble(&self, view: &View<'_>, plan: &Plan, answer: Answer<'_>) -> Result<Assembled, String> {
        weighed(view, |view| self.assemble_weighed(view, plan, answer))
    }
}

fn is_model_tired(past: &Past) -> bool {
    past.resting.is_some() || past.fallbacks >= thrash::MOST_IN_VAIN
}

impl Manner for Lossless {
    fn settings(&self) -> &CompressorSettings {
        &self.settings.compression
    }

    /// A leaf stands for everything from the first message on.
    fn head_messages(&self) -> usize {
        0
    }

    fn summary_tokens(&self, limits: &Limits) -> u64 {
        self.settings.budget(limits)
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
        let earlier = match previous(view, reading, &range) {
            None => Earlier::None,
            Some(previous) if is_in_tree(view, &previous) => Earlier::Elsewhere(previous.places),
            Some(previous) => Earlier::Updated(previous),
        };
        question(view, reading, limits, range, &earlier)
    }
}

/// Returns true if the tree covers the messages of an earlier summary.
fn is_in_tree(view: &View<'_>, previous: &Previous) -> bool {
    previous.is_ours && !view.nodes.is_empty()
}

impl Lossless {
    fn assemble_weighed(
        &self,
        view: &View<'_>,
        plan: &Plan,
        answer: Answer<'_>,
    ) -> Result<Assembled, String> {
        let work = Work::new(view, plan)?;
        let limits = self.limits(view);
        let budget = estimated(view, self.settings.budget(&limits)).max(LEAST_BUDGET);
        let asked = plan.question.as_ref().map(|question| question.max_output_tokens);
        let most = asked.unwrap_or_else(|| limits.max_summary_tokens.saturating_mul(3) / 2);
        let most = (most as f64 / scale(view)).ceil() as u64;
        let (mut leaf, by) = match answer {
            Answer::NotAsked => (excerpts(&work, plan), SummaryBy::Excerpts),
            Answer::Failed(why) => (excerpts(&work, plan), SummaryBy::Fallback { why: why.to_owned() }),
            Answer::Said { model, text } => match check(text, most) {
                Ok(sections) => (sections, SummaryBy::Model(model.to_owned())),
                Err(why) => (excerpts(&work, plan), SummaryBy::Fallback { why }),
            },
        };
        leaf.set(SNAPSHOT, work.snapshot.clone());
        let parents = tree::parents(view.nodes, self.settings.fan_out());
        let number = tree::next_number(view.nodes);
        let older = tree::standing(view.nodes, &parents);
        let message = |budget: u64| {
            let kept = mechanical(view.keep, &work.files, FILES_CHARS.min(budget as usize / 5 * 4));
            let beside = text_tokens(INTRODUCTION) + text_tokens(&kept.text) + FRAME_TOKENS;
            // What is pinned is not shortened, and what was said is not left out for it.
            let room = budget.saturating_sub(beside).max(budget / 5);
            let own = [display::shown(&leaf, number, &older, room), kept.text].join("\n\n");
            work.with(INTRODUCTION, own.trim_end(), kept.files)
        };
        let tries = [1, 2, 4, 16].into_iter().filter_map(|part| message((budget / part).max(1)));
        let assembled = { tries }.next().ok_or_else(|| NOTHING_SHORTER.to_owned())?;
        let mut nodes = vec![NewNode { children: Vec::new(), text: leaf.text() }];
        nodes.extend(parents);
        Ok(Assembled { nodes, by, ..assembled })
    }
}

/// The tokens of heading, end line and blank lines of the summary message.
const FRAME_TOKENS: u64 = 40;

fn excerpts(work: &Work<'_>, plan: &Plan) -> Sections {
    let unremembered = work.previous.as_ref().filter(|previous| !is_in_tree(work.view, previous));
    let stretch = Stretch {
        material: work.material(),
        range: plan.replace.clone(),
        files: &work.files[..work.files_here],
        earlier: unremembered.map(|previous| previous.text.as_str()),
    };
    extract(&stretch, fallback::MOST)
}

#[cfg(test)]
#[path = "lossless_tests.rs"]
mod tests;
