use super::*;

#[test]
fn attributes_are_sorted_for_the_search() {
    assert!(ATTRIBUTES.is_sorted());
}

#[test]
fn broken_markup_becomes_a_tree() {
    let dom = parse("<p>a<b>b<p>c</b>d<table><tr><td>e<div>f</table>g");
    assert_eq!(dom.flat_text(Dom::ROOT, 100), "abcdefg");
    assert_eq!(dom.find(Dom::ROOT, "td").map(|cell| dom.flat_text(cell, 100)), Some("ef".to_owned()));
}

#[test]
fn misplaced_text_of_a_table_moves_before_it() {
    let dom = parse("<table>early<tr><td>cell</table>");
    assert_eq!(dom.written_text(Dom::ROOT, 100), "earlycell");
}

#[test]
fn repeated_formatting_is_bounded() {
    let opened: String = (0..40_000).map(|n| format!("<b id={n}>")).collect();
    let html = format!("<div>{opened}</div>{}", "<div>x</div>".repeat(40_000));
    let started = Instant::now();
    let dom = parse(&html);
    assert!(dom.is_cut && dom.len() < MOST_NODES * 3, "{}", dom.len());
    assert!(started.elapsed() < PATIENCE * 4, "{:?}", started.elapsed());
}

#[test]
fn deep_markup_is_bounded_and_walked() {
    let html = format!("{}end", "<div>".repeat(400_000));
    let dom = parse_within(&html, Duration::from_millis(500));
    assert!(dom.is_cut && dom.len() <= MOST_NODES + PIECE, "{}", dom.len());
    assert!(dom.walk(Dom::ROOT, |_| false).count() > 100);
}
