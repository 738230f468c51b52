use super::*;

#[test]
fn hosts_are_listed_by_name_or_domain() {
    let hosts = ["Example.org".to_owned(), "*.crates.io".to_owned(), "10.0.0.1".to_owned()];
    for (host, want) in [
        ("example.org", true),
        ("sub.example.org", false),
        ("evilexample.org", false),
        ("static.crates.io", true),
        ("crates.io", false),
        ("evilcrates.io", false),
        (".crates.io", false),
        ("10.0.0.1", true),
        ("10.0.0.11", false),
    ] {
        assert_eq!(is_listed(host, &hosts), want, "{host}");
    }
}

#[test]
fn requests_name_their_host() {
    let parse = |text: &str| Request::parse(text.as_bytes());
    let connect = parse("CONNECT Example.org:443 HTTP/1.1\r\nHost: other\r\n\r\n").unwrap();
    assert_eq!((connect.host.as_str(), connect.port, connect.forwarded), ("example.org", 443, None));
    let get = parse(
        "GET http://a.org:81/x?y HTTP/1.1\r\nHost: b.org\r\nProxy-Connection: keep-alive\r\nA: 1\r\n\r\n",
    );
    let get = get.unwrap();
    assert_eq!((get.host.as_str(), get.port), ("a.org", 81));
    let text = String::from_utf8(get.forwarded.unwrap()).unwrap();
    assert_eq!(text, "GET /x?y HTTP/1.1\r\nHost: a.org:81\r\nA: 1\r\nConnection: close\r\n\r\n");
    for refused in [
        "GET / HTTP/1.1\r\n\r\n",
        "CONNECT example.org HTTP/1.1\r\n\r\n",
        "CONNECT a@b:443 HTTP/1.1\r\n\r\n",
        "GET https://a.org/ HTTP/1.1\r\n\r\n",
    ] {
        assert_eq!(parse(refused), None, "{refused}");
    }
}
