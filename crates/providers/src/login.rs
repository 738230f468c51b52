//! Logging in, and the tokens that come of it.
//!
//! [`login_flow`] says how, as data; [`device_login`] and [`browser_login`] do it; [`refresh`] gets
//! the next token. What a login gave is kept in the pool of `credentials`, which renews it through
//! [`LoginRefresh`]. Logins that vendors' own programs left here are read by `vendor_files`.
//!
//! Hermes says who it is. It uses no client id, user agent or header of another vendor's program;
//! where a vendor takes nothing else, the message says so.

mod answer;
mod attempt;
mod browser;
mod callback;
mod copilot;
mod device;
mod error;
mod flow;
pub(crate) mod jwt;
mod pkce;
mod redirected;
mod refresh;
mod source;
mod stored;
mod tokens;
mod vendor_files;
mod vendor_source;

pub use attempt::{Attempt, LoginScreen, Wait, wait_for_real};
pub use browser::{Ways, browser_login};
pub use copilot::{CopilotTokens, EXCHANGE_URL, ShortLived, exchange as exchange_for_copilot};
pub use device::device_login;
pub use error::{LoginError, RefreshError};
pub use flow::{
    BrowserFlow, DeviceFlow, Flow, FlowError, LoginOverrides, Redirect, TokenEndpoint, login_flow,
};
pub use refresh::refresh;
pub use source::{NoKeys, TokenKeys, TokenSource};
pub use stored::{ISSUED_BY, LoginRefresh};
pub use tokens::{RENEW_BEFORE, RefreshToken, Tokens};
pub use vendor_files::{
    VendorPlaces, VendorState, VendorToken, VendorTool, parse_vendor_file, read_vendor_file,
};
pub use vendor_source::VendorTokens;
