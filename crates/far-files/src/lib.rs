//! Files of the place of commands, where that is not this machine.
//!
//! Every operation is one bash script there (`*.sh`), which opens the file, compares what is open with the path that was
//! checked, and acts on what is open. Texts travel encoded, with limits on each transfer. Whether an access is allowed is
//! the decision of the caller: these scripts judge no paths.

mod ere;
mod files;
mod reply;
mod search;

pub use files::{Facts, FarError, FarFiles, FarShell, Look, Page, Window};
pub use search::{Hit, Lines, NamedFile, Search, Searched};
