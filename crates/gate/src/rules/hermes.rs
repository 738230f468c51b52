//! Hermes' own command line: it must not approve, stop or change itself through a command.

use crate::assessment::EffectKind;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    if !matches!(call.name, "hermes" | "hermes-agent" | "hermes-gateway") {
        return Ok(None);
    }
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    let verbs: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let verb = verbs.first().copied().unwrap_or_default();
    let second = verbs.get(1).copied().unwrap_or_default();
    // A key is sent to the address of its service, which such a variable changes.
    if let Some(name) = redirecting_variable(walker) {
        let reason = format!("sets {name}, which changes where hermes sends its keys");
        walker.ask(EffectKind::Network, None, keys::SELF_APPROVAL, reason);
    }
    let skips_questions = words.iter().any(|word| matches!(*word, "--yolo" | "--sandbox" | "-z"));
    if verb == "gateway" && matches!(second, "stop" | "restart" | "kill" | "uninstall") {
        walker.ask(EffectKind::Process, None, keys::HERMES_GATEWAY, "stops the gateway and running agents");
    } else if verb == "gateway" && matches!(second, "run" | "start") {
        walker.ask(
            EffectKind::Process,
            None,
            keys::GATEWAY_OUTSIDE,
            "starts a gateway outside of the service manager",
        );
    } else if verb == "update" {
        walker.ask(EffectKind::Policy, None, keys::HERMES_UPDATE, "updates Hermes and stops running agents");
    } else {
        let is_read = matches!(verb, "" | "doctor" | "insights" | "version" | "help" | "status" | "demo")
            && !skips_questions
            || matches!(second, "list" | "show" | "check" | "test" | "ls" | "search" | "path");
        let is_read = is_read && !matches!(second, "set" | "revoke" | "add");
        if !is_read || skips_questions {
            walker.ask(
                EffectKind::Policy,
                None,
                keys::SELF_APPROVAL,
                format!("runs hermes {verb}, which can change its settings or start another agent"),
            );
        }
    }
    Ok(Some(Output::Unknown))
}

/// A variable with an address that this text, or an earlier command of the session, has set.
fn redirecting_variable(walker: &Walker<'_>) -> Option<String> {
    let is_address = |name: &&String| {
        let name = name.to_ascii_uppercase();
        ["URL", "DOMAIN", "SCHEME", "HOST", "ENDPOINT", "PROXY"].iter().any(|ending| name.ends_with(ending))
    };
    let mut set: Vec<&String> =
        walker.variables.keys().chain(walker.scene.variables.keys()).filter(is_address).collect();
    set.sort();
    set.first().map(|name| (*name).clone())
}
