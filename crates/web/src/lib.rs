//! Search on the web, and pages as Markdown.

mod dom;
mod markdown;
mod readable;
