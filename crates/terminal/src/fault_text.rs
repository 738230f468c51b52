//! The text of a failed turn: the error, and what to do about it.

use crate::term;
use hermes_runtime::TurnReport;

/// The error of a failed turn and the next step, in one line. `provider` is that of the session.
pub fn explain(report: &TurnReport, error: &str, provider: &str) -> String {
    use hermes_runtime::FaultClass::*;
    let asked = report.stand_in.as_ref().map_or(provider, |last| &last.provider);
    let listing = format!(
        "`hermes model list {asked}` lists its models; choose one with `hermes config set model.default NAME`"
    );
    let next = match report.fault {
        Some(Unreachable) => {
            "check the address with `hermes config explain model.base_url` and that the server runs"
        }
        Some(Auth) => "check the key with `hermes doctor`",
        Some(ModelNotFound) => listing.as_str(),
        Some(Budget) => "`hermes budget` shows the spending",
        Some(Billing) => "the account needs credit, or choose another provider",
        Some(
            RateLimited | UpstreamRateLimited | Overloaded | Server | Timeout | StreamCut | Garbled | Unknown,
        ) => "the provider did not recover; try again later with --continue",
        Some(Certificate) => {
            "the server's certificate is not trusted here; check the address, the clock and the CA certificates"
        }
        Some(ContextOverflow | PayloadTooLarge | LongContextTier | LongContextBeta) => {
            "the conversation is too long for this model; start a new session"
        }
        Some(ContentPolicy) => "the provider rejected the content; rephrase the prompt",
        Some(ProviderPolicy) => {
            "the provider's account settings allow no endpoint for this model; change them, or the model"
        }
        Some(ImageTooLarge) => "an image is too large for this model; send a smaller one in a new session",
        Some(
            StreamingUnsupported | ThinkingSignature | EncryptedContent | ToolImages | SchemaKeywords
            | Format,
        ) => "the provider rejected the request; try another model",
        None if report.store_failed => {
            return format!("{}; see `hermes doctor`", term::printable(error));
        }
        None => return term::printable(error).into_owned(),
    };
    // If several models failed, the advice is about the last one.
    let error = match &report.stand_in {
        Some(last) => format!("no model answered; {}/{}: {error}", last.provider, last.model),
        None => error.to_owned(),
    };
    format!("{}; your message is saved; {next}", term::printable(&error))
}
