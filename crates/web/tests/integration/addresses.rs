//! Addresses that are refused: in the call, behind names, and behind redirects.

use crate::site::{ScriptedNames, Site, client, client_with, ok, private, redirect};
use hermes_tools::Web;
use hermes_web::{BlocklistSettings, Network, WebSettings};
use std::sync::Arc;

const PUBLIC: &[&str] = &["93.184.216.34"];

async fn content(web: &impl Web, url: &str) -> Result<String, String> {
    web.extract(&[url.to_owned()]).await.pop().unwrap().content
}

/// Settings of the public internet.
fn public() -> WebSettings {
    WebSettings { allows_private: false, ..private() }
}

#[tokio::test]
async fn loopback_is_refused_without_a_request() {
    let site = Site::start(vec![("/", ok("text/plain", "secret"))]).await;
    let web = client(public());
    for host in [
        "127.0.0.1",
        "localhost",
        "127.1",
        "0x7f.1",
        "2130706433",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "a.localhost",
    ] {
        let url = format!("http://{host}:{}/", site.port);
        let why = content(&web, &url).await.unwrap_err();
        assert!(why.contains("security.allow_private_urls"), "{host}: {why}");
        assert!(web.refusal(&url).is_some(), "{host}");
    }
    let file = web.file(&site.url("/"), 100).await.unwrap_err();
    assert!(file.contains("security.allow_private_urls"), "{file}");
    assert_eq!(site.requests(), Vec::<String>::new());
    assert_eq!(content(&client(private()), &site.url("/")).await.as_deref(), Ok("secret"));
}

#[tokio::test]
async fn redirects_to_refused_addresses_are_not_followed() {
    let targets = [
        "http://127.0.0.1/",
        "http://localhost/",
        "http://0/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://[::1]/",
        "http://[::ffff:10.0.0.1]/",
        "http://10.0.0.1/",
        "http://192.168.1.1/admin",
        "http://172.16.0.1/",
        "http://100.64.0.1/",
        "http://[fd00::1]/",
        "//10.0.0.1/x",
        "http:\\\\10.0.0.1\\x",
        "http://169.254.169.254/latest/meta-data/iam",
        "http://metadata.google.internal/computeMetadata/v1/",
        "http://[fd00:ec2::254]/",
        "http://inside.example/",
        "http://mixed.example/",
        "file:///etc/passwd",
        "ftp://93.184.216.34/",
        "gopher://93.184.216.34/",
        "data:text/html,hello",
        "javascript:alert(1)",
        "http://me:word@site.example/",
        "http://blocked.example/",
        "http://site.example/?k=hunter2-hunter2",
    ];
    let site = Site::of(move |path| {
        let number: Option<usize> = path.strip_prefix("/to/").and_then(|text| text.parse().ok());
        Some(number.map_or_else(|| ok("text/plain", "reached"), |number| redirect(targets[number])))
    })
    .await;
    let names = ScriptedNames::new(&[
        ("site.example", &[PUBLIC]),
        ("inside.example", &[&["10.1.2.3"]]),
        ("mixed.example", &[&["::ffff:192.168.0.1", "fe80::1"]]),
        ("blocked.example", &[PUBLIC]),
    ]);
    let blocklist =
        BlocklistSettings { is_enabled: true, domains: vec!["blocked.example".into()], files: vec![] };
    let web = client_with(WebSettings { blocklist, ..public() }, Some(names));
    let start = format!("http://site.example:{}", site.port);
    assert_eq!(content(&web, &format!("{start}/x")).await.as_deref(), Ok("reached"));
    for (number, target) in targets.iter().enumerate() {
        let found = content(&web, &format!("{start}/to/{number}")).await;
        assert!(found.is_err(), "{target}: {found:?}");
        assert!(!found.unwrap_err().contains("hunter2"), "{target}");
        let file = web.file(&format!("{start}/to/{number}"), 100).await;
        assert!(file.is_err_and(|error| !error.contains("hunter2")), "{target}");
    }
    assert_eq!(site.requests().len(), 2 * targets.len() + 1, "no target was reached");
}

#[tokio::test]
async fn name_that_changes_its_address_is_refused_on_connecting() {
    let site = Site::of(|path| match path {
        "/again" => Some(redirect("/inside")),
        _ => Some(ok("text/plain", "reached")),
    })
    .await;
    // The name is public at first and leads inside for the next connection.
    let names = ScriptedNames::new(&[("rebind.example", &[PUBLIC, &["127.0.0.1"]])]);
    let web = client_with(public(), Some(names));
    let why = content(&web, &format!("http://rebind.example:{}/again", site.port)).await.unwrap_err();
    assert!(why.contains("rebind.example is at the private address 127.0.0.1"), "{why}");
    assert_eq!(site.requests().len(), 1);
}

#[tokio::test]
async fn metadata_is_refused_with_private_addresses_permitted() {
    let names = ScriptedNames::new(&[
        ("meta.example", &[&["169.254.169.254"]]),
        ("meta6.example", &[&["64:ff9b::a9fe:a9fe"]]),
        ("azure.example", &[&["168.63.129.16"]]),
    ]);
    let web = client_with(private(), Some(names));
    for url in [
        "http://169.254.169.254/",
        "http://[::ffff:a9fe:a9fe]/",
        "http://metadata.google.internal/",
        "http://meta.example/",
        "http://meta6.example/",
        "http://azure.example/",
    ] {
        let why = content(&web, url).await.unwrap_err();
        assert!(why.contains("metadata"), "{url}: {why}");
    }
}

#[tokio::test]
async fn redirects_are_followed_up_to_a_limit_and_without_credentials() {
    let site = Site::of(|path| {
        let left: Option<u32> = path.strip_prefix("/hop/").and_then(|text| text.parse().ok());
        Some(match left {
            Some(0) | None => ok("text/plain", "reached"),
            Some(left) => crate::site::answer(
                "301 Moved",
                &[("location", &format!("/hop/{}", left - 1)), ("set-cookie", "id=1")],
                "",
            ),
        })
    })
    .await;
    let web = client(private());
    assert_eq!(content(&web, &site.url("/hop/5")).await.as_deref(), Ok("reached"));
    assert!(content(&web, &site.url("/hop/6")).await.unwrap_err().contains("more than 5 redirects"));
    for request in site.requests() {
        let request = request.to_ascii_lowercase();
        for header in ["cookie:", "authorization:", "referer:"] {
            assert!(!request.contains(header), "{request}");
        }
    }
}

#[tokio::test]
async fn network_setting_holds_for_pages_and_redirects() {
    let site =
        Site::start(vec![("/away", redirect("http://other.example/")), ("/", ok("text/plain", "reached"))])
            .await;
    let off = client(WebSettings { network: Network::Off, ..private() });
    assert!(content(&off, &site.url("/")).await.unwrap_err().contains("sandbox.network is off"));
    assert!(off.search("x", 1).await.unwrap_err().contains("sandbox.network is off"));
    let some = client(WebSettings { network: Network::Hosts(vec!["127.0.0.1".into()]), ..private() });
    assert_eq!(content(&some, &site.url("/")).await.as_deref(), Ok("reached"));
    let why = content(&some, &site.url("/away")).await.unwrap_err();
    assert!(why.contains("other.example is not in sandbox.network"), "{why}");
    assert_eq!(site.requests().len(), 2);
}

#[tokio::test]
async fn one_client_keeps_nothing_for_another() {
    let site = Site::start(vec![("/", ok("text/plain", "reached"))]).await;
    let web = Arc::new(client(private()));
    for _ in 0..3 {
        assert_eq!(content(&*web, &site.url("/#part")).await.as_deref(), Ok("reached"));
    }
    assert_eq!(site.requests().len(), 1, "repeated pages come from the cache");
    assert!(content(&client(public()), &site.url("/")).await.is_err());
}
