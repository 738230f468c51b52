//! `hermes auth login` and `logout`.

use crate::commands::config::read;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use futures::stream::{self, StreamExt};
use hermes_config::Config;
use hermes_runtime::login::{
    Attempt, Flow, LoginChannels, LoginError, LoginScreen, Tokens, browser_login, device_login, wait_for_real,
};
use hermes_runtime::{Fetcher, auth, model_choice};
use hermes_terminal::{print, signals, term};
use serde_json::json;
use std::process::{Command, Stdio};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio_util::sync::CancellationToken;
use url::Url;

/// One question to the provider.
const PATIENCE: Duration = Duration::from_secs(30);

/// The arguments of a login.
pub(super) struct Wish {
    pub(super) provider: String,
    pub(super) label: Option<String>,
    pub(super) no_browser: bool,
    pub(super) timeout: u64,
}

pub(super) async fn login(wish: Wish, common: &Common) -> Result<Exit, Failure> {
    let config = read(common)?;
    let (provider, flow) = auth::login_flow(&config, &wish.provider).map_err(launch::blame_argument)?;
    let tokens = match run(&config, &flow, &wish).await? {
        Ok(tokens) => tokens,
        Err(error) => return Err(failure(&provider, &error)),
    };
    let stored = auth::store_login(&config, &provider, wish.label, &flow, tokens)?;
    if common.json {
        let line = json!({ "provider": provider, "id": stored.id, "label": stored.label, "base_url": stored.base_url });
        print::json(&line);
        return Ok(Exit::Answered);
    }
    let address = stored.base_url.unwrap_or_default();
    let line = format!("✓ Logged in at {provider}; the token is sent to {address} only");
    term::print_line(&term::printable(&line));
    Ok(Exit::Answered)
}

async fn run(config: &Config, flow: &Flow, wish: &Wish) -> Result<Result<Tokens, LoginError>, Failure> {
    let fetcher: Fetcher = model_choice::fetcher(config, PATIENCE)?;
    let cancel = CancellationToken::new();
    let _watch = signals::watch(cancel.clone());
    let attempt = Attempt {
        fetcher: &fetcher,
        screen: &Screen,
        cancel: &cancel,
        limit: Duration::from_secs(wish.timeout),
        wait: &wait_for_real,
    };
    Ok(match flow {
        Flow::Device(flow) => device_login(flow, attempt).await,
        Flow::Browser(flow) => {
            let open = |url: &Url| wish.no_browser || open_browser(url);
            let channels = LoginChannels { open: &open, pasted: pasted_lines() };
            browser_login(flow, channels, attempt).await
        }
    })
}

/// The failure of a login; the exit code tells an interrupted one from a refused one.
fn failure(provider: &str, error: &LoginError) -> Failure {
    let exit = match error {
        LoginError::Cancelled => Exit::Interrupted,
        _ => Exit::FailedTurn,
    };
    let line = format!("not logged in at {provider}: {error}");
    Failure::new(exit, term::printable(&line).into_owned())
}

/// Prints the steps of a login to standard error: with `--json`, standard output is for programs.
struct Screen;

impl LoginScreen for Screen {
    fn show(&self, url: &Url, user_code: Option<&str>, expires_in: Duration) {
        let minutes = expires_in.as_secs().div_ceil(60);
        let what = match user_code {
            Some(code) => format!("Open {url}\nand enter the code  {code}  within {minutes} minutes."),
            None => format!(
                "Open {url}\nand log in. If the browser cannot reach this machine, paste its final address here."
            ),
        };
        what.lines().for_each(|line| term::print_error(&term::printable(line)));
    }

    fn status(&self, text: &str) {
        term::print_error(&term::printable(text));
    }
}

/// The lines of standard input.
fn pasted_lines() -> stream::BoxStream<'static, String> {
    let lines = BufReader::new(tokio::io::stdin()).lines();
    let pasted = stream::unfold(lines, |mut lines| async move {
        let line = lines.next_line().await.ok().flatten()?;
        Some((line, lines))
    });
    pasted.boxed()
}

/// Returns true if a program that opens pages was started.
fn open_browser(url: &Url) -> bool {
    let program = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let started = Command::new(program)
        .arg(url.as_str())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    let is_started = started.is_ok();
    if let Ok(mut child) = started {
        std::thread::spawn(move || child.wait());
    }
    is_started
}

pub(super) fn logout(provider: &str, common: &Common) -> Result<Exit, Failure> {
    let (provider, count) = auth::logout(&read(common)?, provider).map_err(launch::blame_argument)?;
    if common.json {
        print::json(&json!({ "provider": provider, "removed": count }));
        return Ok(Exit::Answered);
    }
    let line = match count {
        0 => format!("No login of {provider} is stored."),
        _ => format!("✓ Logged out of {provider}"),
    };
    term::print_line(&term::printable(&line));
    Ok(Exit::Answered)
}
