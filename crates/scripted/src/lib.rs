//! A scripted model server on loopback, with real HTTP; shared by the demo and the tests.
//!
//! [`Server`] answers valid requests correctly. The HTTP parts in [`http`] and the pure renderers are public
//! because `testkit` builds its faulty provider from them.

pub mod http;
mod listener;
mod render;
mod render_messages;
mod render_responses;
mod reply;
mod script;
mod server;

pub use listener::Listener;
pub use render::{Rendering, chunks, json_body, models_body, sse, sse_frames};
pub use render_messages::{messages_body, messages_events};
pub use render_responses::{ResponsesRendering, responses_body, responses_events};
pub use reply::{CallScript, ReplyScript};
pub use script::{Script, ScriptError};
pub use server::Server;
