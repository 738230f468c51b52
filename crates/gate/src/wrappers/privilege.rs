//! Programs that run a command as another user.

use super::{any_suffix, inner, skip_assignments};
use crate::assessment::{EffectKind, Grant};
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Parsed, Spec};
use crate::output::Output;
use crate::rules::files::Via;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    if let [only] = call.arguments
        && matches!(only.text.as_str(), "--version" | "-V" | "--help" | "-h")
    {
        return Ok(Output::Harmless);
    }
    let reason = format!("runs a command as another user with {}", call.name);
    walker.ask_with(EffectKind::Privilege, Some(call.name), keys::PRIVILEGE, reason, Grant::Unconfined);
    match call.name {
        "sudo" | "please" | "run0" => sudo(walker, call),
        "sudoedit" => {
            call.arguments.iter().for_each(|field| walker.write(field, Via::Other));
            Ok(Output::Unknown)
        }
        "doas" => {
            let (parsed, rest) = inner(call.arguments, Spec { letters: "uCa", long: &[] }, 0);
            if parsed.has(&["-s"]) && rest.is_empty() {
                return Ok(Output::Unknown);
            }
            let rest = skip_assignments(walker, rest);
            walker.call(rest, call.stdin)
        }
        "pkexec" => {
            let (_, rest) = inner(call.arguments, Spec { letters: "", long: &["--user"] }, 0);
            walker.call(rest, call.stdin)
        }
        "su" | "runuser" | "sg" => su(walker, call),
        _ => any_suffix(walker, call.arguments, call.stdin),
    }
}

fn sudo(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let spec = Spec {
        letters: "ugpChrtTUDRa",
        long: &[
            "--user",
            "--group",
            "--prompt",
            "--close-from",
            "--host",
            "--role",
            "--type",
            "--command-timeout",
            "--other-user",
            "--chdir",
            "--chroot",
        ],
    };
    let (parsed, rest) = inner(call.arguments, spec, 0);
    if parsed.has(&["-S", "-A", "-s", "-i", "-l", "--stdin", "--askpass", "--shell", "--login", "--list"]) {
        let is_combined =
            call.arguments.iter().take_while(|field| field.text.starts_with('-')).any(|field| {
                !field.text.starts_with("--")
                    && field.text.len() > 2
                    && field.text.contains(['S', 'A', 's', 'i', 'l'])
            });
        let rule = if is_combined { keys::SUDO_COMBINED } else { keys::SUDO_FLAG };
        let reason = "asks sudo for a shell, a list of rights, or reads its password from a program";
        walker.ask_with(EffectKind::Privilege, Some("sudo"), rule, reason, Grant::Unconfined);
    }
    if parsed.has(&["-e", "--edit"]) {
        rest.iter().for_each(|field| walker.write(field, Via::Other));
        return Ok(Output::Unknown);
    }
    let rest = skip_assignments(walker, rest);
    let is_shell = parsed.has(&["-s", "-i", "--shell", "--login"]);
    if rest.is_empty() && is_shell {
        return walker.stdin_payload(call.stdin, "sudo");
    }
    if is_shell {
        // The words are joined and given to a shell.
        let text: Vec<&str> = rest.iter().map(|field| field.text.as_str()).collect();
        walker.payload(&text.join(" "), call.stdin.clone())?;
    }
    walker.call(rest, call.stdin)
}

fn su(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let spec = Spec {
        letters: "cugGsw",
        long: &[
            "--command",
            "--session-command",
            "--user",
            "--group",
            "--supp-group",
            "--shell",
            "--whitelist-environment",
        ],
    };
    let parsed: Parsed<'_> = crate::options::parse(call.arguments, spec);
    let texts: Vec<Field> = parsed.values(&["-c", "--command", "--session-command"]).cloned().collect();
    for text in &texts {
        walker.payload(&text.text, call.stdin.clone())?;
    }
    if texts.is_empty() {
        let operands: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
        any_suffix(walker, &operands, call.stdin)?;
        if !matches!(call.stdin, Output::Nothing) {
            walker.stdin_payload(call.stdin, call.name)?;
        }
    }
    Ok(Output::Unknown)
}
