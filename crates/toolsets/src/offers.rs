//! The registries of sessions.

use crate::availability::{Machine, Unavailable, unavailable};
use crate::checks::Checks;
use crate::configurable::is_configurable;
use crate::error::ToolChoiceError;
use hermes_config::settings::ToolSearch;
use hermes_config::{ChosenBy, ChosenToolsets};
use hermes_plugins::context_engine::{Choice, are_enabled, choose};
use hermes_tools::{Deferral, Registry, Toolset, is_toolset, tools_of};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// The tools of the sessions of one platform.
#[derive(Clone)]
pub struct Offered {
    pub registry: Arc<Registry>,
    /// The names of the toolsets that were selected, as a recording keeps them.
    pub toolsets: Arc<[String]>,
    /// Names in `platform_toolsets` that this version does not know, such as those of Python plugins.
    pub unknown: Arc<[String]>,
}

/// Makes registries, and shares one between the sessions of a platform as long as the same tools are available.
#[derive(Default)]
pub struct Offers {
    checks: Checks,
    made: Mutex<Vec<Made>>,
}

struct Made {
    platform: String,
    unavailable: Vec<Unavailable>,
    offered: Offered,
}

impl Offers {
    /// The tools of a session that starts now on `platform`.
    pub fn of(&self, machine: Machine<'_>, platform: &str) -> Result<Offered, ToolChoiceError> {
        let unavailable = unavailable(machine, &self.checks, Instant::now())?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let known = made.iter().find(|made| made.platform == platform && made.unavailable == unavailable);
        if let Some(known) = known {
            return Ok(known.offered.clone());
        }
        for missing in &unavailable {
            tracing::info!(scope = ?missing.scope, missing = missing.missing, "tools are not offered");
        }
        let offered = offered(machine, platform, &unavailable)?;
        made.retain(|made| made.platform != platform);
        made.push(Made { platform: platform.to_owned(), unavailable, offered: offered.clone() });
        Ok(offered)
    }
}

fn offered(
    machine: Machine<'_>,
    platform: &str,
    unavailable: &[Unavailable],
) -> Result<Offered, ToolChoiceError> {
    let settings = &machine.config.settings;
    let disabled = settings.agent.disabled_toolsets.get()?;
    let (mut enabled, unknown) = selected(settings.toolsets_of(platform)?);
    let all = Registry::builtin();
    // A toolset of which nothing is built in must not bring tools of another one that may be switched off.
    if enabled.iter().any(|name| is_built_in(&all, name)) {
        enabled.retain(|name| !is_configurable(name) || is_built_in(&all, name));
    }
    let mut registry = all.select(Some(&enabled), disabled)?;
    if choose(machine.config, machine.home)?.0 == Choice::Lossless && are_enabled(&enabled, disabled) {
        registry = registry.with_context_tools();
    }
    let missing = |tool: &str, toolset: &str| unavailable.iter().any(|row| row.scope.covers(tool, toolset));
    let registry = registry.without_those(|tool| missing(tool.name(), tool.toolset()));
    let deferral = match settings.tools.tool_search.enabled.value()? {
        ToolSearch::Auto => Deferral::Auto,
        ToolSearch::On => Deferral::On,
        ToolSearch::Off => Deferral::Off,
    };
    Ok(Offered {
        registry: Arc::new(registry.with_catalogue(deferral)),
        toolsets: enabled.into(),
        unknown: unknown.into(),
    })
}

fn is_built_in(all: &Registry, toolset: &str) -> bool {
    let is_own = |name: &&str| all.find(name).is_some_and(|tool| tool.toolset() == toolset);
    tools_of(toolset).is_empty() || all.all_names().iter().any(is_own)
}

/// The names to select, and those that are left out. A name that the user typed for this version must be known; lists of
/// a platform may come from the Python release, and a platform need not have a preset.
pub(crate) fn selected(chosen: ChosenToolsets) -> (Vec<String>, Vec<String>) {
    match chosen.chosen_by {
        ChosenBy::Flag | ChosenBy::Setting => (chosen.names, Vec::new()),
        ChosenBy::Platform => chosen.names.into_iter().partition(|name| is_toolset(name)),
        ChosenBy::Preset if chosen.names.iter().all(|name| is_toolset(name)) => (chosen.names, Vec::new()),
        ChosenBy::Preset => (vec![Toolset::CORE.to_owned()], Vec::new()),
    }
}
