//! The result page of DuckDuckGo for browsers without scripts.
//!
//! Its form is not promised, so everything in it may be missing: a block without a link is skipped, and
//! a page without results is an error only if it asks for proof of a human.

use super::Entry;
use crate::dom::{Dom, Id, parse};
use url::Url;

const MOST_TEXT: usize = 2_000;

pub(super) fn entries(html: &str) -> Result<Vec<Entry>, String> {
    let dom = parse(html);
    let all: Vec<Id> = dom.walk(Dom::ROOT, |_| false).collect();
    let links = all.iter().copied().filter(|id| dom.name(*id) == "a" && has_class(&dom, *id, "result__a"));
    let entries: Vec<Entry> = links.filter_map(|link| entry(&dom, link)).collect();
    let is_challenge = all.iter().any(|id| {
        has_class(&dom, *id, "anomaly-modal") || dom.attribute(*id, "id") == Some("challenge-form")
    });
    match entries.is_empty() && is_challenge {
        true => Err("it asks for proof of a human because of too many requests; try later, or set web.search_backend \
                     to a service with a key or to searxng"
            .to_owned()),
        false => Ok(entries),
    }
}

fn entry(dom: &Dom, link: Id) -> Option<Entry> {
    let block = std::iter::successors(dom.parent(link), |id| dom.parent(*id)).take(6);
    let block = block.into_iter().find(|id| has_class(dom, *id, "result"))?;
    let is_ad = has_class(dom, block, "result--ad");
    let url = target(dom.attribute(link, "href")?)?;
    let snippet = dom.walk(block, |_| false).find(|id| has_class(dom, *id, "result__snippet"));
    (!is_ad).then(|| Entry {
        url,
        title: dom.flat_text(link, MOST_TEXT),
        text: snippet.map(|id| dom.flat_text(id, MOST_TEXT)).unwrap_or_default(),
        failure: None,
    })
}

fn has_class(dom: &Dom, id: Id, wanted: &str) -> bool {
    dom.attribute(id, "class").is_some_and(|class| class.split_ascii_whitespace().any(|one| one == wanted))
}

/// The address of a result, which may be wrapped in a redirect of the service.
fn target(href: &str) -> Option<String> {
    let base = Url::parse("https://duckduckgo.com/").ok()?;
    let url = base.join(href).ok()?;
    let is_own =
        url.host_str().is_some_and(|host| host == "duckduckgo.com" || host.ends_with(".duckduckgo.com"));
    if !is_own {
        return Some(url.to_string());
    }
    // Advertisements go through another path.
    let wrapped = url.path() == "/l/";
    url.query_pairs().find(|(name, _)| wrapped && name == "uddg").map(|(_, value)| value.into_owned())
}
