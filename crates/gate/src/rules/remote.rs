//! Programs that run commands on other machines, copy to them, or publish.

use super::files::Via;
use super::network::{is_loopback, send};
use crate::assessment::{EffectKind, Grant};
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::options::{Spec, parse, parse_until};
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let verbs: Vec<&str> = call
        .arguments
        .iter()
        .filter(|field| !field.text.starts_with('-'))
        .map(|field| field.text.as_str())
        .take(3)
        .collect();
    match call.name {
        "ssh" | "mosh" | "autossh" | "rsh" | "slogin" => ssh(walker, call)?,
        "sshpass" => {
            let (_, index) = parse_until(call.arguments, Spec { letters: "pfdP", long: &[] }, 0);
            return walker.call(call.arguments.get(index..).unwrap_or_default(), call.stdin).map(Some);
        }
        "scp" | "sftp" | "ftp" | "lftp" | "tftp" | "rcp" | "ncftpput" | "smbclient" | "rclone" | "croc"
        | "wormhole" | "magic-wormhole" | "rsync-ssl" => {
            let is_listing = call.name == "rclone"
                && matches!(verbs.first(), Some(&("ls" | "lsd" | "lsl" | "version" | "listremotes")));
            if !is_listing {
                send(walker, None, format!("{} copies files to or from another machine", call.name));
            }
            super::secrets::arguments(walker, call);
        }
        "rsync" => rsync(walker, call)?,
        "nc" | "ncat" | "netcat" | "socat" | "telnet" | "nc.openbsd" | "nc.traditional" | "pwncat"
        | "chisel" | "ngrok" | "cloudflared" | "frpc" | "bore" => netcat(walker, call)?,
        "mail" | "mailx" | "mutt" | "sendmail" | "msmtp" | "swaks" | "ssmtp" | "s-nail" | "aerc" => {
            send(walker, None, "sends a message")
        }
        "nslookup" | "dig" | "host" | "ping" | "traceroute"
            if call.arguments.iter().any(|field| field.text.contains(crate::field::OUTPUT)) =>
        {
            send(walker, None, "sends the output of another command in a name");
        }
        "hg" | "svn" | "fossil" | "jj" | "bzr" => {
            if call.arguments.iter().any(|field| field.text.starts_with("--config")) {
                super::tools::program_option(walker, call.name, "--config", "")?;
            }
            let second = verbs.get(1).copied().unwrap_or_default();
            if matches!(verbs.first(), Some(&("push" | "commit" | "ci" | "serve" | "purge" | "strip")))
                && call.name != "jj"
                || second == "push"
            {
                walker.ask(
                    EffectKind::Network,
                    None,
                    keys::PUBLISH,
                    format!("{} changes the repository for good", call.name),
                );
            }
        }
        "gh" | "glab" => forge(walker, call.name, &verbs, call),
        "aws" | "gcloud" | "gsutil" | "az" | "doctl" | "s3cmd" | "mc" | "heroku" | "fly" | "flyctl"
        | "vercel" | "netlify" | "wrangler" | "firebase" | "railway" | "terraform" | "tofu" | "pulumi"
        | "cdk" | "sam" | "serverless" | "ansible" | "ansible-playbook" | "eksctl" | "oci" | "linode-cli"
        | "hcloud" | "supabase" | "salt" | "pssh" | "pdsh" | "fab" => cloud(walker, call, &verbs),
        _ => return Ok(None),
    }
    Ok(Some(Output::Unknown))
}

fn ssh(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<(), Unreadable> {
    let spec = Spec { letters: "bcDEeFIiJLlmOopQRSWw", long: &["--ssh", "--port"] };
    let (parsed, index) = parse_until(call.arguments, spec, 1);
    if parsed.has(&["-V"]) && parsed.operands.is_empty() {
        return Ok(());
    }
    let host = parsed.operands.first().map(|field| field.shown());
    let reason = format!("runs commands on {}", host.as_deref().unwrap_or("another machine"));
    walker.ask_with(EffectKind::Network, host.as_deref(), keys::REMOTE_SHELL, reason, Grant::Unconfined);
    let options: Vec<Field> = parsed.values(&["-o"]).cloned().collect();
    for option in options {
        let (name, value) = option.text.split_once(['=', ' ']).unwrap_or((&option.text, ""));
        if matches!(
            name.to_ascii_lowercase().as_str(),
            "proxycommand"
                | "localcommand"
                | "knownhostscommand"
                | "permitlocalcommand"
                | "match"
                | "include"
        ) {
            super::tools::program_option(walker, "ssh", name, value)?;
        }
    }
    let rest = call.arguments.get(index..).unwrap_or_default();
    let rest = if rest.first().is_some_and(|field| field.text == "--") {
        rest.get(1..).unwrap_or_default()
    } else {
        rest
    };
    let words: Vec<&str> = rest.iter().map(|field| field.text.as_str()).collect();
    if !words.is_empty() {
        walker.payload(&words.join(" "), call.stdin.clone())?;
    } else if !matches!(call.stdin, Output::Nothing) {
        walker.stdin_payload(call.stdin, "ssh")?;
    }
    Ok(())
}

fn rsync(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<(), Unreadable> {
    let parsed = parse(
        call.arguments,
        Spec {
            letters: "eTfBM",
            long: &[
                "--rsh",
                "--exclude",
                "--include",
                "--filter",
                "--rsync-path",
                "--files-from",
                "--log-file",
                "--exclude-from",
                "--bwlimit",
                "--port",
                "--backup-dir",
            ],
        },
    );
    for option in ["-e", "--rsh", "--rsync-path"] {
        let values: Vec<Field> = parsed.values(&[option]).cloned().collect();
        for value in values {
            super::tools::program_option(walker, "rsync", option, &value.text)?;
        }
    }
    let is_remote = |field: &Field| field.text.contains(':') && !field.text.starts_with(['/', '.']);
    if parsed.operands.iter().any(|field| is_remote(field)) {
        send(walker, None, "rsync copies files to or from another machine");
    }
    let mut operands: Vec<Field> = parsed.operands.iter().map(|field| (*field).clone()).collect();
    let target = if operands.len() > 1 { operands.pop() } else { None };
    operands.iter().filter(|field| !is_remote(field)).for_each(|field| walker.read_tree(field));
    if let Some(target) = target.filter(|field| !is_remote(field)) {
        walker.write(&target, Via::Copy);
        if parsed
            .options
            .iter()
            .any(|option| option.name.starts_with("--del") || option.name == "--remove-source-files")
        {
            walker.delete_tree(&target, keys::RECURSIVE_DELETE);
        }
    }
    Ok(())
}

fn netcat(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<(), Unreadable> {
    let parsed = parse(
        call.arguments,
        Spec { letters: "ecpswqiIOTVXxgG", long: &["--exec", "--sh-exec", "--lua-exec"] },
    );
    for option in ["-e", "-c", "--exec", "--sh-exec", "--lua-exec"] {
        let values: Vec<Field> = parsed.values(&[option]).cloned().collect();
        for value in values {
            super::tools::program_option(walker, call.name, option, &value.text)?;
        }
    }
    let probes_port = parsed.has(&["-z"]) && matches!(call.stdin, Output::Nothing);
    if call.name == "socat" {
        for field in &parsed.operands {
            let lower = field.text.to_ascii_lowercase();
            if let Some(at) = lower.find("exec:").or_else(|| lower.find("system:")) {
                let text =
                    field.text.get(at..).and_then(|text| text.split_once(':')).map_or("", |(_, text)| text);
                super::tools::program_option(
                    walker,
                    "socat",
                    "EXEC",
                    text.split(',').next().unwrap_or_default(),
                )?;
            }
        }
    }
    let is_local = parsed.operands.first().is_some_and(|field| is_loopback(&field.text))
        && call.name != "socat"
        && !parsed.has(&["-l"]);
    if !probes_port && !is_local {
        send(walker, None, format!("{} opens a connection for any data", call.name));
    }
    Ok(())
}

/// GitHub and GitLab: reading is harmless, other verbs change something that others see.
fn forge(walker: &mut Walker<'_>, name: &str, verbs: &[&str], call: &Call<'_>) {
    let first = verbs.first().copied().unwrap_or_default();
    let second = verbs.get(1).copied().unwrap_or_default();
    let shows_token = first == "auth"
        && (second == "token"
            || call.arguments.iter().any(|field| field.text == "--show-token" || field.text == "-t"));
    if shows_token {
        walker.ask(EffectKind::ReadSecret, None, keys::READ_SECRET, format!("{name} prints an access token"));
        return;
    }
    let is_read = match first {
        "" | "status" | "search" | "browse" | "completion" | "version" | "help" | "--version" => true,
        "api" => {
            let changes = ["-X", "--method", "-f", "-F", "--field", "--raw-field", "--input"];
            let method = call.arguments.windows(2).any(|pair| matches!(pair, [flag, value] if matches!(flag.text.as_str(), "-X" | "--method") && value.text.eq_ignore_ascii_case("get")));
            method
                || !call.arguments.iter().any(|field| {
                    changes
                        .iter()
                        .any(|change| field.text == *change || field.text.starts_with(&format!("{change}=")))
                })
        }
        _ => matches!(
            second,
            "" | "list"
                | "ls"
                | "view"
                | "show"
                | "status"
                | "diff"
                | "checks"
                | "checkout"
                | "clone"
                | "download"
                | "watch"
                | "get"
                | "logs"
                | "trace"
                | "develop"
        ),
    };
    if !is_read {
        let reason = format!("{name} {first} {second} changes something on the server");
        walker.ask(EffectKind::Network, None, keys::PUBLISH, reason);
    }
}

fn cloud(walker: &mut Walker<'_>, call: &Call<'_>, verbs: &[&str]) {
    super::secrets::arguments(walker, call);
    let reads_only = |verb: &str| {
        [
            "list",
            "ls",
            "describe",
            "get",
            "show",
            "status",
            "validate",
            "plan",
            "fmt",
            "version",
            "help",
            "info",
            "logs",
            "preview",
            "output",
            "providers",
            "graph",
            "diff",
            "synth",
            "whoami",
            "--version",
            "console-url",
            "init",
        ]
        .iter()
        .any(|read| verb == *read || verb.starts_with(&format!("{read}-")))
    };
    let prints_token = call.arguments.iter().any(|field| {
        field.text.contains("print-access-token")
            || field.text.contains("get-secret-value")
            || field.text.contains("get-access-token")
            || field.text == "print-identity-token"
            || field.text.contains("get-login-password")
            || matches!(
                field.text.as_str(),
                "get-session-token" | "get-federation-token" | "export-credentials" | "--with-decryption"
            )
            || field.text.starts_with("assume-role")
    }) || verbs.starts_with(&["configure", "get"])
        && verbs.get(2).is_some_and(|name| ["secret", "token", "key"].iter().any(|word| name.contains(word)));
    if prints_token {
        walker.ask(
            EffectKind::ReadSecret,
            None,
            keys::READ_SECRET,
            format!("{} prints a credential", call.name),
        );
    }
    let only_lists = call.name.starts_with("ansible")
        && call.arguments.iter().any(|field| {
            matches!(field.text.as_str(), "--syntax-check" | "--list-hosts" | "--list-tasks" | "--list-tags")
        });
    let is_flag_only = verbs.is_empty() || only_lists;
    if !is_flag_only && !verbs.iter().any(|verb| reads_only(verb)) {
        let reason = format!("{} {} changes or sends to a remote service", call.name, verbs.join(" "));
        walker.ask(EffectKind::Network, None, keys::PUBLISH, reason);
    }
}
