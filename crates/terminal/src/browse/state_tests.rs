use super::*;

fn entry(id: &str, name: &str) -> Entry {
    Entry {
        id: SessionId::new(id),
        name: name.into(),
        source: "cli".into(),
        messages: 4,
        when: "1h ago".into(),
        haystack: format!("{name}\n{id}").to_lowercase(),
    }
}

fn hit(id: &str) -> Hit {
    Hit {
        id: SessionId::new(id),
        name: String::new(),
        role: "user".into(),
        snippet: "a >>>fox<<<".into(),
        when: "2d ago".into(),
    }
}

const SIZE: Size = Size { columns: 100, lines: 8 };

fn picker() -> Picker {
    Picker::new(vec![entry("a1", "The Fox"), entry("b2", "A hen"), entry("c3", "中文搜索")], SIZE)
}

fn many(count: usize) -> Picker {
    Picker::new((0..count).map(|number| entry(&format!("s{number}"), "x")).collect(), SIZE)
}

fn press(picker: &mut Picker, keys: &[Key]) -> Vec<Action> {
    keys.iter().map(|key| picker.apply(Event::Key(key.clone()))).collect()
}

fn typed(picker: &mut Picker, text: &str) {
    press(picker, &[Key::Text(text.to_owned())]);
}

/// The ids of the rows' sessions.
fn ids(picker: &Picker) -> String {
    picker.rows().map(|row| row.id().to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn every_term_of_the_query_filters() {
    for (query, want) in [
        ("", "a1 b2 c3"),
        ("fox", "a1"),
        ("FOX the", "a1"),
        ("fox hen", ""),
        ("  e  ", "a1 b2"),
        ("搜索", "c3"),
        ("b2", "b2"),
    ] {
        let mut picker = picker();
        typed(&mut picker, query);
        assert_eq!(ids(&picker), want, "{query:?}");
    }
}

#[test]
fn enter_escape_and_ctrl_c_end_the_picker() {
    let resume = |id: &str| Action::Resume(SessionId::new(id));
    let text = |text: &str| Key::Text(text.into());
    for (keys, want) in [
        (vec![Key::Enter], resume("a1")),
        (vec![Key::Down, Key::Enter], resume("b2")),
        (vec![text("hen"), Key::Enter], resume("b2")),
        (vec![text("nothing like it"), Key::Enter], Action::Stay),
        (vec![Key::Escape], Action::Leave),
        (vec![text("q"), Key::Escape], Action::Stay),
        (vec![text("q"), Key::Escape, Key::Escape], Action::Leave),
        (vec![text("q")], Action::Stay),
        (vec![text("q"), Key::Control('c')], Action::Interrupt),
        (vec![Key::Down, text("fox"), Key::Backspace, Key::Enter], resume("a1")),
        (vec![text("no hen"), Key::Control('u'), Key::End, Key::Enter], resume("c3")),
        (vec![text("the walrus"), Key::Control('w'), Key::Enter], resume("a1")),
    ] {
        assert_eq!(press(&mut picker(), &keys).pop(), Some(want), "{keys:?}");
    }
}

#[test]
fn selection_stays_visible() {
    // Five rows of ten are visible.
    for (keys, selected, top) in [
        (vec![Key::Up], 0, 0),
        (vec![Key::Down; 4], 4, 0),
        (vec![Key::Control('n'); 5], 5, 1),
        (vec![Key::End], 9, 5),
        (vec![Key::End, Key::Down], 9, 5),
        (vec![Key::End, Key::Control('p')], 8, 5),
        (vec![Key::End, Key::PageUp], 4, 4),
        (vec![Key::PageDown], 5, 1),
        (vec![Key::End, Key::Home], 0, 0),
    ] {
        let mut picker = many(10);
        press(&mut picker, &keys);
        assert_eq!((picker.selected(), picker.top()), (selected, top), "{keys:?}");
    }
    let mut picker = many(10);
    press(&mut picker, &[Key::End]);
    for (lines, top) in [(20, 0), (4, 9), (8, 5), (1, 9)] {
        picker.apply(Event::Resized(Size { columns: 40, lines }));
        assert_eq!((picker.selected(), picker.top()), (9, top), "{lines} lines");
    }
}

#[test]
fn search_starts_at_two_letters_or_one_ideograph() {
    for (query, want) in [
        ("", None),
        ("f", None),
        (" f ", None),
        ("fo", Some("fo")),
        ("中", Some("中")),
        ("한", Some("한")),
        ("é", None),
    ] {
        let mut picker = picker();
        typed(&mut picker, query);
        assert_eq!(picker.wanted_search(), want, "{query:?}");
    }
}

#[test]
fn results_of_outdated_queries_are_dropped() {
    let found = |query: &str, id: &str| Event::Searched {
        query: query.into(),
        found: SearchResult { hits: vec![hit(id)], remark: None },
    };
    let mut picker = picker();
    typed(&mut picker, "fo");
    picker.apply(found("f", "z9"));
    assert_eq!((ids(&picker).as_str(), picker.wanted_search()), ("a1", Some("fo")));
    picker.apply(found("fo", "b2"));
    assert_eq!((ids(&picker).as_str(), picker.wanted_search()), ("a1 b2", None));
    // A trailing space does not change the query.
    typed(&mut picker, " ");
    assert_eq!(ids(&picker), "a1 b2");
    press(&mut picker, &[Key::Down]);
    assert_eq!(press(&mut picker.clone(), &[Key::Enter]), [Action::Resume(SessionId::new("b2"))]);
    typed(&mut picker, "z");
    assert_eq!((ids(&picker).as_str(), picker.wanted_search(), picker.selected()), ("", Some("fo z"), 0));
    picker.apply(found("fo", "b2"));
    assert_eq!(ids(&picker), "");
}

#[test]
fn preview_follows_the_selection() {
    let said = || vec![PreviewMessage { who: "you", text: "hi".into() }];
    let tail = |id: &str| Event::Tail { id: SessionId::new(id), said: said() };
    let mut picker = picker();
    assert_eq!(picker.wanted_tail(), None);
    press(&mut picker, &[Key::Tab]);
    assert_eq!(picker.wanted_tail().map(SessionId::as_str), Some("a1"));
    press(&mut picker, &[Key::Down]);
    picker.apply(tail("a1"));
    assert_eq!((picker.preview(), picker.wanted_tail().map(SessionId::as_str)), (None, Some("b2")));
    picker.apply(tail("b2"));
    assert_eq!((picker.preview(), picker.wanted_tail()), (Some(&said()[..]), None));
    press(&mut picker, &[Key::Left]);
    assert_eq!(picker.layout().preview, None);
    press(&mut picker, &[Key::Right]);
    assert!(picker.layout().preview.is_some());
    typed(&mut picker, "nothing like it");
    assert_eq!((picker.preview(), picker.wanted_tail()), (None, None));
}
