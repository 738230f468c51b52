//! Feeds and other XML as readable text.
//!
//! A small reader without entities of documents: there is nothing that could expand, and nothing is loaded.

use crate::page::html_text;
use url::Url;

/// Elements of one document, and elements in each other.
const MOST_EVENTS: usize = 200_000;
const MOST_ITEMS: usize = 200;

#[derive(Debug, PartialEq)]
enum Event<'a> {
    Start { name: &'a str, attributes: &'a str, is_empty: bool },
    End(&'a str),
    Text(String),
}

/// The readable text of an XML document and its title.
pub(crate) fn readable(xml: &str, url: &Url, most: usize) -> (String, String) {
    let events = events(xml);
    let is_feed = events.iter().any(|event| matches!(event, Event::Start { name, .. } if is_item(name)));
    match is_feed {
        true => feed(&events, url, most),
        false => (String::new(), lines(&events, most)),
    }
}

fn is_item(name: &str) -> bool {
    matches!(name, "item" | "entry")
}

/// An entry of a feed, or the feed itself.
#[derive(Default)]
struct Item {
    title: String,
    link: String,
    date: String,
    text: String,
}

fn feed(events: &[Event<'_>], url: &Url, most: usize) -> (String, String) {
    let (mut whole, mut items, mut current) = (Item::default(), Vec::new(), None::<Item>);
    let mut open: Vec<&str> = Vec::new();
    for event in events {
        match event {
            Event::Start { name, attributes, is_empty } => {
                if is_item(name) {
                    current = Some(Item::default());
                }
                let item = current.as_mut().unwrap_or(&mut whole);
                let is_page = attribute(attributes, "rel").is_none_or(|rel| rel == "alternate");
                if *name == "link" && is_page && item.link.is_empty() {
                    item.link = attribute(attributes, "href").unwrap_or_default();
                }
                if !is_empty {
                    open.push(name);
                }
            }
            Event::End(name) => {
                open.pop();
                if is_item(name) {
                    items.extend(current.take());
                }
            }
            Event::Text(text) => {
                let item = current.as_mut().unwrap_or(&mut whole);
                // Only what stands directly in an entry or in the feed; an author has a name as well.
                item.add(open.last().copied().unwrap_or_default(), text);
            }
        }
        if items.len() >= MOST_ITEMS {
            break;
        }
    }
    let mut text = String::new();
    for item in items {
        item.write(url, &mut text);
        if text.len() > most {
            break;
        }
    }
    (whole.title, text.trim_end().to_owned())
}

impl Item {
    fn add(&mut self, name: &str, text: &str) {
        let text = text.trim();
        match name {
            "title" if self.title.is_empty() => self.title = text.to_owned(),
            "link" if self.link.is_empty() => self.link = text.to_owned(),
            "pubDate" | "published" | "updated" | "dc:date" if self.date.is_empty() => {
                self.date = text.to_owned()
            }
            "description" | "summary" | "content" | "content:encoded" if text.len() > self.text.len() => {
                self.text = text.to_owned();
            }
            _ => {}
        }
    }

    fn write(&self, url: &Url, out: &mut String) {
        let title = if self.title.is_empty() { "(no title)" } else { &self.title };
        let link = url
            .join(&self.link)
            .ok()
            .filter(|link| !self.link.is_empty() && matches!(link.scheme(), "http" | "https"));
        match link {
            Some(link) => out.push_str(&format!("## [{title}]({link})\n\n")),
            None => out.push_str(&format!("## {title}\n\n")),
        }
        for line in [&self.date, &html_text(&self.text, url)] {
            if !line.is_empty() {
                out.push_str(&format!("{line}\n\n"));
            }
        }
    }
}

/// The elements with text as `name: text`, one on each line.
fn lines(events: &[Event<'_>], most: usize) -> String {
    let (mut text, mut name) = (String::new(), "");
    for event in events {
        match event {
            Event::Start { name: started, .. } => name = started,
            Event::End(_) => {}
            Event::Text(found) => {
                let found = found.split_whitespace().collect::<Vec<_>>().join(" ");
                if !found.is_empty() {
                    text.push_str(&format!("{name}: {found}\n"));
                }
            }
        }
        if text.len() > most {
            break;
        }
    }
    text.trim_end().to_owned()
}

fn events(xml: &str) -> Vec<Event<'_>> {
    let (mut events, mut rest) = (Vec::new(), xml);
    while !rest.is_empty() && events.len() < MOST_EVENTS {
        let (text, after) = rest.split_once('<').unwrap_or((rest, ""));
        if !text.trim().is_empty() {
            events.push(Event::Text(plain(text)));
        }
        rest = if let Some(data) = after.strip_prefix("![CDATA[") {
            let (data, after) = data.split_once("]]>").unwrap_or((data, ""));
            events.push(Event::Text(data.to_owned()));
            after
        } else if let Some(comment) = after.strip_prefix("!--") {
            comment.split_once("-->").map_or("", |(_, after)| after)
        } else {
            let (tag, after) = after.split_once('>').unwrap_or((after, ""));
            events.extend(tag_event(tag));
            after
        };
    }
    events
}

fn tag_event(tag: &str) -> Option<Event<'_>> {
    if tag.starts_with(['?', '!']) || tag.is_empty() {
        return None;
    }
    if let Some(name) = tag.strip_prefix('/') {
        return Some(Event::End(name.trim()));
    }
    let (tag, is_empty) = tag.strip_suffix('/').map_or((tag, false), |tag| (tag, true));
    let (name, attributes) = tag.split_once(|c: char| c.is_whitespace()).unwrap_or((tag, ""));
    Some(Event::Start { name, attributes, is_empty })
}

fn attribute(attributes: &str, name: &str) -> Option<String> {
    let at = attributes.match_indices(name).find(|(at, _)| {
        let before = attributes.get(..*at).unwrap_or_default();
        before.is_empty() || before.ends_with(char::is_whitespace)
    })?;
    let rest = attributes.get(at.0 + name.len()..)?.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest.get(1..)?.split(quote).next().map(plain)
}

/// A text with the five entities of XML and numbers replaced.
fn plain(text: &str) -> String {
    let (mut all, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once('&') {
        all.push_str(before);
        let end = after.find(';').filter(|end| *end <= 8);
        let found = end.and_then(|end| Some((entity(after.get(..end)?)?, after.get(end + 1..)?)));
        match found {
            Some((c, after)) => {
                all.push(c);
                rest = after;
            }
            None => {
                all.push('&');
                rest = after;
            }
        }
    }
    all.push_str(rest);
    all
}

fn entity(name: &str) -> Option<char> {
    match name {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = name.strip_prefix('#')?;
            let code = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(code).filter(|c| !c.is_control())
        }
    }
}

#[cfg(test)]
#[path = "xml_tests.rs"]
mod tests;
