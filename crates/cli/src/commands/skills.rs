//! `hermes skills`: installed and bundled skills.

mod enable;
mod install;
mod list;

use crate::commands::config;
use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use clap::Subcommand;
use hermes_config::Config;
use hermes_runtime::skills::{self, FetchError};
use hermes_runtime::{Home, RuntimeError};
use hermes_skills::{SkillError, SkillShelf};
use hermes_terminal::term;
pub(crate) use install::InstallArgs;
use serde_json::json;

/// Manage skills: instructions for kinds of tasks
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes skills list
  hermes skills show pdf
  hermes skills install https://github.com/OWNER/REPO --path pdf
  hermes skills disable pdf --platform telegram
  hermes skills update")]
pub(crate) enum SkillsCommand {
    /// List skills with category, origin, state and description
    ///
    /// Skills are directories with a SKILL.md below skills/ of the home directory and below skills.external_dirs of
    /// config.yaml; some come with Hermes. Of two with the same name, the one in the home directory is used. Skills
    /// that cannot be used are listed with the reason. An empty file .no-bundled-skills in the home directory hides
    /// those that come with Hermes.
    List {
        /// List only this category
        #[arg(long, value_name = "NAME")]
        category: Option<String>,
        /// List only enabled skills
        #[arg(long)]
        enabled_only: bool,
    },
    /// Show a skill: its properties and its text
    Show {
        /// Name of the skill
        name: String,
        /// Show another file of the skill, such as references/api.md
        #[arg(long, value_name = "PATH")]
        file: Option<String>,
    },
    /// Install a skill from a directory, an archive or a git repository
    ///
    /// SOURCE is a directory, a .zip, .tar or .tar.gz file, the https address of one, or a git repository
    /// (https://github.com/OWNER/REPO, any address that ends in .git, or git+ before any other).
    ///
    /// The skill is fetched into a quarantine, checked (no links, no paths that lead out, limits on size and
    /// number), scanned, and moved into the home directory in one step; if anything fails, nothing changes. The
    /// scan result is safe, caution or dangerous: --force accepts caution, nothing accepts dangerous. A clean scan
    /// proves little: read what you install.
    Install(InstallArgs),
    /// Delete a skill from the home directory
    Remove {
        /// Name of the skill
        name: String,
        /// Do not ask for confirmation
        #[arg(short, long)]
        yes: bool,
    },
    /// Enable a skill
    Enable {
        /// Name of the skill
        name: String,
        /// Only on this platform: cli, telegram, discord, ...
        #[arg(long, value_name = "NAME")]
        platform: Option<String>,
    },
    /// Disable a skill; its files stay, and /NAME still works
    Disable {
        /// Name of the skill
        name: String,
        /// Only on this platform: cli, telegram, discord, ...
        #[arg(long, value_name = "NAME")]
        platform: Option<String>,
    },
    /// Check installed skills for changes
    ///
    /// Compares them with the hashes in skills/.hub/lock.json. The exit code is 1 if one is changed or missing.
    Check {
        /// Check only this skill
        name: Option<String>,
    },
    /// Update installed skills from where they came from
    ///
    /// A skill that was changed locally is skipped, unless --force is given.
    Update {
        /// Update only this skill
        name: Option<String>,
        /// Accept caution, and replace local changes
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

/// The context of all subcommands.
struct Place {
    home: Home,
    config: Config,
    is_json: bool,
}

impl Place {
    fn shelf(&self) -> Result<SkillShelf, Failure> {
        Ok(skills::shelf(&self.home, &self.config).map_err(RuntimeError::from)?)
    }

    /// Prints a result as text or JSON.
    fn answer(&self, words: &str, value: &serde_json::Value) {
        let line = if self.is_json { value.to_string() } else { term::printable(words).into_owned() };
        term::print_line(&line);
    }
}

fn remove(place: &Place, name: &str, yes: bool) -> Result<Exit, Failure> {
    let shelf = place.shelf()?;
    let known = shelf.find(name).map(|skill| skill.name().to_owned());
    let shown = term::revealed(known.as_deref().unwrap_or(name));
    if !yes && !confirm(&format!("Delete the skill {shown} permanently?"), "add --yes to delete the skill")? {
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
        FetchError::Home(error) => RuntimeError::from(error).into(),
        FetchError::Client(error) => RuntimeError::from(error).into(),
        FetchError::Fetch { .. } => Failure::new(Exit::Unreachable, error.to_string()),
        FetchError::Address(_) | FetchError::NotInstalled(_) => Failure::usage(error.to_string()),
    }
}
