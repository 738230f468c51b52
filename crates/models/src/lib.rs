//! The model of a session, from settings to a value that answers requests.
//!
//! [`model_choice`] resolves the settings to an endpoint, [`model_facts`] has its context window and prices,
//! and [`Models`] builds the model with its credentials, fallbacks and meter. [`auth`] manages the stored
//! credentials. Nothing here knows a session.

pub mod auth;
mod auxiliary;
mod credentials;
mod error;
mod fallback;
mod learned_windows;
pub mod model_choice;
pub mod model_facts;
mod model_switch;
mod models;

pub use auxiliary::{AuxRoute, AuxStop, Auxiliary, route as auxiliary_route};
pub use credentials::{credential_warnings, load_config};
pub use error::{ModelsError, UnlistedModel};
pub use fallback::{Fallbacks, common, fallbacks, resolve_entry};
pub use learned_windows::learn as learn_window;
pub use model_facts::list_prices;
pub use model_switch::{Checked, ModelSwitch};
pub use models::Models;
