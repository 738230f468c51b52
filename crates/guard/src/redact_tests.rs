//! Tables of text that is redacted, and of text that is not.

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
fn value_inside_base64_is_redacted() {
    // base64 of `user:demo/key+value`
    let out = redact(&known(), "Basic dXNlcjpkZW1vL2tleSt2YWx1ZQ==").into_owned();
    assert!(out.contains("[redacted:DEMO_API_KEY]"), "{out}");
}

#[test]
fn credentials_are_redacted_by_shape() {
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
fn labelled_values_are_redacted() {
    let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.SflKxwRJSMeKKF2QT4fwpMeJf36";
    let bot = format!("{}:{}", "123456789", "AAHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw0");
    for (text, want) in [
        (token, "[redacted]"),
        (&format!("jwt={token};"), "jwt=[redacted];"),
        ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0", "[redacted]"),
        (&bot, "[redacted]"),
        (&format!("https://api.telegram.org/bot{bot}/getMe"), "https://api.telegram.org/bot[redacted]/getMe"),
        ("Authorization: Bot MTk4NjIyNDgzNDcx.Cl2FMQ.ZnCjm1XVW7vRze4b", "Authorization: Bot [redacted]"),
        ("curl -u admin:hunter2 https://h/", "curl -u admin:[redacted] https://h/"),
        ("curl -s --user 'admin:p@ss w' https://h/", "curl -s --user 'admin:[redacted] w' https://h/"),
        ("wget --user=me:s3cret https://h/", "wget --user=me:[redacted] https://h/"),
        ("password: hunter2", "password: [redacted]"),
        ("Password: Tr0ub4dor&3", "Password: [redacted]&3"),
        ("\"password\": \"hunter2!\"", "\"password\": \"[redacted]\""),
        ("\\\"password\\\": \\\"hunter2!\\\"", "\\\"password\\\": \\\"[redacted]\\\""),
        ("DB_PASSWORD=correcthorse", "DB_PASSWORD=[redacted]"),
        ("export MYSQL_PASSWORD='correct'", "export MYSQL_PASSWORD='[redacted]'"),
        ("--password hunter22", "--password [redacted]"),
        ("passwd = swordfish1", "passwd = [redacted]"),
        ("SECRET_KEY=abcdef123456", "SECRET_KEY=[redacted]"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI/K7MDENG/bPxRfiCY", "AWS_SECRET_ACCESS_KEY=[redacted]"),
        ("client_secret=GOCSPX-ab12cd34ef56gh", "client_secret=[redacted]"),
        ("\"access_token\":\"a1b2c3d4e5f6g7h8\"", "\"access_token\":\"[redacted]\""),
        ("https://h/cb?code=4/0AX4XfWhabc&state=x", "https://h/cb?code=[redacted]&state=x"),
        (
            "grant_type=authorization_code&code=SplxlOBeZQQYbYS6WxSbIA",
            "grant_type=authorization_code&code=[redacted]",
        ),
        ("https://maps/?key=abcd1234efgh", "https://maps/?key=[redacted]"),
        ("x-api-key: 0123456789abcdef", "x-api-key: [redacted]"),
    ] {
        assert_eq!(redact(&Secrets::default(), text), want, "{text}");
        let once = redact(&known(), text).into_owned();
        assert_eq!(redact(&known(), &once), once, "redacting twice: {text}");
    }
}

#[test]
fn code_and_prose_about_secrets_are_unchanged() {
    for text in [
        "password: String,",
        "password: Option<SecretString>,",
        "let token = next_token();",
        "token: &'a str",
        "const ACCESS_TOKEN = \"access_token\";",
        "password = os.environ[\"DB_PASSWORD\"]",
        "PASSWORD=$1",
        "DB_PASSWORD=${DB_PASSWORD:-}",
        "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}",
        "max_tokens: 4096, token_count=12345678",
        "\"token\": \"identifier\"",
        "<input type=\"password\" name=\"password\">",
        "label.password = \"Passwort\"",
        "password: required, at least 8 characters",
        "api_key: process.env.API_KEY",
        "secret: config.get(\"secret\")",
        "if (password == other.password) {",
        "The password: it is asked for at login.",
        "docker run -u 1000:1000 image",
        "docker run -u www-data:staff image",
        "12:30:45:AA and 10:AAbb",
        "eyJhbGciOi and eyJ.eyJ",
        "PRIVATE_KEY_PATH=/etc/ssl/private/key.pem",
        "token: Token { kind: Kind::Ident }",
        "secret = self.secret",
        "PASSWORD=password",
        "error code=42&x, exit code=1",
    ] {
        assert_eq!(redact(&Secrets::default(), text), text, "{text}");
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
fn repetition_is_redacted_in_linear_time() {
    let known = Secrets::new([("A", SecretString::from("a".repeat(40) + "b"))]);
    for unit in [
        "sk-",
        "://",
        "-----BEGIN ",
        "-----BEGIN PRIVATE KEY-----",
        "Bearer ",
        "a",
        "://a:",
        "sk-1-",
        "eyJ-",
        "eyJ.",
        "password=",
        "1:AA",
        "curl -u ",
        "token: ",
        "--user ",
        "PASSWORD=a1",
    ] {
        let text = unit.repeat(400_000 / unit.len());
        let started = Instant::now();
        let _ = redact(&known, &text);
        assert!(started.elapsed() < Duration::from_secs(2), "{unit}");
    }
}
