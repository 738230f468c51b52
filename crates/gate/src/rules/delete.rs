//! Deletion: `rm` and its relatives.

use super::files::Via;
use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Spec, parse};
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "rm" | "grm" | "srm" | "trash" | "trash-put" | "rip" | "gio" => remove(walker, call),
        "rmdir" | "unlink" => operands(call).iter().for_each(|field| walker.delete(field)),
        "rimraf" | "del-cli" => {
            operands(call).iter().for_each(|field| walker.delete_tree(field, keys::RECURSIVE_DELETE))
        }
        "shred" | "wipe" => {
            for field in operands(call) {
                walker.write(&field, Via::Disk);
                walker.delete(&field);
            }
            walker.ask(
                EffectKind::Delete,
                None,
                keys::RECURSIVE_DELETE,
                format!("{} overwrites files for good", call.name),
            );
        }
        "truncate" => {
            let parsed = parse(call.arguments, Spec { letters: "sr", long: &["--size", "--reference"] });
            parsed.operands.iter().for_each(|field| walker.write(field, Via::Other));
        }
        _ => return Ok(None),
    }
    Ok(Some(Output::Nothing))
}

fn operands(call: &Call<'_>) -> Vec<Field> {
    let parsed = parse(
        call.arguments,
        Spec { letters: if call.name == "shred" { "ns" } else { "" }, long: &["--iterations", "--size"] },
    );
    parsed.operands.into_iter().cloned().collect()
}

fn remove(walker: &mut Walker<'_>, call: &Call<'_>) {
    let parsed = parse(call.arguments, Spec::default());
    if call.name == "gio"
        && parsed.operands.first().is_none_or(|verb| !matches!(verb.text.as_str(), "trash" | "remove"))
    {
        return;
    }
    if parsed.has(&["--help", "--version"]) && parsed.operands.is_empty() {
        return;
    }
    let is_long = parsed.has(&["--recursive"]);
    // An option that is not known may be the recursive one.
    let is_unknown = call
        .arguments
        .iter()
        .any(|field| !field.is_known() && parsed.operands.iter().all(|operand| *operand != field));
    let is_recursive = is_long
        || is_unknown
        || parsed.has(&["-r", "-R"])
        || matches!(call.name, "srm" | "trash" | "trash-put" | "rip" | "gio");
    for field in &parsed.operands {
        if is_recursive {
            let rule = if is_long { keys::RECURSIVE_DELETE_LONG } else { keys::RECURSIVE_DELETE };
            walker.delete_tree(field, rule);
        } else {
            walker.delete(field);
        }
    }
}
