//! Login with a browser that returns a code (RFC 6749, with PKCE).
//!
//! The code comes through the listener on this machine or is pasted by the user, whichever is first: a browser on
//! another machine cannot reach the listener.

use super::answer::Form;
use super::attempt::Attempt;
use super::callback::{Callback, redirect_uri, with_query};
use super::error::LoginError;
use super::flow::BrowserFlow;
use super::pkce::Pkce;
use super::redirected::{Redirected, of_pasted};
use super::tokens::Tokens;
use futures::StreamExt;
use futures::stream::BoxStream;
use secrecy::{ExposeSecret, SecretString};
use std::io;
use std::time::SystemTime;
use url::Url;

/// The user's browser, and the second way for the answer beside the listener.
pub struct LoginChannels<'a> {
    /// Opens a page, and returns true if that worked; the page is shown in any case.
    pub open: &'a (dyn Fn(&Url) -> bool + Send + Sync),
    /// Lines that the user pastes. Ends with the input.
    pub pasted: BoxStream<'a, String>,
}

/// Logs in: shows the page and waits for the code.
pub async fn browser_login(
    flow: &BrowserFlow,
    channels: LoginChannels<'_>,
    attempt: Attempt<'_>,
) -> Result<Tokens, LoginError> {
    let limit = attempt.limit;
    let login = tokio::time::timeout(limit, run(flow, channels, attempt));
    match attempt.cancel.run_until_cancelled(login).await {
        None => Err(LoginError::Cancelled),
        Some(Err(_)) => Err(LoginError::TimedOut { limit }),
        Some(Ok(result)) => result,
    }
}

async fn run(
    flow: &BrowserFlow,
    channels: LoginChannels<'_>,
    attempt: Attempt<'_>,
) -> Result<Tokens, LoginError> {
    let pkce = Pkce::random();
    let door = Callback::open(flow.redirect).await;
    let port = door.as_ref().map_or(flow.redirect.port, Callback::port);
    let back = redirect_uri(port, flow.redirect.path);
    let page = page(flow, &pkce, &back);
    attempt.screen.show(&page, None, attempt.limit);
    if !(channels.open)(&page) {
        attempt.screen.status("open the address above in a browser");
    }
    let code = match wait(door, channels.pasted, &pkce.state, port, attempt).await? {
        Redirected::Code(code) => code,
        Redirected::Refused(reason) => return Err(LoginError::Denied { reason }),
    };
    redeem(flow, &code, &pkce.verifier, &back, attempt).await
}

fn page(flow: &BrowserFlow, pkce: &Pkce, back: &str) -> Url {
    with_query(
        &flow.authorize_url,
        &[
            ("response_type", "code"),
            ("client_id", &flow.token.client_id),
            ("redirect_uri", back),
            ("scope", &flow.token.scope),
            ("state", pkce.state.expose_secret()),
            ("code_challenge", &pkce.challenge),
            ("code_challenge_method", "S256"),
        ],
    )
}

/// Waits for the listener and for a paste. One of the two may be missing, but not both.
async fn wait(
    door: io::Result<Callback>,
    mut pasted: BoxStream<'_, String>,
    state: &SecretString,
    port: u16,
    attempt: Attempt<'_>,
) -> Result<Redirected, LoginError> {
    let door = match door {
        Ok(door) => door,
        Err(source) => {
            attempt.screen.status("the redirect to this machine is blocked; paste the address instead");
            let found = from_paste(&mut pasted, state, attempt).await;
            return found.ok_or(LoginError::Port { port, source });
        }
    };
    tokio::select! {
        found = door.wait(state) => Ok(found),
        Some(found) = from_paste(&mut pasted, state, attempt) => Ok(found),
    }
}

/// The first paste that belongs to this login; `None` after the last one.
async fn from_paste(
    pasted: &mut BoxStream<'_, String>,
    state: &SecretString,
    attempt: Attempt<'_>,
) -> Option<Redirected> {
    while let Some(line) = pasted.next().await {
        match of_pasted(&line, state) {
            Ok(found) => return Some(found),
            Err(_) if line.trim().is_empty() => {}
            Err(why) => attempt.screen.status(why.advice()),
        }
    }
    None
}

/// Exchanges the code for tokens.
async fn redeem(
    flow: &BrowserFlow,
    code: &SecretString,
    verifier: &SecretString,
    back: &str,
    attempt: Attempt<'_>,
) -> Result<Tokens, LoginError> {
    let form = Form::default()
        .field("grant_type", "authorization_code")
        .field("client_id", &flow.token.client_id)
        .field("redirect_uri", back)
        .secret("code", code)
        .secret("code_verifier", verifier);
    let reply = form.post(attempt.fetcher, &flow.token.url).await?;
    if !reply.is_success() {
        return Err(LoginError::Refused { said: reply.words(attempt.fetcher), origin: reply.origin });
    }
    Tokens::read(&reply.body, &flow.token, SystemTime::now()).map_err(|what| LoginError::Unexpected {
        origin: reply.origin.clone(),
        what: format!("{what} is missing"),
    })
}
