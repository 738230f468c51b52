//! A policy made ready for the children of this process.

use crate::error::SandboxError;
use crate::git::Repository;
use crate::landlock::{self, Rules, Setting};
use crate::mounts::Plan;
use crate::namespace::{Namespaces, NetworkNamespace, build};
use crate::policy::{Network, PRIVATE, Policy, Profile};
use crate::proxy::Proxy;
use crate::report::enforced;
use crate::seccomp::{self, Sockets};
use crate::stamp::Stamps;
use crate::support::Support;
use crate::view::View;
use crate::{capabilities, sys};
use rustix::fs::{Mode, OFlags, fchmod, open};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io::Result;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Everything that can be made before a child exists: rule set, filter, namespaces.
///
/// It can be used for any number of children, one after the other or at once.
pub struct Prepared {
    policy: Policy,
    /// `None` for the profile `full`.
    confinement: Option<Confinement>,
}

struct Confinement {
    rules: Option<Rules>,
    filter: Option<Vec<libc::sock_filter>>,
    namespaces: Option<Namespaces>,
    processes: Option<Rlimit>,
    stamps: Stamps,
    unwanted: Vec<PathBuf>,
    proxy: Option<Proxy>,
}

/// Policies that were used last; a session has one or two.
const KEPT: usize = 6;

impl Prepared {
    /// Prepares a policy. An error means that a command must not run.
    pub fn new(policy: &Policy, support: &Support) -> std::result::Result<Self, SandboxError> {
        enforced(policy, support).check(policy)?;
        let confinement = match policy.profile {
            Profile::Full => None,
            Profile::Workspace | Profile::ReadOnly => {
                Some(Confinement::new(policy, &support.for_policy(policy))?)
            }
        };
        Ok(Self { policy: policy.clone(), confinement })
    }

    /// As [`Prepared::new`], but returns an earlier value for an equal policy if the files that it names are still
    /// the same.
    pub fn cached(policy: &Policy, support: &Support) -> std::result::Result<Arc<Self>, SandboxError> {
        static CACHE: Mutex<Vec<Arc<Prepared>>> = Mutex::new(Vec::new());
        let mut cache = CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = cache.iter().position(|kept| kept.policy == *policy) {
            let kept = cache.remove(at);
            if kept.is_current() {
                cache.push(kept.clone());
                return Ok(kept);
            }
        }
        let made = Arc::new(Self::new(policy, support)?);
        if cache.len() >= KEPT {
            cache.remove(0);
        }
        cache.push(made.clone());
        Ok(made)
    }

    /// Confines this process and all programs that it runs. The working directory may become `/`: the caller
    /// changes to the one that it wants.
    ///
    /// Makes system calls only, so it may run between `vfork` and `exec`. After an error the process must end.
    pub fn apply(&self) -> Result<()> {
        self.confinement.as_ref().map_or(Ok(()), Confinement::apply)
    }

    /// Removes files that a command must not leave behind, and returns their paths: those with which git would obey
    /// another directory.
    pub fn clean_up(&self) -> Vec<PathBuf> {
        let unwanted = self.confinement.iter().flat_map(|confinement| &confinement.unwanted);
        unwanted.filter(|path| remove(path)).cloned().collect()
    }

    /// Variables that point programs to the proxy, if there is one.
    pub fn environment(&self) -> Vec<(String, String)> {
        let proxy = self.confinement.as_ref().and_then(|confinement| confinement.proxy.as_ref());
        proxy.map(Proxy::environment).unwrap_or_default()
    }

    /// The number of Landlock rules, for measurements.
    pub fn rule_count(&self) -> usize {
        let rules = self.confinement.as_ref().and_then(|confinement| confinement.rules.as_ref());
        rules.map_or(0, |rules| rules.count)
    }

    fn is_current(&self) -> bool {
        self.confinement.as_ref().is_none_or(|confinement| confinement.stamps.are_current())
    }
}

impl Confinement {
    fn new(policy: &Policy, support: &Support) -> std::result::Result<Self, SandboxError> {
        check_paths(policy)?;
        let has_mounts = support.mounts.is_ok();
        if has_mounts {
            make_private_directories(&policy.places.temporary)?;
            if policy.profile == Profile::Workspace && !policy.git_settings {
                Repository::complete(&policy.places.project);
            }
        }
        // Before the view, so that a change in between is noticed.
        let stamps = Stamps::new();
        let view = View::new(policy, has_mounts);
        for path in &view.unwanted {
            remove(path);
        }
        let network = match &policy.network {
            Network::On => NetworkNamespace::Shared,
            Network::Off if support.network.is_err() => NetworkNamespace::Shared,
            Network::Off => NetworkNamespace::Loopback,
            Network::Allow(_) => NetworkNamespace::WithProxy,
        };
        let no_sockets = policy.network == Network::Off && support.network.is_err();
        let rules = |root: &Path| {
            let setting = Setting { abi: support.landlock_abi(), no_tcp: no_sockets, root, has_mounts };
            support.landlock.is_ok().then(|| landlock::rules(&view, setting)).transpose()
        };
        let (namespaces, listener, rules) = if has_mounts {
            let plan = Plan::new(&view).map_err(SandboxError::io("plan the mounts"))?;
            let built = build(&plan, network, rules)?;
            (Some(built.namespaces), built.listener, built.value)
        } else {
            let rules = rules(Path::new("/")).map_err(SandboxError::io("make the rules"))?;
            (None, None, rules)
        };
        let proxy = match (&policy.network, listener) {
            (Network::Allow(hosts), Some(listener)) => Some(start_proxy(listener, hosts)?),
            _ => None,
        };
        let sockets = if no_sockets { Sockets::Local } else { Sockets::Internet };
        let listed = rules.iter().flat_map(|rules| &rules.listed);
        let stamps = stamps.finish(&view, listed);
        Ok(Self {
            filter: support.seccomp.is_ok().then(|| seccomp::filter(sockets)),
            processes: process_limit(policy, namespaces.is_some()),
            unwanted: view.unwanted,
            rules,
            namespaces,
            stamps,
            proxy,
        })
    }

    fn apply(&self) -> Result<()> {
        if let Some(namespaces) = &self.namespaces {
            namespaces.enter()?;
        }
        if let Some(limit) = self.processes {
            setrlimit(Resource::Nproc, limit)?;
        }
        setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
        capabilities::restrict()?;
        sys::close_on_exec_from(3)?;
        sys::no_new_privileges()?;
        if let Some(rules) = &self.rules {
            sys::landlock_restrict_self(rules.ruleset.as_fd())?;
        }
        self.filter.as_deref().map_or(Ok(()), sys::seccomp_filter)
    }
}

/// The limit of processes. The kernel counts those of the user in the user namespace, and none of root; without a
/// namespace it would count the user's desktop as well.
fn process_limit(policy: &Policy, has_namespace: bool) -> Option<Rlimit> {
    let is_root = rustix::process::getuid().is_root();
    if policy.max_processes == 0 || !has_namespace || is_root {
        return None;
    }
    let hard = getrlimit(Resource::Nproc).maximum.unwrap_or(u64::MAX);
    let most = policy.max_processes.min(hard);
    Some(Rlimit { current: Some(most), maximum: Some(most) })
}

fn check_paths(policy: &Policy) -> std::result::Result<(), SandboxError> {
    let places = &policy.places;
    let paths = [
        Some(&places.project),
        Some(&places.temporary),
        places.user_home.as_ref(),
        Some(&places.hermes_home),
    ];
    let is_plain = |path: &Path| {
        path.is_absolute() && path.components().all(|part| part != std::path::Component::ParentDir)
    };
    match paths.into_iter().flatten().find(|path| !is_plain(path)) {
        Some(path) => Err(SandboxError::NotAbsolute { path: path.clone() }),
        None => Ok(()),
    }
}

/// Creates the directories that stand for `/tmp` and its like.
fn make_private_directories(temporary: &Path) -> std::result::Result<(), SandboxError> {
    for (_, name) in PRIVATE {
        let path = temporary.join(name);
        // Without namespaces a command can replace it by a link, which must not be followed.
        if std::fs::symlink_metadata(&path).is_ok_and(|found| !found.is_dir()) {
            let _ = std::fs::remove_file(&path);
        }
        let made = std::fs::DirBuilder::new().mode(0o700).create(&path);
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = open(&path, flags, Mode::empty()).map_err(|error| made.err().unwrap_or(error.into()));
        let opened = opened.map_err(SandboxError::at("create the directory", path))?;
        // Programs expect to find it open to all and sticky; the directory above is private.
        let _ = fchmod(&opened, Mode::from_raw_mode(0o1777));
    }
    Ok(())
}

fn start_proxy(listener: OwnedFd, hosts: &[String]) -> std::result::Result<Proxy, SandboxError> {
    Proxy::start(listener.into(), hosts.to_vec()).map_err(SandboxError::io("start the proxy"))
}

/// Removes a file, or moves a directory out of git's sight.
fn remove(path: &Path) -> bool {
    if std::fs::symlink_metadata(path).is_err() {
        return false;
    }
    std::fs::remove_file(path).or_else(|_| std::fs::remove_dir_all(path)).is_ok()
}
