//! Package managers: installing into the project is harmless, into the system or PATH directories it asks.

use crate::assessment::{EffectKind, Grant};
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    let words: Vec<&str> = call.arguments.iter().map(|field| field.text.as_str()).collect();
    let verbs: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with(['-', '+'])).collect();
    let verb = verbs.first().copied().unwrap_or_default();
    let second = verbs.get(1).copied().unwrap_or_default();
    match call.name {
        "apt" | "apt-get" | "aptitude" | "dnf" | "yum" | "microdnf" | "zypper" | "pacman" | "yay"
        | "paru" | "apk" | "snap" | "flatpak" | "dpkg" | "rpm" | "brew" | "port" | "emerge"
        | "xbps-install" | "pkg" | "pkgin" | "nix-env" | "guix" | "choco" | "winget" | "scoop" | "opkg"
        | "eopkg" | "softwareupdate" | "mas" | "apt-key" | "add-apt-repository" | "apt-mark" => {
            system(walker, call.name, &words, verb);
        }
        "npm" | "yarn" | "pnpm" | "bun" | "cnpm" => node(walker, call.name, &words, verb, second)?,
        "pip" | "pip3" | "uv" | "pipx" | "poetry" | "conda" | "mamba" | "micromamba" | "pdm" | "twine"
        | "flit" | "hatch" | "rye" | "easy_install" | "pixi" => python(walker, call, &words, verb, second),
        _ if call.name.starts_with("pip3.") => python(walker, call, &words, verb, second),
        "cargo" => cargo(walker, call, &words, verb),
        "go" => go(walker, &words, verb),
        "gem" | "bundle" | "bundler" => {
            if call.name == "gem" && matches!(verb, "push" | "signin" | "yank" | "owner") {
                publish(walker, call.name);
            } else if call.name == "gem"
                && matches!(verb, "install" | "uninstall" | "update" | "cleanup")
                && !words.contains(&"--install-dir")
            {
                outside(walker, "gem");
            } else if call.name != "gem" && verb == "config" && second == "set" {
                settings(walker, call.name);
            }
        }
        _ if !other(walker, call.name, &words, &verbs) => return Ok(None),
        _ => {}
    }
    super::secrets::arguments(walker, call);
    Ok(Some(Output::Unknown))
}

/// Judges smaller managers; returns false if the program is none of them.
fn other(walker: &mut Walker<'_>, name: &str, words: &[&str], verbs: &[&str]) -> bool {
    let verb = verbs.first().copied().unwrap_or_default();
    let second = verbs.get(1).copied().unwrap_or_default();
    match name {
        "composer" => {
            if verb == "global"
                || verb == "config" && words.iter().any(|word| matches!(*word, "-g" | "--global"))
            {
                outside(walker, "composer");
            }
        }
        "rustup" => {
            if !matches!(verb, "show" | "which" | "doc" | "check" | "help" | "")
                && second != "list"
                && !words.contains(&"--version")
            {
                outside(walker, "rustup");
            }
        }
        "mvn" | "mvnw" | "gradle" | "gradlew" | "sbt" | "lein"
            if verbs.iter().any(|verb| {
                matches!(*verb, "deploy" | "publish" | "publishToSonatype" | "release:perform")
            }) =>
        {
            publish(walker, name);
        }
        "nvm" | "pyenv" | "rbenv" | "asdf" | "mise" | "sdk" | "volta" | "fnm" | "n" => {
            if matches!(
                verb,
                "install"
                    | "uninstall"
                    | "global"
                    | "alias"
                    | "plugin"
                    | "reshim"
                    | "use"
                    | "trust"
                    | "pin"
                    | "default"
                    | "self-update"
            ) && !(verb == "use" && name != "mise")
            {
                outside(walker, name);
            }
        }
        "direnv" if matches!(verb, "allow" | "permit" | "grant") => settings(walker, "direnv"),
        "vsce" | "ovsx" | "semantic-release" | "lerna" | "changeset" | "np" | "release-it"
            if matches!(verb, "publish" | "" | "release") =>
        {
            publish(walker, name)
        }
        "code" | "codium" | "cursor"
            if words
                .iter()
                .any(|word| word.starts_with("--install-extension") || *word == "--uninstall-extension") =>
        {
            outside(walker, name);
        }
        _ => return false,
    }
    true
}

fn outside(walker: &mut Walker<'_>, name: &str) {
    // The directory of the manager, if it has one of its own; a wider grant would open the home directory.
    let directory = match name {
        "cargo" => Some(".cargo"),
        "rustup" => Some(".rustup"),
        "go" => Some("go"),
        "pipx" | "uv" => Some(".local"),
        "nvm" => Some(".nvm"),
        "pyenv" => Some(".pyenv"),
        "rbenv" => Some(".rbenv"),
        "composer" => Some(".config/composer"),
        _ => None,
    };
    let place = directory.zip(walker.scene.user_home.clone()).map(|(directory, home)| home.join(directory));
    let grant = place.map_or(Grant::Unconfined, Grant::Write);
    let reason = format!("{name} installs or removes programs outside of the project");
    walker.ask_with(EffectKind::Write, Some(name), keys::PACKAGES, reason, grant);
}

fn publish(walker: &mut Walker<'_>, name: &str) {
    walker.ask(EffectKind::Network, Some(name), keys::PUBLISH, format!("{name} publishes a package"));
}

fn settings(walker: &mut Walker<'_>, name: &str) {
    walker.ask(EffectKind::Policy, Some(name), keys::OTHER_POLICY, format!("changes the settings of {name}"));
}

fn system(walker: &mut Walker<'_>, name: &str, words: &[&str], verb: &str) {
    let is_read = match name {
        "pacman" | "yay" | "paru" => words.first().is_some_and(|word| {
            word.starts_with("-Q")
                || word.starts_with("-Ss")
                || word.starts_with("-Si")
                || word.starts_with("-F")
        }),
        "dpkg" | "rpm" => !words.iter().any(|word| {
            matches!(
                *word,
                "-i" | "-U"
                    | "-e"
                    | "-r"
                    | "-P"
                    | "--install"
                    | "--remove"
                    | "--purge"
                    | "--configure"
                    | "--erase"
                    | "-Uvh"
                    | "-ivh"
                    | "--unpack"
                    | "--force-all"
            )
        }),
        "nix-env" => words.iter().any(|word| word.starts_with("-q")),
        _ => matches!(
            verb,
            "" | "list"
                | "search"
                | "show"
                | "info"
                | "policy"
                | "depends"
                | "rdepends"
                | "help"
                | "leaves"
                | "outdated"
                | "deps"
                | "config"
                | "doctor"
                | "desc"
                | "cat"
                | "home"
                | "options"
                | "provides"
                | "repolist"
                | "history"
                | "check-update"
                | "find"
                | "madison"
                | "changelog"
                | "showpkg"
                | "moo"
                | "download"
                | "version"
                | "--version"
                | "showmanual"
                | "uses"
                | "search-installed"
        ),
    };
    if !is_read {
        let reason = format!("{name} installs or removes packages of the system");
        walker.ask_with(EffectKind::Policy, Some(name), keys::PACKAGES, reason, Grant::Unconfined);
    }
}

fn node(
    walker: &mut Walker<'_>,
    name: &str,
    words: &[&str],
    verb: &str,
    second: &str,
) -> Result<(), Unreadable> {
    let is_global =
        words.iter().any(|word| matches!(*word, "-g" | "--global" | "--location=global")) || verb == "global";
    let is_listing =
        matches!(verb, "ls" | "list" | "ll" | "root" | "bin" | "prefix" | "outdated" | "view" | "info")
            || matches!(second, "list" | "ls" | "bin");
    if is_global && !is_listing && !matches!(verb, "config" | "get") {
        outside(walker, name);
    }
    match verb {
        "publish" | "unpublish" | "deprecate" | "dist-tag" | "owner" | "access" | "team"
            if second != "ls" =>
        {
            publish(walker, name)
        }
        "login" | "adduser" | "logout" | "token" | "profile" | "hook" => settings(walker, name),
        "config" | "c" if matches!(second, "set" | "delete" | "edit" | "rm") => settings(walker, name),
        "set" => settings(walker, name),
        "pkg" if second == "set" && words.iter().any(|word| word.starts_with("scripts.")) => {
            let scripts: Vec<String> = words
                .iter()
                .filter_map(|word| {
                    word.strip_prefix("scripts.")?.split_once('=').map(|(_, text)| text.to_owned())
                })
                .collect();
            for script in scripts {
                walker.payload(&script, Output::Nothing)?;
            }
        }
        "link" | "unlink" if verb == "link" && second.is_empty() => outside(walker, name),
        _ => {}
    }
    if words.iter().any(|word| {
        word.starts_with("--script-shell")
            || word.starts_with("--node-options")
            || word.starts_with("--userconfig")
            || word.starts_with("--globalconfig")
    }) {
        super::tools::program_option(walker, name, "--script-shell", "")?;
    }
    Ok(())
}

fn python(walker: &mut Walker<'_>, call: &Call<'_>, words: &[&str], verb: &str, second: &str) {
    let name = call.name;
    let is_uv_pip = name == "uv" && verb == "pip";
    match (name, verb) {
        ("twine", "upload") | ("poetry" | "flit" | "hatch" | "uv" | "pdm" | "rye", "publish") => {
            publish(walker, name)
        }
        ("pipx", "list" | "environment" | "" | "run") => {}
        ("pipx", _) => outside(walker, name),
        ("uv", "tool") if matches!(second, "install" | "uninstall" | "upgrade" | "update-shell") => {
            outside(walker, name)
        }
        ("uv", "python") if matches!(second, "install" | "uninstall" | "pin") && second != "pin" => {
            outside(walker, name)
        }
        ("uv", "self") => outside(walker, name),
        (_, "config")
            if words
                .iter()
                .any(|word| matches!(*word, "set" | "unset" | "edit" | "--set" | "--add" | "--unset"))
                || name == "poetry" && words.len() > 2 && !words.contains(&"--list") =>
        {
            settings(walker, name)
        }
        (
            "conda" | "mamba" | "micromamba",
            "config" | "init" | "remove" | "env" | "install" | "update" | "clean",
        ) if !words.contains(&"--show") && (verb != "env" || second != "list") => outside(walker, name),
        _ => {}
    }
    let installs = verb == "install" || is_uv_pip && second == "install";
    if installs
        && words
            .iter()
            .any(|word| matches!(*word, "--user" | "--break-system-packages" | "--system" | "--global"))
    {
        outside(walker, name);
    }
    for (index, word) in words.iter().enumerate() {
        let target = word
            .strip_prefix("--target=")
            .or_else(|| word.strip_prefix("--prefix="))
            .or_else(|| word.strip_prefix("--root="));
        let target = target.or_else(|| {
            matches!(*word, "-t" | "--target" | "--prefix" | "--root")
                .then(|| words.get(index + 1).copied())
                .flatten()
        });
        if let Some(target) = target.filter(|_| installs) {
            walker.write(&crate::field::Field::literal(target), super::files::Via::Other);
        }
    }
}

/// Judges the place that an option names for results.
fn output(walker: &mut Walker<'_>, words: &[&str], option: &str) {
    for (index, word) in words.iter().enumerate() {
        let attached = word.strip_prefix(option).and_then(|rest| rest.strip_prefix('='));
        let value = attached.or_else(|| (*word == option).then(|| words.get(index + 1).copied()).flatten());
        if let Some(value) = value {
            walker.write(&crate::field::Field::literal(value), super::files::Via::Other);
        }
    }
}

fn cargo(walker: &mut Walker<'_>, call: &Call<'_>, words: &[&str], verb: &str) {
    output(walker, words, "--target-dir");
    match verb {
        "publish" | "yank" | "owner" if !words.contains(&"--dry-run") && !words.contains(&"--list") => {
            publish(walker, "cargo")
        }
        "login" | "logout" => settings(walker, "cargo"),
        "install" | "uninstall"
            if !words.iter().any(|word| *word == "--list" || word.starts_with("--root")) =>
        {
            outside(walker, "cargo")
        }
        _ => {}
    }
    let own = call.arguments.split(|field| field.text == "--").next().unwrap_or_default();
    for pair in own.windows(2) {
        if let [flag, value] = pair
            && flag.text == "--config"
            && [
                ".toml",
                "runner",
                "linker",
                "rustc-wrapper",
                "rustflags",
                "credential-provider",
                "alias",
                "registry",
                "source",
            ]
            .iter()
            .any(|key| value.text.contains(key))
        {
            walker.ask(
                EffectKind::Execute,
                None,
                keys::LOADS_CODE,
                "cargo --config names a program or a registry",
            );
        }
    }
}

fn go(walker: &mut Walker<'_>, words: &[&str], verb: &str) {
    output(walker, words, "-o");
    if verb == "install" {
        outside(walker, "go");
    } else if verb == "env" && words.contains(&"-w") {
        settings(walker, "go");
    }
    if words.iter().any(|word| {
        word.starts_with("-toolexec")
            || word.starts_with("--toolexec")
            || word.starts_with("-exec")
            || word.starts_with("-vettool")
    }) {
        walker.ask(EffectKind::Execute, None, keys::LOADS_CODE, "go runs a program that an option names");
    }
}
