use super::*;
use crate::{Keep, Past, Weights, Window, digest};
use hermes_conversation::Message;
use std::sync::Arc;

const ALL: [Trigger; 5] =
    [Trigger::Preflight, Trigger::Loop, Trigger::Overflow, Trigger::Manual, Trigger::Hygiene];

/// A history of so many messages with 100 tokens each.
fn history(messages: usize) -> Vec<Arc<Message>> {
    (0..messages).map(|_| Arc::new(Message::user("x".repeat(384)))).collect()
}

fn ask<T>(
    history: &[Arc<Message>],
    past: &Past,
    trigger: Trigger,
    answer: impl FnOnce(&Limits, &View<'_>) -> T,
) -> T {
    let weights = Weights::of(history);
    let view = View {
        history,
        weights: &weights,
        fixed: 0,
        last: None,
        scale: 1.0,
        window: Window::default(),
        trigger,
        focus: None,
        past,
        keep: &Keep::default(),
        nodes: &[],
        tools: &hermes_tools::KnownTools,
    };
    let limits = Limits {
        window_tokens: 200_000,
        threshold_tokens: 100_000,
        tail_tokens: 20_000,
        tail_messages: 8,
        max_summary_tokens: 10_000,
        hygiene_tokens: 170_000,
    };
    answer(&limits, &view)
}

#[test]
fn each_trigger_has_its_moment() {
    let on = CompressorSettings { hygiene_hard_message_limit: 2_500, ..Default::default() };
    let off = CompressorSettings { enabled: false, ..on.clone() };
    for (settings, messages, due) in [
        (&on, 3, vec![Trigger::Overflow, Trigger::Manual]),
        (&on, 999, vec![Trigger::Overflow, Trigger::Manual]),
        (&on, 1_000, vec![Trigger::Preflight, Trigger::Loop, Trigger::Overflow, Trigger::Manual]),
        (&on, 1_699, vec![Trigger::Preflight, Trigger::Loop, Trigger::Overflow, Trigger::Manual]),
        (&on, 1_700, ALL.to_vec()),
        (&off, 1_700, vec![Trigger::Overflow, Trigger::Manual]),
    ] {
        let history = history(messages);
        let is_due = |trigger: &Trigger| {
            ask(&history, &Past::default(), *trigger, |limits, view| is_due(settings, limits, view))
        };
        let found: Vec<Trigger> = ALL.into_iter().filter(is_due).collect();
        assert_eq!(found, due, "{messages} messages, enabled: {}", settings.enabled);
    }
    let many = CompressorSettings { hygiene_hard_message_limit: 10, ..on };
    let due =
        ask(&history(10), &Past::default(), Trigger::Hygiene, |limits, view| is_due(&many, limits, view));
    assert!(due, "many small messages");
    let few = CompressorSettings { hygiene_hard_message_limit: 1, ..many };
    let due = ask(&history(3), &Past::default(), Trigger::Hygiene, |limits, view| is_due(&few, limits, view));
    assert!(!due, "three messages are not compacted unattended");
}

#[test]
fn what_stops_a_compaction_and_whom() {
    use Trigger::{Hygiene, Loop, Manual, Overflow, Preflight};
    let history = history(1_000);
    let by_itself = vec![Preflight, Loop, Hygiene];
    let but_manual = vec![Preflight, Loop, Overflow, Hygiene];
    let past = |change: fn(&mut Past)| {
        let mut past = Past { count: 1, said_since: 50, left: Some(50_000), ..Default::default() };
        change(&mut past);
        past
    };
    let fixed_point = Past { digest: Some(digest(&history)), ..past(|_| {}) };
    let on = CompressorSettings::default();
    let off = CompressorSettings { enabled: false, ..Default::default() };
    for (name, settings, past, stopped) in [
        ("nothing", &on, past(|_| {}), vec![]),
        ("a cooldown", &on, past(|past| past.resting = Some("wait; or not".into())), by_itself.clone()),
        ("in vain once", &on, past(|past| past.ineffective = 1), vec![]),
        ("in vain twice", &on, past(|past| past.ineffective = 2), by_itself.clone()),
        ("excerpts twice", &on, past(|past| past.fallbacks = 2), by_itself.clone()),
        ("twice in this turn", &on, past(|past| past.in_this_turn = 2), vec![]),
        ("three times in this turn", &on, past(|past| past.in_this_turn = 3), ALL.to_vec()),
        ("a fixed point", &on, fixed_point, vec![Preflight, Loop, Manual, Hygiene]),
        ("another point", &on, past(|past| past.digest = Some(1)), vec![]),
        ("too little growth", &on, past(|past| past.left = Some(95_001)), by_itself),
        ("enough growth", &on, past(|past| past.left = Some(95_000)), vec![]),
        ("nobody spoke", &on, past(|past| past.said_since = 0), vec![Preflight, Hygiene]),
        ("no messages yet", &on, Past::default(), vec![]),
        ("it is off", &off, past(|_| {}), but_manual),
    ] {
        let objects = |trigger: &Trigger| {
            ask(&history, &past, *trigger, |limits, view| objection(settings, limits, view))
                .inspect(|why| assert!(why.contains(';'), "{name}: no advice in: {why}"))
                .is_some()
        };
        let found: Vec<Trigger> = ALL.into_iter().filter(objects).collect();
        assert_eq!(found, stopped, "{name}");
    }
}

#[test]
fn a_history_that_no_longer_fits_is_compacted_however_soon() {
    let past = Past { count: 1, said_since: 50, left: Some(235_000), ..Default::default() };
    let on = CompressorSettings::default();
    for (messages, stopped) in [(1_000, true), (1_899, true), (1_900, false), (2_360, false)] {
        let history = history(messages);
        let found =
            ask(&history, &past, Trigger::Loop, |limits, view| objection(&on, limits, view)).is_some();
        assert_eq!(found, stopped, "{messages}");
    }
}

#[test]
fn a_threshold_is_to_be_raised_only_where_that_leaves_room() {
    let limits = |window_tokens, threshold_tokens| Limits {
        window_tokens,
        threshold_tokens,
        tail_tokens: 1,
        tail_messages: 1,
        max_summary_tokens: 1,
        hygiene_tokens: 1,
    };
    let written = CompressorSettings { threshold: Some(0.5), ..Default::default() };
    for (settings, limits, is_raised) in [
        (&written, limits(200_000, 100_000), true),
        (&written, limits(200_000, 170_000), false),
        (&CompressorSettings::default(), limits(200_000, 100_000), false),
        (&CompressorSettings::default(), limits(4_096, 3_072), false),
    ] {
        assert_eq!(advice(settings, &limits).contains("raise"), is_raised, "{limits:?}");
    }
}

#[test]
fn growth_that_is_worth_a_compaction_fits_into_the_window() {
    for (threshold, want) in [(100_000, 5_000), (48_000, 4_096), (6_144, 768), (3_072, 384)] {
        assert_eq!(least_growth(threshold), want, "{threshold}");
    }
}
