//! One row of the result, and its numbers.

use std::fmt;
use std::time::Duration;

/// A number with its unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Quantity {
    Millis(f64),
    Bytes(f64),
    /// A count or a ratio.
    Number(f64),
}

impl Quantity {
    pub(super) fn number(self) -> f64 {
        match self {
            Self::Millis(number) | Self::Bytes(number) | Self::Number(number) => number,
        }
    }
}

impl From<Duration> for Quantity {
    fn from(duration: Duration) -> Self {
        Self::Millis(duration.as_secs_f64() * 1000.0)
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Millis(millis) => write!(f, "{millis:.2} ms"),
            Self::Bytes(bytes) if bytes >= 1_048_576.0 => write!(f, "{:.1} MiB", bytes / 1_048_576.0),
            Self::Bytes(bytes) => write!(f, "{:.1} KiB", bytes / 1024.0),
            Self::Number(number) => write!(f, "{number:.3}"),
        }
    }
}

/// The target of a row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Target {
    /// None; the row is informative.
    Open,
    Below(Quantity),
    AtMost(Quantity),
    AtLeast(Quantity),
    /// At most this many times the comparison.
    Times(f64),
    /// At least this many times the comparison.
    AtLeastTimes(f64),
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Open => f.write_str("-"),
            Self::Below(quantity) => write!(f, "< {quantity}"),
            Self::AtMost(quantity) => write!(f, "<= {quantity}"),
            Self::AtLeast(quantity) => write!(f, ">= {quantity}"),
            Self::Times(times) => write!(f, "<= {times}x"),
            Self::AtLeastTimes(times) => write!(f, ">= {times}x"),
        }
    }
}

/// One measurement.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Row {
    pub(super) name: String,
    /// The value, or the reason for which there is none.
    pub(super) measured: Result<Quantity, String>,
    pub(super) comparison: Option<(&'static str, Quantity)>,
    pub(super) target: Target,
    pub(super) note: String,
}

impl Row {
    pub(super) fn new(name: impl Into<String>, measured: impl Into<Quantity>) -> Self {
        Self {
            name: name.into(),
            measured: Ok(measured.into()),
            comparison: None,
            target: Target::Open,
            note: String::new(),
        }
    }

    pub(super) fn skipped(name: impl Into<String>, why: impl Into<String>) -> Self {
        Self { measured: Err(why.into()), ..Self::new(name, Quantity::Number(0.0)) }
    }

    pub(super) fn beside(mut self, name: &'static str, quantity: impl Into<Quantity>) -> Self {
        self.comparison = Some((name, quantity.into()));
        self
    }

    pub(super) fn target(mut self, target: Target) -> Self {
        self.target = target;
        self
    }

    pub(super) fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// The ratio to the comparison.
    pub(super) fn ratio(&self) -> Option<f64> {
        let (_, other) = self.comparison?;
        let measured = self.measured.as_ref().ok()?;
        (other.number() > 0.0).then(|| measured.number() / other.number())
    }

    /// `ok`, `missed`, or empty without a target.
    pub(super) fn verdict(&self) -> &'static str {
        let Ok(measured) = &self.measured else {
            return "skipped";
        };
        let within = match self.target {
            Target::Open => return "",
            Target::Below(limit) => measured.number() < limit.number(),
            Target::AtMost(limit) => measured.number() <= limit.number(),
            Target::AtLeast(limit) => measured.number() >= limit.number(),
            Target::AtLeastTimes(times) => self.ratio().is_some_and(|ratio| ratio >= times),
            Target::Times(times) => self.ratio().is_some_and(|ratio| ratio <= times),
        };
        if within { "ok" } else { "missed" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdict_follows_the_target() {
        let row = || Row::new("x", Quantity::Millis(8.0)).beside("y", Quantity::Millis(2.0));
        for (target, want) in [
            (Target::Open, ""),
            (Target::Times(4.0), "ok"),
            (Target::Times(3.9), "missed"),
            (Target::Below(Quantity::Millis(8.0)), "missed"),
            (Target::AtMost(Quantity::Millis(8.0)), "ok"),
            (Target::AtLeast(Quantity::Millis(8.1)), "missed"),
            (Target::AtLeastTimes(4.0), "ok"),
        ] {
            assert_eq!(row().target(target).verdict(), want, "{target:?}");
        }
        assert_eq!(Row::skipped("x", "why").verdict(), "skipped");
    }
}
