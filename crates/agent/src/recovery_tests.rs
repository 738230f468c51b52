use super::*;

fn fault(class: FaultClass, retry_after: Option<u64>) -> Fault {
    Fault { retry_after: retry_after.map(Duration::from_secs), ..Fault::new(class, "x") }
}

fn wait(seconds: u64) -> Option<Remedy> {
    Some(Remedy::Wait { delay: Duration::from_secs(seconds), why: "x".into() })
}

fn soon(millis: u64) -> Option<Remedy> {
    Some(Remedy::Wait { delay: Duration::from_millis(millis), why: "x".into() })
}

fn mends(quirk: Quirk) -> Option<Remedy> {
    Some(Remedy::Mend { quirk, why: "x".into() })
}

fn all_repaired() -> Quirks {
    let mut quirks = Quirks::default();
    Quirk::ALL.into_iter().for_each(|quirk| quirks.set(quirk));
    quirks
}

#[test]
fn the_remedy_fits_the_fault_and_what_was_spent() {
    use FaultClass::*;
    for (class, asked, failures, want) in [
        (RateLimited, Some(7), 1, wait(7)),
        (RateLimited, Some(9_999), 1, wait(600)),
        (RateLimited, None, 1, wait(2)),
        (RateLimited, None, 2, wait(4)),
        (Overloaded, Some(5), 1, wait(5)),
        (Overloaded, None, 2, soon(600)),
        (Server, None, 1, soon(300)),
        (Timeout, None, 2, soon(600)),
        (StreamCut, None, 1, soon(300)),
        (Garbled, None, 1, soon(300)),
        (Unknown, None, 1, soon(300)),
        (Unreachable, None, 1, soon(300)),
        (Unreachable, None, 2, soon(600)),
        (Server, None, 3, None),
        (RateLimited, Some(1), 3, None),
        (UpstreamRateLimited, None, 1, wait(2)),
        (StreamingUnsupported, None, 1, mends(Quirk::NoStreaming)),
        (ThinkingSignature, None, 1, mends(Quirk::NoReasoningReplay)),
        (EncryptedContent, None, 1, mends(Quirk::NoReasoningReplay)),
        (SchemaKeywords, None, 1, mends(Quirk::PlainSchemas)),
        (ToolImages, None, 1, mends(Quirk::TextResults)),
        (ImageTooLarge, None, 1, mends(Quirk::SmallImages)),
        (Certificate, None, 1, None),
        (ProviderPolicy, None, 1, None),
        (Auth, None, 1, None),
        (Billing, None, 1, None),
        (ContextOverflow, None, 1, Some(Remedy::Compact(fault(ContextOverflow, None)))),
        (PayloadTooLarge, None, 1, Some(Remedy::Compact(fault(PayloadTooLarge, None)))),
        (LongContextTier, None, 1, Some(Remedy::Compact(fault(LongContextTier, None)))),
        (ModelNotFound, None, 1, None),
        (ContentPolicy, None, 1, None),
        (Format, None, 1, None),
    ] {
        let spent = Spent { attempts: failures, keys_spent: true, ..Spent::default() };
        assert_eq!(decide(&fault(class, asked), &spent, &Limits::default()), want, "{class:?} {failures}");
    }
    let spent = Spent { attempts: 1, repaired: all_repaired(), ..Spent::default() };
    for class in
        [StreamingUnsupported, ThinkingSignature, EncryptedContent, SchemaKeywords, ToolImages, ImageTooLarge]
    {
        assert_eq!(decide(&fault(class, None), &spent, &Limits::default()), None, "{class:?}");
    }
}

#[test]
fn waits_grow_to_a_minute_and_no_further() {
    for (failures, want) in [(1, 2), (2, 4), (5, 32), (6, 60), (40, 60)] {
        assert_eq!(backoff(Duration::from_secs(2), failures), Duration::from_secs(want), "{failures}");
    }
}

/// With another model at hand: what every fault gets at the first failure, at the second, and when
/// the attempts are spent.
#[test]
fn every_fault_has_its_way_to_another_model() {
    use FaultClass::*;
    #[derive(Debug, PartialEq, Clone, Copy)]
    enum Way {
        Waits,
        MovesOn,
        Repairs,
        Compacts,
        Ends,
    }
    use Way::{Compacts, Ends, MovesOn, Repairs, Waits};
    let ways = |class: FaultClass| match class {
        Auth | Billing | RateLimited | UpstreamRateLimited | Certificate | ModelNotFound | ContentPolicy
        | Format | Garbled | LongContextBeta => [MovesOn; 3],
        Overloaded | Timeout | Unreachable | StreamCut => [Waits, MovesOn, MovesOn],
        Server | Unknown => [Waits, Waits, MovesOn],
        ThinkingSignature | EncryptedContent | StreamingUnsupported | SchemaKeywords | ToolImages
        | ImageTooLarge => [Repairs; 3],
        ContextOverflow | PayloadTooLarge | LongContextTier => [Compacts; 3],
        ProviderPolicy | Budget => [Ends; 3],
    };
    let way = |class, spent: &Spent| match decide(&fault(class, None), spent, &Limits::default()) {
        Some(Remedy::Wait { .. }) => Waits,
        Some(Remedy::NextModel { class: given, why }) => {
            assert_eq!((given, why.as_str()), (class, "x"));
            MovesOn
        }
        Some(Remedy::Mend { .. }) => Repairs,
        Some(Remedy::Compact(_)) => Compacts,
        Some(Remedy::NextKey(_)) => panic!("there is no other key"),
        Some(Remedy::RestoreCap { .. }) => panic!("the cap was not raised"),
        Some(
            Remedy::AskToContinue(_)
            | Remedy::AskAboutResults(_)
            | Remedy::AskForSummary
            | Remedy::RaiseCap(_)
            | Remedy::Resend(_)
            | Remedy::AskToVerify(..)
            | Remedy::AskToAct(_),
        ) => {
            panic!("not about faults")
        }
        None => Ends,
    };
    for class in FaultClass::ALL.iter().copied() {
        let with = |attempts| Spent { attempts, fallbacks_left: 1, keys_spent: true, ..Spent::default() };
        assert_eq!([1, 2, 3].map(|attempts| way(class, &with(attempts))), ways(class), "{class:?}");
        // Nothing moves on where nothing is left.
        let alone = Spent { attempts: 3, keys_spent: true, ..Spent::default() };
        assert!(way(class, &alone) != MovesOn, "{class:?}");
        // A history that was made shorter in vain ends the turn: another model would not make it fit.
        let shortened = Spent { compactions: 3, ..with(2) };
        assert!(ways(class) != [Compacts; 3] || way(class, &shortened) == Ends, "{class:?}");
        // A repair in vain leads to a fallback.
        let repaired = Spent { repaired: all_repaired(), ..with(2) };
        assert!(ways(class) != [Repairs; 3] || way(class, &repaired) == MovesOn, "{class:?}");
    }
}

#[test]
fn another_key_is_looked_for_before_another_model_and_before_waiting() {
    use FaultClass::*;
    let limits = Limits::default();
    for class in FaultClass::ALL.iter().copied() {
        let about_the_key = matches!(class, Auth | Billing | RateLimited);
        for (keys, keys_spent, fallbacks_left, wanted) in [
            (0, false, 0, about_the_key),
            (0, false, 2, about_the_key),
            (limits.keys - 1, false, 2, about_the_key),
            // The budget is spent, or the keys are.
            (limits.keys, false, 2, false),
            (0, true, 2, false),
        ] {
            let spent = Spent { attempts: 1, keys, keys_spent, fallbacks_left, ..Spent::default() };
            let got = decide(&fault(class, None), &spent, &limits);
            let row = format!("{class:?} {keys} {keys_spent} {fallbacks_left}: {got:?}");
            assert_eq!(matches!(&got, Some(Remedy::NextKey(given)) if given.class == class), wanted, "{row}");
        }
    }
}

#[test]
fn room_that_may_be_refused_is_taken_back_once() {
    use FaultClass::*;
    for class in FaultClass::ALL.iter().copied() {
        let may_be = matches!(class, Format | ContextOverflow | Budget);
        for (raises, cap, wanted) in [
            (0, OutputCap::MayGrow, false),
            (0, OutputCap::Full, false),
            (1, OutputCap::MayGrow, may_be),
            (4, OutputCap::Full, may_be),
            (4, OutputCap::Refused, false),
        ] {
            let spent = Spent { attempts: 1, fallbacks_left: 1, raises, cap, ..Spent::default() };
            let got = decide(&fault(class, None), &spent, &Limits::default());
            assert_eq!(
                got == Some(Remedy::RestoreCap { why: "x".into() }),
                wanted,
                "{class:?} {raises} {cap:?}: {got:?}"
            );
        }
    }
}

#[test]
fn only_limits_and_bills_let_the_first_model_rest() {
    for class in FaultClass::ALL.iter().copied() {
        use FaultClass::*;
        let rests = matches!(class, RateLimited | UpstreamRateLimited | Billing);
        assert_eq!(cooldown_after(class), rests.then_some(Duration::from_secs(60)), "{class:?}");
    }
}
