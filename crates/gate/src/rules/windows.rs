//! Commands of Windows, reached through WSL or a Windows shell.

use crate::assessment::EffectKind;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let words: Vec<String> = call.arguments.iter().map(|field| field.text.to_ascii_lowercase()).collect();
    let text = words.join(" ");
    match call.name.to_ascii_lowercase().as_str() {
        "cmd" => {
            if deletes_tree(&text) {
                walker.ask(EffectKind::Delete, None, keys::WINDOWS_DELETE, "deletes files with cmd");
            } else {
                walker.ask(EffectKind::Execute, None, keys::SHELL_TEXT, "runs text with cmd");
            }
        }
        "powershell" | "pwsh" => {
            let is_encoded = words.iter().any(|word| {
                word.len() > 1
                    && (word.starts_with("-enc")
                        || word.starts_with("/enc")
                        || matches!(word.as_str(), "-e" | "-ec" | "-en"))
            });
            let deletes = ["remove-item", "ri ", "rm ", "del ", "rd ", "rmdir ", "erase "]
                .iter()
                .any(|verb| text.contains(verb))
                && (text.contains("-rec")
                    || text.contains("-r ")
                    || text.contains("-force")
                    || text.contains("/s"));
            if is_encoded {
                walker.ask(EffectKind::Execute, None, keys::POWERSHELL_ENCODED, "runs encoded PowerShell");
            } else if deletes {
                walker.ask(
                    EffectKind::Delete,
                    None,
                    keys::POWERSHELL_DELETE,
                    "deletes files with PowerShell",
                );
            } else if !matches!(text.as_str(), "-version" | "--version" | "-v") {
                walker.ask(EffectKind::Execute, None, keys::SHELL_TEXT, "runs text with PowerShell");
            }
        }
        "del" | "rd" | "erase" | "deltree" => {
            walker.ask(
                EffectKind::Delete,
                None,
                keys::WINDOWS_DELETE,
                "deletes files with a Windows command",
            );
        }
        "remove-item" | "clear-content" => {
            walker.ask(EffectKind::Delete, None, keys::POWERSHELL_DELETE, "deletes files with PowerShell")
        }
        "reg" | "schtasks" | "vssadmin" | "bcdedit" | "diskpart" | "net" | "sc" | "wmic" | "cipher"
        | "takeown" | "icacls" | "rundll32" | "regsvr32" | "mshta" | "certutil" | "bitsadmin" | "cscript"
        | "wscript" => {
            walker.ask(
                EffectKind::Policy,
                None,
                keys::SYSTEM_CHANGE,
                format!("{} changes Windows or runs code", call.name),
            );
        }
        "start-process" | "invoke-expression" | "iex" | "invoke-webrequest" => {
            walker.ask(EffectKind::Execute, None, keys::SHELL_TEXT, "runs text with PowerShell");
        }
        _ => return Ok(None),
    }
    Ok(Some(Output::Unknown))
}

fn deletes_tree(text: &str) -> bool {
    let has_verb =
        ["del ", "rd ", "rmdir ", "erase ", "format ", "deltree "].iter().any(|verb| text.contains(verb));
    has_verb
        && (text.contains("/s") || text.contains("/q") || text.contains("/f") || text.contains("format "))
}
