use super::*;

#[test]
fn messages_of_services_are_one_line_of_text() {
    for (body, want) in [
        (r#"{"message":"no room","statusCode":400}"#, "no room".to_owned()),
        (r#"{"error":"bad\nline\u001b[31m"}"#, "bad line [31m".to_owned()),
        (r#"{"message":7}"#, r#"{"message":7}"#.to_owned()),
        ("<html>", "<html>".to_owned()),
        (&"x".repeat(5000), "x".repeat(MOST_SAID)),
        ("", String::new()),
    ] {
        assert_eq!(said(body), want);
    }
}

#[test]
fn parts_of_an_address_are_escaped() {
    let base: Url = "https://h/api/".parse().unwrap();
    assert_eq!(below(&base, &["sandbox", "a b/../c?x"]).as_str(), "https://h/api/sandbox/a%20b%2F..%2Fc%3Fx");
    for (text, want) in
        [("a-1_B", true), ("", false), ("..", false), ("a/b", false), (&"a".repeat(129), false)]
    {
        assert_eq!(is_id(text), want, "{text}");
    }
}

#[test]
fn only_failures_that_may_pass_are_repeated() {
    let http = |status| Failure::Http { status, retry_after: None, body: String::new() };
    for status in [400, 401, 403, 404, 409, 307] {
        assert!(!may_pass(&http(status)), "{status}");
    }
    for status in [408, 429, 500, 502, 503, 504] {
        assert!(may_pass(&http(status)), "{status}");
    }
    assert!(!may_pass(&Failure::TooLarge { limit: 1 }) && may_pass(&Failure::Cut { cause: String::new() }));
}
