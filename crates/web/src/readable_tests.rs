use super::*;
use crate::dom::parse;

#[test]
fn classes_show_boilerplate() {
    for (class, want) in [
        ("cookie-banner", true),
        ("site_nav", true),
        ("related-posts other", true),
        ("no-sidebar", false),
        ("layout has-sidebar", false),
        ("navigate", false),
        ("shadow", false),
        ("main-menu-content", false),
        ("post-body", false),
    ] {
        let dom = parse(&format!("<div class='{class}'>x</div>"));
        let div = dom.find(Dom::ROOT, "div").unwrap();
        assert_eq!(is_around(&dom, div), want, "{class}");
    }
}

#[test]
fn hidden_elements_are_left_out() {
    for html in [
        "<p hidden>x</p>",
        "<p aria-hidden=true>x</p>",
        "<p style='display : none'>x</p>",
        "<p style='VISIBILITY:hidden'>x</p>",
        "<script>x</script>",
        "<template>x</template>",
    ] {
        let dom = parse(&format!("<body>{html}<div>{}</div>", "text ".repeat(100)));
        let content = content(&dom);
        let seen: String =
            dom.walk(Dom::ROOT, |id| content.is_skipped(id)).filter_map(|id| dom.text(id)).collect();
        assert!(!seen.contains('x') || seen.matches('x').count() == 100, "{html}: {seen}");
    }
}

#[test]
fn page_of_links_is_kept_whole() {
    let items: String = (0..30).map(|n| format!("<li><a href='/{n}'>Story number {n}</a></li>")).collect();
    let dom = parse(&format!("<body><ul>{items}</ul>"));
    let content = content(&dom);
    let links = dom.walk(content.root, |id| content.is_skipped(id)).filter(|id| dom.name(*id) == "a").count();
    assert_eq!(links, 30);
}
