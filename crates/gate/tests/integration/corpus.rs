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
    let missed: Vec<_> = all.iter().filter(|(_, command)| !is_right(assess(command, &scene).verdict())).collect();
    for (class, command) in &missed {
        let findings: Vec<String> = assess(command, &scene).findings.iter().map(|finding| finding.rule.to_string()).collect();
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
