//! Skills as the tools see them.
//!
//! The location and discovery of skills are not known here: the code that assembles a session passes in a
//! [`Skills`].

use std::collections::BTreeMap;
use std::path::PathBuf;

/// A skill in a list.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct ListedSkill {
    pub name: String,
    pub description: String,
    pub category: String,
}

/// A text of a skill, and what is known about the skill.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ViewedSkill {
    pub name: String,
    pub description: String,
    pub content: String,
    /// Its folder; one that comes with Hermes has none.
    pub dir: Option<PathBuf>,
    pub tags: Vec<String>,
    pub related_skills: Vec<String>,
    /// Its other files, by kind.
    pub linked_files: BTreeMap<String, Vec<String>>,
    /// Variables that it needs and that are not set.
    pub missing_variables: Vec<String>,
    /// Findings of the scan in the text.
    pub warnings: Vec<String>,
}

/// A change of a skill.
pub enum SkillChange<'a> {
    Create {
        name: &'a str,
        content: &'a str,
        category: Option<&'a str>,
    },
    Edit {
        name: &'a str,
        content: &'a str,
    },
    /// A new text made from the one there is; an error of the function ends it.
    Patch {
        name: &'a str,
        file_path: Option<&'a str>,
        edit: &'a mut dyn FnMut(&str) -> Result<String, String>,
    },
    WriteFile {
        name: &'a str,
        file_path: &'a str,
        content: &'a str,
    },
    RemoveFile {
        name: &'a str,
        file_path: &'a str,
    },
    Delete {
        name: &'a str,
        absorbed_into: Option<&'a str>,
    },
}

/// The result of a change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedSkill {
    pub message: String,
    pub path: PathBuf,
    pub warnings: Vec<String>,
}

/// The skills of a session. Errors are sentences for the model. All methods may block.
pub trait Skills: Send + Sync {
    /// The skills that are offered to this session, by category and name.
    fn list(&self) -> Result<Vec<ListedSkill>, String>;

    /// `SKILL.md`, or another file of the skill. Works for every skill, offered or not.
    fn view(&self, name: &str, file_path: Option<&str>) -> Result<ViewedSkill, String>;

    /// Carries a change out, as a whole or not at all.
    fn change(&self, change: SkillChange<'_>) -> Result<ChangedSkill, String>;
}
