//! Renders a skill that the user calls with a slash command as one user message.

use super::front_matter::body;
use super::{Bundle, Skill, SkillError, SkillShelf};
use std::fmt::Write;

/// The arguments of a call.
#[derive(Debug, Clone, Default)]
pub struct Invocation<'a> {
    pub session: &'a str,
    /// The text that the user typed after the name.
    pub instruction: &'a str,
    /// Values of `skills.config` by key.
    pub config: &'a [(String, String)],
    /// Keeps `${HERMES_…}` in the text unexpanded.
    pub keeps_variables: bool,
}

/// Renders the message for one skill.
pub fn invocation(shelf: &SkillShelf, skill: &Skill, call: &Invocation<'_>) -> Result<String, SkillError> {
    let mut message = String::new();
    add(&mut message, shelf, skill, call)?;
    message.push_str(&request(call.instruction));
    Ok(message)
}

/// Renders a skill as a part of the system prompt, without a request.
pub fn preloaded(shelf: &SkillShelf, skill: &Skill, call: &Invocation<'_>) -> Result<String, SkillError> {
    let mut text = String::new();
    add(&mut text, shelf, skill, call)?;
    Ok(text)
}

impl Bundle {
    /// Renders the message for all skills of a bundle. It names missing skills.
    pub fn invocation(&self, shelf: &SkillShelf, call: &Invocation<'_>) -> Result<String, SkillError> {
        let mut message = String::new();
        let mut missing = Vec::new();
        for name in &self.skills {
            match shelf.find(name) {
                Ok(skill) => add(&mut message, shelf, skill, call)?,
                Err(_) => missing.push(name.as_str()),
            }
        }
        if message.is_empty() {
            let name = self.skills.first().cloned().unwrap_or_default();
            return Err(SkillError::Unknown { name, near: None });
        }
        if !missing.is_empty() {
            let _ =
                writeln!(message, "[These skills of the bundle are not installed: {}]\n", missing.join(", "));
        }
        if !self.instruction.trim().is_empty() {
            let _ = writeln!(message, "{}\n", self.instruction.trim());
        }
        message.push_str(&request(call.instruction));
        Ok(message)
    }
}

fn add(
    message: &mut String,
    shelf: &SkillShelf,
    skill: &Skill,
    call: &Invocation<'_>,
) -> Result<(), SkillError> {
    let name = skill.name();
    let text = shelf.read(skill, None)?.text;
    let dir = skill.dir.as_ref().map(|dir| dir.display().to_string());
    let mut text = body(&text).trim_end().to_owned();
    if !call.keeps_variables {
        text = text.replace("${HERMES_SKILL_DIR}", dir.as_deref().unwrap_or("(no folder)"));
        text = text.replace("${HERMES_SESSION_ID}", call.session);
    }
    let _ = writeln!(
        message,
        "[The user has called the skill \"{name}\". Follow its instructions for the request at the end.]\n\n{text}\n"
    );
    if let Some(dir) = dir {
        let _ = writeln!(message, "[Skill directory: {dir}]");
    }
    for wanted in &skill.front_matter.config {
        let set = call.config.iter().find(|(key, _)| *key == wanted.key).map(|(_, value)| value);
        if let Some(value) = set.or(wanted.default.as_ref()) {
            let _ = writeln!(message, "[Skill setting {}: {value}]", wanted.key);
        }
    }
    let linked = shelf.linked(skill);
    let files: Vec<&str> = linked.values().flatten().map(String::as_str).collect();
    if !files.is_empty() {
        let _ = writeln!(
            message,
            "[Supporting files, to be loaded with skill_view(name=\"{name}\", file_path=…) when needed: {}]",
            files.join(", ")
        );
    }
    message.push('\n');
    Ok(())
}

fn request(instruction: &str) -> String {
    match instruction.trim() {
        "" => "The user said nothing further; begin, or ask what you need to know.".to_owned(),
        text => format!("The user's request: {text}"),
    }
}

#[cfg(test)]
#[path = "invocation_tests.rs"]
mod tests;
