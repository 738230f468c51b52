//! The web tools against sites on loopback.

mod addresses;
mod limits;
mod reference_pages;
mod services;
mod site;
