use super::*;

fn of(xml: &str) -> (String, String) {
    readable(xml, &"https://site.example/feed".parse().unwrap(), 10_000)
}

#[test]
fn feeds_become_lists_of_entries() {
    let rss =
        "<?xml version='1.0'?><rss><channel><title>News &amp; more</title><link>https://site.example</link>
        <item><title><![CDATA[One <1>]]></title><link>/one</link><pubDate>Mon, 1 Jan 2026</pubDate>
        <description>&lt;p&gt;Some &lt;b&gt;text&lt;/b&gt;&lt;/p&gt;</description></item>
        <item><title>Two</title><link>javascript:x()</link></item></channel></rss>";
    let want = "## [One <1>](https://site.example/one)\n\nMon, 1 Jan 2026\n\nSome **text**\n\n## Two";
    assert_eq!(of(rss), ("News & more".to_owned(), want.to_owned()));
    let atom = "<feed xmlns='x'><title>Log</title><entry><title>A</title><author><name>Me</name></author>
        <link rel='self' href='/self'/><link href='/a?x=1&amp;y=2' rel='alternate'/>
        <updated>2026-01-02</updated><content type='html'>&lt;i&gt;b&lt;/i&gt;</content></entry></feed>";
    let want = "## [A](https://site.example/a?x=1&y=2)\n\n2026-01-02\n\n*b*";
    assert_eq!(of(atom), ("Log".to_owned(), want.to_owned()));
}

#[test]
fn other_xml_becomes_lines() {
    let xml = "<urlset><!-- x --><url><loc>https://a</loc><mod>2026</mod></url></urlset>";
    assert_eq!(of(xml).1, "loc: https://a\nmod: 2026");
}

#[test]
fn damaged_and_hostile_xml_is_read_without_expanding() {
    let bomb = "<!DOCTYPE x [<!ENTITY a 'aaaa'><!ENTITY b '&a;&a;'>]><x>&b;&#0;&#xD800;&unknown;</x>";
    assert!(of(bomb).1.ends_with("x: &b;&#0;&#xD800;&unknown;"), "{:?}", of(bomb));
    for text in ["<", "<a", "<![CDATA[", "<!--", "<a b='", "&", "<a><item><a", "</item></item>"] {
        of(text);
    }
    let deep = "<a>".repeat(300_000);
    assert_eq!(of(&deep).1, "");
}
