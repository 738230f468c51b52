//! The toolsets of a platform for the user: enabled or not, and what a missing one needs.

use crate::availability::{Machine, Unavailable, built_in, unavailable};
use crate::checks::Checks;
use crate::configurable::{CONFIGURABLE, Configurable, written_out};
use crate::error::ToolChoiceError;
use crate::offers::selected;
use hermes_config::ChosenBy;
use hermes_tools::{AnyTool, Registry, tools_of};
use std::time::Instant;

/// The toolsets of a platform.
#[derive(Debug, Clone)]
pub struct PlatformReport {
    pub platform: String,
    pub chosen_by: ChosenBy,
    pub toolsets: Vec<ToolsetRow>,
    /// Names in the list of the platform that this version does not know.
    pub unknown: Vec<String>,
}

/// One toolset.
#[derive(Debug, Clone)]
pub struct ToolsetRow {
    pub name: &'static str,
    pub about: &'static str,
    pub state: ToolsetState,
    /// The things that its tools, or some of them, lack.
    pub missing: Vec<String>,
    pub tools: Vec<ToolRow>,
}

/// The state of a toolset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolsetState {
    /// Sessions have its tools.
    On,
    /// It is enabled, but something is missing.
    Unavailable,
    /// It is not enabled for the platform.
    Off,
    /// `agent.disabled_toolsets` switches it off on every platform.
    Disabled,
    /// This version has none of its tools.
    NotBuiltIn,
}

impl ToolsetState {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::On => "on",
            Self::Unavailable => "unavailable",
            Self::Off => "off",
            Self::Disabled => "disabled",
            Self::NotBuiltIn => "not built in",
        }
    }
}

/// One tool of a toolset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRow {
    pub name: String,
    pub is_built_in: bool,
    /// Sessions on the platform have it.
    pub is_offered: bool,
}

/// The toolsets of a platform, with the checks run now.
pub fn report(machine: Machine<'_>, platform: &str) -> Result<PlatformReport, ToolChoiceError> {
    let settings = &machine.config.settings;
    let missing = unavailable(machine, &Checks::default(), Instant::now())?;
    let built_in = built_in(machine)?;
    let chosen = settings.toolsets_of(platform)?;
    let chosen_by = chosen.chosen_by;
    let (names, unknown) = selected(chosen);
    let enabled = written_out(&names);
    let disabled_names = settings.agent.disabled_toolsets.get()?;
    let mut disabled = written_out(disabled_names);
    // A toolset without a list of tools is part of every other one.
    disabled.retain(|name| disabled_names.contains(name) || !tools_of(name).is_empty());
    let rows = CONFIGURABLE.iter().map(|configurable| {
        let name = configurable.name.to_owned();
        let choice = match (disabled.contains(&name), enabled.contains(&name)) {
            (true, _) => ToolsetState::Disabled,
            (false, true) => ToolsetState::On,
            (false, false) => ToolsetState::Off,
        };
        row(configurable, choice, &built_in, &missing)
    });
    Ok(PlatformReport { platform: platform.to_owned(), chosen_by, toolsets: rows.collect(), unknown })
}

/// One row: what the user chose, and what this version and this machine make of it.
fn row(
    configurable: &Configurable,
    choice: ToolsetState,
    built_in: &Registry,
    missing: &[Unavailable],
) -> ToolsetRow {
    let name = configurable.name;
    let all = built_in.all_names();
    let own = all.iter().filter(|tool| built_in.find(tool).is_some_and(|tool| tool.toolset() == name));
    let mut names: Vec<&str> = own.copied().collect();
    // A toolset may list tools of others, as `browser` does; its own row shows them there.
    let belongs = |tool: &&str| match built_in.find(tool) {
        Some(found) => found.toolset() == name,
        None => true,
    };
    names.extend(tools_of(name).into_iter().filter(belongs));
    names.sort_unstable();
    names.dedup();
    let problem =
        |tool: &dyn AnyTool| missing.iter().find(|row| row.scope.covers(tool.name(), tool.toolset()));
    let mut problems: Vec<String> = Vec::new();
    let tools: Vec<ToolRow> = names
        .into_iter()
        .map(|tool| {
            let found = built_in.find(tool);
            let problem = found.and_then(problem);
            if let Some(row) = problem.filter(|row| !problems.contains(&row.missing)) {
                problems.push(row.missing.clone());
            }
            let is_offered = found.is_some() && problem.is_none() && choice == ToolsetState::On;
            ToolRow { name: tool.to_owned(), is_built_in: found.is_some(), is_offered }
        })
        .collect();
    let state = match choice {
        _ if tools.iter().all(|tool| !tool.is_built_in) => ToolsetState::NotBuiltIn,
        ToolsetState::On if tools.iter().all(|tool| !tool.is_offered) => ToolsetState::Unavailable,
        choice => choice,
    };
    ToolsetRow { name, about: configurable.about, state, missing: problems, tools }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
