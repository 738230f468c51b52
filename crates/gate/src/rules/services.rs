//! Service managers and schedulers.

use crate::assessment::{EffectKind, Grant};
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    let verb = words.iter().copied().find(|word| !word.starts_with('-')).unwrap_or_default();
    match call.name {
        "systemctl" => systemctl(walker, verb, &words),
        "service" | "rc-service" | "invoke-rc.d" => {
            let action =
                words.iter().copied().filter(|word| !word.starts_with('-')).nth(1).unwrap_or_default();
            if !matches!(action, "status" | "") || words.contains(&"--full-restart") {
                stop(walker, call.name);
            }
        }
        "launchctl" => {
            if !matches!(verb, "list" | "print" | "getenv" | "version" | "") {
                let names_hermes = words.iter().any(|word| word.contains("hermes"));
                let rule = if names_hermes { keys::LAUNCHD } else { keys::SERVICE };
                walker.ask_with(
                    EffectKind::Process,
                    None,
                    rule,
                    "stops or starts a launchd service",
                    Grant::Unconfined,
                );
            }
        }
        "supervisorctl" | "sv" | "pm2" | "rc-update" | "update-rc.d" | "chkconfig" | "initctl" | "s6-svc"
        | "monit" => {
            if !matches!(
                verb,
                "status"
                    | "list"
                    | "ls"
                    | "logs"
                    | "tail"
                    | "describe"
                    | "show"
                    | "prettylist"
                    | "jlist"
                    | ""
            ) {
                stop(walker, call.name);
            }
        }
        "crontab" => crontab(walker, &words, call)?,
        "journalctl"
            if words
                .iter()
                .any(|word| word.starts_with("--vacuum") || matches!(*word, "--rotate" | "--flush")) =>
        {
            walker.ask(EffectKind::Delete, None, keys::SYSTEM_CHANGE, "deletes logs of the system");
        }
        "loginctl"
            if !matches!(verb, "")
                && !verb.starts_with("list-")
                && !verb.starts_with("show-")
                && !verb.ends_with("-status") =>
        {
            walker.ask_with(
                EffectKind::Process,
                None,
                keys::SERVICE_CHANGE,
                "ends or changes login sessions",
                Grant::Unconfined,
            );
        }
        "dbus-send" | "gdbus" | "busctl" | "qdbus" => {
            if !matches!(verb, "list" | "tree" | "introspect" | "status" | "") {
                walker.ask_with(
                    EffectKind::Execute,
                    None,
                    keys::SERVICE_CHANGE,
                    "calls a service of the session or the system",
                    Grant::Unconfined,
                );
            }
        }
        "journalctl" | "loginctl" => {}
        _ => return Ok(None),
    }
    Ok(Some(Output::Unknown))
}

fn stop(walker: &mut Walker<'_>, name: &str) {
    let reason = format!("{name} stops, starts or changes services");
    walker.ask_with(EffectKind::Process, None, keys::SERVICE, reason, Grant::Unconfined);
}

fn systemctl(walker: &mut Walker<'_>, verb: &str, words: &[&str]) {
    let reads = [
        "status",
        "is-active",
        "is-enabled",
        "is-failed",
        "list-units",
        "list-unit-files",
        "list-timers",
        "list-sockets",
        "list-dependencies",
        "show",
        "cat",
        "get-default",
        "list-jobs",
        "help",
        "is-system-running",
        "list-machines",
        "show-environment",
        "",
    ];
    if reads.contains(&verb)
        && !words
            .iter()
            .any(|word| matches!(*word, "stop" | "restart" | "disable" | "mask" | "start" | "kill"))
    {
        return;
    }
    if words.iter().any(|word| {
        matches!(
            *word,
            "stop" | "restart" | "disable" | "mask" | "kill" | "try-restart" | "reload-or-restart"
        )
    }) {
        stop(walker, "systemctl");
    } else if matches!(
        verb,
        "suspend"
            | "hibernate"
            | "hybrid-sleep"
            | "sleep"
            | "rescue"
            | "emergency"
            | "isolate"
            | "exit"
            | "switch-root"
    ) {
        walker.ask_with(
            EffectKind::Power,
            None,
            keys::POWER_STATE,
            "changes the power state or the run level",
            Grant::Unconfined,
        );
    } else {
        let reason = format!("systemctl {verb} starts or configures services");
        walker.ask_with(EffectKind::Policy, None, keys::SERVICE_CHANGE, reason, Grant::Unconfined);
    }
}

fn crontab(walker: &mut Walker<'_>, words: &[&str], call: &Call<'_>) -> Result<(), Unreadable> {
    if words.contains(&"-l") && !words.contains(&"-r") {
        return Ok(());
    }
    walker.ask_with(
        EffectKind::Policy,
        None,
        keys::SCHEDULE,
        "changes the scheduled commands of the user",
        Grant::Unconfined,
    );
    if let Output::Text(text) = call.stdin {
        for line in text.lines().take(64).filter(|line| !line.starts_with('#')) {
            let fields = if line.trim_start().starts_with('@') { 1 } else { 5 };
            let command: Vec<&str> = line.split_whitespace().skip(fields).collect();
            if !command.is_empty() {
                walker.payload(&command.join(" "), Output::Nothing)?;
            }
        }
    }
    Ok(())
}
