//! `hermes auth`: stored credentials. At most the last four characters of a key are printed.

mod add;
mod login;
mod secret_prompt;
mod show;

use crate::commands::config::read;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::launch;
use clap::Subcommand;
use hermes_runtime::auth;
use hermes_terminal::{print, term};
use login::Wish;
use serde_json::json;

/// Manage credentials: keys and logins of providers
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  hermes auth add openrouter
  hermes auth login codex
  hermes auth list
  hermes auth reset openrouter")]
pub(crate) enum AuthCommand {
    /// List credentials in the order of their use, including those in variables
    List {
        /// List only credentials of this provider
        #[arg(value_name = "PROVIDER")]
        of: Option<String>,
    },
    /// Store a key in auth.json; several keys of a provider are used in rotation
    ///
    /// The key is read from the terminal without echo, or from standard input. It is bound to the provider's current
    /// address and sent nowhere else.
    Add {
        /// Id of the provider, from `hermes model list`
        #[arg(value_name = "PROVIDER")]
        to: String,
        /// Label of the key [default: api-key-N]
        #[arg(long)]
        label: Option<String>,
        /// The key itself; visible to other users of this machine and stored in the shell's history
        #[arg(long, value_name = "KEY")]
        api_key: Option<String>,
    },
    /// Remove a credential from auth.json
    ///
    /// A key in a variable or in config.yaml stays there. It is then used only if the provider has no other
    /// credential; `hermes auth add` of the same provider enables it again.
    Remove {
        /// Id of the provider, from `hermes model list`
        #[arg(value_name = "PROVIDER")]
        from: String,
        /// Number in the list, id or label
        target: String,
    },
    /// Log in to a provider; tokens are stored in auth.json and refreshed
    ///
    /// Either enter the code shown in any browser, or log in with a browser on this machine. The settings
    /// auth.PROVIDER.device_url, authorize_url, token_url, client_id and scope change the addresses.
    Login {
        /// Id of the provider, from `hermes model list`
        #[arg(value_name = "PROVIDER")]
        at: String,
        /// Label of the login; a login with the same label is replaced [default: login]
        #[arg(long)]
        label: Option<String>,
        /// Print the address instead of opening a browser
        #[arg(long)]
        no_browser: bool,
        /// Time to complete the login, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 900)]
        timeout: u64,
    },
    /// Delete the logins of a provider
    ///
    /// Keys stay; `hermes auth remove` deletes one.
    Logout {
        /// Id of the provider, from `hermes model list`
        #[arg(value_name = "PROVIDER")]
        of: String,
    },
    /// Clear cooldowns and re-enable credentials
    Reset {
        /// Id of the provider, from `hermes model list`
        #[arg(value_name = "PROVIDER")]
        of: String,
    },
    /// Show the credential in use, and cooldowns with reason and end
    Status {
        /// Show only this provider
        #[arg(value_name = "PROVIDER")]
        of: Option<String>,
    },
}

pub(crate) async fn run(command: AuthCommand, common: &Common) -> Result<Exit, Failure> {
    match command {
        AuthCommand::List { of } => show::list(of.as_deref(), common),
        AuthCommand::Status { of } => show::status(of.as_deref(), common),
        AuthCommand::Add { to, label, api_key } => add::run(&to, label, api_key, common),
        AuthCommand::Remove { from, target } => remove(&from, &target, common),
        AuthCommand::Reset { of } => reset(&of, common),
        AuthCommand::Login { at, label, no_browser, timeout } => {
            login::login(Wish { provider: at, label, no_browser, timeout }, common).await
        }
        AuthCommand::Logout { of } => login::logout(&of, common),
    }
}

fn remove(provider: &str, target: &str, common: &Common) -> Result<Exit, Failure> {
    let removed = auth::remove(&read(common)?, provider, target).map_err(launch::blame_argument)?;
    if common.json {
        let line = json!({
            "provider": removed.provider,
            "removed": removed.label,
            "suppressed_source": removed.suppressed,
        });
        print::json(&line);
        return Ok(Exit::Answered);
    }
    let line = format!("✓ Removed `{}` of {}", removed.label, removed.provider);
    term::print_line(&term::printable(&line));
    if let Some(source) = removed.suppressed {
        let line = format!("  The key itself stays in {source}; the pool no longer uses it.");
        term::print_line(&term::printable(&line));
    }
    Ok(Exit::Answered)
}

fn reset(provider: &str, common: &Common) -> Result<Exit, Failure> {
    let (provider, count) = auth::reset(&read(common)?, provider).map_err(launch::blame_argument)?;
    if common.json {
        print::json(&json!({ "provider": provider, "reset": count }));
        return Ok(Exit::Answered);
    }
    let line = match count {
        0 => format!("No credential of {provider} is in cooldown or disabled."),
        1 => format!("✓ Re-enabled 1 credential of {provider}"),
        count => format!("✓ Re-enabled {count} credentials of {provider}"),
    };
    term::print_line(&term::printable(&line));
    Ok(Exit::Answered)
}
