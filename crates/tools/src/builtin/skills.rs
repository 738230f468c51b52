//! Looking at skills: which there are, and what one says.

use super::blocking::{FILE_PATIENCE, Stop, look};
use crate::facts::text;
use crate::skills::{ListedSkill, Skills, ViewedSkill};
use crate::{CallScope, Concurrency, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::{CallDigest, CallTitle, ToolFacts, ToolKind};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum number of skills listed with descriptions; more are listed by category.
const MOST_LISTED: usize = 200;

/// List skills: names and descriptions, of one category if given.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ListArgs {
    category: Option<String>,
}

/// Load a skill's instructions, or with file_path one of its files.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ViewArgs {
    name: String,
    /// One of linked_files, such as references/api.md.
    file_path: Option<String>,
}

pub(crate) struct SkillsList;
pub(crate) struct SkillView;

impl Tool for SkillsList {
    const NAME: &'static str = "skills_list";
    const TOOLSET: Toolset = Toolset::Skills;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Read,
        reads_only: true,
        title: Some(|arguments| CallTitle::new("📚", "skills", text(arguments, "category"))),
        digest: CallDigest::of(&["action", "name"]),
        rank: 9,
        ..ToolFacts::DEFAULT
    };
    type Args = ListArgs;

    fn concurrency(&self, _: &ListArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Free
    }

    async fn run(
        &self,
        args: ListArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let skills = skills(cx)?;
        let stop = Stop::new(scope, FILE_PATIENCE);
        let all = look("listing skills".to_owned(), stop, move |_| skills.list().map_err(ToolError::failed))
            .await?;
        let category = args.category.filter(|category| !category.trim().is_empty());
        Ok(ToolOutput::json(listed(all, category.as_deref())))
    }
}

/// The tool result that lists the available skills.
fn listed(all: Vec<ListedSkill>, category: Option<&str>) -> Value {
    let mut categories: Vec<(String, usize)> = Vec::new();
    for skill in &all {
        match categories.iter_mut().rfind(|(known, _)| *known == skill.category) {
            Some((_, count)) => *count += 1,
            None => categories.push((skill.category.clone(), 1)),
        }
    }
    let chosen = |skill: &ListedSkill| category.is_none_or(|category| skill.category == category);
    let mut skills: Vec<ListedSkill> = all.into_iter().filter(chosen).collect();
    let count = skills.len();
    skills.truncate(MOST_LISTED);
    let names: Vec<String> = match category {
        _ if count <= MOST_LISTED => categories.into_iter().map(|(name, _)| name).collect(),
        Some(_) => Vec::new(),
        // Too many to be told: the numbers say where to look.
        None => categories.into_iter().map(|(name, count)| format!("{name} [{count}]")).collect(),
    };
    let hint = match (count, category) {
        (0, Some(_)) => "no such category; call without one to see all",
        (0, None) => "there are no skills yet; skill_manage creates one",
        (count, _) if count > MOST_LISTED => {
            "only the first are listed; name a category, or skill_view any name"
        }
        _ => "skill_view(name) loads one",
    };
    json!({ "success": true, "skills": skills, "categories": names, "count": count, "hint": hint })
}

impl Tool for SkillView {
    const NAME: &'static str = "skill_view";
    const TOOLSET: Toolset = Toolset::Skills;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Read,
        reads_only: true,
        title: Some(|arguments| CallTitle::new("📚", "skill", text(arguments, "name"))),
        digest: CallDigest::of(&["action", "name"]),
        rank: 8,
        ..ToolFacts::DEFAULT
    };
    type Args = ViewArgs;

    fn concurrency(&self, _: &ViewArgs, _: &ToolContext) -> Concurrency {
        Concurrency::Free
    }

    async fn run(
        &self,
        args: ViewArgs,
        cx: &ToolContext,
        scope: &CallScope,
    ) -> Result<ToolOutput, ToolError> {
        let skills = skills(cx)?;
        let stop = Stop::new(scope, FILE_PATIENCE);
        let file = args.file_path.filter(|path| !path.is_empty());
        let doing = format!("reading the skill {}", args.name);
        let found = look(doing, stop, move |_| {
            let viewed = skills.view(&args.name, file.as_deref()).map_err(ToolError::failed)?;
            Ok(told(viewed, file.as_deref()))
        });
        Ok(ToolOutput::json(found.await?))
    }
}

/// The result for a skill or one of its files; fields that say nothing are left out.
fn told(viewed: ViewedSkill, file: Option<&str>) -> Value {
    let ViewedSkill { name, description, content, dir, tags, related_skills, linked_files, .. } = viewed;
    let mut result = json!({ "success": true, "name": name });
    let mut add = |key: &str, value: Value| {
        let says_nothing = match &value {
            Value::Null => true,
            Value::Array(items) => items.is_empty(),
            Value::Object(fields) => fields.is_empty(),
            _ => false,
        };
        if !says_nothing {
            result[key] = value;
        }
    };
    match file {
        Some(file) => {
            add("file", file.into());
            add("content", content.into());
        }
        None => {
            add("description", description.into());
            add("tags", tags.into());
            add("related_skills", related_skills.into());
            add("content", content.into());
            add("skill_dir", dir.map(|dir| dir.display().to_string()).into());
            add("linked_files", json!(linked_files));
            let is_ready = viewed.missing_variables.is_empty();
            add("missing_environment_variables", viewed.missing_variables.into());
            add("readiness_status", if is_ready { "available" } else { "setup_needed" }.into());
        }
    }
    add("warnings", viewed.warnings.into());
    result
}

/// The skills of this session, if it has any.
pub(super) fn skills(cx: &ToolContext) -> Result<Arc<dyn Skills>, ToolError> {
    cx.skills().cloned().ok_or_else(|| ToolError::failed("there are no skills in this session"))
}

#[cfg(test)]
#[path = "skills_tests.rs"]
mod tests;
