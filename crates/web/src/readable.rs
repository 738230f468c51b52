//! Finds the content of a page: what is neither navigation nor advertising nor a consent dialog.
//!
//! Two steps, both over counts that one pass collects: elements that their name, role or class gives away are left
//! out, and the content is the smallest element that has most of the remaining text. A page of which too little
//! remains is a page of links, and is kept as it is.

use crate::dom::{Dom, Id};

/// Elements that never have text to read.
#[rustfmt::skip]
const NEVER: [&str; 30] = [
    "applet", "audio", "base", "button", "canvas", "datalist", "embed", "frame", "frameset", "head", "iframe",
    "input", "link", "map", "meta", "meter", "noscript", "object", "option", "optgroup", "output", "param",
    "progress", "script", "select", "style", "svg", "template", "textarea", "video",
];
/// Elements around the content.
const AROUND: [&str; 5] = ["aside", "dialog", "footer", "menu", "nav"];
#[rustfmt::skip]
const ROLES: [&str; 9] = [
    "alertdialog", "banner", "complementary", "contentinfo", "dialog", "menu", "menubar", "navigation", "search",
];
/// Classes and ids of what is around the content, by their parts between hyphens.
#[rustfmt::skip]
const PARTS: [&str; 41] = [
    "ad", "ads", "advert", "advertisement", "adsense", "banner", "breadcrumb", "breadcrumbs", "disqus",
    "editsection", "footer", "hatnote", "headerlink", "masthead", "menu", "modal", "nav", "navbar", "navbox",
    "navigation", "newsletter", "noprint", "outbrain", "overlay", "pager", "pagination", "popup", "promo",
    "recommended", "related", "share", "sharing", "sidebar", "skip", "social", "sponsor", "sponsored",
    "subscribe", "taboola", "toc", "toolbar",
];
/// Those of dialogs before the page.
const WALLS: [&str; 7] = ["consent", "cookie", "cookiebar", "cookies", "gdpr", "onetrust", "usercentrics"];
/// Elements that are the page or its content, whatever their class is.
#[rustfmt::skip]
const KEPT: [&str; 9] = [
    "article", "body", "code", "h1", "h2", "h3", "html", "main", "pre",
];

/// The part of a page that is worth reading.
pub(crate) struct Content {
    pub(crate) root: Id,
    /// By the place of a node: it and everything below is left out.
    skipped: Vec<bool>,
}

impl Content {
    pub(crate) fn is_skipped(&self, id: Id) -> bool {
        self.skipped[Dom::index(id)]
    }
}

/// Bytes of text that must remain of a page.
const LEAST: usize = 100;

/// The content of a page.
pub(crate) fn content(dom: &Dom) -> Content {
    let whole = with_skipped(dom, |id| is_never(dom, id));
    let body = dom.find(Dom::ROOT, "body").unwrap_or(Dom::ROOT);
    let all = Counts::of(dom, &whole, body);
    let mut chosen = with_skipped(dom, |id| is_never(dom, id) || is_around(dom, id));
    let counts = Counts::of(dom, &chosen, body);
    let root = content_root(dom, &chosen, &counts, body);
    for id in link_blocks(dom, &chosen, &counts, root) {
        chosen[Dom::index(id)] = true;
    }
    let left = Counts::of(dom, &chosen, root).text(root);
    let is_enough = left >= LEAST.min(all.text(body) / 2) && left * 10 >= all.plain(body);
    match is_enough {
        true => Content { root, skipped: chosen },
        false => Content { root: body, skipped: whole },
    }
}

fn with_skipped(dom: &Dom, is_skipped: impl Fn(Id) -> bool) -> Vec<bool> {
    let mut skipped = vec![false; dom.len()];
    for id in dom.walk(Dom::ROOT, |_| false) {
        skipped[Dom::index(id)] = dom.is_element(id) && is_skipped(id);
    }
    skipped
}

fn is_never(dom: &Dom, id: Id) -> bool {
    NEVER.contains(&dom.name(id)) || is_hidden(dom, id) || is_wall(dom, id)
}

/// A dialog before the page, such as one for consent.
fn is_wall(dom: &Dom, id: Id) -> bool {
    let is_dialog = matches!(dom.attribute(id, "role"), Some("dialog" | "alertdialog"))
        || dom.attribute(id, "aria-modal") == Some("true");
    let has_part = || ["class", "id"].iter().any(|name| has_part(dom, id, name, &WALLS));
    is_dialog || (!KEPT.contains(&dom.name(id)) && has_part())
}

fn is_hidden(dom: &Dom, id: Id) -> bool {
    let style = dom.attribute(id, "style").unwrap_or_default();
    let style: String = style.chars().filter(|c| !c.is_whitespace()).collect::<String>().to_ascii_lowercase();
    let is_math = dom.attribute(id, "class").is_some_and(|class| class.contains("math"));
    dom.attribute(id, "hidden").is_some_and(|value| value != "until-found")
        || (dom.attribute(id, "aria-hidden") == Some("true") && !is_math)
        || style.contains("display:none")
        || style.contains("visibility:hidden")
}

fn is_around(dom: &Dom, id: Id) -> bool {
    let name = dom.name(id);
    if AROUND.contains(&name) {
        // An article has its own footer, and an aside in it is a remark.
        return !(matches!(name, "aside" | "footer") && is_in_article(dom, id));
    }
    if name == "header" {
        return !is_in_article(dom, id) && !starts_with_title(dom, id);
    }
    if dom.attribute(id, "role").is_some_and(|role| ROLES.contains(&role)) {
        return true;
    }
    !KEPT.contains(&name) && (has_part(dom, id, "class", &PARTS) || has_part(dom, id, "id", &PARTS))
}

fn starts_with_title(dom: &Dom, id: Id) -> bool {
    /// Nodes that are looked at.
    const NEAR: usize = 60;
    dom.walk(id, |_| false).take(NEAR).any(|id| dom.name(id) == "h1")
}

fn is_in_article(dom: &Dom, id: Id) -> bool {
    /// Elements between it and the article.
    const NEAR: usize = 6;
    let above = std::iter::successors(dom.parent(id), |id| dom.parent(*id)).take(NEAR);
    above.into_iter().any(|id| matches!(dom.name(id), "article" | "main"))
}

/// Returns true if a class or id has a part from the list. Each class is judged by itself: `no-sidebar`
/// and `has-sidebar` are about the layout.
fn has_part(dom: &Dom, id: Id, attribute: &str, list: &[&str]) -> bool {
    let Some(value) = dom.attribute(id, attribute) else { return false };
    value.split_ascii_whitespace().take(20).any(|class| {
        let class = class.to_ascii_lowercase();
        let mut parts = class.split(['-', '_', ':']).filter(|part| !part.is_empty());
        let is_layout =
            parts.clone().any(|part| matches!(part, "no" | "has" | "with" | "without" | "content" | "main"));
        !is_layout && parts.any(|part| list.contains(&part))
    })
}

/// Counts of each node: bytes of text, of text in links, and the number of links.
struct Counts(Vec<Count>);

#[derive(Debug, Clone, Copy, Default)]
struct Count {
    text: usize,
    linked: usize,
    links: usize,
}

impl Counts {
    fn of(dom: &Dom, skipped: &[bool], top: Id) -> Self {
        let mut counts = vec![Count::default(); dom.len()];
        let order: Vec<Id> = dom.walk(top, |id| skipped[Dom::index(id)]).collect();
        for id in &order {
            let text = dom.text(*id).unwrap_or_default();
            counts[Dom::index(*id)].text = text.split_whitespace().map(str::len).sum();
        }
        // Backwards, so that children are complete before their parent.
        for id in order.iter().rev().filter(|id| **id != top) {
            let mut own = counts[Dom::index(*id)];
            if dom.name(*id) == "a" && dom.attribute(*id, "href").is_some() {
                own = Count { linked: own.text, links: own.links + 1, ..own };
            }
            if let Some(parent) = dom.parent(*id) {
                let sum = &mut counts[Dom::index(parent)];
                sum.text += own.text;
                sum.linked += own.linked;
                sum.links += own.links;
            }
        }
        Self(counts)
    }

    fn at(&self, id: Id) -> Count {
        self.0[Dom::index(id)]
    }

    fn text(&self, id: Id) -> usize {
        self.at(id).text
    }

    /// Bytes outside of links.
    fn plain(&self, id: Id) -> usize {
        self.at(id).text.saturating_sub(self.at(id).linked)
    }
}

/// The element with the content: one that says so, else the smallest one with most of the text.
fn content_root(dom: &Dom, skipped: &[bool], counts: &Counts, body: Id) -> Id {
    let whole = counts.plain(body);
    let says_so = |id: &Id| {
        dom.name(*id) == "main"
            || dom.attribute(*id, "role") == Some("main")
            || dom.attribute(*id, "itemprop") == Some("articleBody")
    };
    let visible = || dom.walk(body, |id| skipped[Dom::index(id)]);
    let has_most = |id: &Id, tenths: usize| counts.plain(*id) * 10 >= whole * tenths && counts.text(*id) > 0;
    let main = visible().filter(says_so).find(|id| has_most(id, 4));
    let mut root = main.unwrap_or(body);
    // Down while one child has nearly everything; an article may have a little less, because comments follow it.
    loop {
        let next =
            dom.children(root).filter(|id| dom.is_element(*id) && !skipped[Dom::index(*id)]).find(|id| {
                let tenths = if dom.name(*id) == "article" { 6 } else { 9 };
                is_container(dom.name(*id))
                    && counts.plain(*id) * 10 >= counts.plain(root) * tenths
                    && has_most(id, 3)
            });
        match next {
            // A heading beside it belongs to the content.
            Some(id) if !has_heading_beside(dom, root, id) => root = id,
            _ => return root,
        }
    }
}

fn is_container(name: &str) -> bool {
    matches!(name, "article" | "body" | "center" | "div" | "main" | "section")
}

fn has_heading_beside(dom: &Dom, parent: Id, child: Id) -> bool {
    let is_heading = |id: Id| matches!(dom.name(id), "h1" | "h2");
    dom.children(parent)
        .filter(|id| *id != child)
        .any(|id| is_heading(id) || (dom.is_element(id) && dom.walk(id, |_| false).take(40).any(is_heading)))
}

/// Blocks below the content that are nearly only links: lists of other pages.
fn link_blocks(dom: &Dom, skipped: &[bool], counts: &Counts, root: Id) -> Vec<Id> {
    let is_block = |id: &Id| matches!(dom.name(*id), "div" | "ul" | "ol" | "section" | "p");
    let is_links = |id: &Id| {
        let count = counts.at(*id);
        *id != root
            && count.links >= 4
            && count.linked * 10 >= count.text * 8
            && count.text < 40 * count.links
    };
    // A list in running text is kept: it is part of an article if something tells of it.
    let is_told_of = |id: &Id| {
        dom.elements_before(*id)
            .next()
            .is_some_and(|one| matches!(dom.name(one), "p" | "h1" | "h2" | "h3" | "h4"))
    };
    let visible = dom.walk(root, |id| skipped[Dom::index(id)]);
    visible.filter(|id| is_block(id) && is_links(id) && !is_told_of(id)).collect()
}

#[cfg(test)]
#[path = "readable_tests.rs"]
mod tests;
