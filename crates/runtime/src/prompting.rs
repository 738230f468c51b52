//! Gathers the inputs of a system prompt: settings, files of the home and of the project.
//!
//! This happens once per session, and again when its model changes. The session stores the resulting prompt.

mod additions;

pub(crate) use additions::{additions, overlays, unknown_personality};

use crate::session::SessionRole;
use crate::{Runtime, RuntimeError, model_facts};
use hermes_agent::small_window;
use hermes_config::settings::{CodingContext, Text};
use hermes_config::{Config, Setting};
use hermes_conversation::SessionId;
use hermes_guard::{Finding, Scope, neutralise, redact};
use hermes_memory::files::Target;
use hermes_prompt::{CodeProject, Layers, Sourced, Without, files, project_file_limit, ready_file};
use hermes_providers::{Endpoint, misnames_models};
use hermes_tools::{OpenError, Opened, Toolset, open_inside, open_regular, project_root};
use std::io::Read;
use std::path::Path;

/// The number of bytes that are read of a file.
const MOST_BYTES: u64 = 1 << 20;

/// The layers of a prompt, and notices for the user.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    pub(crate) layers: Layers,
    pub(crate) notices: Vec<String>,
}

/// Gathers the layers of a session's prompt.
pub(crate) fn gather(
    runtime: &Runtime,
    role: &SessionRole,
    endpoint: &Endpoint,
    cwd: &Path,
    session: &SessionId,
) -> Result<Gathered, RuntimeError> {
    let config = &runtime.config;
    let agent = &config.settings.agent;
    let window = model_facts::window(&runtime.launch.home, endpoint);
    let is_subagent = role.parent_call.is_some();
    let platform = if is_subagent { String::new() } else { role.surface.platform.clone() };
    let mut found = Gathered {
        layers: Layers {
            tools: role.registry.all_names().into_iter().map(str::to_owned).collect(),
            without: Without {
                finishing: !agent.task_completion_guidance.value()?,
                calling_together: !agent.parallel_tool_call_guidance.value()?,
            },
            tool_use: config.settings.tool_use.get()?.clone(),
            os: files::os().to_owned(),
            // The name of a directory must not pass for a line of the prompt.
            cwd: cwd.display().to_string().replace(char::is_control, "?"),
            surroundings: files::surroundings(&runtime.launch.shell),
            environment_hint: own_text(&agent.environment_hint)?,
            platform_hint: config.platform_hint(&platform)?,
            platform,
            system_message: role.instructions.clone(),
            date: crate::clock::zoned().strftime("%A, %B %d, %Y").to_string(),
            session: agent.pass_session_id.value()?.then(|| session.to_string()),
            model: endpoint.model.clone(),
            provider: endpoint.label(),
            is_misnamed: misnames_models(&endpoint.label()),
            ..Layers::default()
        },
        notices: Vec::new(),
    };
    found.layers.describe_tools(&*role.registry);
    // A sub-agent gets everything from the session that it works for.
    if role.registry.runs_commands() && agent.environment_probe.value()? {
        found.layers.programs = files::installed_programs(runtime.launch.shell.get("PATH"));
    }
    if !is_subagent && !agent.ignore_rules.value()? {
        found.layers.code_project = code_project(config, cwd)?;
        found.read_soul(runtime, window);
        found.read_project(runtime, window, cwd)?;
        found.read_memory(runtime)?;
        found.read_skills(runtime, role)?;
    }
    if small_window::is_small(window) {
        small_window::shorten(&mut found.layers, window);
    }
    Ok(found)
}

/// The code project of a directory, as `agent.coding_context` asks for it.
fn code_project(config: &Config, cwd: &Path) -> Result<Option<CodeProject>, RuntimeError> {
    let agent = &config.settings.agent;
    let found = match agent.coding_context.value()? {
        CodingContext::Off => return Ok(None),
        CodingContext::On => Some(files::code_project(cwd).unwrap_or_default()),
        CodingContext::Auto => files::code_project(cwd),
    };
    let instructions = own_text(&agent.coding_instructions)?;
    Ok(found.map(|project| CodeProject { instructions, ..project }))
}

/// A text that is set and not blank.
fn own_text(setting: &Setting<Option<Text>>) -> Result<Option<String>, RuntimeError> {
    let text = setting.get()?.as_deref().filter(|text| !text.trim().is_empty());
    Ok(text.map(str::to_owned))
}

impl Gathered {
    /// Reads the identity of the assistant: `SOUL.md` of the home.
    fn read_soul(&mut self, runtime: &Runtime, window: u64) {
        const MOST: usize = 20_000;
        let most = MOST.min(project_file_limit(None, Some(window)));
        let path = runtime.launch.home.path().join("SOUL.md");
        let Some(text) = self.text_of("SOUL.md", open_regular(&path)) else { return };
        let text: String = redact(&runtime.secrets, &text).trim().chars().take(most).collect();
        let safe = neutralise(&text, Scope::Context);
        self.note_findings("SOUL.md", &safe.findings);
        let identity = Sourced { text: safe.text, source: path.display().to_string() };
        self.layers.identity = Some(identity).filter(|identity| !identity.text.trim().is_empty());
    }

    /// Reads the files with instructions for this project.
    fn read_project(&mut self, runtime: &Runtime, window: u64, cwd: &Path) -> Result<(), RuntimeError> {
        let all = files::project_files(cwd);
        if all.is_empty() {
            return Ok(());
        }
        let configured = runtime.config.settings.context_file_max_chars.value()?;
        let configured = configured.and_then(|limit| usize::try_from(limit).ok());
        let limit = project_file_limit(configured, Some(window));
        let key = runtime.fence_key();
        let places = runtime.places();
        let root = project_root(cwd, places.user_home());
        for found in all {
            let opened = open_inside(&root, &found.path, &places);
            let Some(text) = self.text_of(&found.name, opened) else { continue };
            let text = redact(&runtime.secrets, &text);
            if text.trim().is_empty() {
                continue;
            }
            let ready = ready_file(&found.name, &found.path.display().to_string(), &text, limit, &key);
            self.note_findings(&found.name, &ready.findings);
            if let Some(length) = ready.was_cut {
                self.notices.push(format!(
                    "{} has {length} characters; the model gets the beginning and the end, {limit} at most \
                     (context_file_max_chars)",
                    found.name
                ));
            }
            self.layers.project.push(ready.file);
        }
        Ok(())
    }

    /// Reads the memory files.
    fn read_memory(&mut self, runtime: &Runtime) -> Result<(), RuntimeError> {
        let book = runtime.memory()?;
        let snapshot = book.snapshot();
        self.notices.extend(snapshot.notice());
        let sourced = |text: Option<String>, target| {
            text.map(|text| Sourced { text, source: book.path(target).display().to_string() })
        };
        self.layers.memory = sourced(snapshot.memory, Target::Memory);
        self.layers.profile = sourced(snapshot.user, Target::User);
        self.layers.recalled = runtime.memory_provider()?.and_then(|provider| provider.static_block());
        Ok(())
    }

    /// Reads the index of skills, for a session that has tools for them.
    fn read_skills(&mut self, runtime: &Runtime, role: &SessionRole) -> Result<(), RuntimeError> {
        if role.registry.has_toolset(Toolset::Skills) {
            self.layers.skills = Some(runtime.skill_index()?.text).filter(|text| !text.is_empty());
        }
        Ok(())
    }

    /// Returns the text of a file; if it cannot be read, a notice has the reason.
    fn text_of(&mut self, name: &str, opened: Result<Opened, OpenError>) -> Option<String> {
        let read = opened.and_then(|opened| {
            let mut bytes = Vec::new();
            let size = opened.file.metadata()?.len();
            opened.file.take(MOST_BYTES).read_to_end(&mut bytes)?;
            Ok((bytes, size))
        });
        let (bytes, size) = match read {
            Ok(read) => read,
            Err(OpenError::Io(error)) if error.kind() == std::io::ErrorKind::NotFound => return None,
            Err(error) => {
                self.notices.push(format!("{name} is left out: {error}"));
                return None;
            }
        };
        if size > MOST_BYTES {
            self.notices.push(format!(
                "{name} has {} MiB; only the first {} are read",
                size >> 20,
                MOST_BYTES >> 20
            ));
        }
        Some(match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(other) => {
                self.notices.push(format!("{name} is not UTF-8; invalid bytes are shown as �"));
                String::from_utf8_lossy(other.as_bytes()).into_owned()
            }
        })
    }

    fn note_findings(&mut self, name: &str, findings: &[Finding]) {
        self.notices.extend(findings_notice(name, findings));
    }
}

/// Returns a notice about what was removed from a text.
pub(crate) fn findings_notice(name: &str, findings: &[Finding]) -> Option<String> {
    let first = findings.first()?;
    let more = match findings.len() {
        1 => String::new(),
        many => format!(" and {} more", many - 1),
    };
    Some(format!(
        "{name}, line {}: {}{more} was removed from the prompt; `hermes prompt scan` shows it",
        first.line, first.id
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_give_one_notice() {
        let finding = |id: &str, line| Finding { id: id.to_owned(), at: 0..1, line, excerpt: "x".to_owned() };
        assert_eq!(findings_notice("A", &[]), None);
        let one = findings_notice("A", &[finding("hidden_div", 3)]).unwrap();
        assert!(one.starts_with("A, line 3: hidden_div was removed"), "{one}");
        let two = findings_notice("A", &[finding("hidden_div", 3), finding("exfil_curl", 9)]).unwrap();
        assert!(two.starts_with("A, line 3: hidden_div and 1 more was"), "{two}");
    }
}
