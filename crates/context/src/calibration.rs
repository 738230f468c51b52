//! The ratio between estimated and counted tokens, per model.

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The weight of a new observation.
const WEIGHT_OF_NEW: f64 = 0.3;
const LEAST: f64 = 0.25;
const MOST: f64 = 4.0;
/// Below this many estimated tokens the fixed overhead of a request drowns what is to be learnt.
const SMALLEST: u64 = 256;

/// For every model that was asked: tokens it counts for each one that was estimated.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Calibration {
    ratios: BTreeMap<String, f64>,
}

impl Calibration {
    /// A provider counted `measured` tokens where `estimated` were expected.
    pub fn observe(&mut self, model: &str, estimated: u64, measured: u64) {
        if estimated < SMALLEST || measured == 0 {
            return;
        }
        let seen = (measured as f64 / estimated as f64).clamp(LEAST, MOST);
        let ratio = match self.ratios.get(model).filter(|known| known.is_finite()) {
            Some(known) => known.clamp(LEAST, MOST) * (1.0 - WEIGHT_OF_NEW) + seen * WEIGHT_OF_NEW,
            None => seen,
        };
        self.ratios.insert(model.to_owned(), ratio);
    }

    /// Tokens that this model counts for every one that is estimated; 1 if nothing is known.
    pub fn scale(&self, model: &str) -> f64 {
        let known = self.ratios.get(model).copied().filter(|known| known.is_finite());
        known.map_or(1.0, |known| known.clamp(LEAST, MOST))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn observations_are_smoothed_and_kept_in_bounds() {
        for (seen, want) in [
            (&[][..], 1.0),
            (&[(1000, 2000)], 2.0),
            (&[(1000, 2000), (1000, 1000)], 1.7),
            (&[(1000, 100_000)], 4.0),
            (&[(100_000, 1000)], 0.25),
            (&[(10, 1000), (1000, 0), (0, 5)], 1.0),
        ] {
            let mut known = Calibration::default();
            seen.iter().for_each(|(estimated, measured)| known.observe("m", *estimated, *measured));
            assert!((known.scale("m") - want).abs() < 1e-9, "{seen:?}: {}", known.scale("m"));
            assert_eq!(known.scale("another"), 1.0);
            let text = serde_json::to_string(&known).unwrap();
            assert_eq!(serde_json::from_str::<Calibration>(&text).unwrap(), known);
        }
    }

    #[test]
    fn damaged_numbers_are_not_believed() {
        let known: Calibration = serde_json::from_str(r#"{"m": -5.0, "n": 1e300}"#).unwrap();
        assert_eq!((known.scale("m"), known.scale("n")), (0.25, 4.0));
    }
}
