//! Dumps of failed requests for diagnosis: `sessions/request_dump_*.json`.
//!
//! A dump has the body and the error. It has no headers and so no key, and secrets in the body are redacted. With
//! `HERMES_DUMP_REQUESTS` every request of a turn is dumped.

use crate::Home;
use hermes_agent::{LoggedRequest, TurnReport};
use hermes_config::Config;
use hermes_config::home::{HomeError, PRIVATE_FILE, ensure_private_dir, write_atomically};
use hermes_conversation::SessionId;
use hermes_guard::{Secrets, redact};
use hermes_wire::FaultClass;
use jiff::Zoned;
use serde_json::{Value, json};

/// Returns true if every request is dumped.
pub(crate) fn are_forced(config: &Config) -> bool {
    let set = config.settings.variables.dump_requests.or_default();
    set.as_deref()
        .map(str::to_ascii_lowercase)
        .is_some_and(|value| !matches!(value.as_str(), "" | "0" | "false" | "no" | "off"))
}

/// Returns true for a turn that leaves a dump: one that may have failed because of the request itself.
pub(crate) fn is_wanted(report: &TurnReport) -> bool {
    use FaultClass::*;
    match report.fault {
        None
        | Some(Auth | Billing | Budget | Certificate | RateLimited | UpstreamRateLimited | Unreachable) => {
            false
        }
        Some(
            Overloaded | Server | Timeout | StreamCut | Garbled | Unknown | ContextOverflow | PayloadTooLarge
            | LongContextTier | LongContextBeta | ImageTooLarge | ToolImages | ThinkingSignature
            | EncryptedContent | SchemaKeywords | StreamingUnsupported | ModelNotFound | ContentPolicy
            | ProviderPolicy | Format,
        ) => true,
    }
}

/// Writes the requests of a turn. A failure is logged and has no other effect.
pub(crate) fn write(home: &Home, session: &SessionId, requests: &[LoggedRequest], secrets: &Secrets) {
    let now = crate::clock::zoned();
    for (number, request) in requests.iter().enumerate() {
        match write_one(home, session, &now, number, request, secrets) {
            Ok(name) => tracing::info!(file = name, "request dumped"),
            Err(error) => tracing::warn!(%error, "a request could not be dumped"),
        }
    }
}

fn write_one(
    home: &Home,
    session: &SessionId,
    now: &Zoned,
    number: usize,
    request: &LoggedRequest,
    secrets: &Secrets,
) -> Result<String, HomeError> {
    let time = now.strftime("%Y%m%d_%H%M%S_%6f");
    let number = if number == 0 { String::new() } else { format!("_{number}") };
    let name = format!("request_dump_{}_{time}{number}.json", safe(session.as_str()));
    let folder = home.sessions_dir();
    ensure_private_dir(&folder)?;
    let text = format!("{:#}\n", dump(session, &now.timestamp().to_string(), request, secrets));
    write_atomically(&folder.join(&name), text.as_bytes(), PRIVATE_FILE)?;
    Ok(name)
}

/// The content of a dump.
fn dump(session: &SessionId, at: &str, request: &LoggedRequest, secrets: &Secrets) -> Value {
    let body = String::from_utf8_lossy(&request.body);
    let body = redact(secrets, &body).into_owned();
    // Redaction works within strings; if it breaks the JSON, the text is kept.
    let body = serde_json::from_str(&body).unwrap_or(Value::String(body));
    let reason = request.failure.as_ref().map_or("preflight", |failure| failure.class.as_str());
    let error = request.failure.as_ref().map(|failure| {
        let message = redact(secrets, &failure.detail);
        json!({ "type": failure.class.as_str(), "status_code": failure.status, "message": message })
    });
    json!({
        "timestamp": at,
        "session_id": session.as_str(),
        "reason": reason,
        "request": {
            "method": "POST",
            "base_url": redact(secrets, &request.base_url),
            "provider": request.provider,
            "model": request.model,
            "api_mode": request.mode.as_str(),
            "body": body,
        },
        "error": error,
    })
}

/// A session id as part of a file name. Ids of imported sessions may have any characters.
fn safe(id: &str) -> String {
    let is_plain = |part: char| part.is_ascii_alphanumeric() || matches!(part, '_' | '-');
    id.chars().take(80).map(|part| if is_plain(part) { part } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_agent::LoggedFailure;
    use hermes_wire::ApiMode;
    use std::os::unix::fs::PermissionsExt;

    fn request(body: &str) -> LoggedRequest {
        let detail = "HTTP 400: bad field, key sk-known-secret-0123456789".to_owned();
        LoggedRequest {
            provider: "custom".into(),
            base_url: "http://127.0.0.1:1/v1".into(),
            model: "m".into(),
            mode: ApiMode::ChatCompletions,
            body: body.as_bytes().to_vec(),
            failure: Some(LoggedFailure { class: FaultClass::Format, status: Some(400), detail }),
        }
    }

    #[test]
    fn dumps_are_private_and_hold_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::at(folder.path());
        let secrets = Secrets::new([("api_key", "sk-known-secret-0123456789".into())]);
        let body =
            r#"{"model":"m","messages":[{"role":"user","content":"my key is sk-known-secret-0123456789"}]}"#;
        let requests = [request(body), request("not json")];
        write(&home, &SessionId::new("../20260101_x"), &requests, &secrets);
        let mut found: Vec<_> =
            std::fs::read_dir(home.sessions_dir()).unwrap().map(|entry| entry.unwrap()).collect();
        found.sort_by_key(std::fs::DirEntry::file_name);
        assert_eq!(found.len(), 2);
        for entry in &found {
            let name = entry.file_name().into_string().unwrap();
            assert!(name.starts_with("request_dump____20260101_x_") && name.ends_with(".json"), "{name}");
            assert_eq!(entry.metadata().unwrap().permissions().mode() & 0o777, 0o600);
            let text = std::fs::read_to_string(entry.path()).unwrap();
            assert!(!text.contains("sk-known-secret") && text.contains("[redacted:api_key]"), "{text}");
            let dump: Value = serde_json::from_str(&text).unwrap();
            assert_eq!(
                (&dump["reason"], &dump["error"]["status_code"]),
                (&json!("format_error"), &json!(400))
            );
        }
    }
}
