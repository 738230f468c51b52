//! Stored credentials: the pool in `auth.json`, the choice among its keys, and cooldowns after refusals.
//!
//! The file is shared with the Python release: same fields, same lock ([`AuthFile`]). Plain functions ([`choose`],
//! [`after`]) decide over [`Entry`] values; [`PooledKeys`] calls them, updates the file and supplies keys to a
//! model. A key is used for one provider and one origin only.

mod borrowed;
mod choice;
mod consequence;
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

pub use choice::{Choosing, Strategy, choose};
pub use consequence::{Case, Consequence, after};
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
pub use store::{ClockAndRandom, Credentials};
