//! Reference pages: what is kept and dropped of each, and its whole Markdown.
//!
//! A page in `tests/pages` begins with two comments: texts that must be kept, and texts that must be dropped.

use crate::site::{ScriptedNames, Site, client_with, ok, private};
use hermes_tools::Web;
use std::path::{Path, PathBuf};

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pages");
    let mut pages: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.sort();
    pages
}

/// The texts of a comment.
fn texts<'a>(html: &'a str, kind: &str) -> Vec<&'a str> {
    let rest = html.split_once(&format!("<!-- {kind}: ")).unwrap().1;
    let list = rest.split_once(" -->\n").unwrap().0;
    list.split(" ¦ ").map(str::trim).filter(|text| !text.is_empty()).collect()
}

/// The page as it is sent, without the comments.
fn sent(html: &str) -> &str {
    html.splitn(3, " -->\n").nth(2).unwrap()
}

#[tokio::test]
async fn reference_pages_keep_their_content() {
    let pages = pages();
    assert_eq!(pages.len(), 30);
    let names = ScriptedNames::new(&[("site.example", &[&["93.184.216.34"]])]);
    let (mut all, mut faults) = (String::new(), Vec::new());
    for path in pages {
        let html = std::fs::read_to_string(&path).unwrap();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        let body = sent(&html).to_owned();
        let site = Site::of(move |_| Some(ok("text/html; charset=utf-8", body.clone()))).await;
        let web = client_with(private(), Some(names.clone()));
        let url = format!("http://site.example:{}/pages/{name}", site.port);
        let page = web.extract(&[url]).await.pop().unwrap();
        let text = page
            .content
            .unwrap()
            .replace(&format!("http://site.example:{}/", site.port), "https://site.example/");
        let lacks = |wanted: &&str| !text.contains(*wanted);
        faults
            .extend(texts(&html, "keep").into_iter().filter(lacks).map(|one| format!("{name} lacks {one}")));
        let has = |wanted: &&str| text.contains(*wanted);
        faults.extend(texts(&html, "drop").into_iter().filter(has).map(|one| format!("{name} has {one}")));
        all.push_str(&format!("===== {name}: {}\n{text}\n\n", page.title));
    }
    insta::assert_snapshot!(all);
    assert_eq!(faults, Vec::<String>::new());
}
