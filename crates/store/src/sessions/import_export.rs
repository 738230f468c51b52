//! Import and export of whole sessions as JSON.

pub(super) mod column_json;
pub(super) mod export;
pub(super) mod import;
