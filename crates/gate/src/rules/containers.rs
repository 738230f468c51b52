//! Container engines and clusters: reading is harmless, other verbs leave the sandbox.

use crate::assessment::{EffectKind, Grant};
use crate::field::Field;
use crate::keys;
use crate::limits::Unreadable;
use crate::output::Output;
use crate::walk::{Call, Walker};
use crate::wrappers;

pub(super) fn judge(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Option<Output>, Unreadable> {
    match call.name {
        "docker" | "podman" | "nerdctl" | "docker-compose" | "podman-compose" | "ctr" | "crictl"
        | "buildah" | "lxc" | "incus" | "singularity" | "apptainer" | "vagrant" | "multipass" | "virsh"
        | "limactl" | "colima" | "distrobox" | "toolbox" => engine(walker, call).map(Some),
        "kubectl" | "oc" | "helm" | "k" | "kustomize" | "minikube" | "kind" | "k3s" | "k9s" | "argocd"
        | "flux" | "nomad" | "consul" => cluster(walker, call).map(Some),
        _ => Ok(None),
    }
}

/// The arguments that are neither options nor their values.
fn verbs(arguments: &[Field]) -> Vec<&str> {
    let mut verbs = Vec::new();
    let mut skip = false;
    for field in arguments {
        let text = field.text.as_str();
        if skip {
            skip = false;
        } else if text.starts_with('-') {
            skip = matches!(
                text,
                "-f" | "--file"
                    | "-p"
                    | "--project-name"
                    | "-H"
                    | "--host"
                    | "--context"
                    | "-c"
                    | "--config"
                    | "-n"
                    | "--namespace"
                    | "--profile"
                    | "--env-file"
                    | "--project-directory"
                    | "-l"
                    | "--log-level"
            );
        } else {
            verbs.push(text);
        }
    }
    verbs
}

fn engine(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let mut verbs = verbs(call.arguments);
    let is_compose = call.name.ends_with("-compose") || verbs.first() == Some(&"compose");
    if verbs.first() == Some(&"compose") {
        verbs.remove(0);
    }
    let verb = verbs.first().copied().unwrap_or_default();
    let second = verbs.get(1).copied().unwrap_or_default();
    if is_read(verb, second) {
        super::secrets::arguments(walker, call);
        return Ok(Output::Unknown);
    }
    let stops = |verb: &str| matches!(verb, "restart" | "stop" | "kill" | "down");
    let rule = if is_compose && stops(verb) {
        keys::COMPOSE_STOP
    } else if stops(verb) || verb == "container" && stops(second) {
        keys::DOCKER_STOP
    } else if verb == "push" || verb == "login" {
        keys::PUBLISH
    } else {
        keys::CONTAINER
    };
    let reason = format!("{} {verb} starts, changes or deletes containers or images", call.name);
    walker.ask_with(EffectKind::Execute, Some(call.name), rule, reason, Grant::Unconfined);
    super::secrets::arguments(walker, call);
    let runs = |verb: &str| matches!(verb, "run" | "exec" | "create" | "shell" | "ssh" | "enter" | "unshare");
    if runs(verb) || runs(second) {
        let at = call.arguments.iter().position(|field| runs(&field.text)).unwrap_or_default();
        let rest = call.arguments.get(at + 1..).unwrap_or_default();
        wrappers::any_suffix(walker, rest, call.stdin)?;
    }
    Ok(Output::Unknown)
}

fn is_read(verb: &str, second: &str) -> bool {
    let reads = |verb: &str| {
        matches!(
            verb,
            "" | "ps"
                | "images"
                | "logs"
                | "inspect"
                | "version"
                | "info"
                | "stats"
                | "top"
                | "port"
                | "diff"
                | "history"
                | "search"
                | "events"
                | "ls"
                | "list"
                | "config"
                | "help"
                | "df"
                | "convert"
                | "status"
                | "show"
                | "global-status"
                | "dominfo"
                | "volumes"
                | "--version"
        )
    };
    match verb {
        "container" | "image" | "volume" | "network" | "system" | "context" | "manifest" | "node"
        | "stack" | "secret" | "plugin" | "machine" | "pod" | "builder" | "buildx" | "swarm" => {
            reads(second) && !second.is_empty()
        }
        "service" => reads(second) && second != "rollback",
        _ => reads(verb),
    }
}

fn cluster(walker: &mut Walker<'_>, call: &Call<'_>) -> Result<Output, Unreadable> {
    let verbs = verbs(call.arguments);
    let verb = verbs.first().copied().unwrap_or_default();
    let second = verbs.get(1).copied().unwrap_or_default();
    let reads_secret = matches!(verb, "get" | "describe")
        && verbs.iter().any(|word| word.starts_with("secret"))
        || call.name == "kubectl"
            && verb == "config"
            && call.arguments.iter().any(|field| field.text == "--raw");
    if reads_secret {
        walker.ask(EffectKind::ReadSecret, None, keys::READ_SECRET, "reads secrets of the cluster");
        return Ok(Output::Unknown);
    }
    let is_read = matches!(
        verb,
        "" | "get"
            | "describe"
            | "logs"
            | "top"
            | "explain"
            | "version"
            | "api-resources"
            | "api-versions"
            | "cluster-info"
            | "diff"
            | "wait"
            | "list"
            | "ls"
            | "status"
            | "template"
            | "lint"
            | "show"
            | "search"
            | "history"
            | "build"
            | "events"
            | "completion"
            | "help"
            | "env"
    ) || verb == "config"
        && matches!(second, "view" | "get-contexts" | "current-context" | "get-clusters")
        || verb == "rollout" && matches!(second, "status" | "history")
        || verb == "auth" && second == "can-i"
        || verb == "repo" && second == "list";
    if is_read {
        return Ok(Output::Unknown);
    }
    let reason = format!("{} {verb} changes a cluster", call.name);
    walker.ask_with(EffectKind::Network, None, keys::CONTAINER, reason, Grant::Unconfined);
    if let Some(at) = call.arguments.iter().position(|field| field.text == "--") {
        walker.call(call.arguments.get(at + 1..).unwrap_or_default(), call.stdin)?;
    } else if matches!(verb, "exec" | "run") {
        wrappers::any_suffix(walker, call.arguments, call.stdin)?;
    }
    Ok(Output::Unknown)
}
