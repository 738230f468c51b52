//! What redaction takes out, and what it leaves alone.

use std::borrow::Cow;
use std::time::{Duration, Instant};

use secrecy::SecretString;

use super::*;

fn known() -> Secrets {
    Secrets::new([
        ("DEMO_API_KEY", SecretString::from("demo/key+value")),
        ("LONGER", SecretString::from("demo/key+value-and-more")),
        ("PIN", SecretString::from("1234")),
        ("UMLAUT", SecretString::from("gehörtmir")),
    ])
}

#[test]
fn known_values_are_replaced_by_their_name() {
    for (text, want) in [
        ("demo/key+value", "[redacted:DEMO_API_KEY]"),
        ("a demo/key+value, b", "a [redacted:DEMO_API_KEY], b"),
        ("demo/key+value-and-more", "[redacted:LONGER]"),
        ("ddemo/key+valuedemo/key+value", "d[redacted:DEMO_API_KEY][redacted:DEMO_API_KEY]"),
        ("?k=demo%2Fkey%2Bvalue&x", "?k=[redacted:DEMO_API_KEY]&x"),
        ("?k=demo%2fkey%2bvalue&x", "?k=[redacted:DEMO_API_KEY]&x"),
        ("ZGVtby9rZXkrdmFsdWU=", "[redacted:DEMO_API_KEY]"),
        ("Bearer demo/key+value", "Bearer [redacted:DEMO_API_KEY]"),
        ("http://u:demo/key+value@h", "http://u:[redacted:DEMO_API_KEY]@h"),
        ("das gehörtmir!", "das [redacted:UMLAUT]!"),
        ("pin 1234", "pin 1234"),
    ] {
        assert_eq!(redact(&known(), text), want, "{text}");
    }
}

#[test]
fn a_value_inside_encoded_text_is_found() {
    // base64 of `user:demo/key+value`
    let out = redact(&known(), "Basic dXNlcjpkZW1vL2tleSt2YWx1ZQ==").into_owned();
    assert!(out.contains("[redacted:DEMO_API_KEY]"), "{out}");
}

#[test]
fn credentials_are_known_by_their_shape() {
    let block = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc+/=\nxyz\n-----END RSA PRIVATE KEY-----";
    for (text, want) in [
        ("sk-abcdefghijklmnop1234", "[redacted]"),
        ("key=sk-ant-api03-abcdefghijkl_mnop-1234.", "key=[redacted]."),
        ("\"sk-or-v1-0123456789abcdef0123\"", "\"[redacted]\""),
        ("ghp_0123456789abcdefghijABCDEFGHIJ123456", "[redacted]"),
        ("gho_0123456789abcdefghijABCDEFGHIJ123456", "[redacted]"),
        ("github_pat_11ABCDEFG0abcdefghij_klmnopqrst", "[redacted]"),
        ("xoxb-123456789012-abcdefghij", "[redacted]"),
        ("AKIAIOSFODNN7EXAMPLE", "[redacted]"),
        ("AIzaSyA-0123456789abcdefghijklmnopqrstuv", "[redacted]"),
        ("hf_abcdefghij0123456789", "[redacted]"),
        ("Authorization: Bearer abcdefghijklmnop", "Authorization: Bearer [redacted]"),
        ("authorization: bearer  abc12345", "authorization: bearer  [redacted]"),
        ("Authorization: Basic dXNlcjpwYXNzd29yZA==", "Authorization: Basic [redacted]"),
        (&format!("a {block} b"), "a [redacted] b"),
        (&block.replace('\n', "\\n"), "[redacted]"),
        ("-----BEGIN PRIVATE KEY-----\nMIIabc\nMIIdef", "[redacted]"),
        ("postgres://app:s3cret@db/x", "postgres://app:[redacted]@db/x"),
        ("https://u:p@ss@host/", "https://u:[redacted]@host/"),
    ] {
        assert_eq!(redact(&Secrets::default(), text), want, "{text}");
        let once = redact(&known(), text).into_owned();
        assert_eq!(redact(&known(), &once), once, "redacting twice: {text}");
    }
}

#[test]
fn ordinary_text_is_borrowed_unchanged() {
    for text in [
        "",
        "s",
        "task-management-and-scheduling-2024-plan",
        "sk-toggleable-content-label-arrow",
        "sk-short1",
        "Bearer of good news; bearer tokens",
        "https://example.org/a:b@c https://user@host/ ssh://git@host:22/x",
        "-----BEGIN CERTIFICATE-----\nMIIabc\n-----END CERTIFICATE-----",
        "-----BEGIN ",
        "--------------------------------",
        "ghp_ hf_ AKIA AIza xoxb- sk- :// Bearer ",
        "größe: 10 ✓",
    ] {
        assert!(matches!(redact(&known(), text), Cow::Borrowed(same) if same == text), "{text}");
    }
}

#[test]
fn hostile_repetition_stays_linear() {
    let known = Secrets::new([("A", SecretString::from("a".repeat(40) + "b"))]);
    for unit in ["sk-", "://", "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "Bearer ", "a", "://a:", "sk-1-"]
    {
        let text = unit.repeat(400_000 / unit.len());
        let started = Instant::now();
        let _ = redact(&known, &text);
        assert!(started.elapsed() < Duration::from_secs(2), "{unit}");
    }
}
