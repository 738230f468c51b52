//! The precedence of a vendor program's login.
//!
//! Explicit keys come earlier (`keys`). Then an API key; then the program's own login while it is valid; then tokens
//! that were copied into the environment, which are never renewed.

use super::keys::{KeySource, ResolvedKey, usable};
use super::{Lookups, ResolveError};
use crate::address::{origin, origin_of};
use crate::catalogue::{Auth, Provider};
use crate::login::{VendorState, VendorTool};
use crate::transport::is_login_token;
use secrecy::{ExposeSecret, SecretString};
use url::Url;

/// Returns the key of a provider whose vendor has a program with a login. `None` for any other provider, or if
/// nothing was found.
pub(super) fn find(
    provider: &'static Provider,
    url: &Url,
    lookups: Lookups<'_>,
) -> Result<Option<ResolvedKey>, ResolveError> {
    let Some(tool) = VendorTool::of_provider(provider.id) else { return Ok(None) };
    // A login is sent to the vendor itself only; an address in a variable may be another's.
    if provider.addresses().all(|text| origin_of(text) != Some(origin(url))) {
        return Ok(None);
    }
    let variables: Vec<(&'static str, SecretString)> =
        provider.key_env.iter().filter_map(|name| Some((*name, usable(lookups, name)?))).collect();
    let found = |(name, key): &(&'static str, SecretString)| {
        ResolvedKey::some(key.clone(), KeySource::Variable(name))
    };
    if let Some(api_key) = variables.iter().find(|(name, key)| !is_copied(name, key)) {
        return Ok(Some(found(api_key)));
    }
    let state = (lookups.vendor)(provider.id);
    let why = state.why_not(tool);
    match (state, variables.first()) {
        (VendorState::Valid(token), _) => {
            let source = KeySource::VendorFile { tool: tool.name(), file: token.from.display().to_string() };
            Ok(Some(ResolvedKey { account: token.account, ..ResolvedKey::some(token.access, source) }))
        }
        (VendorState::Absent, Some(copied)) => Ok(Some(found(copied))),
        (_, Some(copied)) => {
            let found = found(copied);
            Ok(Some(ResolvedKey { why: format!("{}; {why}", found.why), ..found }))
        }
        // Without a login, a key is used.
        (VendorState::Absent, None) if provider.auth == Auth::ApiKey => Ok(None),
        (_, None) => {
            let instead = match provider.key_env.first() {
                Some(variable) => format!("set {variable}"),
                None => "use `openai` with OPENAI_API_KEY".to_owned(),
            };
            Err(ResolveError::NoLogin { provider: provider.id, why: format!("{why}; or {instead}") })
        }
    }
}

/// Returns true if a variable holds a token that was copied from a login, and not an API key.
fn is_copied(name: &str, value: &SecretString) -> bool {
    let value = value.expose_secret().trim();
    is_login_token(value) || (name != "ANTHROPIC_API_KEY" && !value.starts_with("sk-ant-api"))
}

#[cfg(test)]
#[path = "vendor_tests.rs"]
mod tests;
