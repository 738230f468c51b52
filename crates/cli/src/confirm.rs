//! Confirmation of what cannot be undone.

use crate::exit::Failure;
use hermes_terminal::print;
use std::io::IsTerminal;

/// Asks `question`; only a yes confirms. Without a terminal it is a usage error with this `hint`.
pub(crate) fn confirm(question: &str, hint: &str) -> Result<bool, Failure> {
    if !std::io::stdin().is_terminal() {
        return Err(Failure::usage(format!("confirmation needed: {hint}")));
    }
    Ok(print::confirm(&format!("{question} [y/N] "))?)
}
