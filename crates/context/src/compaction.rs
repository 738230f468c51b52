//! Code that the summarising engines share: the trigger, the choice of the range, the question to the
//! auxiliary model, assembling the new history.

pub(crate) mod assembling;
pub(crate) mod boundaries;
pub(crate) mod checks;
pub(crate) mod fallback;
pub(crate) mod files;
pub(crate) mod images;
pub(crate) mod marker;
pub(crate) mod mechanical;
pub(crate) mod planning;
pub(crate) mod prune;
pub(crate) mod reading;
pub(crate) mod sections;
pub(crate) mod serialise;
pub(crate) mod settings;
pub(crate) mod summary;
pub(crate) mod template;
pub(crate) mod text;
pub(crate) mod thrash;

use crate::{View, Weights};

/// Tokens that the model counts for each estimated one.
pub(crate) fn scale(view: &View<'_>) -> f64 {
    if view.scale.is_finite() && view.scale > 0.0 { view.scale.clamp(0.25, 4.0) } else { 1.0 }
}

/// So many tokens of the model as we estimate them.
pub(crate) fn estimated(view: &View<'_>, tokens: u64) -> u64 {
    (tokens as f64 / scale(view)) as u64
}

/// Calls `with` with a view whose weights belong to its history.
pub(crate) fn weighed<T>(view: &View<'_>, with: impl FnOnce(&View<'_>) -> T) -> T {
    if view.weights.len() == view.history.len() {
        return with(view);
    }
    let weights = Weights::of(view.history);
    with(&View { weights: &weights, ..*view })
}
