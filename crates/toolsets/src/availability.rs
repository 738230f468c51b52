//! Tools that cannot work with these settings on this machine, each with what is missing.

use crate::checks::{Checks, Missing};
use crate::error::ToolChoiceError;
use hermes_config::Config;
use hermes_config::home::Home;
use hermes_plugins::context_engine::{Choice, choose};
use hermes_tools::{Registry, Toolset, WEB_SEARCH, has_python};
use hermes_vision::vision_problem;
use hermes_web::{WebSettings, search_problem};
use std::collections::BTreeMap;
use std::time::Instant;

/// The settings and the environment that decide about tools.
#[derive(Clone, Copy)]
pub struct Machine<'a> {
    pub config: &'a Config,
    pub home: &'a Home,
    /// The environment of the process.
    pub shell: &'a BTreeMap<String, String>,
}

/// Tools that are not offered together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    Toolset(Toolset),
    Tool(&'static str),
}

impl Scope {
    pub(crate) fn covers(self, tool: &str, toolset: &str) -> bool {
        match self {
            Self::Toolset(own) => own.as_str() == toolset,
            Self::Tool(name) => name == tool,
        }
    }
}

/// Tools that are not offered, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unavailable {
    pub scope: Scope,
    /// The thing that is missing, with the next step.
    pub missing: String,
}

/// Everything that cannot work now.
pub(crate) fn unavailable(
    machine: Machine<'_>,
    checks: &Checks,
    now: Instant,
) -> Result<Vec<Unavailable>, ToolChoiceError> {
    let python = checks.result("python", now, || python(machine.shell));
    let memory = hermes_memory::is_off(machine.config)?.then(|| {
        "memory.memory_enabled and memory.user_profile_enabled are off; set one of them to true".to_owned()
    });
    let search = search_problem(&WebSettings::services(machine.config)?);
    let rows = [
        (Scope::Toolset(Toolset::CodeExecution), python),
        (Scope::Toolset(Toolset::Memory), memory),
        (Scope::Tool(WEB_SEARCH), search),
        (Scope::Toolset(Toolset::Vision), vision_problem(machine.config, machine.home)?),
    ];
    let found =
        rows.into_iter().filter_map(|(scope, missing)| Some(Unavailable { scope, missing: missing? }));
    Ok(found.collect())
}

fn python(shell: &BTreeMap<String, String>) -> Missing {
    let has = has_python(shell.iter().map(|(name, value)| (name.as_str(), value.as_str())));
    (!has).then(|| "there is no python3 in PATH; install Python 3".to_owned())
}

/// The built-in tools, with those of the context engine that is chosen.
pub(crate) fn built_in(machine: Machine<'_>) -> Result<Registry, ToolChoiceError> {
    let registry = Registry::builtin();
    Ok(match choose(machine.config, machine.home)?.0 {
        Choice::Lossless => registry.with_context_tools(),
        _ => registry,
    })
}
