//! The skills of a home: their index for sessions, and the port for tools.
//!
//! `hermes_skills` finds, changes and checks skills; `hermes_skill_sources` gets those of others.

pub use hermes_skill_sources::{FetchError, install, now, update};

use crate::{Runtime, RuntimeError};
use hermes_config::home::{Home, fence_key};
use hermes_config::{Config, ConfigError};
use hermes_guard::{FenceKey, Scope, scan};
use hermes_skills::{
    Bundle, IndexQuery, Invocation, SkillEdit, SkillError, SkillIndex, SkillShelf, bundles, invocation,
    preloaded, slug,
};
use hermes_tools::{ChangedSkill, ListedSkill, Registry, SkillChange, Skills, Toolset, ViewedSkill};
use std::path::Path;
use std::sync::Arc;

/// Opens the skills of a home under its settings.
pub fn shelf(home: &Home, config: &Config) -> Result<SkillShelf, ConfigError> {
    shelf_with(home, config, &|| fence_key::of(home))
}

fn shelf_with(home: &Home, config: &Config, key: &dyn Fn() -> FenceKey) -> Result<SkillShelf, ConfigError> {
    Ok(SkillShelf::open_cached(home.path(), &config.external_skill_dirs()?, key))
}

/// The query of the skill index for a session on `platform` (`cli`, or the name of a chat platform) with these
/// tools.
pub fn index_query(config: &Config, platform: &str, registry: &Registry) -> Result<IndexQuery, ConfigError> {
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    Ok(IndexQuery {
        platform: IndexQuery::this_platform().to_owned(),
        environments: environments(),
        tools: owned(registry.all_names()),
        toolsets: owned(registry.toolsets()),
        disabled: config.disabled_skills(platform)?,
        budget_bytes: 0,
    })
}

/// The known environments that this process runs in.
fn environments() -> Vec<String> {
    let signs = [("docker", "/.dockerenv"), ("s6", "/run/s6")];
    signs.iter().filter(|(_, sign)| Path::new(sign).exists()).map(|(name, _)| (*name).to_owned()).collect()
}

impl Runtime {
    /// Returns the index of skills for a system prompt; empty without a tool for them.
    pub fn skill_index(&self) -> Result<SkillIndex, RuntimeError> {
        let registry = self.registry();
        if !registry.has_toolset(Toolset::Skills) {
            return Ok(SkillIndex::default());
        }
        let query = index_query(&self.config, &self.launch.source, &registry)?;
        Ok(self.skill_shelf()?.index(&query))
    }

    fn skill_shelf(&self) -> Result<SkillShelf, ConfigError> {
        shelf_with(&self.launch.home, &self.config, &|| self.fence_key())
    }

    pub(crate) fn skills(&self) -> Arc<dyn Skills> {
        Arc::new(HomeSkills(self.clone()))
    }

    /// The texts of skills for a system prompt, and unknown names.
    pub(crate) fn preloaded_skills(&self, names: &[String]) -> Result<(String, Vec<String>), RuntimeError> {
        let shelf = shelf(self.home(), self.config())?;
        let values = self.config().skill_values();
        let call = Invocation {
            session: "",
            instruction: "",
            config: &values,
            keeps_variables: !self.config().settings.skills.template_vars.value()?,
        };
        let (mut texts, mut unknown) = (Vec::new(), Vec::new());
        for name in names.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
            match shelf.find(name).and_then(|skill| preloaded(&shelf, skill, &call)) {
                Ok(text) => texts.push(text.trim_end().to_owned()),
                Err(SkillError::Unknown { .. }) => unknown.push(name.to_owned()),
                Err(error) => return Err(error.into()),
            }
        }
        Ok((texts.join("\n\n"), unknown))
    }

    /// Returns the message that `/<name> text` stands for, if a bundle or a skill has that name.
    pub fn skill_message(
        &self,
        session: &str,
        name: &str,
        words: &str,
    ) -> Option<Result<String, SkillError>> {
        let shelf = self.skill_shelf().ok()?;
        let values = self.config().skill_values();
        let call = Invocation {
            session,
            instruction: words,
            config: &values,
            keeps_variables: !*self.config().settings.skills.template_vars.or_default(),
        };
        let (all, _) = bundles(self.home().path());
        if let Some(bundle) = all.iter().find(|bundle: &&Bundle| bundle.slug == slug(name)) {
            return Some(bundle.invocation(&shelf, &call));
        }
        match shelf.find(name) {
            Ok(skill) => Some(invocation(&shelf, skill, &call)),
            Err(SkillError::Unknown { .. }) => None,
            Err(error) => Some(Err(error)),
        }
    }
}

/// The skills of a home, read again for every call: another process may have changed them.
struct HomeSkills(Runtime);

impl HomeSkills {
    fn shelf(&self) -> Result<SkillShelf, String> {
        self.0.skill_shelf().map_err(|error| error.to_string())
    }
}

impl Skills for HomeSkills {
    fn list(&self) -> Result<Vec<ListedSkill>, String> {
        let shelf = self.shelf()?;
        let Self(runtime) = self;
        let query = index_query(&runtime.config, &runtime.launch.source, &runtime.registry());
        let query = query.map_err(|error| error.to_string())?;
        let listed = shelf.offered(&query).into_iter().map(|skill| ListedSkill {
            name: skill.front_matter.name.clone(),
            description: skill.front_matter.description.clone(),
            category: skill.category.clone(),
        });
        Ok(listed.collect())
    }

    fn view(&self, name: &str, file_path: Option<&str>) -> Result<ViewedSkill, String> {
        let shelf = self.shelf()?;
        let skill = shelf.find(name).map_err(|error| error.to_string())?;
        let text = shelf.read(skill, file_path).map_err(|error| error.to_string())?;
        let is_set = |name: &str| self.0.config().variable(name).is_some();
        let linked = shelf.linked(skill).into_iter().map(|(kind, files)| (kind.to_owned(), files));
        // Bundled skills are part of the program.
        let warnings = match &text.path {
            None => Vec::new(),
            Some(_) => scan(&text.text, Scope::Strict)
                .iter()
                .take(5)
                .map(|found| format!("line {}: {}: {}", found.line, found.id, found.excerpt))
                .collect(),
        };
        Ok(ViewedSkill {
            name: skill.front_matter.name.clone(),
            description: skill.front_matter.description.clone(),
            content: text.text,
            dir: skill.dir.clone(),
            tags: skill.front_matter.tags.clone(),
            related_skills: skill.front_matter.related_skills.clone(),
            linked_files: linked.collect(),
            missing_variables: skill
                .front_matter
                .env_vars
                .iter()
                .filter(|name| !is_set(name))
                .cloned()
                .collect(),
            warnings,
        })
    }

    fn change(&self, change: SkillChange<'_>) -> Result<ChangedSkill, String> {
        let edit = match change {
            SkillChange::Create { name, content, category } => SkillEdit::Create { name, content, category },
            SkillChange::Edit { name, content } => SkillEdit::Replace { name, content },
            SkillChange::Patch { name, file_path, edit } => SkillEdit::Patch { name, file: file_path, edit },
            SkillChange::WriteFile { name, file_path, content } => {
                SkillEdit::WriteFile { name, file: file_path, content }
            }
            SkillChange::RemoveFile { name, file_path } => SkillEdit::RemoveFile { name, file: file_path },
            SkillChange::Delete { name, absorbed_into } => SkillEdit::Delete { name, absorbed_into },
        };
        let is_strict = self.0.config().settings.skills.guard_agent_created.value();
        let is_strict = is_strict.map_err(|error| error.to_string())?;
        let changed = self.shelf()?.change(edit, is_strict, &now()).map_err(|error| error.to_string())?;
        Ok(ChangedSkill { message: changed.message, path: changed.path, warnings: changed.warnings })
    }
}
