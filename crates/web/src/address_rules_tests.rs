use super::*;
use crate::settings::BlocklistSettings;

fn rules(network: Network) -> AddressRules {
    let settings = WebSettings {
        network,
        blocklist: BlocklistSettings {
            is_enabled: true,
            domains: vec!["blocked.example".into()],
            files: vec![],
        },
        ..WebSettings::default()
    };
    let secrets = Secrets::new([("KEY", "pass word/42!".to_owned().into())]);
    AddressRules::new(&settings, Arc::new(secrets))
}

#[test]
fn addresses_are_judged_by_their_text() {
    let shape = format!("sk-ant-api03-{}", "a1B2".repeat(20));
    for (written, want) in [
        ("https://site.example/a?b=c", Ok("https://site.example/a?b=c")),
        ("site.example/a", Ok("https://site.example/a")),
        ("site.example:8080/a", Ok("https://site.example:8080/a")),
        (" HTTP://Site.Example ", Ok("http://site.example/")),
        ("file:///etc/passwd", Err("scheme `file`")),
        ("ftp://site.example/", Err("scheme `ftp`")),
        ("gopher://site.example/", Err("scheme `gopher`")),
        ("data:text/html,x", Err("scheme `data`")),
        ("blob:https://site.example/x", Err("scheme `blob`")),
        ("javascript:alert(1)", Err("scheme `javascript`")),
        ("view-source:https://site.example", Err("not an address")),
        ("https://me@site.example/", Err("user name or password")),
        ("https://me:word@site.example/", Err("user name or password")),
        ("https://site.example%20@other.example/", Err("user name or password")),
        ("https://", Err("not an address")),
        ("", Err("not an address")),
        ("https://www.blocked.example/", Err("security.website_blocklist")),
        ("https://BLOCKED.example./", Err("security.website_blocklist")),
        ("https://site.example/?q=pass%20word%2F42%21", Err("secret")),
        ("https://site.example/?q=pass+word%2f42!", Err("secret")),
        ("https://site.example/?q=pass%2520word%252F42%2521", Err("secret")),
        ("https://site.example/#pass%20word/42!", Err("secret")),
    ] {
        let found = rules(Network::On).parse(written);
        match (found, want) {
            (Ok(url), Ok(want)) => assert_eq!(url.as_str(), want),
            (Err(why), Err(want)) => assert!(why.contains(want), "{written}: {why}"),
            (found, _) => panic!("{written}: {found:?}"),
        }
    }
    for written in [format!("https://site.example/?key={shape}"), format!("https://{shape}.site.example/")] {
        assert!(rules(Network::On).parse(&written).is_err_and(|why| why.contains("secret")), "{written}");
    }
    let long = format!("https://site.example/{}", "a".repeat(MOST_BYTES));
    assert!(rules(Network::On).parse(&long).is_err());
}

#[test]
fn network_setting_limits_hosts() {
    let list = || Network::Hosts(vec!["docs.example".into(), "*.wiki.example:443".into()]);
    for (network, host, want) in [
        (Network::On, "x.example", true),
        (Network::Off, "x.example", false),
        (list(), "docs.example", true),
        (list(), "DOCS.example.", true),
        (list(), "sub.docs.example", false),
        (list(), "en.wiki.example", true),
        (list(), "wiki.example", false),
        (Network::Hosts(vec![".wiki.example".into()]), "en.wiki.example", true),
        (list(), "evilwiki.example", false),
    ] {
        let judged = rules(network.clone()).judge_host(host);
        assert_eq!(judged.is_ok(), want, "{network:?} {host}");
        assert!(want || judged.is_err_and(|why| why.contains("sandbox.network")));
    }
}
