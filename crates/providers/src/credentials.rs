//! Stored credentials: the pool in `auth.json`, which of its keys is used, and what becomes of one
//! that was refused.
//!
//! The file is shared with the Python release: same fields, same lock ([`AuthFile`]). What to do is
//! decided by plain functions ([`choose`], [`after`]) over [`Entry`] values; [`PooledKeys`] asks
//! them, keeps the file up to date and hands keys to a model. A key is handed out for one provider
//! and one origin only.

mod aftermath;
mod borrowed;
mod choice;
mod data;
mod edit;
mod entry;
mod error;
mod file;
mod keys;
mod lease;
mod lock;
mod moment;
mod notes;
mod pool;
mod pooled_keys;
mod refresh;
mod renewal;
mod store;

pub use aftermath::{Aftermath, Case, after};
pub use choice::{Choosing, Strategy, choose};
pub use data::AuthData;
pub use edit::{NewEntry, NewLogin, NoSuchEntry};
pub use entry::{AuthType, Availability, Entry, LastError, Status};
pub use error::AuthError;
pub use file::{AuthFile, LockedAuthFile};
pub use keys::{FixedKey, KeyChange, Keys};
pub use lease::{Lease, Leases};
pub use pool::{Pool, Seed};
pub use pooled_keys::{Binding, PooledKeys};
pub use refresh::{NoRefresh, Refresh, RefreshError, Refreshed};
pub use store::{Credentials, Outside};
