//! `hermes auth add`: stores a key.

use super::secret_prompt;
use crate::commands::config::read;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use hermes_runtime::auth;
use hermes_terminal::{print, term};
use serde_json::json;

pub(super) fn run(
    provider: &str,
    label: Option<String>,
    api_key: Option<String>,
    common: &Common,
) -> Result<Exit, Failure> {
    let config = read(common)?;
    let provider = auth::label_of(&config, provider).map_err(launch::blame_argument)?;
    let key = match api_key {
        Some(key) => {
            print::notice(
                "a key on the command line stays in the shell's history; leave --api-key out to enter it unseen",
            );
            key
        }
        None => secret_prompt::secret(&format!("Key for {}: ", term::printable(&provider)))?,
    };
    let (provider, added) = auth::add(&config, &provider, label, key.into())?;
    if common.json {
        let line = json!({
            "provider": provider,
            "number": added.number,
            "id": added.id,
            "label": added.label,
            "base_url": added.base_url,
        });
        print::json(&line);
        return Ok(Exit::Answered);
    }
    let address = added.base_url.unwrap_or_default();
    let line = format!("✓ Stored `{}` for {provider}; it is sent to {address} only", added.label);
    term::print_line(&term::printable(&line));
    Ok(Exit::Answered)
}
