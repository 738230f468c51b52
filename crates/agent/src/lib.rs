//! Running one turn: the turn machine, recovery, the driver.
//!
//! [`Turn`](turn::Turn) decides and never waits; [`run_turn`] waits and never decides. What a
//! turn needs from the world comes in through [`Ports`].

mod approving;
pub mod auxiliary;
mod cache_ledger;
mod calling;
mod compacting;
mod context_state;
mod driver;
pub mod edits;
mod engine_view;
mod epoch;
mod fallback;
mod finish;
mod hooking;
mod image_remedies;
pub mod loop_guard;
mod mail;
mod output_cap;
mod ports;
pub mod recovery;
mod report;
mod request_log;
mod route;
mod script_calls;
mod session;
pub mod small_window;
mod stop_checks;
mod text_calls;
mod texts;
mod titles;
mod tooling;
pub mod turn;
mod watching;
mod window;

pub use cache_ledger::{CacheLedger, CacheOf};
pub use compacting::{Compacted, compact};
pub use context_state::{ContextState, ToldWindow, Weighed};
pub use driver::run_turn;
pub use epoch::{Prepared as PreparedEpoch, adopt, prepare};
pub use ports::{Pause, Ports, ScriptPorts, sleep};
pub use report::{NotCompacted, StandIn, TurnReport};
pub use request_log::{LoggedFailure, LoggedRequest, RequestLog};
pub use route::FallbackRoute;
pub use session::{Input, Session, UserInput};
pub use stop_checks::{IntentCheck, StopChecks};
pub use texts::{CrashTexts, crash_texts, is_closing_line};
pub use titles::{title_in, title_request};
