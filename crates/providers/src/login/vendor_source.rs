//! Tokens of a vendor's own program for each request: the file is read again when its token has expired or was
//! refused, because the program may have renewed it.

use super::source::TokenSource;
use super::vendor_files::{VendorPlaces, VendorState, VendorTool, read_vendor_file};
use hermes_conversation::BoxFuture;
use hermes_wire::Failure;
use secrecy::{ExposeSecret, SecretString};
use std::time::SystemTime;

/// The login of a vendor's program.
pub struct VendorTokens {
    tool: VendorTool,
    places: VendorPlaces,
}

impl VendorTokens {
    pub fn new(tool: VendorTool, places: VendorPlaces) -> Self {
        Self { tool, places }
    }

    async fn read(&self) -> Result<SecretString, Failure> {
        let (tool, places) = (self.tool, self.places.clone());
        let read = tokio::task::spawn_blocking(move || read_vendor_file(tool, &places, SystemTime::now()));
        let why = match read.await {
            Ok(VendorState::Valid(token)) => return Ok(token.access),
            Ok(state) => state.why_not(tool),
            Err(_) => "reading it was stopped".to_owned(),
        };
        Err(Failure::NoKey { why, rests_for: None })
    }
}

impl VendorState {
    /// Returns the next step for a usable login; empty if there is one.
    pub fn why_not(&self, tool: VendorTool) -> String {
        let (name, run) = (tool.name(), tool.command());
        match self {
            Self::Valid(_) => String::new(),
            Self::Expired { from, .. } => {
                format!("the login of {name} in {} has expired: run `{run}`, which renews it", from.display())
            }
            Self::Absent => format!("there is no login of {name} on this machine: run `{run}`"),
            Self::Unreadable { from, why } => {
                format!("the login of {name} in {} cannot be read: {why}; run `{run}`", from.display())
            }
        }
    }
}

impl TokenSource for VendorTokens {
    fn token(&self) -> BoxFuture<'_, Result<SecretString, Failure>> {
        Box::pin(self.read())
    }

    fn instead_of<'a>(&'a self, refused: &'a SecretString) -> BoxFuture<'a, Result<SecretString, Failure>> {
        Box::pin(async {
            let token = self.read().await?;
            match token.expose_secret() == refused.expose_secret() {
                false => Ok(token),
                true => Err(Failure::NoKey {
                    rests_for: None,
                    why: format!(
                        "the server does not accept the login of {}: run `{}`, which renews it",
                        self.tool.name(),
                        self.tool.command()
                    ),
                }),
            }
        })
    }
}
