//! The rates over the corpus: dangerous commands ask or are denied, hardline ones are denied, harmless ones run.

use crate::support::{entries, scene};
use hermes_gate::{Verdict, assess};

const HARDLINE: &str = include_str!("../corpus/hardline.txt");
const DANGEROUS: &str = include_str!("../corpus/dangerous.txt");
const HARMLESS: &str = include_str!("../corpus/harmless.txt");

/// Prints the entries that miss their verdict, and returns their number.
fn misses(name: &str, text: &str, is_right: impl Fn(Verdict) -> bool) -> (usize, usize) {
    let scene = scene();
    let all = entries(text);
    let missed: Vec<_> =
        all.iter().filter(|(_, command)| !is_right(assess(command, &scene).verdict())).collect();
    for (class, command) in &missed {
        let findings: Vec<String> =
            assess(command, &scene).findings.iter().map(|finding| finding.rule.to_string()).collect();
        println!("{name} [{class}] {command:?} {findings:?}");
    }
    println!("{name}: {} of {} missed", missed.len(), all.len());
    (missed.len(), all.len())
}

#[test]
fn hardline_commands_are_denied() {
    let (missed, count) = misses("hardline", HARDLINE, |verdict| verdict == Verdict::Deny);
    assert!(count >= 200);
    assert_eq!(missed, 0);
}

#[test]
fn dangerous_commands_ask() {
    let (missed, count) = misses("dangerous", DANGEROUS, |verdict| verdict != Verdict::Allow);
    assert!(count >= 500);
    assert!(missed * 100 <= count, "{missed} of {count} run without a question");
}

#[test]
fn harmless_commands_run() {
    let (missed, count) = misses("harmless", HARMLESS, |verdict| verdict == Verdict::Allow);
    assert!(count >= 400);
    assert!(missed * 50 <= count, "{missed} of {count} ask");
}

/// Written after the rules, without looking at them, in two rounds. At first sight 110 of 114 and 81 of 84 dangerous
/// ones asked, and 2 of 147 and 0 of 110 harmless ones.
const HELD_OUT_DANGEROUS: &str = include_str!("../corpus/held_out_dangerous.txt");
const HELD_OUT_HARMLESS: &str = include_str!("../corpus/held_out_harmless.txt");

#[test]
fn held_out_commands_get_their_verdict() {
    let dangerous = misses("held-out dangerous", HELD_OUT_DANGEROUS, |verdict| verdict != Verdict::Allow);
    let harmless = misses("held-out harmless", HELD_OUT_HARMLESS, |verdict| verdict == Verdict::Allow);
    assert!(dangerous.0 * 100 <= dangerous.1, "{dangerous:?} run without a question");
    assert!(harmless.0 * 50 <= harmless.1, "{harmless:?} ask");
}

/// Sets by two authors who knew neither the rules nor the other sets, with the names of their files. At first sight 296
/// and 291 of 300 dangerous ones asked or were denied, 115 of 117 and 59 of 60 hardline ones were denied, and 9 of 400
/// and 6 of 300 harmless ones asked.
#[test]
fn independent_commands_get_their_verdict() {
    let first = (
        include_str!("../corpus/independent_dangerous.txt"),
        include_str!("../corpus/independent_hardline.txt"),
        include_str!("../corpus/independent_harmless.txt"),
    );
    let second = (
        include_str!("../corpus/second_dangerous.txt"),
        include_str!("../corpus/second_hardline.txt"),
        include_str!("../corpus/second_harmless.txt"),
    );
    for (name, (dangerous, hardline, harmless)) in [("first", first), ("second", second)] {
        let dangerous = misses(&format!("{name} dangerous"), dangerous, |verdict| verdict != Verdict::Allow);
        let hardline = misses(&format!("{name} hardline"), hardline, |verdict| verdict == Verdict::Deny);
        let harmless = misses(&format!("{name} harmless"), harmless, |verdict| verdict == Verdict::Allow);
        assert!(dangerous.0 * 100 <= dangerous.1, "{name}: {dangerous:?} run without a question");
        assert_eq!(hardline.0, 0, "{name}: {hardline:?}");
        assert!(harmless.0 * 50 <= harmless.1, "{name}: {harmless:?} ask");
    }
}
