//! Signals to processes.

use crate::assessment::EffectKind;
use crate::field::{Field, INPUT, OUTPUT};
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "kill" => kill(walker, call),
        "killall5" => kill_all(walker),
        "pkill" | "killall" | "skill" | "xkill" | "fuser" | "slay" | "fkill" | "kill-port" => {
            by_name(walker, call)
        }
        "pgrep" | "pidof" => return Ok(Some(Output::Unknown)),
        "renice" | "gcore" | "reptyr" => {
            walker.ask(
                EffectKind::Process,
                None,
                keys::SIGNAL,
                format!("{} changes or attaches to a process", call.name),
            );
        }
        _ => return Ok(None),
    }
    Ok(Some(Output::Nothing))
}

pub(super) fn kill_all(walker: &mut Walker<'_>) {
    walker.deny(EffectKind::Process, Some("-1"), keys::KILL_ALL, "signals every process of the user");
}

fn kill(walker: &mut Walker<'_>, call: &Call<'_>) {
    let mut operands: Vec<&Field> = Vec::new();
    let mut has_signal = false;
    let mut after_dashes = false;
    let mut arguments = call.arguments.iter();
    while let Some(field) = arguments.next() {
        match field.text.as_str() {
            _ if after_dashes => operands.push(field),
            "--" => after_dashes = true,
            "-s" | "-n" | "-q" | "--signal" | "--queue" => {
                arguments.next();
                has_signal = true;
            }
            "-l" | "-L" | "--list" | "--table" => return,
            "-a" | "-v" | "-p" | "--all" | "--verbose" => {}
            // The first word with a dash is the signal; later ones are process groups.
            text if text.starts_with('-') && !has_signal && operands.is_empty() => {
                has_signal = true;
                if text == "-1"
                    && call.arguments.iter().all(|field| field.text == "-1" || field.text.contains(INPUT))
                {
                    return kill_all(walker);
                }
            }
            _ => operands.push(field),
        }
    }
    if operands.iter().any(|field| field.text == "-1") {
        return kill_all(walker);
    }
    if operands.iter().any(|field| field.text.contains(OUTPUT)) {
        walker.ask(
            EffectKind::Process,
            None,
            keys::KILL_PGREP,
            "signals processes whose ids another command prints",
        );
    } else if operands.iter().any(|field| field.text.contains(INPUT)) {
        walker.ask(
            EffectKind::Process,
            None,
            keys::SIGNAL,
            "signals processes whose ids standard input names",
        );
    } else if operands.iter().any(|field| field.is_pattern || field.text.contains("/proc/")) {
        walker.ask(EffectKind::Process, None, keys::SIGNAL, "signals all processes that a pattern names");
    } else if operands.iter().any(|field| matches!(field.text.as_str(), "1" | "0")) {
        walker.ask(
            EffectKind::Process,
            None,
            keys::SIGNAL,
            "signals the first process or the whole process group",
        );
    }
}

fn by_name(walker: &mut Walker<'_>, call: &Call<'_>) {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    if call.name == "fuser" && !words.iter().any(|word| word.starts_with('-') && word.contains('k')) {
        return;
    }
    let patterns: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    if call.name == "pkill"
        && patterns.last().is_some_and(|pattern| matches!(*pattern, "." | ".*" | "" | "^" | ".+" | "$"))
    {
        return kill_all(walker);
    }
    let is_kill = |word: &&str| matches!(*word, "-9" | "-KILL" | "-SIGKILL" | "-kill");
    let has_value = |flag: &str| {
        words.windows(2).any(|pair| matches!(pair, [name, value] if *name == flag && matches!(*value, "KILL" | "SIGKILL" | "9")))
    };
    let names_hermes =
        patterns.iter().any(|pattern| pattern.contains("hermes") || pattern.contains("gateway"));
    let rule = if names_hermes {
        keys::KILL_HERMES
    } else if call.name == "killall" && has_value("-s") {
        keys::KILLALL_S_KILL
    } else if call.name == "killall" && words.iter().any(is_kill) {
        keys::KILLALL_KILL
    } else if call.name == "killall" && words.iter().any(|word| matches!(*word, "-r" | "--regexp")) {
        keys::KILLALL_REGEX
    } else if words.iter().any(is_kill) || has_value("-s") || has_value("--signal") {
        keys::FORCE_KILL
    } else {
        keys::SIGNAL
    };
    walker.ask(
        EffectKind::Process,
        patterns.last().copied(),
        rule,
        format!("{} signals processes by name", call.name),
    );
}
