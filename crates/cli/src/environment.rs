//! The environment of this process. Commands of the model must not find its secrets in `/proc`.

use hermes_config::is_hidden_variable;
use hermes_runtime::environment_handover::{self, Variable};
use std::sync::OnceLock;

/// The secrets that the first start handed over.
static HIDDEN: OnceLock<Vec<Variable>> = OnceLock::new();

/// Makes the process unreadable for others, and restarts it without the secrets of its environment if there are any.
/// Runs before anything is opened or printed.
pub(crate) fn hide_secrets() {
    environment_handover::close_to_others();
    if let Some(handed) = environment_handover::receive() {
        // Set only here.
        let _ = HIDDEN.set(handed);
        return;
    }
    // After a start without secrets there are none, so this happens once at most.
    let (hidden, visible): (Vec<_>, Vec<_>) = variables()
        .partition(|(name, value)| is_hidden_variable(&name.to_string_lossy(), &value.to_string_lossy()));
    if hidden.is_empty() {
        return;
    }
    // Better than not starting: the process is readable for root only.
    let error = environment_handover::restart(visible, &hidden);
    hermes_terminal::print::notice(&format!("secrets stay in the environment of this process: {error}"));
}

/// The whole environment, as the user set it.
pub(crate) fn variables() -> impl Iterator<Item = Variable> {
    let visible = std::env::vars_os().filter(|(name, _)| !environment_handover::is_handover(name));
    visible.chain(HIDDEN.get().into_iter().flatten().cloned())
}
