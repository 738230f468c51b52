//! A model that answers from a script over real HTTP on loopback; the demo and the tests share it.
//!
//! [`Server`] answers well-behaved requests well. The HTTP pieces in [`http`] and the pure
//! renderers are public because `testkit` builds its badly behaved provider from them.

pub mod http;
mod listening;
mod render;
mod render_messages;
mod render_responses;
mod reply;
mod script;
mod server;

pub use listening::Listening;
pub use render::{Rendering, chunks, json_body, models_body, sse, sse_frames};
pub use render_messages::{messages_body, messages_events};
pub use render_responses::{ResponsesRendering, responses_body, responses_events};
pub use reply::{CallScript, ReplyScript};
pub use script::{Script, ScriptError};
pub use server::Server;
