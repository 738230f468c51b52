//! Programs that print secrets, and arguments that name files of credentials.

use crate::assessment::EffectKind;
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    let first = words.iter().copied().find(|word| !word.starts_with('-')).unwrap_or_default();
    let prints = match call.name {
        "pass" | "gopass" => !matches!(first, "" | "ls" | "list" | "find" | "version" | "help"),
        "op" => !matches!(first, "" | "--version" | "whoami"),
        "bw" | "lpass" | "keepassxc-cli" | "rbw" | "dashlane" => {
            !matches!(first, "" | "status" | "--version")
        }
        "vault" | "bao" => !matches!(first, "" | "status" | "version" | "path-help"),
        "secret-tool" => first != "search",
        "security" => words.iter().any(|word| {
            word.starts_with("find-")
                || word.starts_with("dump-")
                || word.starts_with("export")
                || word.starts_with("delete")
                || word.starts_with("add")
                || word.starts_with("set")
        }),
        "gpg" | "gpg2" => words.iter().any(|word| {
            word.starts_with("--export-secret")
                || word.starts_with("--delete-secret")
                || matches!(
                    *word,
                    "-d" | "--decrypt"
                        | "--edit-key"
                        | "--gen-key"
                        | "--import"
                        | "--delete-key"
                        | "--delete-keys"
                )
        }),
        "age" | "sops" | "ansible-vault" => words
            .iter()
            .any(|word| matches!(*word, "-d" | "--decrypt" | "decrypt" | "view" | "edit" | "rekey")),
        "ssh-add"
        | "ssh-keygen"
        | "ssh-copy-id"
        | "keyctl"
        | "kwallet-query"
        | "gnome-keyring-daemon"
        | "chntpw"
        | "mimikatz"
        | "hashcat"
        | "john"
        | "getfacl_" => {
            !(call.name == "ssh-keygen"
                && words.iter().any(|word| matches!(*word, "-l" | "-lf" | "-F" | "-y_"))
                || call.name == "ssh-add" && words.contains(&"-l"))
        }
        "getent" => matches!(first, "shadow" | "gshadow"),
        "xclip" | "xsel" | "wl-paste" | "pbpaste" => {
            let is_copy = words.iter().any(|word| matches!(*word, "-i" | "-in"))
                || matches!(call.stdin, Output::Text(_));
            !is_copy || words.iter().any(|word| matches!(*word, "-o" | "-out"))
        }
        "scrot" | "import" | "grim" | "screencapture" | "ffmpeg_grab" | "xwd" | "gnome-screenshot"
        | "spectacle" => true,
        "tcpdump" | "tshark" | "dumpcap" | "ngrep" | "wireshark" | "ettercap" | "bettercap" | "arpspoof"
        | "mitmproxy" | "mitmdump" => true,
        "gdb" | "lldb" | "rr" | "bpftrace" | "perf_attach" | "dtrace" | "frida" => {
            return super::tools::debugger(walker, call).map(Some);
        }
        _ if call.name.starts_with("docker-credential-") || call.name.starts_with("git-credential") => true,
        _ => return Ok(None),
    };
    arguments(walker, call);
    if prints {
        walker.ask(
            EffectKind::ReadSecret,
            Some(call.name),
            keys::READ_SECRET,
            format!("{} reads or changes keys, credentials or what the user sees", call.name),
        );
    }
    Ok(Some(Output::Unknown))
}

/// Judges every argument that may be the name of a file.
pub(super) fn arguments(walker: &mut Walker<'_>, call: &Call<'_>) {
    fields(walker, call.arguments);
}

pub(super) fn fields(walker: &mut Walker<'_>, arguments: &[Field]) {
    for field in arguments {
        if field.text.len() > 512 || field.text.contains(' ') && !field.text.contains('/') {
            continue;
        }
        // `--file=path`, `key=@path`, `host:path` and `-I/path`.
        let value = field.text.split_once('=').map_or(field.text.as_str(), |(_, value)| value);
        let value = value.trim_start_matches(['@', '<']);
        if value.starts_with('-') && !value.contains('/') {
            continue;
        }
        walker.read(&Field { text: value.to_owned(), is_pattern: field.is_pattern });
        if let Some((_, path)) = value.split_once(':').filter(|(before, _)| !before.is_empty()) {
            walker.read(&Field::literal(path));
        }
        if let Some((source, _)) = value.split_once(':').filter(|(before, _)| before.starts_with('/')) {
            walker.read(&Field::literal(source));
        }
    }
}

/// `openssl` reads keys and may run engines and servers.
pub(super) fn openssl(walker: &mut Walker<'_>, call: &Call<'_>) {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    if words.iter().any(|word| matches!(*word, "-engine" | "-provider" | "s_server" | "-provider-path")) {
        walker.ask(EffectKind::Execute, None, keys::LOADS_CODE, "openssl loads code or opens a server");
    }
    if words.first() == Some(&"s_client") && !matches!(call.stdin, Output::Nothing | Output::Text(_)) {
        walker.ask(EffectKind::Network, None, keys::NETWORK_SEND, "sends standard input to another machine");
    }
    for pair in call.arguments.windows(2) {
        if let [flag, file] = pair
            && matches!(flag.text.as_str(), "-out" | "-keyout" | "-writerand")
        {
            walker.write(file, super::files::Via::Other);
        }
    }
}
