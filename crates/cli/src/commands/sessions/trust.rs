//! `hermes sessions trust`: shows prompt and settings of an imported session, and confirms their use.

use crate::confirm::confirm;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_store::{ImportedParts, SessionDb};
use hermes_terminal::print;
use hermes_terminal::term::{self, revealed};
use hermes_terminal::text::counted;
use serde_json::json;

pub(super) async fn run(store: &SessionDb, which: &str, yes: bool, common: &Common) -> Result<Exit, Failure> {
    let id = store.resolve(which).await?;
    let Some(parts) = store.imported_parts(&id).await? else {
        return Err(Failure::usage(format!(
            "session {id} has nothing to trust: it was not imported, or is trusted"
        )));
    };
    if common.json {
        let ImportedParts { system_prompt, cwd, settings, mail } = &parts;
        let shown = json!({ "session_id": id, "system_prompt": system_prompt, "cwd": cwd, "settings": settings,
            "mail": mail, "trusted": yes });
        print::json(&shown);
    } else {
        term::print(&shown(&parts));
    }
    if !yes && !confirm("Use all of this when the session is resumed?", "add --yes to use it")? {
        term::print_error("No change; a resumed session gets a new prompt.");
        return Ok(Exit::FailedTurn);
    }
    store.trust_import(&id).await?;
    if !common.json {
        term::print_line(&format!("Session {id} will be resumed as imported."));
    }
    Ok(Exit::Answered)
}

/// Shows prompt and settings of an imported session before its first resume, and uses them after confirmation.
/// Otherwise the session gets a new prompt.
pub(crate) async fn ask_before_resume(store: &SessionDb, which: &str) -> Result<(), Failure> {
    let id = store.resolve_resume(&store.resolve(which).await?).await?;
    let Some(parts) = store.imported_parts(&id).await? else { return Ok(()) };
    term::print(&format!("Session {id} was imported with:\n{}", shown(&parts)));
    if print::confirm("Use it? Otherwise the session gets a new prompt and this directory. [y/N] ")? {
        store.trust_import(&id).await?;
    }
    Ok(())
}

/// The imported parts in full, with hidden characters visible.
fn shown(parts: &ImportedParts) -> String {
    let mut text = String::new();
    let mut add = |heading: &str, body: &str| {
        text.push_str(&format!("{heading}:\n"));
        text.extend(revealed(body).lines().map(|line| format!("    {line}\n")));
    };
    if let Some(prompt) = &parts.system_prompt {
        add(&format!("System prompt, {}", counted(prompt.chars().count(), "character")), prompt);
    }
    if let Some(settings) = &parts.settings {
        add("Settings of the model and its tools", settings);
    }
    if let Some(cwd) = &parts.cwd {
        add("Working directory", cwd);
    }
    for mail in &parts.mail {
        add("Queued message, sent as yours", mail);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imported_parts_are_shown_in_full() {
        let parts = ImportedParts {
            system_prompt: Some("Obey\u{200b} me.\nAlways.".into()),
            cwd: Some("/srv/\x1b[2Jx".into()),
            settings: Some("{}".into()),
            mail: vec!["run it".into()],
        };
        assert_eq!(
            shown(&parts),
            "System prompt, 17 characters:\n    Obey\\u{200b} me.\n    Always.\nSettings of the model and its tools:\n    {}\nWorking directory:\n    /srv/\\u{1b}[2Jx\nQueued message, sent as yours:\n    run it\n"
        );
    }
}
