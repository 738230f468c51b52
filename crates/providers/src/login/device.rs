//! Login with a code that is entered on another device (RFC 8628).
//!
//! [`Polling`] interprets an answer and sets the interval; [`device_login`] sends and waits.

use super::answer::{Form, Reply, plain};
use super::attempt::Attempt;
use super::error::LoginError;
use super::flow::DeviceFlow;
use super::tokens::Tokens;
use crate::fetch::Fetcher;
use hermes_wire::Failure;
use secrecy::SecretString;
use serde_json::Value;
use std::time::{Duration, Instant, SystemTime};
use url::Url;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
/// The default interval in seconds, which `slow_down` adds as well.
const USUAL_INTERVAL: Duration = Duration::from_secs(5);
const LEAST_INTERVAL: Duration = Duration::from_secs(1);
const LONGEST_INTERVAL: Duration = Duration::from_secs(60);
/// The default lifetime of a code.
const USUAL_LIFE: Duration = Duration::from_secs(900);

/// Logs in: shows the code and polls until it has been entered.
pub async fn device_login(flow: &DeviceFlow, attempt: Attempt<'_>) -> Result<Tokens, LoginError> {
    let login = run(flow, attempt);
    attempt.cancel.run_until_cancelled(login).await.unwrap_or(Err(LoginError::Cancelled))
}

async fn run(flow: &DeviceFlow, attempt: Attempt<'_>) -> Result<Tokens, LoginError> {
    let code = request_code(flow, attempt.fetcher).await?;
    attempt.screen.show(code.link(), Some(&code.user_code), code.expires_in);
    let started = Instant::now();
    let mut polling = Polling::new(&code, attempt.limit);
    loop {
        let pause = polling.pause(started.elapsed())?;
        (attempt.wait)(pause).await;
        let reply = ask(flow, &code.device_code, attempt.fetcher).await;
        match polling.judge(&reply, attempt.fetcher)? {
            Progress::Granted => {
                let body = reply?;
                let tokens = Tokens::read(&body.body, &flow.token, SystemTime::now());
                return tokens.map_err(|what| unexpected(&body.origin, format!("{what} is missing")));
            }
            Progress::Pending => {}
            Progress::Slower(why) => attempt.screen.status(&why),
        }
    }
}

async fn request_code(flow: &DeviceFlow, fetcher: &Fetcher) -> Result<DeviceCode, LoginError> {
    let mut form = Form::default().field("client_id", &flow.token.client_id);
    if !flow.token.scope.is_empty() {
        form = form.field("scope", &flow.token.scope);
    }
    let reply = form.post(fetcher, &flow.device_url).await?;
    if !reply.is_success() {
        return Err(LoginError::Refused { said: reply.words(fetcher), origin: reply.origin });
    }
    DeviceCode::read(&reply.body).map_err(|what| unexpected(&reply.origin, what))
}

async fn ask(flow: &DeviceFlow, code: &SecretString, fetcher: &Fetcher) -> Result<Reply, Failure> {
    let form = Form::default()
        .field("grant_type", GRANT)
        .field("client_id", &flow.token.client_id)
        .secret("device_code", code);
    form.post(fetcher, &flow.token.url).await
}

fn unexpected(origin: &str, what: String) -> LoginError {
    LoginError::Unexpected { origin: origin.to_owned(), what }
}

/// The code to enter, and the page for it.
struct DeviceCode {
    device_code: SecretString,
    user_code: String,
    page: Url,
    /// The page that already has the code.
    complete: Option<Url>,
    expires_in: Duration,
    interval: Duration,
}

impl DeviceCode {
    fn read(body: &Value) -> Result<Self, String> {
        let text = |name: &str| {
            let text = body[name].as_str().map(str::trim).filter(|text| !text.is_empty());
            text.ok_or_else(|| format!("{name} is missing"))
        };
        let seconds = |name: &str| {
            let number = body[name].as_f64().or_else(|| body[name].as_str()?.trim().parse().ok())?;
            Duration::try_from_secs_f64(number).ok()
        };
        let page = text("verification_uri").or_else(|_| text("verification_url"))?;
        Ok(Self {
            device_code: SecretString::from(text("device_code")?),
            user_code: plain(text("user_code")?),
            page: web_page(page).ok_or("verification_uri is not a web page")?,
            complete: body["verification_uri_complete"].as_str().and_then(web_page),
            expires_in: seconds("expires_in").filter(|life| !life.is_zero()).unwrap_or(USUAL_LIFE),
            interval: seconds("interval").unwrap_or(USUAL_INTERVAL).clamp(LEAST_INTERVAL, LONGEST_INTERVAL),
        })
    }

    fn link(&self) -> &Url {
        self.complete.as_ref().unwrap_or(&self.page)
    }
}

/// Accepts web pages only, whatever a server names.
fn web_page(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https"))
}

/// The meaning of an answer.
#[derive(Debug, PartialEq)]
enum Progress {
    Granted,
    Pending,
    /// Poll more slowly, for this reason.
    Slower(String),
}

/// The interval and the time limit of polling.
struct Polling {
    interval: Duration,
    waited: Duration,
    code_life: Duration,
    limit: Duration,
}

impl Polling {
    fn new(code: &DeviceCode, limit: Duration) -> Self {
        Self { interval: code.interval, waited: Duration::ZERO, code_life: code.expires_in, limit }
    }

    /// Returns the wait before the next request; an error if the time is up.
    fn pause(&mut self, elapsed: Duration) -> Result<Duration, LoginError> {
        let then = self.waited.max(elapsed) + self.interval;
        if then > self.code_life {
            return Err(LoginError::CodeExpired);
        }
        if then > self.limit {
            return Err(LoginError::TimedOut { limit: self.limit });
        }
        self.waited += self.interval;
        Ok(self.interval)
    }

    fn judge(&mut self, reply: &Result<Reply, Failure>, fetcher: &Fetcher) -> Result<Progress, LoginError> {
        let reply = match reply {
            Ok(reply) => reply,
            Err(failure) if is_passing(failure) => return Ok(self.slower(failure.to_string())),
            Err(failure) => return Err(failure.clone().into()),
        };
        match reply.error() {
            Some("authorization_pending") => Ok(Progress::Pending),
            Some("slow_down") => Ok(self.slower("the server asks to poll more slowly".to_owned())),
            Some("expired_token") => Err(LoginError::CodeExpired),
            Some("access_denied") => Err(LoginError::Denied { reason: reply.words(fetcher) }),
            _ if reply.is_success() => Ok(Progress::Granted),
            _ if reply.status == 429 || reply.status >= 500 => Ok(self.slower(reply.words(fetcher))),
            _ => Err(LoginError::Refused { origin: reply.origin.clone(), said: reply.words(fetcher) }),
        }
    }

    fn slower(&mut self, why: String) -> Progress {
        self.interval = (self.interval + USUAL_INTERVAL).min(LONGEST_INTERVAL);
        Progress::Slower(why)
    }
}

/// Returns true if the same request may succeed a little later.
pub(super) fn is_passing(failure: &Failure) -> bool {
    match failure {
        Failure::Unreachable { .. } | Failure::TimedOut { .. } | Failure::Cut { .. } => true,
        Failure::Http { status, .. } => *status == 429 || *status >= 500,
        Failure::Garbled { .. }
        | Failure::TooLarge { .. }
        | Failure::Reported { .. }
        | Failure::NoKey { .. }
        | Failure::OverBudget { .. } => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn code(body: &Value) -> Result<DeviceCode, String> {
        DeviceCode::read(body)
    }

    #[test]
    fn codes_are_read_with_sane_limits() {
        let page = "https://a.example/device";
        let full = json!({
            "device_code": "dc", "user_code": "AB\u{1b}CD", "verification_uri": page,
            "verification_uri_complete": "javascript:alert(1)", "expires_in": 60, "interval": 0
        });
        let read = code(&full).unwrap();
        assert_eq!((read.user_code.as_str(), read.link().as_str()), ("AB CD", page));
        assert_eq!((read.expires_in, read.interval), (Duration::from_secs(60), LEAST_INTERVAL));
        let least = code(&json!({"device_code": "d", "user_code": "u", "verification_url": page})).unwrap();
        assert_eq!((least.expires_in, least.interval), (USUAL_LIFE, USUAL_INTERVAL));
        for (body, want) in [
            (json!({"user_code": "u", "verification_uri": page}), "device_code is missing"),
            (json!({"device_code": "d", "verification_uri": page}), "user_code is missing"),
            (json!({"device_code": "d", "user_code": "u"}), "verification_url is missing"),
            (
                json!({"device_code": "d", "user_code": "u", "verification_uri": "file:///x"}),
                "verification_uri is not a web page",
            ),
            (json!(null), "verification_url is missing"),
        ] {
            assert_eq!(code(&body).err().as_deref(), Some(want), "{body}");
        }
    }

    #[test]
    fn polling_ends_with_the_code_or_the_time_limit() {
        for (life, limit, want) in [(12, 100, "code expired"), (100, 12, "within 12 seconds")] {
            let mut polling = Polling {
                interval: Duration::from_secs(5),
                waited: Duration::ZERO,
                code_life: Duration::from_secs(life),
                limit: Duration::from_secs(limit),
            };
            let pauses: Vec<_> = std::iter::from_fn(|| polling.pause(Duration::ZERO).ok()).collect();
            assert_eq!(pauses, [Duration::from_secs(5); 2]);
            let error = polling.pause(Duration::ZERO).unwrap_err().to_string();
            assert!(error.contains(want), "{error}");
            // Slow answers count as well.
            polling.waited = Duration::ZERO;
            assert!(polling.pause(Duration::from_secs(11)).is_err());
        }
    }
}
