//! The parts of the sandbox that this machine offers, found by trying them.

use crate::mounts::{Plan, Step};
use crate::namespace::{NetworkNamespace, build};
use crate::{seccomp, sys};
use std::path::Path;
use std::sync::OnceLock;

/// The parts of the sandbox that the kernel offers to this user. An error is the reason for which a part is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Support {
    /// The version of Landlock.
    pub landlock: Result<u32, String>,
    pub seccomp: Result<(), String>,
    /// User and mount namespaces, with the mounts that the sandbox needs.
    pub mounts: Result<(), String>,
    /// Network namespaces.
    pub network: Result<(), String>,
}

/// The support of this machine, probed once.
pub fn support() -> &'static Support {
    static SUPPORT: OnceLock<Support> = OnceLock::new();
    SUPPORT.get_or_init(Support::probe)
}

/// Returns true if the kernel can confine the files of commands. Cheap where Landlock is there: nothing is probed.
pub fn confines_files() -> bool {
    sys::landlock_abi().is_ok() || support().mounts.is_ok()
}

impl Support {
    /// Tries each part.
    pub fn probe() -> Self {
        let mounts = probe_namespaces(NetworkNamespace::Shared);
        let network = mounts.clone().and_then(|()| probe_namespaces(NetworkNamespace::Loopback));
        Self { landlock: probe_landlock(), seccomp: probe_seccomp(), mounts, network }
    }

    /// The same without namespaces.
    #[must_use]
    pub fn without_namespaces(&self, reason: &str) -> Self {
        Self { mounts: Err(reason.to_owned()), network: Err(reason.to_owned()), ..self.clone() }
    }

    /// The support that a policy lets itself use.
    pub(crate) fn for_policy(&self, policy: &crate::Policy) -> Self {
        if policy.without_namespaces { self.without_namespaces("switched off") } else { self.clone() }
    }

    pub(crate) fn landlock_abi(&self) -> u32 {
        self.landlock.as_ref().copied().unwrap_or(0)
    }
}

fn probe_landlock() -> Result<u32, String> {
    match sys::landlock_abi() {
        Ok(abi) => Ok(abi),
        Err(error) if error.raw_os_error() == Some(libc::EOPNOTSUPP) => {
            Err("Landlock is switched off at boot".to_owned())
        }
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => {
            Err("the kernel has no Landlock".to_owned())
        }
        Err(error) => Err(format!("Landlock is refused: {error}")),
    }
}

fn probe_seccomp() -> Result<(), String> {
    if !seccomp::IS_SUPPORTED {
        return Err("there is no filter for this processor".to_owned());
    }
    sys::seccomp_probe().map_err(|error| format!("the kernel refuses filters: {error}"))
}

fn probe_namespaces(network: NetworkNamespace) -> Result<(), String> {
    let dev = || c"/dev".to_owned();
    let steps = vec![
        Step::Seal,
        Step::Empty { path: dev(), options: c"mode=0755".to_owned() },
        Step::MakeDirectory(c"/dev/pts".to_owned()),
        Step::Terminals(c"/dev/pts".to_owned()),
        Step::MakeReadOnly(dev()),
    ];
    let plan = Plan { copied: vec![dev()], steps };
    let built = build(&plan, network, |root| std::fs::metadata(root.join("dev/pts")).map(drop));
    built.map(drop).map_err(|error| {
        let cause = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        known_reason().map_or(cause, str::to_owned)
    })
}

/// A setting of the kernel that forbids user namespaces.
fn known_reason() -> Option<&'static str> {
    let is = |path: &str, value: &str| {
        std::fs::read_to_string(Path::new("/proc/sys").join(path)).is_ok_and(|text| text.trim() == value)
    };
    if is("kernel/apparmor_restrict_unprivileged_userns", "1") {
        return Some("AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns=1)");
    }
    if is("kernel/unprivileged_userns_clone", "0") {
        return Some("user namespaces are switched off (kernel.unprivileged_userns_clone=0)");
    }
    is("user/max_user_namespaces", "0")
        .then_some("user namespaces are switched off (user.max_user_namespaces=0)")
}
