//! Logins and their tokens.
//!
//! [`login_flow`] describes a login as data; [`device_login`] and [`browser_login`] run it; [`refresh`] gets the next
//! token. The tokens are stored in the pool of `credentials`, which renews them through [`LoginRefresh`].
//! `vendor_files` reads logins that vendors' own programs stored on this machine.
//!
//! Hermes identifies itself. It uses no client id, user agent or header of another vendor's program; if a vendor
//! accepts nothing else, the message says so.

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
pub use browser::{LoginChannels, browser_login};
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
