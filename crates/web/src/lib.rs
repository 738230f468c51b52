//! Search on the web, and pages as Markdown.

mod decode;
mod dom;
mod markdown;
mod page;
mod readable;
mod xml;
