use super::*;

/// Segments from `tools|system|message|message`, each ten bytes long.
fn segments(text: &str) -> Vec<Segment> {
    let kinds =
        [SegmentKind::Tools, SegmentKind::System].into_iter().chain(std::iter::repeat(SegmentKind::Message));
    let parts = text.split('|').zip(kinds).filter(|(part, _)| !part.is_empty());
    let hash = |part: &str| {
        let mut hash = [7; 16];
        hash[..part.len()].copy_from_slice(part.as_bytes());
        hash
    };
    parts.map(|(part, kind)| Segment { kind, hash: hash(part), len: 10 }).collect()
}

fn model(name: &str, has_tools: bool) -> CacheOf {
    CacheOf { provider: "p".into(), model: name.into(), has_tools }
}

fn steps(requests: &[(&str, &str)]) -> Vec<(PrefixStatus, u64, u64)> {
    let mut ledger = CacheLedger::default();
    let each = requests.iter().map(|(name, text)| {
        let entry = ledger.enter(model(name, !text.starts_with('|')), &segments(text));
        (entry.status, entry.kept, entry.lost)
    });
    each.collect()
}

use PrefixStatus::{Broken, Extends, First, Unexplained};

#[test]
fn a_request_goes_on_from_the_one_before_or_does_not() {
    for (what, requests, want) in [
        ("one more message", vec![("m", "t|s|a"), ("m", "t|s|a|b")], vec![(First, 0, 0), (Extends, 30, 0)]),
        ("the same again", vec![("m", "t|s|a"), ("m", "t|s|a")], vec![(First, 0, 0), (Extends, 30, 0)]),
        (
            "another tool",
            vec![("m", "t|s|a"), ("m", "T|s|a|b")],
            vec![(First, 0, 0), (Unexplained(PromptPart::Tools), 0, 30)],
        ),
        (
            "another prompt",
            vec![("m", "t|s|a"), ("m", "t|S|a|b")],
            vec![(First, 0, 0), (Unexplained(PromptPart::System), 10, 20)],
        ),
        (
            "an old message is another one",
            vec![("m", "t|s|a|b"), ("m", "t|s|A|b|c")],
            vec![(First, 0, 0), (Unexplained(PromptPart::Messages), 20, 20)],
        ),
        (
            "a message is gone",
            vec![("m", "t|s|a|b"), ("m", "t|s|a")],
            vec![(First, 0, 0), (Unexplained(PromptPart::Messages), 20, 20)],
        ),
        (
            "two messages changed places",
            vec![("m", "t|s|a|b"), ("m", "t|s|b|a")],
            vec![(First, 0, 0), (Unexplained(PromptPart::Messages), 20, 20)],
        ),
        (
            "another model, and back",
            vec![("m", "t|s|a"), ("n", "t|x|a|b"), ("m", "t|s|a|b|c")],
            vec![(First, 0, 0), (Broken(CacheBreak::ModelSwitch), 0, 0), (Extends, 30, 0)],
        ),
        (
            "another model, where there are no tools at all",
            vec![("m", "|s|a"), ("n", "|x|a|b"), ("m", "|s|a|b|c")],
            vec![(First, 0, 0), (Broken(CacheBreak::ModelSwitch), 0, 0), (Extends, 20, 0)],
        ),
        (
            "a final call without tools, then calls with tools",
            vec![("m", "t|s|a"), ("m", "|s|a|b"), ("m", "t|s|a|b|c")],
            vec![(First, 0, 0), (Broken(CacheBreak::WithoutTools), 0, 0), (Extends, 30, 0)],
        ),
    ] {
        assert_eq!(steps(&requests), want, "{what}");
    }
}

#[test]
fn declared_cache_break_is_reported_once_with_its_reason() {
    for reason in CacheBreak::ALL {
        let mut ledger = CacheLedger::default();
        let enter =
            |ledger: &mut CacheLedger, text: &str| ledger.enter(model("m", true), &segments(text)).status;
        assert_eq!(enter(&mut ledger, "t|s|a"), First);
        ledger.declare(reason);
        assert_eq!(enter(&mut ledger, "t|S|a"), Broken(reason));
        assert_eq!(enter(&mut ledger, "t|s|a"), Unexplained(PromptPart::System), "{reason:?} is used up");
        ledger.declare(reason);
        assert_eq!(enter(&mut ledger, "t|s|a|b"), Extends);
        assert_eq!(
            enter(&mut ledger, "t|s|A|b"),
            Unexplained(PromptPart::Messages),
            "{reason:?} was not needed"
        );
    }
}

#[test]
fn what_another_process_sent_counts() {
    let mut first = CacheLedger::default();
    let mark = first.enter(model("m", true), &segments("t|s|a|b")).mark;
    for (text, want) in [
        ("t|s|a|b|c", Extends),
        ("t|s|a|B|c", Unexplained(PromptPart::Messages)),
        ("T|s|a|b|c", Broken(CacheBreak::ToolSet)),
        ("t|S|a|b|c", Broken(CacheBreak::Settings)),
    ] {
        let mut second = CacheLedger::default();
        second.remember(model("m", true), mark);
        second.remember(model("m", true), PrefixDigest::default());
        assert_eq!(second.enter(model("m", true), &segments(text)).status, want, "{text}");
    }
}
