//! `hermes tools`: the tools that sessions are offered, and switching toolsets per platform.

mod describe;
mod list;

use crate::commands::config;
use crate::environment;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use clap::{Args, Subcommand};
use hermes_config::{Config, shell_variables};
use hermes_runtime::{Home, load_config};
use hermes_terminal::{print, term};
use hermes_toolsets::{Machine, ToolChoiceError, ToolsetChange, disable, enable};
use serde_json::json;
use std::collections::BTreeMap;

/// List tools and switch toolsets
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes tools list
  hermes tools list --platform telegram
  hermes tools describe patch
  hermes tools disable web delegation
  hermes tools enable web --platform telegram")]
pub(crate) enum ToolsCommand {
    /// List toolsets: on, off, or what is missing
    List(PlatformArgs),
    /// Show a tool with its parameters, or the tools of a toolset
    Describe(DescribeArgs),
    /// Switch toolsets on for new sessions of a platform
    Enable(SwitchArgs),
    /// Switch toolsets off for new sessions of a platform
    Disable(SwitchArgs),
}

#[derive(Debug, Clone, Args)]
pub(crate) struct PlatformArgs {
    /// Show the toolsets of this platform
    #[arg(long, value_name = "NAME", default_value = "cli")]
    platform: String,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct DescribeArgs {
    /// A tool or a toolset
    #[arg(value_name = "NAME")]
    name: String,
    #[command(flatten)]
    on: PlatformArgs,
}

#[derive(Debug, Clone, Args)]
pub(crate) struct SwitchArgs {
    /// Toolsets, as `hermes tools list` shows them
    #[arg(value_name = "TOOLSET", required = true)]
    names: Vec<String>,
    #[command(flatten)]
    on: PlatformArgs,
}

pub(crate) fn run(command: ToolsCommand, common: &Common) -> Result<Exit, Failure> {
    let setup = Setup::read(common)?;
    match command {
        ToolsCommand::List(args) => list::run(&args.platform, &setup, common),
        ToolsCommand::Describe(args) => describe::run(&args, &setup, common),
        ToolsCommand::Enable(args) => {
            switched(enable(&setup.config, &setup.home, &args.on.platform, &args.names), &args, true, common)
        }
        ToolsCommand::Disable(args) => switched(
            disable(&setup.config, &setup.home, &args.on.platform, &args.names),
            &args,
            false,
            common,
        ),
    }
}

/// The settings and the environment.
struct Setup {
    config: Config,
    home: Home,
    shell: BTreeMap<String, String>,
}

impl Setup {
    fn read(common: &Common) -> Result<Self, Failure> {
        let (home, shell) = (launch::home()?, shell_variables(environment::variables()));
        let config = load_config(&home, launch::flags(common), shell.clone()).map_err(config::failure)?;
        Ok(Self { config, home, shell })
    }

    fn machine(&self) -> Machine<'_> {
        Machine { config: &self.config, home: &self.home, shell: &self.shell }
    }
}

/// A failure; names that do not exist are errors of usage.
fn failure(error: ToolChoiceError) -> Failure {
    let exit = match &error {
        ToolChoiceError::NotConfigurable { .. } | ToolChoiceError::UnknownPlatform { .. } => Exit::Usage,
        ToolChoiceError::Toolset(_) | ToolChoiceError::Config(_) | ToolChoiceError::Models(_) => Exit::Config,
    };
    Failure::new(exit, error.to_string())
}

fn switched(
    change: Result<ToolsetChange, ToolChoiceError>,
    args: &SwitchArgs,
    is_on: bool,
    common: &Common,
) -> Result<Exit, Failure> {
    let change = change.map_err(failure)?;
    if common.json {
        print::json(&json!({ "key": change.key, "toolsets": change.names, "unchanged": change.unchanged,
            "still_disabled": change.still_disabled }));
        return Ok(Exit::Answered);
    }
    let word = if is_on { "on" } else { "off" };
    let (kept, changed): (Vec<&String>, Vec<&String>) =
        args.names.iter().partition(|name| change.unchanged.contains(name));
    let joined = |names: &[&String]| names.iter().map(|name| name.as_str()).collect::<Vec<_>>().join(", ");
    if !kept.is_empty() {
        term::print_line(&format!("already {word}: {}", joined(&kept)));
    }
    if !changed.is_empty() {
        let key = &change.key;
        term::print_line(&format!(
            "{word}: {} ({key} in config.yaml; new sessions use it)",
            joined(&changed)
        ));
    }
    for name in &change.still_disabled {
        print::notice(&format!(
            "{name} stays off: agent.disabled_toolsets names it; change that with `hermes config set \
             agent.disabled_toolsets`"
        ));
    }
    Ok(Exit::Answered)
}
