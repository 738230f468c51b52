//! The parts of a policy that are enforced on this machine.

use crate::error::SandboxError;
use crate::landlock::{ABI_DEVICES, ABI_SCOPES, ABI_TRUNCATE};
use crate::policy::{Network, Policy, Profile};
use crate::support::Support;

/// The state of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layer {
    Enforced,
    /// Enforced except for a part.
    Partly {
        why: String,
    },
    Missing {
        why: String,
    },
    /// The policy does not ask for it.
    Open,
}

/// The layers of a policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub profile: Profile,
    pub files: Layer,
    pub network: Layer,
    pub signals: Layer,
    pub devices: Layer,
    /// User and mount namespaces: private temporary directories, git settings, pathname sockets.
    pub namespaces: Layer,
}

/// The layers of a policy on this machine.
pub fn enforced(policy: &Policy, support: &Support) -> Report {
    let profile = policy.profile;
    if profile == Profile::Full {
        let open = || Layer::Open;
        return Report {
            profile,
            files: open(),
            network: open(),
            signals: open(),
            devices: open(),
            namespaces: open(),
        };
    }
    let support = &support.for_policy(policy);
    Report {
        profile,
        files: files(support),
        network: network(policy, support),
        signals: since(support, ABI_SCOPES),
        devices: devices(support),
        namespaces: match &support.mounts {
            Ok(()) => Layer::Enforced,
            Err(why) => Layer::Missing { why: why.clone() },
        },
    }
}

fn since(support: &Support, abi: u32) -> Layer {
    match &support.landlock {
        Ok(found) if *found >= abi => Layer::Enforced,
        Ok(found) => Layer::Missing { why: format!("Landlock {found} is older than {abi}") },
        Err(why) => Layer::Missing { why: why.clone() },
    }
}

fn files(support: &Support) -> Layer {
    match (&support.landlock, &support.mounts) {
        (Ok(abi), _) if *abi < ABI_TRUNCATE && support.mounts.is_err() => {
            Layer::Partly { why: format!("Landlock {abi} does not hold truncation") }
        }
        (Ok(_), _) => Layer::Enforced,
        (Err(why), Ok(())) => Layer::Partly { why: format!("by mounts only: {why}") },
        (Err(why), Err(_)) => Layer::Missing { why: why.clone() },
    }
}

fn network(policy: &Policy, support: &Support) -> Layer {
    match (&policy.network, &support.network, &support.seccomp) {
        (Network::On, ..) => Layer::Open,
        (_, Ok(()), _) | (Network::Off, Err(_), Ok(())) => Layer::Enforced,
        (Network::Off, Err(_), Err(why)) | (Network::Allow(_), Err(why), _) => {
            Layer::Missing { why: why.clone() }
        }
    }
}

/// Devices, and the calls that reach into the kernel.
fn devices(support: &Support) -> Layer {
    match (&support.seccomp, since(support, ABI_DEVICES)) {
        (Err(why), Layer::Enforced) => Layer::Partly { why: format!("no system call filter: {why}") },
        (Err(why), _) => Layer::Missing { why: why.clone() },
        (Ok(()), Layer::Missing { why }) if support.mounts.is_err() => Layer::Partly { why },
        (Ok(()), _) => Layer::Enforced,
    }
}

impl Report {
    /// Returns true if every layer that the policy asks for is enforced.
    pub fn is_whole(&self) -> bool {
        let holds = |layer: &Layer| matches!(layer, Layer::Enforced | Layer::Open);
        self.layers().into_iter().all(|(_, layer)| holds(layer)) && holds(&self.namespaces)
    }

    /// One line for the start of a session and for `doctor`.
    pub fn summary(&self) -> String {
        let name = match self.profile {
            Profile::Full => return "sandbox full: commands are not confined".to_owned(),
            Profile::Workspace => "workspace",
            Profile::ReadOnly => "read-only",
        };
        let layers = self.layers();
        let held: Vec<&str> =
            layers.iter().filter(|(_, layer)| *layer == &Layer::Enforced).map(|(name, _)| *name).collect();
        let mut parts = Vec::new();
        if !held.is_empty() {
            parts.push(format!("{} enforced", held.join(", ")));
        }
        for (name, layer) in layers {
            match layer {
                Layer::Enforced => {}
                Layer::Open => parts.push(format!("{name} open")),
                Layer::Partly { why } => parts.push(format!("{name} partly enforced ({why})")),
                Layer::Missing { why } => parts.push(format!("{name} not enforced ({why})")),
            }
        }
        if let Layer::Missing { why } = &self.namespaces {
            let git = if self.profile == Profile::Workspace { "git settings, " } else { "" };
            parts.push(format!(
                "{git}pathname sockets and modes of files not protected (no mount namespaces: {why})"
            ));
        }
        format!("sandbox {name}: {}", parts.join("; "))
    }

    fn layers(&self) -> [(&'static str, &Layer); 4] {
        [
            ("files", &self.files),
            ("network", &self.network),
            ("signals", &self.signals),
            ("devices", &self.devices),
        ]
    }

    /// Refuses a policy that requires all layers, and any policy whose network cannot be held.
    pub(crate) fn check(&self, policy: &Policy) -> Result<(), SandboxError> {
        let missing =
            |layer, why: &str, remedy| SandboxError::LayerMissing { layer, reason: why.to_owned(), remedy };
        if let Layer::Missing { why } = &self.network {
            return Err(missing(
                "network",
                why,
                "set sandbox.network to on, or allow user and network namespaces",
            ));
        }
        if !policy.require {
            return Ok(());
        }
        for (name, layer) in self.layers() {
            if let Layer::Missing { why } | Layer::Partly { why } = layer {
                return Err(missing(
                    name,
                    why,
                    "use a kernel with Landlock 6 or newer, or set sandbox.require to false",
                ));
            }
        }
        match &self.namespaces {
            Layer::Missing { why } | Layer::Partly { why } => Err(missing(
                "namespaces",
                why,
                "allow user namespaces for this program, or set sandbox.require to false",
            )),
            Layer::Enforced | Layer::Open => Ok(()),
        }
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
