//! Every string of every event, filled with control characters: none reaches the screen.

use super::*;
use crate::term;
use hermes_testkit::hostile_events::{HOSTILE, events, is_hostile};

fn shown(event: &TurnEvent, style: Style) -> String {
    let mut screen = Screen::new(style, true).with_questions(Arc::default()).in_conversation();
    let mut out = screen.event(event);
    out.push_str(&screen.end());
    term::escaped(&out, style.is_coloured()).into_owned()
}

#[test]
fn no_string_of_an_event_brings_control_characters_to_the_screen() {
    for (event, harmless) in events(HOSTILE).iter().zip(events("harmless")) {
        let plain = shown(event, Style::PLAIN);
        assert!(!plain.contains(is_hostile), "{event:?}: {plain:?}");
        // On a terminal only the styles that the same event has anyway.
        let (coloured, usual) = (shown(event, Style::COLOUR), shown(&harmless, Style::COLOUR));
        let styles = |text: &str| text.matches('\x1b').count();
        let extra = coloured.lines().count().saturating_sub(usual.lines().count()) * 2;
        assert!(styles(&coloured) <= styles(&usual) + extra, "{event:?}: {coloured:?}");
        let without = Style::COLOUR.all().iter().fold(coloured, |text, style| text.replace(style, ""));
        assert!(!without.contains(is_hostile), "{event:?}: {without:?}");
    }
}
