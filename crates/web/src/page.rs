//! A fetched page as Markdown with its title.

use crate::decode::{Kind, kind, text, unpacked};
use crate::dom::{Dom, parse};
use crate::markdown::markdown;
use crate::readable::content;
use crate::xml;
use hermes_documents::pdf_text;
use hermes_providers::Page;
use url::Url;

/// Bytes of a page without compression.
pub(crate) const MOST_BYTES: usize = 10 << 20;
/// Characters of a page as Markdown.
pub(crate) const MOST_TEXT: usize = 2_000_000;
/// Characters of a title.
const MOST_TITLE: usize = 300;

/// A page that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ReadPage {
    pub(crate) title: String,
    pub(crate) text: String,
    /// The end of the page is missing, because it is too large.
    pub(crate) is_cut: bool,
}

/// Reads a page. Takes time that depends on its size, so it is not called on the thread of the event loop.
pub(crate) fn read(page: Page) -> Result<ReadPage, String> {
    let content_type = page.content_type.as_deref();
    let (bytes, is_longer) = unpacked(page.bytes, page.encoding.as_deref(), MOST_BYTES)?;
    let is_cut = page.is_cut || is_longer;
    let mut read = match kind(content_type, &bytes)? {
        Kind::Html => html(&text(content_type, &bytes), &page.url),
        Kind::Xml => {
            let (title, text) = xml::readable(&text(content_type, &bytes), &page.url, MOST_TEXT);
            ReadPage { title, text, is_cut: false }
        }
        Kind::Pdf => pdf(&bytes, is_cut)?,
        Kind::Text => ReadPage { title: String::new(), text: text(content_type, &bytes), is_cut: false },
    };
    read.is_cut |= is_cut | shorten(&mut read.text, MOST_TEXT);
    read.title = read.title.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(&mut read.title, MOST_TITLE);
    Ok(read)
}

fn html(html: &str, url: &Url) -> ReadPage {
    let dom = parse(html);
    let text = markdown(&dom, &content(&dom), url, MOST_TEXT);
    ReadPage { title: title(&dom), text, is_cut: dom.is_cut }
}

/// A piece of HTML as Markdown.
pub(crate) fn html_text(text: &str, url: &Url) -> String {
    match text.contains('<') || text.contains('&') {
        true => html(text, url).text,
        false => text.to_owned(),
    }
}

fn pdf(bytes: &[u8], is_cut: bool) -> Result<ReadPage, String> {
    if is_cut {
        // The table of its contents is at its end.
        return Err(format!("the PDF file has more than {} MiB", MOST_BYTES >> 20));
    }
    let text = pdf_text(bytes, MOST_TEXT).map_err(|error| format!("the PDF file was not read: {error}"))?;
    Ok(ReadPage { title: String::new(), text, is_cut: false })
}

/// The title of a page: its own, else the one for sharing, else its first heading.
fn title(dom: &Dom) -> String {
    let text = |name: &str| dom.find(Dom::ROOT, name).map(|id| dom.flat_text(id, MOST_TITLE * 4));
    let shared = || {
        let mut all = dom.walk(Dom::ROOT, |_| false).filter(|id| dom.name(*id) == "meta");
        let meta = all.find(|id| dom.attribute(*id, "property") == Some("og:title"))?;
        dom.attribute(meta, "content").map(str::to_owned)
    };
    let is_some = |text: &String| !text.is_empty();
    text("title").filter(is_some).or_else(shared).filter(is_some).or_else(|| text("h1")).unwrap_or_default()
}

/// Cuts a text after so many characters; true if it was longer.
pub(crate) fn shorten(text: &mut String, most: usize) -> bool {
    let end = text.char_indices().nth(most).map(|(at, _)| at);
    end.inspect(|end| text.truncate(*end)).is_some()
}
