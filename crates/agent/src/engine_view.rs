//! The view of a session that a context engine gets.

use crate::{Ports, Session};
use hermes_context::{Keep, View, Window};
use hermes_conversation::Trigger;
use hermes_tools::{Todo, TodoStatus, todo_list_in};
use std::time::Instant;

/// A request for compaction.
pub(crate) struct Wish<'a> {
    pub trigger: Trigger,
    /// The focus of the summary.
    pub focus: Option<&'a str>,
    /// The tokens of every request besides the history.
    pub fixed: u64,
    /// The time at which compaction was first considered.
    pub since: Instant,
}

pub(crate) fn view<'a>(session: &'a Session, wish: &Wish<'a>, keep: &'a Keep, ports: &'a Ports) -> View<'a> {
    let model = ports.route.current();
    let context = &session.context;
    View {
        history: session.history.messages(),
        weights: &context.weights,
        fixed: wish.fixed,
        last: context.last,
        scale: context.scales.scale(&model.profile().model),
        window: window_of(session, ports),
        trigger: wish.trigger,
        focus: wish.focus,
        past: &context.past,
        keep,
        nodes: &context.nodes,
        tools: &*ports.tools,
    }
}

pub(crate) fn window_of(session: &Session, ports: &Ports) -> Window {
    let output = ports.route.current().profile().max_tokens;
    Window { tokens: known_window(session, ports), output, summariser: ports.summaries.window() }
}

fn known_window(session: &Session, ports: &Ports) -> Option<u64> {
    session.context.window(ports.route.current().profile())
}

/// Returns true if a session is so small that the engine need not be called.
pub(crate) fn is_far(session: &Session, wish: &Wish<'_>, ports: &Ports) -> bool {
    /// A window that no model writes summaries with.
    const SMALL: u64 = 8_000;
    if !matches!(wish.trigger, Trigger::Preflight | Trigger::Loop) {
        return false;
    }
    let size =
        session.context.size(session.history.len(), wish.fixed, &ports.route.current().profile().model);
    let window = Window { tokens: known_window(session, ports), ..Window::default() };
    size.value() < ports.engine.threshold(&window).unwrap_or(u64::MAX).min(SMALL)
}

/// The texts that a compaction must keep. The task list is taken from the conversation, or from the
/// previous summary: a replay has nothing else.
pub(crate) fn keep(session: &mut Session) -> Keep {
    let newest = session.history.messages().iter().rev().find_map(|message| todo_list_in(message));
    if let Some(list) = newest {
        session.context.todos = list;
    }
    let is_open = |status: TodoStatus| matches!(status, TodoStatus::Pending | TodoStatus::InProgress);
    let todos = session.context.todos.iter().filter(|todo| is_open(todo.status));
    let line = |todo: &Todo| {
        let state = if todo.status == TodoStatus::InProgress { "in progress" } else { "pending" };
        format!("[{}] {} ({state})", todo.id, todo.content)
    };
    Keep { todos: todos.map(line).collect(), pins: session.context.pins.clone(), memory: None }
}
