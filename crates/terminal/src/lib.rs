//! The interactive terminal: the chat, what it draws and reads, and the output of commands.
//!
//! [`run`] is the chat. [`Terminal`] holds the keyboard and answers approvals; a one-shot uses it with
//! [`show_one_turn`]. [`browse`] picks a stored session. [`term`], [`print`] and [`text`] print what commands show.
//! Nothing here reads settings files or the command line.

mod answering;
mod approval_view;
mod ask_user;
pub mod browse;
mod chat;
mod choices;
mod compaction_text;
mod completer;
mod draft;
mod editor;
mod fault_text;
mod history;
mod input_area;
mod key_reader;
mod keyboard;
mod keys;
mod one_turn;
pub mod print;
mod screen;
pub mod signals;
mod status_line;
pub mod term;
mod terminal;
pub mod text;
mod tool_line;
mod turn_printer;
mod wrap;

pub use answering::answer_with;
pub use chat::{opening, run};
pub use compaction_text::{meter_lines, tokens};
pub use fault_text::explain;
pub use one_turn::show_one_turn;
pub use terminal::{Terminal, resume};
pub use tool_line::describe;
pub use wrap::wrapped;
