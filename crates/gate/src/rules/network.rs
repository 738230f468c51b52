//! Reading from the network is harmless; sending files or standard input asks.

use super::files::Via;
use crate::assessment::EffectKind;
use crate::field::{Field, OUTPUT};
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Parsed, Spec, parse};
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "curl" | "curlie" => curl(walker, call).map(Some),
        "wget" | "wget2" => wget(walker, call).map(Some),
        "aria2c" | "axel" | "lynx" | "w3m" | "links" | "fetch" => Ok(Some(Output::Remote)),
        "http" | "https" | "httpie" | "xh" => Ok(Some(httpie(walker, call))),
        _ => Ok(None),
    }
}

pub(super) fn send(walker: &mut Walker<'_>, target: Option<&str>, reason: impl Into<String>) {
    walker.ask(EffectKind::Network, target, keys::NETWORK_SEND, reason);
}

const CURL: Spec = Spec {
    letters: "AbcCdDeEFhHKmoPQrtTuUwxXyYz",
    long: &[
        "--user-agent",
        "--cookie",
        "--cookie-jar",
        "--continue-at",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "--data-ascii",
        "--json",
        "--dump-header",
        "--referer",
        "--cert",
        "--form",
        "--form-string",
        "--header",
        "--config",
        "--max-time",
        "--output",
        "--quote",
        "--range",
        "--upload-file",
        "--user",
        "--write-out",
        "--proxy",
        "--request",
        "--connect-timeout",
        "--retry",
        "--retry-delay",
        "--url",
        "--cacert",
        "--key",
        "--output-dir",
        "--resolve",
        "--unix-socket",
        "--max-redirs",
        "--limit-rate",
        "--netrc-file",
        "--trace",
        "--trace-ascii",
        "--etag-save",
        "--url-query",
        "--oauth2-bearer",
        "--interface",
        "--proxy-user",
        "--stderr",
        "--mail-from",
        "--mail-rcpt",
        "--retry-max-time",
        "--ciphers",
        "--engine",
        "--hsts",
        "--alt-svc",
        "--variable",
    ],
};

fn curl(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let parsed = parse(call.arguments, CURL);
    let urls: Vec<Field> = parsed
        .operands
        .iter()
        .map(|field| (*field).clone())
        .chain(parsed.values(&["--url"]).cloned())
        .collect();
    for file in urls.iter().filter_map(|url| url.text.strip_prefix("file://")) {
        walker.read(&Field::literal(file));
    }
    let is_local = !urls.is_empty() && urls.iter().all(|url| is_loopback(&url.text));
    let target = urls.first().map(Field::shown);
    let sends_data = parsed.has(&[
        "-d",
        "--data",
        "--data-raw",
        "--data-binary",
        "--data-urlencode",
        "--data-ascii",
        "--json",
        "-F",
        "--form",
        "--form-string",
    ]);
    let uploads = parsed.has(&["-T", "--upload-file", "--mail-from", "-Q", "--quote"]);
    let bodies: Vec<Field> = parsed
        .values(&[
            "-d",
            "--data",
            "--data-raw",
            "--data-binary",
            "--data-urlencode",
            "--data-ascii",
            "--json",
            "-F",
            "--form",
            "-T",
            "--upload-file",
        ])
        .cloned()
        .collect();
    let from_file =
        bodies.iter().any(|body| body.text.contains('@') || !body.is_known() && body.text.contains(OUTPUT))
            || uploads;
    for body in &bodies {
        let file = body.text.rsplit('@').next().unwrap_or_default();
        walker.read(&Field::literal(file.trim_start_matches('<')));
    }
    let changes = parsed
        .values(&["-X", "--request"])
        .any(|method| !matches!(method.text.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS"));
    // With -G, the data is part of the address, as in any other request.
    let sends_data = sends_data && !parsed.has(&["-G", "--get"]);
    if (sends_data || changes) && !is_local || from_file {
        send(
            walker,
            target.as_deref(),
            format!("sends data to {}", target.as_deref().unwrap_or("another machine")),
        );
    }
    leaks(walker, &urls, &parsed);
    curl_files(walker, &parsed)?;
    let is_saved = parsed.has(&["-o", "--output", "-O", "--remote-name", "--remote-name-all", "-J"]);
    if parsed.has(&["-O", "--remote-name", "--remote-name-all"]) {
        for url in &urls {
            let name = url.text.rsplit('/').next().unwrap_or_default();
            walker.fetched_into(&[Field::literal(name)], &Output::Remote);
        }
    }
    Ok(if is_saved { Output::Nothing } else { Output::Remote })
}

/// A URL or header that holds the output of another command may carry a file away.
fn leaks(walker: &mut Walker<'_>, urls: &[Field], parsed: &Parsed<'_>) {
    let headers = parsed.values(&[
        "-H",
        "--header",
        "-u",
        "--user",
        "-A",
        "--user-agent",
        "-b",
        "--cookie",
        "-e",
        "--referer",
        "--url-query",
    ]);
    let headers: Vec<Field> = headers.cloned().collect();
    if urls.iter().chain(&headers).any(|field| field.text.contains(OUTPUT)) {
        let target = urls.first().map(Field::shown);
        send(walker, target.as_deref(), "sends the output of another command in a request");
    }
    for header in &headers {
        if let Some(file) = header.text.strip_prefix('@') {
            walker.read(&Field::literal(file));
            send(walker, None, "sends a file as headers");
        }
    }
}

fn curl_files(walker: &mut Walker<'_>, parsed: &Parsed<'_>) -> Result<(), Unreadable> {
    let names = [
        "-o",
        "--output",
        "-c",
        "--cookie-jar",
        "-D",
        "--dump-header",
        "--output-dir",
        "--trace",
        "--trace-ascii",
        "--etag-save",
        "--stderr",
        "--hsts",
        "--alt-svc",
    ];
    let files: Vec<Field> = parsed.values(&names).cloned().collect();
    for file in files.iter().filter(|file| file.text != "-") {
        walker.write(file, Via::Redirection);
        walker.fetched_into(std::slice::from_ref(file), &Output::Remote);
    }
    for file in parsed.values(&["-K", "--config", "--netrc-file", "-E", "--cert", "--key"]) {
        walker.read(file);
    }
    if parsed.has(&["-K", "--config", "--unix-socket", "--engine"]) {
        walker.ask(
            EffectKind::Unclear,
            None,
            keys::NETWORK_SEND,
            "curl reads its options from a file, or talks to a local socket",
        );
    }
    if parsed.has(&["-n", "--netrc"]) {
        walker.ask(EffectKind::ReadSecret, None, keys::READ_SECRET, "curl sends the credentials of ~/.netrc");
    }
    Ok(())
}

/// Returns true for URLs of this machine.
pub(super) fn is_loopback(url: &str) -> bool {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // `localhost:x@evil.org` is evil.org.
    if host.contains('@') {
        return false;
    }
    let host = host.strip_prefix('[').map_or_else(
        || host.split(':').next().unwrap_or_default(),
        |rest| rest.split(']').next().unwrap_or_default(),
    );
    matches!(host, "localhost" | "127.0.0.1" | "::1" | "0.0.0.0")
        || host.starts_with("127.") && host.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
}

const WGET: Spec = Spec {
    letters: "oaeiBtOTwQPUlADRX",
    long: &[
        "--output-document",
        "--output-file",
        "--append-output",
        "--execute",
        "--input-file",
        "--directory-prefix",
        "--user-agent",
        "--header",
        "--post-data",
        "--post-file",
        "--body-data",
        "--body-file",
        "--method",
        "--use-askpass",
        "--tries",
        "--timeout",
        "--config",
        "--level",
        "--accept",
        "--reject",
        "--save-cookies",
        "--load-cookies",
        "--wait",
        "--user",
        "--password",
    ],
};

fn wget(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let parsed = parse(call.arguments, WGET);
    let target = parsed.operands.first().map(|field| field.shown());
    if parsed.has(&["--post-data", "--post-file", "--body-data", "--body-file", "--method"]) {
        send(
            walker,
            target.as_deref(),
            format!("sends data to {}", target.as_deref().unwrap_or("another machine")),
        );
    }
    if parsed.operands.iter().any(|field| field.text.contains(OUTPUT))
        || parsed.values(&["--header"]).any(|field| field.text.contains(OUTPUT))
    {
        send(walker, target.as_deref(), "sends the output of another command in a request");
    }
    let runs = parsed.values(&["-e", "--execute"]).any(|field| !field.text.starts_with("robots"));
    if runs || parsed.has(&["--use-askpass", "--config"]) {
        super::tools::program_option(walker, "wget", "--use-askpass", "")?;
    }
    for file in parsed.values(&["--post-file", "--body-file", "-i", "--input-file"]) {
        walker.read(file);
    }
    let files: Vec<Field> = parsed
        .values(&[
            "-O",
            "--output-document",
            "-o",
            "--output-file",
            "-a",
            "-P",
            "--directory-prefix",
            "--save-cookies",
        ])
        .filter(|field| field.text != "-")
        .cloned()
        .collect();
    for file in &files {
        walker.write(file, Via::Redirection);
        walker.fetched_into(std::slice::from_ref(file), &Output::Remote);
    }
    let to_stdout = parsed
        .values(&["-O", "--output-document"])
        .any(|field| matches!(field.text.as_str(), "-" | "/dev/stdout"))
        || call.arguments.iter().any(|field| {
            !field.text.starts_with("--") && field.text.starts_with('-') && field.text.ends_with("O-")
        });
    if files.is_empty() && !to_stdout {
        for url in &parsed.operands {
            let name = url.text.rsplit('/').next().unwrap_or_default();
            walker.fetched_into(&[Field::literal(name)], &Output::Remote);
        }
    }
    Ok(if to_stdout { Output::Remote } else { Output::Nothing })
}

fn httpie(walker: &mut Walker<'_>, call: &Call<'_>) -> Output {
    let parsed = parse(call.arguments, Spec { letters: "aAo", long: &["--auth", "--output", "--session"] });
    let sends = parsed.operands.iter().any(|field| {
        matches!(field.text.as_str(), "POST" | "PUT" | "PATCH" | "DELETE")
            || !field.text.contains("://") && field.text.contains(['=', '@'])
    });
    let is_local =
        parsed.operands.iter().any(|field| is_loopback(&field.text) || field.text.starts_with(':'));
    if (sends || !matches!(call.stdin, Output::Nothing)) && !is_local {
        send(walker, None, "sends data to another machine");
    }
    for file in parsed.values(&["-o", "--output"]) {
        walker.write(file, Via::Redirection);
    }
    Output::Remote
}
