//! A sandbox of either service.

use crate::api::Api;
use crate::daytona::Daytona;
use crate::error::CloudError;
use crate::modal::Modal;
use crate::settings::{CloudSettings, Service};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// A sandbox that was found or made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Found {
    pub(crate) id: String,
    /// The address of Daytona's toolbox for this sandbox.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) toolbox: Option<String>,
}

/// A service with the settings of a sandbox.
pub(crate) enum Cloud {
    Daytona(Daytona),
    Modal(Modal),
}

impl Cloud {
    /// `home` is the home directory of Hermes.
    pub(crate) fn new(settings: CloudSettings, api: Api, home: PathBuf) -> Result<Self, CloudError> {
        Ok(match settings.service {
            Service::Daytona => Self::Daytona(Daytona::new(settings, api, home)?),
            Service::Modal => Self::Modal(Modal::new(settings, api, home)?),
        })
    }

    /// Finds the sandbox, or makes it, and starts it.
    pub(crate) async fn ready(&self) -> Result<Found, CloudError> {
        match self {
            Self::Daytona(daytona) => daytona.ready().await,
            Self::Modal(modal) => modal.ready().await,
        }
    }

    /// Runs a short command and returns its text.
    pub(crate) async fn run(&self, found: &Found, command: &str) -> Result<String, CloudError> {
        match self {
            Self::Daytona(daytona) => daytona.run(found, command).await,
            Self::Modal(modal) => modal.run(found, command).await,
        }
    }

    /// Stops the sandbox; one that is not persistent is deleted. Returns false if there is none.
    pub(crate) async fn stop(&self) -> Result<bool, CloudError> {
        match self {
            Self::Daytona(daytona) => daytona.stop().await,
            Self::Modal(modal) => modal.stop().await,
        }
    }

    /// Bytes of a stream in the text of one command.
    pub(crate) fn piece(&self) -> usize {
        match self {
            Self::Daytona(_) => 192 * 1024,
            Self::Modal(_) => 48 * 1024,
        }
    }
}
