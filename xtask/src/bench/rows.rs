//! Computes rows from samples: medians, slopes and targets.

use super::Effort;
use super::callgrind::instructions;
use super::rounds::{FEW, LONG_PAST, MANY, Pair, Rounds, SHORT_PAST, Stage};
use super::row::{Quantity, Row, Target};
use super::strace::{Fsyncs, fsyncs};
use crate::measure::Sample;
use crate::serve::{Scenario, TOKENS};
use anyhow::Result;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// The third point of the flatness row; as far from [`MANY`] as that is from [`FEW`].
const MOST: usize = 140;

const MIB: f64 = 1_048_576.0;

/// All rows, in the order of the table.
pub(super) fn all(rounds: &Rounds, effort: Effort) -> Result<Vec<Row>> {
    let counting = Counting::set(&rounds.hermes)?;
    let mut rows = starting(rounds);
    rows.extend(first_request(rounds, &counting)?);
    rows.push(per_call(rounds));
    rows.push(flatness(&counting, effort)?);
    rows.push(recording(&counting, effort)?);
    rows.extend(waiting_and_streaming(rounds));
    rows.extend(resuming(rounds));
    rows.push(fsyncs_per_call(&counting)?);
    rows.extend(sizes(rounds)?);
    Ok(rows)
}

fn starting(rounds: &Rounds) -> Vec<Row> {
    let (version, one_shot, fresh) =
        (&rounds.series.version, &rounds.series.one_shot, &rounds.series.fresh_home);
    let below_30_ms = Target::Below(Quantity::Millis(30.0));
    let below_30_mib = Target::Below(Quantity::Bytes(30.0 * MIB));
    vec![
        compared("--version, CPU", version, cpu, "hello world").target(Target::Times(4.0)),
        compared("--version, peak RSS", version, rss, "hello world"),
        compared("one-shot, CPU", one_shot, cpu, "bare client").target(below_30_ms),
        compared("one-shot, peak RSS", one_shot, rss, "bare client").target(below_30_mib),
        Row::new("one-shot in a fresh home, CPU", median(fresh, cpu)).target(below_30_ms),
        Row::new("one-shot in a fresh home, peak RSS", median(fresh, rss)).target(below_30_mib),
    ]
}

fn first_request(rounds: &Rounds, counting: &Counting<'_>) -> Result<Vec<Row>> {
    let seen = &rounds.series.first_request;
    let note = match missing("strace") {
        Some(why) => why,
        None => {
            let traced = counting.fsyncs(&counting.few)?;
            let each = middle(traced.durations.iter().map(Duration::as_secs_f64).collect()) * 1000.0;
            format!("{} fsyncs before it; median fsync {each:.2} ms under strace", traced.before_request)
        }
    };
    Ok(vec![
        Row::new("to the first request byte, CPU", median(seen, |seen| seen.cpu.into()))
            .target(Target::AtMost(Quantity::Millis(15.0))),
        Row::new("to the first request byte, wall", median(seen, |seen| seen.wall.into())).note(note),
    ])
}

fn per_call(rounds: &Rounds) -> Row {
    let (few, many) = (&rounds.series.few_calls, &rounds.series.many_calls);
    let slope = |few, many| {
        Quantity::Millis((median(many, cpu).number() - median(few, cpu).number()) / (MANY - FEW) as f64)
    };
    Row::new("per tool call, CPU", slope(&few.hermes, &many.hermes))
        .beside("bare client", slope(&few.other, &many.other))
        .target(Target::Times(4.0))
        .note(format!("slope between {FEW} and {MANY} calls of `echo`"))
}

/// The cost of the later calls of a long turn relative to the earlier ones.
fn flatness(counting: &Counting<'_>, effort: Effort) -> Result<Row> {
    const NAME: &str = "later calls / earlier calls, instructions";
    if let Some(why) = missing("valgrind") {
        return Ok(Row::skipped(NAME, why));
    }
    let stages = [&counting.few, &counting.many, &counting.most];
    let mut counts = [const { Vec::new() }; 3];
    for _ in 0..effort.callgrind_rounds {
        for (stage, counts) in stages.iter().zip(&mut counts) {
            counts.push(counting.instructions(stage)? as f64);
        }
    }
    let [few, many, most] = counts.map(middle);
    let calls = (MANY - FEW) as f64 * 1e6;
    Ok(Row::new(NAME, Quantity::Number((most - many) / (many - few)))
        .target(Target::AtMost(Quantity::Number(1.05)))
        .note(format!(
            "{:.2} and {:.2} million instructions per call",
            (many - few) / calls,
            (most - many) / calls
        )))
}

/// The cost of a recorded run relative to an unrecorded one, including its start.
fn recording(counting: &Counting<'_>, effort: Effort) -> Result<Row> {
    const NAME: &str = "with --record / without, instructions";
    if let Some(why) = missing("valgrind") {
        return Ok(Row::skipped(NAME, why));
    }
    let (mut plain, mut recorded) = (Vec::new(), Vec::new());
    for _ in 0..effort.callgrind_rounds {
        plain.push(counting.instructions(&counting.many)? as f64);
        let copy = counting.many.copy()?;
        recorded.push(instructions(&copy.recorded(counting.hermes))? as f64);
    }
    let (plain, recorded) = (middle(plain), middle(recorded));
    let each = (recorded - plain) / MANY as f64 / 1000.0;
    Ok(Row::new(NAME, Quantity::Number(recorded / plain))
        .target(Target::AtMost(Quantity::Number(1.03)))
        .note(format!("{MANY} calls; {each:.0} thousand instructions per call")))
}

fn waiting_and_streaming(rounds: &Rounds) -> Vec<Row> {
    let (sleeps, stream, one_shot) = (&rounds.series.sleeps, &rounds.series.stream, &rounds.series.one_shot);
    let without_start = |long, short| median(long, cpu).number() - median(short, cpu).number();
    let streaming =
        without_start(&stream.hermes, &one_shot.hermes) / without_start(&stream.other, &one_shot.other);
    vec![
        compared("8 `sleep 0.2` in one reply, wall", sleeps, |sample| sample.wall.into(), "bare client")
            .target(Target::Times(1.1)),
        compared(format!("{TOKENS}-token stream, CPU"), stream, cpu, "bare client")
            .target(Target::Times(5.0))
            .note(format!("{streaming:.2}x without both programs' one-shot")),
    ]
}

fn resuming(rounds: &Rounds) -> Vec<Row> {
    let (short, long) = (&rounds.series.short_past, &rounds.series.long_past);
    let name = |messages: u32| format!("resume with {messages} messages, CPU");
    vec![
        compared(name(SHORT_PAST), short, cpu, "bare client"),
        compared(name(LONG_PAST), long, cpu, "bare client").target(Target::Times(10.0)),
        compared(format!("resume with {LONG_PAST} messages, peak RSS"), long, rss, "bare client"),
    ]
}

fn fsyncs_per_call(counting: &Counting<'_>) -> Result<Row> {
    const NAME: &str = "fsyncs per tool call";
    if let Some(why) = missing("strace") {
        return Ok(Row::skipped(NAME, why));
    }
    let (few, many) = (counting.fsyncs(&counting.few)?, counting.fsyncs(&counting.many)?);
    let more = many.count as f64 - few.count as f64;
    Ok(Row::new(NAME, Quantity::Number(more / (MANY - FEW) as f64))
        .target(Target::AtMost(Quantity::Number(2.0)))
        .note(format!("and {} checkpoints in {MANY} calls, counted apart", many.checkpoints)))
}

fn sizes(rounds: &Rounds) -> Result<Vec<Row>> {
    let request = median(&rounds.series.first_request, |seen| Quantity::Bytes(seen.bytes as f64));
    let binary = std::fs::metadata(&rounds.hermes)?.len() as f64;
    Ok(vec![
        Row::new("first request of a trivial prompt", request)
            .target(Target::Below(Quantity::Bytes(16_384.0))),
        Row::new("binary", Quantity::Bytes(binary)).target(Target::Below(Quantity::Bytes(40.0 * MIB))),
    ])
}

/// Stages for runs that are counted, not timed. All use the same home directory, and each run gets a copy of
/// it, so that a count is not affected by earlier runs.
struct Counting<'a> {
    hermes: &'a Path,
    few: Stage,
    many: Stage,
    most: Stage,
}

impl<'a> Counting<'a> {
    fn set(hermes: &'a Path) -> Result<Self> {
        let stage = |calls| Stage::with_short_session(Scenario::Calls(calls), hermes);
        Ok(Self { hermes, few: stage(FEW)?, many: stage(MANY)?, most: stage(MOST)? })
    }

    fn fsyncs(&self, stage: &Stage) -> Result<Fsyncs> {
        fsyncs(&stage.copy()?.one_shot(self.hermes))
    }

    fn instructions(&self, stage: &Stage) -> Result<u64> {
        instructions(&stage.copy()?.one_shot(self.hermes))
    }
}

fn compared(
    name: impl Into<String>,
    pair: &Pair,
    of: impl Fn(&Sample) -> Quantity,
    other: &'static str,
) -> Row {
    Row::new(name, median(&pair.hermes, &of)).beside(other, median(&pair.other, &of))
}

fn cpu(sample: &Sample) -> Quantity {
    sample.cpu.into()
}

fn rss(sample: &Sample) -> Quantity {
    Quantity::Bytes(sample.peak_rss as f64)
}

/// The median of one quantity of the samples.
fn median<T>(samples: &[T], of: impl Fn(&T) -> Quantity) -> Quantity {
    let number = middle(samples.iter().map(|sample| of(sample).number()).collect());
    match samples.first().map(of) {
        Some(Quantity::Millis(_)) => Quantity::Millis(number),
        Some(Quantity::Bytes(_)) => Quantity::Bytes(number),
        Some(Quantity::Number(_)) | None => Quantity::Number(number),
    }
}

/// The median; of an even number of values, the mean of the two in the middle.
fn middle(mut numbers: Vec<f64>) -> f64 {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    match numbers.len() {
        0 => f64::NAN,
        length if length % 2 == 0 => f64::midpoint(numbers[half - 1], numbers[half]),
        _ => numbers[half],
    }
}

/// The reason for which a tool cannot be used, if any.
fn missing(tool: &str) -> Option<String> {
    let asked = Command::new(tool).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let works = asked.is_ok_and(|status| status.success());
    (!works).then(|| format!("skipped: {tool} is not installed"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_ignores_outliers() {
        for (numbers, want) in [(vec![9.0, 1.0, 2.0], 2.0), (vec![4.0, 2.0], 3.0), (vec![1.0], 1.0)] {
            assert_eq!(middle(numbers.clone()), want, "{numbers:?}");
        }
        assert!(middle(Vec::new()).is_nan());
    }

    #[test]
    fn missing_tool_is_named() {
        let why = missing("no-such-tool-anywhere");
        assert_eq!(why.as_deref(), Some("skipped: no-such-tool-anywhere is not installed"));
    }
}
