//! Logins against small servers on loopback.

mod browser;
mod copilot;
mod device;
mod renewing;
mod silence;
mod stub;
