//! `hermes auth`: the stored credentials. No key is ever printed: at most its last four characters.

mod add;
mod hidden;
mod login;
mod show;

use crate::args::Common;
use crate::config_command::read;
use crate::exit::{Exit, Failure};
use crate::{launch, term};
use clap::Subcommand;
use hermes_runtime::{ModelsError, auth};
use login::Wish;
use serde_json::json;

#[derive(Debug, Subcommand)]
pub(crate) enum AuthCommand {
    /// The stored credentials, in the order in which they are used, with those found in variables
    List {
        #[arg(value_name = "PROVIDER")]
        of: Option<String>,
    },
    /// Store a key in auth.json; several keys of a provider are used one after the other
    ///
    /// The key is asked for without being shown, or read from standard input when that is no terminal.
    /// It is bound to the address that is the provider's now, and sent nowhere else.
    Add {
        #[arg(value_name = "PROVIDER")]
        to: String,
        /// A name for it; `api-key-N` without one
        #[arg(long)]
        label: Option<String>,
        /// The key. Other users of this machine may see it while the command runs, and the shell
        /// remembers it
        #[arg(long, value_name = "KEY")]
        api_key: Option<String>,
    },
    /// Take a credential out of auth.json
    ///
    /// A key that lives in a variable or in config.yaml stays there. It is used again only where nothing
    /// else is stored; `hermes auth add` of the same provider takes it up again.
    Remove {
        #[arg(value_name = "PROVIDER")]
        from: String,
        /// Its number in the list, its id or its label
        target: String,
    },
    /// Log in at a provider that wants a login; the tokens are stored in auth.json and renewed
    ///
    /// A code is shown and entered in any browser, or a browser comes back to this machine. Where the
    /// login goes can be set with auth.PROVIDER.device_url, authorize_url, token_url, client_id and scope.
    Login {
        /// Its id, as `hermes model list` names it
        #[arg(value_name = "PROVIDER")]
        at: String,
        /// A name for it; `login` without one. Another login under the same name takes its place
        #[arg(long)]
        label: Option<String>,
        /// Do not open a browser; the address is shown
        #[arg(long)]
        no_browser: bool,
        /// Seconds to wait for you
        #[arg(long, value_name = "SECONDS", default_value_t = 900)]
        timeout: u64,
    },
    /// Forget the logins of a provider
    ///
    /// Stored keys stay; `hermes auth remove` takes one of them out.
    Logout {
        #[arg(value_name = "PROVIDER")]
        of: String,
    },
    /// Use credentials again that are given a rest, or that were given up
    Reset {
        #[arg(value_name = "PROVIDER")]
        of: String,
    },
    /// Which credential would be used now, which ones are given a rest, until when and why
    Status {
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
    let removed = auth::remove(&read(common)?, provider, target).map_err(|error| blame(error, common))?;
    if common.json {
        let line = json!({
            "provider": removed.provider,
            "removed": removed.label,
            "suppressed_source": removed.suppressed,
        });
        term::print_line(&line.to_string());
        return Ok(Exit::Answered);
    }
    let line = format!("✓ Removed `{}` of {}", removed.label, removed.provider);
    term::print_line(&term::printable(&line));
    if let Some(source) = removed.suppressed {
        let line = format!("  Its key stays where it is ({source}); it is not one of the pool's any more.");
        term::print_line(&term::printable(&line));
    }
    Ok(Exit::Answered)
}

fn reset(provider: &str, common: &Common) -> Result<Exit, Failure> {
    let (provider, count) = auth::reset(&read(common)?, provider).map_err(|error| blame(error, common))?;
    if common.json {
        term::print_line(&json!({ "provider": provider, "reset": count }).to_string());
        return Ok(Exit::Answered);
    }
    let line = match count {
        0 => format!("No credential of {provider} was given a rest."),
        1 => format!("✓ 1 credential of {provider} is used again"),
        count => format!("✓ {count} credentials of {provider} are used again"),
    };
    term::print_line(&term::printable(&line));
    Ok(Exit::Answered)
}

/// A provider that is not known was typed on this command line.
fn blame(error: ModelsError, common: &Common) -> Failure {
    launch::blame_flags(error, &Common { provider: Some(String::new()), ..common.clone() })
}
