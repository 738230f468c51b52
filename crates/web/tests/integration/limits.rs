//! Pages that are too large, too slow or no text.

use crate::site::{Site, answer, client, ok, private};
use flate2::Compression;
use flate2::write::GzEncoder;
use hermes_tools::{Web, WebPage};
use std::io::Write;
use std::time::{Duration, Instant};

async fn page(web: &impl Web, url: &str) -> WebPage {
    web.extract(&[url.to_owned()]).await.pop().unwrap()
}

#[tokio::test]
async fn page_of_twenty_megabytes_is_bounded() {
    let paragraph = format!("<p>{}</p>\n", "word ".repeat(400));
    let body = format!("<title>Large</title><main>{}</main>", paragraph.repeat((20 << 20) / paragraph.len()));
    assert!(body.len() > 19 << 20);
    let plain = "line of plain text\n".repeat((20 << 20) / 19);
    let site = Site::start(vec![("/html", ok("text/html", body)), ("/text", ok("text/plain", plain))]).await;
    let (web, started) = (client(private()), Instant::now());
    for path in ["/html", "/text"] {
        let found = page(&web, &site.url(path)).await;
        let text = found.content.unwrap();
        assert!((1_000_000..=2_000_100).contains(&text.chars().count()), "{path}: {}", text.chars().count());
        assert!(text.ends_with("[The page is longer; its end was not read]"), "{path}");
    }
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
}

#[tokio::test]
async fn compressed_bomb_is_bounded() {
    let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
    for _ in 0..300 {
        bomb.write_all(&vec![b'a'; 1 << 20]).unwrap();
    }
    let bomb = bomb.finish().unwrap();
    let headers = [("content-type", "text/plain"), ("content-encoding", "gzip")];
    let site = Site::start(vec![("/", answer("200 OK", &headers, bomb))]).await;
    let text = page(&client(private()), &site.url("/")).await.content.unwrap();
    assert!(text.len() <= 2_000_100, "{}", text.len());
}

#[tokio::test]
async fn binary_data_and_failures_are_errors() {
    let brotli = [("content-type", "text/html"), ("content-encoding", "br")];
    let site = Site::start(vec![
        ("/png", ok("image/png", b"\x89PNG\r\n\x1a\n\0\0".to_vec())),
        ("/zip", ok("application/octet-stream", b"PK\x03\x04\0\0".to_vec())),
        ("/br", answer("200 OK", &brotli, "x")),
        ("/pdf", ok("application/pdf", "%PDF-1.7 damaged")),
        ("/error", answer("500 Broken", &[], "")),
        ("/busy", answer("429 Slow down", &[("retry-after", "120")], "")),
        ("/empty", ok("text/html", "")),
    ])
    .await;
    let web = client(private());
    for (path, want) in [
        ("/png", "image/png cannot be read as text"),
        ("/zip", "cannot be read as text"),
        ("/br", "compressed the page as `br`"),
        ("/pdf", "the PDF file was not read"),
        ("/error", "status 500"),
        ("/missing", "status 404"),
        ("/busy", "status 429"),
        ("/empty", "too many requests; try again in 1"),
    ] {
        let error = page(&web, &site.url(path)).await.content.unwrap_err();
        assert!(error.contains(want), "{path}: {error}");
    }
    let gone = page(&client(private()), "http://127.0.0.1:9/").await.content.unwrap_err();
    assert!(gone.contains("refused"), "{gone}");
}

#[tokio::test]
async fn character_sets_formats_and_pdf_are_read() {
    let site = Site::start(vec![
        ("/latin", ok("text/html; charset=iso-8859-1", b"<title>Caf\xe9</title><p>na\xefve".to_vec())),
        ("/json", ok("application/json", "{\"a\": [1, 2]}")),
        ("/md", ok("text/markdown", "# T\n\n*x*")),
        (
            "/feed",
            ok(
                "application/rss+xml",
                "<rss><channel><title>N</title><item><title>A</title></item></channel></rss>",
            ),
        ),
        ("/pdf", ok("application/pdf", small_pdf("Hello from a PDF"))),
    ])
    .await;
    let web = client(private());
    for (path, title, want) in [
        ("/latin", "Café", "naïve"),
        ("/json", "", "{\"a\": [1, 2]}"),
        ("/md", "", "# T\n\n*x*"),
        ("/feed", "N", "## A"),
        ("/pdf", "", "Hello from a PDF"),
    ] {
        let found = page(&web, &site.url(path)).await;
        assert_eq!(
            (found.title.as_str(), found.content.as_deref().map(str::trim)),
            (title, Ok(want)),
            "{path}"
        );
    }
}

/// A PDF file with one line on one page.
fn small_pdf(line: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 700 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R \
         /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>".to_owned(),
    ];
    let (mut file, mut places) = ("%PDF-1.4\n".to_owned(), Vec::new());
    for (number, object) in objects.iter().enumerate() {
        places.push(file.len());
        file.push_str(&format!("{} 0 obj\n{object}\nendobj\n", number + 1));
    }
    let table = file.len();
    file.push_str("xref\n0 6\n0000000000 65535 f \n");
    file.extend(places.iter().map(|place| format!("{place:010} 00000 n \n")));
    file.push_str(&format!("trailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n{table}\n%%EOF\n"));
    file.into_bytes()
}

#[tokio::test]
async fn file_is_fetched_whole_or_not_at_all() {
    let gzip = |bytes: &[u8]| {
        let mut all = GzEncoder::new(Vec::new(), Compression::best());
        all.write_all(bytes).unwrap();
        all.finish().unwrap()
    };
    let packed = [("content-type", "image/png"), ("content-encoding", "gzip")];
    let site = Site::start(vec![
        ("/a.png", ok("image/png", b"\x89PNG\0\xff".to_vec())),
        ("/packed", answer("200 OK", &packed, gzip(b"\x89PNG\0\xff"))),
        ("/bomb", answer("200 OK", &packed, gzip(&vec![0; 4 << 20]))),
        ("/large", ok("image/png", vec![0; (2 << 20) + 1])),
    ])
    .await;
    let web = client(private());
    for (path, want) in [
        ("/a.png", Ok(&b"\x89PNG\0\xff"[..])),
        ("/packed", Ok(b"\x89PNG\0\xff")),
        ("/bomb", Err("the file has more than 2 MiB")),
        ("/large", Err("the file has more than 2 MiB")),
        ("/none", Err("the server answered with status 404")),
    ] {
        let found = web.file(&site.url(path), 2 << 20).await;
        assert_eq!(found.as_deref().map_err(|error| &**error), want, "{path}");
    }
}
