//! `hermes skills`: instructions for kinds of tasks, of this home and of others.

mod enable;
mod install;
mod list;

use crate::args::Common;
use crate::commands::config;
use crate::commands::sessions::agreed;
use crate::exit::{Exit, Failure};
use crate::{launch, term};
use clap::Subcommand;
use hermes_config::Config;
use hermes_runtime::skills::{self, FetchError};
use hermes_runtime::{Home, RuntimeError};
use hermes_skills::{SkillError, SkillShelf};
pub(crate) use install::InstallArgs;
use serde_json::json;
use std::io::IsTerminal;

#[derive(Debug, Subcommand)]
pub(crate) enum SkillsCommand {
    /// Every skill: name, category, where it comes from, whether it is on, what it is for
    ///
    /// Skills are folders with a SKILL.md below skills/ of the home, and in skills.external_dirs of
    /// config.yaml; some come with Hermes. Of two with one name the home's counts. What cannot be used is
    /// listed with the reason. An empty file .no-bundled-skills in the home leaves out those that come
    /// with Hermes.
    List {
        /// Only this category
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
        /// Only what is on
        #[arg(long)]
        enabled_only: bool,
    },
    /// One skill: what is known about it, and its text
    Show {
        name: String,
        /// Another file of the skill, such as references/api.md
        #[arg(long, value_name = "PATH")]
        file: Option<String>,
    },
    /// Add a skill from a folder, an archive or a git repository
    ///
    /// SOURCE is a folder, a .zip, .tar or .tar.gz file, the https address of one, or a git repository
    /// (https://github.com/OWNER/REPO, anything ending in .git, or git+ before any address of one).
    ///
    /// It is fetched into a quarantine, checked (no links, no paths that lead out, limits of size and
    /// number), scanned, and put into the home in one step; if anything is wrong, nothing changes. The
    /// scan says safe, caution or dangerous: --force lets caution pass, nothing lets dangerous pass. A
    /// clean scan is no proof: read what you install.
    Install(InstallArgs),
    /// Take a skill out of the home for good
    Remove {
        name: String,
        /// Do not ask
        #[arg(short, long)]
        yes: bool,
    },
    /// Offer a skill to the model again
    Enable {
        name: String,
        /// Only there: cli, telegram, discord, …
        #[arg(long, value_name = "NAME")]
        platform: Option<String>,
    },
    /// Do not offer a skill to the model; its files stay, and /NAME still works
    Disable {
        name: String,
        /// Only there: cli, telegram, discord, …
        #[arg(long, value_name = "NAME")]
        platform: Option<String>,
    },
    /// Whether installed skills are still as they came
    ///
    /// Compares them with the hashes in skills/.hub/lock.json. Ends with 1 when one is changed or missing.
    Check {
        /// Only this one
        name: Option<String>,
    },
    /// Fetch installed skills again from where they came from
    ///
    /// One that was changed here is left alone, unless --force is given.
    Update {
        /// Only this one
        name: Option<String>,
        /// Let caution pass, and replace what was changed here
        #[arg(long)]
        force: bool,
        /// Fetch from this machine or a private network
        #[arg(long)]
        allow_private: bool,
    },
}

pub(crate) async fn run(command: SkillsCommand, common: &Common) -> Result<Exit, Failure> {
    let place = Place { home: launch::home()?, config: config::read(common)?, is_json: common.json };
    match command {
        SkillsCommand::List { category, enabled_only } => {
            list::run(&place, category.as_deref(), enabled_only)
        }
        SkillsCommand::Show { name, file } => list::show(&place, &name, file.as_deref()),
        SkillsCommand::Install(args) => install::run(&place, &args).await,
        SkillsCommand::Remove { name, yes } => remove(&place, &name, yes),
        SkillsCommand::Enable { name, platform } => enable::run(&place, &name, platform.as_deref(), true),
        SkillsCommand::Disable { name, platform } => enable::run(&place, &name, platform.as_deref(), false),
        SkillsCommand::Check { name } => install::check(&place, name.as_deref()),
        SkillsCommand::Update { name, force, allow_private } => {
            install::update(&place, name.as_deref(), force, allow_private).await
        }
    }
}

/// What every subcommand needs.
struct Place {
    home: Home,
    config: Config,
    is_json: bool,
}

impl Place {
    fn shelf(&self) -> Result<SkillShelf, Failure> {
        Ok(skills::shelf(&self.home, &self.config).map_err(RuntimeError::from)?)
    }

    /// The answer for a person, or for a program.
    fn answer(&self, words: &str, value: &serde_json::Value) {
        let line = if self.is_json { value.to_string() } else { term::printable(words).into_owned() };
        term::print_line(&line);
    }
}

fn remove(place: &Place, name: &str, yes: bool) -> Result<Exit, Failure> {
    let shelf = place.shelf()?;
    let known = shelf.find(name).map(|skill| skill.name().to_owned());
    let shown = term::revealed(known.as_deref().unwrap_or(name));
    if !yes && !std::io::stdin().is_terminal() {
        return Err(Failure::usage("removing needs a yes: add --yes"));
    }
    if !yes && !agreed(&format!("Remove the skill {shown} for good? [y/N] "))? {
        return Ok(Exit::FailedTurn);
    }
    let path = shelf.remove(name, "", &skills::now()).map_err(failure)?;
    let answer = json!({ "removed": name, "path": path.display().to_string() });
    place.answer(&format!("Removed {name} ({}).", path.display()), &answer);
    Ok(Exit::Answered)
}

fn failure(error: SkillError) -> Failure {
    let exit = match &error {
        SkillError::Unknown { .. } | SkillError::Broken { .. } | SkillError::Taken { .. } => Exit::FailedTurn,
        SkillError::ReadOnly { .. } | SkillError::Refused(_) | SkillError::Package(_) => Exit::FailedTurn,
        SkillError::Unreadable { .. } => Exit::Config,
        SkillError::Io { .. } => Exit::Permission,
    };
    Failure::new(exit, error.to_string())
}

fn fetch_failure(error: FetchError) -> Failure {
    match error {
        FetchError::Skill(error) => failure(error),
        FetchError::Runtime(error) => error.into(),
        FetchError::Fetch { .. } => Failure::new(Exit::Unreachable, error.to_string()),
        FetchError::Address(_) | FetchError::NotInstalled(_) => Failure::usage(error.to_string()),
    }
}
