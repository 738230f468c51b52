use crate::dom::parse;
use crate::markdown::markdown;
use crate::readable::content;

fn of(html: &str) -> String {
    let dom = parse(html);
    markdown(&dom, &content(&dom), &"https://site.example/a/b".parse().unwrap(), 1_000_000)
}

#[test]
fn elements_have_their_markdown() {
    for (html, want) in [
        ("<h2>A <em>b</em></h2><p>c", "## A *b*\n\nc"),
        ("<h2>Title<a href='#t'>¶</a></h2>", "## Title"),
        ("a <b> b </b>c<br>d", "a **b** c\nd"),
        ("<p>x<strong></strong>y", "xy"),
        ("<a href='../c?d=(1)'>e</a>", "[e](https://site.example/c?d=%281%29)"),
        ("<a href='javascript:x()'>e</a> <a href='data:,x'>f</a> <a href='#g'>g</a>", "e f g"),
        (
            "<a href='/'><img alt='Logo [x]' src='l.png'></a>",
            "[![Logo x](https://site.example/a/l.png)](https://site.example/)",
        ),
        ("<img src='x.png'>text", "text"),
        ("<img alt=A src='data:image/gif;base64,R0' data-src='/r.png'>", "![A](https://site.example/r.png)"),
        ("<ul><li>a<ul><li>b</ul><li><p>c<p>d</ul>", "- a\n  - b\n- c\n\n  d"),
        ("<ol start=9><li>a<li>b<pre>c\n d</pre></ol>", "9. a\n10. b\n\n    ```\n    c\n     d\n    ```"),
        ("<blockquote><p>a<p>b</blockquote>", "> a\n>\n> b"),
        ("<dl><dt>a<dd>b<dd>c</dl>", "**a**\n\n: b\n\n: c"),
        ("<p>use <code>a`b</code> or <kbd>x</kbd>", "use ``a`b`` or `x`"),
        ("<pre><code class='language-rust'>fn a() {\n}\n</code></pre>", "```rust\nfn a() {\n}\n```"),
        ("<div class='highlight-python notranslate'><pre>x</pre></div>", "```python\nx\n```"),
        ("<pre class='brush: java;'>x</pre>", "```java\nx\n```"),
        ("<pre>```\nx</pre>", "````\n```\nx\n````"),
        ("<pre><span class=lineno>1</span>a\n<span class=lineno>2</span>b</pre>", "```\na\nb\n```"),
        ("<table><tr><th>a<th>b|c<tr><td>1<td>2<br>3</table>", "| a | b\\|c |\n| --- | --- |\n| 1 | 2 3 |"),
        (
            "<table><caption>T<tr><td rowspan=2>a<td>b<tr><td>c</table>",
            "T\n\n| a | b |\n| --- | --- |\n| a | c |",
        ),
        (
            "<table><tr><td colspan=2>a<td>b<tr><td>1<td>2<td>3</table>",
            "| a |  | b |\n| --- | --- | --- |\n| 1 | 2 | 3 |",
        ),
        ("<table role=presentation><tr><td>a<td>b</table>", "a\n\nb"),
        ("<table><tr><td><table><tr><td>a<td>b</table><td>c</table>", "| a | b |\n| --- | --- |\n\nc"),
        ("<p>x<sup>2</sup>, see<sup><a href='#n'>[1]</a></sup>", "x^2, see[1]"),
        ("<a href='/c'><h3>Card</h3></a>", "### [Card](https://site.example/c)"),
        ("<base href='https://other.example/d/'><a href=e>f</a>", "[f](https://other.example/d/e)"),
        ("<details><summary>More</summary><p>text</details>", "**More**\n\ntext"),
        ("<p>soft\u{ad}ly a\u{a0}b", "softly a b"),
    ] {
        assert_eq!(of(html), want, "{html}");
    }
}

#[test]
fn hostile_nesting_is_flattened() {
    for (open, close) in
        [("<ul><li>", "</ul>"), ("<blockquote>", ""), ("<b id=x><i>", ""), ("<table><tr><td>", "")]
    {
        let html = format!("{}deep{}", open.repeat(400), close.repeat(400));
        let text = of(&html);
        assert!(text.contains("deep") && text.len() < 20_000, "{open}: {}", text.len());
    }
}

#[test]
fn text_is_bounded() {
    let dom = parse(&"<p>some text</p>".repeat(10_000));
    let text = markdown(&dom, &content(&dom), &"https://site.example".parse().unwrap(), 5_000);
    assert!((1_000..20_000).contains(&text.len()), "{}", text.len());
    let spans = format!(
        "<table><tr><td rowspan=1000>{}</td>{}</table>",
        "x".repeat(9_000),
        "<tr><td>y".repeat(1_000)
    );
    let dom = parse(&spans);
    let text = markdown(&dom, &content(&dom), &"https://site.example".parse().unwrap(), 50_000);
    assert!(text.len() < 120_000, "{}", text.len());
}
