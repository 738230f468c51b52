//! The environment of this process, whose secrets commands of the model must not find in `/proc`.

use hermes_config::is_hidden_variable;
use hermes_runtime::environment_handover::{self, Variable};
use std::sync::OnceLock;

/// What the first start handed over.
static HIDDEN: OnceLock<Vec<Variable>> = OnceLock::new();

/// Closes the process to others, and starts it again without the secrets of its environment if there are
/// any. Comes before anything is opened or printed.
pub(crate) fn hide_secrets() {
    environment_handover::close_to_others();
    if let Some(handed) = environment_handover::receive() {
        // Set here and nowhere else.
        let _ = HIDDEN.set(handed);
        return;
    }
    // After a start without secrets there are none, so this happens once at most.
    let (hidden, visible): (Vec<_>, Vec<_>) = variables()
        .partition(|(name, value)| is_hidden_variable(&name.to_string_lossy(), &value.to_string_lossy()));
    if hidden.is_empty() {
        return;
    }
    // Going on is better than not starting: the process is closed to all but root.
    let error = environment_handover::restart(visible, &hidden);
    hermes_terminal::print::notice(&format!("secrets stay in the environment of this process: {error}"));
}

/// The whole environment, as the user set it.
pub(crate) fn variables() -> impl Iterator<Item = Variable> {
    let visible = std::env::vars_os().filter(|(name, _)| !environment_handover::is_handover(name));
    visible.chain(HIDDEN.get().into_iter().flatten().cloned())
}
