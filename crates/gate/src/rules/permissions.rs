//! Owners and permissions of files.

use super::files::Via;
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Spec, parse};
use crate::output::Output;
use crate::paths::Target;
use crate::walk::{Call, Prepared, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "chmod" | "gchmod" => chmod(walker, call),
        "chown" | "chgrp" | "gchown" => chown(walker, call),
        "chattr" | "setfacl" | "setcap" | "setfattr" | "chcon" | "restorecon" | "chflags" | "xattr" => {
            let reason = format!("{} changes attributes or rights of files", call.name);
            walker.ask(EffectKind::Policy, None, keys::PERMISSIONS, reason);
        }
        _ => return Ok(None),
    }
    Ok(Some(Output::Nothing))
}

fn chmod(walker: &mut Walker<'_>, call: &Call<'_>) {
    let parsed = parse(call.arguments, Spec { letters: "", long: &["--reference"] });
    // `-x` and `-w` are modes, not options.
    let is_mode = |text: &str| {
        text.starts_with('-') && text.len() > 1 && text.bytes().skip(1).all(|byte| b"rwxXst".contains(&byte))
    };
    let mut operands: Vec<Field> = call
        .arguments
        .iter()
        .filter(|field| !field.text.starts_with('-') || is_mode(&field.text))
        .cloned()
        .collect();
    if operands.is_empty() {
        return;
    }
    let mode = operands.remove(0);
    let is_recursive = parsed.has(&["-R", "--recursive"]);
    if is_world_writable(&mode.text) {
        let rule =
            if parsed.has(&["--recursive"]) { keys::WORLD_WRITABLE_LONG } else { keys::WORLD_WRITABLE };
        walker.ask(EffectKind::Policy, None, rule, "lets every user of the machine write");
    }
    if sets_identity(&mode.text) {
        walker.ask(
            EffectKind::Privilege,
            None,
            keys::PERMISSIONS,
            "lets others run a program as its owner (setuid)",
        );
    }
    for field in &operands {
        walker.write(field, Via::Other);
        let is_root = walker.resolve(field).path().is_some_and(|path| walker.scene.project.starts_with(path));
        if is_recursive && is_root && !mode.text.contains('+') {
            walker.ask(
                EffectKind::Policy,
                Some(&field.text),
                keys::PERMISSIONS,
                "changes the permissions of everything in the project",
            );
        }
        let is_executable =
            mode.text.contains('x') || mode.text.starts_with(['7', '5']) || mode.text.starts_with("07");
        if is_executable && let Target::Path(path) = walker.resolve(field) {
            let is_fetched = |(other, prepared): &(std::path::PathBuf, Prepared)| {
                *other == path && *prepared != Prepared::Executable
            };
            if !walker.prepared.iter().any(is_fetched) {
                walker.prepared.push((path, Prepared::Executable));
            }
        }
    }
}

fn is_world_writable(mode: &str) -> bool {
    let digits = mode.trim_start_matches(['=', '+']);
    if digits.len() >= 3 && digits.bytes().all(|byte| (b'0'..=b'7').contains(&byte)) {
        return digits.ends_with(['2', '3', '6', '7']);
    }
    mode.split(',').any(|clause| {
        let Some(at) = clause.find(['+', '=']) else { return false };
        let (who, what) = clause.split_at(at);
        what.contains('w') && (who.contains('o') || who.contains('a'))
    })
}

fn sets_identity(mode: &str) -> bool {
    let is_octal = mode.len() >= 4 && mode.bytes().all(|byte| (b'0'..=b'7').contains(&byte));
    if is_octal {
        let special = mode.get(mode.len() - 4..mode.len() - 3).unwrap_or_default();
        return matches!(special, "2" | "3" | "4" | "5" | "6" | "7");
    }
    mode.split(',').any(|clause| clause.contains('s') && clause.contains(['+', '=']))
}

fn chown(walker: &mut Walker<'_>, call: &Call<'_>) {
    let parsed = parse(call.arguments, Spec { letters: "", long: &["--reference", "--from"] });
    let owner = parsed.operands.first().map(|field| field.text.clone()).unwrap_or_default();
    let is_recursive = parsed.has(&["-R", "--recursive"]);
    let is_root = owner == "root" || owner.starts_with("root:") || owner == "0" || owner.starts_with("0:");
    let rule = match (is_recursive && is_root, parsed.has(&["--recursive"])) {
        (true, true) => keys::CHOWN_ROOT_LONG,
        (true, false) => keys::CHOWN_ROOT,
        _ => keys::PERMISSIONS,
    };
    walker.ask(EffectKind::Policy, None, rule, format!("changes the owner of files to {owner}"));
    let operands: Vec<Field> = parsed.operands.iter().skip(1).map(|field| (*field).clone()).collect();
    operands.iter().for_each(|field| walker.write(field, Via::Other));
}
