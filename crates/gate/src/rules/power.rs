//! Shutting down and restarting the machine.

use crate::assessment::EffectKind;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    let asks_for_help = words.iter().any(|word| matches!(*word, "--help" | "--version"));
    let rule = match call.name {
        "shutdown" | "reboot" | "halt" | "poweroff" if asks_for_help => return Ok(Some(Output::Harmless)),
        "shutdown" if words.contains(&"-c") => {
            walker.ask(EffectKind::Power, None, keys::POWER_STATE, "cancels a shutdown");
            return Ok(Some(Output::Nothing));
        }
        "shutdown" | "reboot" | "halt" | "poweroff" => keys::SHUTDOWN,
        "init" if words.iter().any(|word| is_final_level(word)) => keys::INIT,
        "telinit" if words.iter().any(|word| is_final_level(word)) => keys::TELINIT,
        "kexec" if words.iter().any(|word| matches!(*word, "-e" | "--exec" | "-f" | "--force")) => {
            keys::SHUTDOWN
        }
        "systemctl" if is_systemctl_power(&words) => keys::SYSTEMCTL_POWER,
        "loginctl" if words.iter().any(|word| matches!(*word, "poweroff" | "reboot" | "halt" | "kexec")) => {
            keys::SHUTDOWN
        }
        "init" | "telinit" | "runlevel" | "pm-suspend" | "pm-hibernate" | "rtcwake" | "pmset" | "zzz"
        | "kexec" => {
            walker.ask(
                EffectKind::Power,
                None,
                keys::POWER_STATE,
                "changes the power state or the run level",
            );
            return Ok(Some(Output::Nothing));
        }
        _ => return Ok(None),
    };
    walker.deny(EffectKind::Power, Some(call.name), rule, "shuts down or restarts the machine");
    Ok(Some(Output::Nothing))
}

fn is_final_level(word: &str) -> bool {
    matches!(word, "0" | "6")
}

fn is_systemctl_power(words: &[&str]) -> bool {
    let verbs = words.iter().filter(|word| !word.starts_with('-'));
    let mut verbs = verbs.copied();
    match verbs.next() {
        Some("poweroff" | "reboot" | "halt" | "kexec" | "soft-reboot") => true,
        Some("isolate" | "start") => verbs.any(|unit| {
            let unit = unit.trim_end_matches(".target").trim_end_matches(".service");
            matches!(
                unit,
                "poweroff"
                    | "reboot"
                    | "halt"
                    | "kexec"
                    | "runlevel0"
                    | "runlevel6"
                    | "shutdown"
                    | "systemd-reboot"
                    | "systemd-poweroff"
            )
        }),
        // The value of an option may stand first.
        Some(_) => {
            words.iter().any(|word| matches!(*word, "poweroff" | "halt" | "kexec"))
                && words.first().is_some_and(|word| word.starts_with('-'))
        }
        None => false,
    }
}
