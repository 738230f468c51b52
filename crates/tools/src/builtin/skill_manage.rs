//! Writing skills.

use super::blocking::{FILE_PATIENCE, finish};
use super::lasting;
use super::skills::skills;
use crate::approval;
use crate::facts::text;
use crate::skills::{ChangedSkill, SkillChange};
use crate::{CallScope, Refusal, Tool, ToolContext, ToolError, ToolOutput, Toolset};
use hermes_conversation::{CallDigest, CallTitle, Guidance, ToolFacts, ToolKind};
use hermes_edits::fuzzy::{self, Edit};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use std::time::Instant;

/// Create, change or delete a skill: save what a hard task taught you, mend a skill that was wrong.
/// Ask before deleting.
#[derive(Deserialize, JsonSchema)]
pub(crate) struct ManageArgs {
    action: Action,
    /// Small letters, digits, dashes.
    name: String,
    /// For create and edit: the whole SKILL.md, with frontmatter (name, description) and a body.
    content: Option<String>,
    old_string: Option<String>,
    new_string: Option<String>,
    #[serde(default)]
    replace_all: bool,
    category: Option<String>,
    /// Below references/, templates/, scripts/ or assets/; for patch, SKILL.md unless given.
    file_path: Option<String>,
    file_content: Option<String>,
    /// For delete: the skill that covers it now.
    absorbed_into: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Action {
    Create,
    Patch,
    Edit,
    Delete,
    WriteFile,
    RemoveFile,
}

pub(crate) struct SkillManage;

impl Tool for SkillManage {
    const NAME: &'static str = "skill_manage";
    const TOOLSET: Toolset = Toolset::Skills;
    const FACTS: ToolFacts = ToolFacts {
        kind: ToolKind::Edit,
        is_housekeeping: true,
        title: Some(title),
        digest: CallDigest::of(&["action", "name"]),
        guidance: Some(Guidance::new(GUIDANCE)),
        ..ToolFacts::DEFAULT
    };
    const SELDOM: bool = true;
    type Args = ManageArgs;

    fn refusal(&self, args: &ManageArgs, _: &ToolContext) -> Option<Refusal> {
        let needs: &[(&str, &Option<String>)] = match args.action {
            Action::Create | Action::Edit => &[("content", &args.content)],
            Action::Patch => &[("old_string", &args.old_string), ("new_string", &args.new_string)],
            Action::WriteFile => &[("file_path", &args.file_path), ("file_content", &args.file_content)],
            Action::RemoveFile => &[("file_path", &args.file_path)],
            Action::Delete => &[],
        };
        let missing = needs.iter().find(|(_, value)| value.is_none());
        missing.map(|(name, _)| Refusal::Invalid(format!("this action needs `{name}`")))
    }

    fn action(&self, args: &ManageArgs, cx: &ToolContext) -> Option<approval::Action> {
        let texts = [&args.content, &args.new_string, &args.file_content];
        let texts: Vec<&str> = texts.into_iter().filter_map(Option::as_deref).collect();
        let content = texts.join("\n");
        lasting::change(format!("write the skill {}:\n{content}", args.name), &content, None, cx)
    }

    async fn run(&self, args: ManageArgs, cx: &ToolContext, _: &CallScope) -> Result<ToolOutput, ToolError> {
        let skills = skills(cx)?;
        let changed = finish(move || {
            let mut patch = |text: &str| patched(text, &args);
            skills.change(change(&args, &mut patch)).map_err(ToolError::failed)
        });
        let ChangedSkill { message, path, warnings } = changed.await?;
        let mut result = json!({ "success": true, "message": message, "path": path.display().to_string() });
        if !warnings.is_empty() {
            result["warnings"] = warnings.into();
        }
        Ok(ToolOutput::json(result))
    }
}

const GUIDANCE: &str = "After a hard task, save how it was done with `skill_manage`; where a skill proved wrong, \
correct it at once.";

fn title(arguments: &Value) -> CallTitle {
    let detail = format!("{} {}", text(arguments, "action"), text(arguments, "name"));
    CallTitle::new("📝", "skill", detail)
}

fn change<'a>(
    args: &'a ManageArgs,
    edit: &'a mut dyn FnMut(&str) -> Result<String, String>,
) -> SkillChange<'a> {
    let (name, content) = (args.name.as_str(), args.content.as_deref().unwrap_or_default());
    let file = args.file_path.as_deref().filter(|path| !path.is_empty());
    match args.action {
        Action::Create => SkillChange::Create { name, content, category: args.category.as_deref() },
        Action::Edit => SkillChange::Edit { name, content },
        Action::Patch => SkillChange::Patch { name, file_path: file, edit },
        Action::WriteFile => {
            let content = args.file_content.as_deref().unwrap_or_default();
            SkillChange::WriteFile { name, file_path: file.unwrap_or_default(), content }
        }
        Action::RemoveFile => SkillChange::RemoveFile { name, file_path: file.unwrap_or_default() },
        Action::Delete => SkillChange::Delete { name, absorbed_into: args.absorbed_into.as_deref() },
    }
}

fn patched(text: &str, args: &ManageArgs) -> Result<String, String> {
    let (old, new) = (args.old_string.as_deref(), args.new_string.as_deref());
    let edit = Edit { old: old.unwrap_or_default(), new: new.unwrap_or_default(), all: args.replace_all };
    let deadline = Instant::now() + FILE_PATIENCE;
    match fuzzy::replace(text, edit, &|| Instant::now() >= deadline) {
        Ok(edited) => Ok(edited.content),
        Err(error) => Err(format!("nothing was changed: {error}")),
    }
}
