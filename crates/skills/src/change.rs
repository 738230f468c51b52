//! Edits of skills by the agent, validated and scanned before anything is written.

use super::discovery::{SKILL_FILE, SUPPORT_DIRS};
use super::files::inside;
use super::install::{checked_category, remove};
use super::package::{MAX_FILE, PackedFile};
use super::safety_scan::{ScanFinding, Trust, Verdict, refusal, scan_text};
use super::staging::{StagingArea, write_file};
use super::{Origin, Skill, SkillError, SkillShelf, audit_log, front_matter, skills_dir};
use std::path::{Path, PathBuf};

/// One edit of a skill.
pub enum SkillEdit<'a> {
    Create {
        name: &'a str,
        content: &'a str,
        category: Option<&'a str>,
    },
    /// Replaces the whole `SKILL.md`.
    Replace {
        name: &'a str,
        content: &'a str,
    },
    /// Transforms the text of `SKILL.md` or of another file. An error of the function is returned
    /// unchanged.
    Patch {
        name: &'a str,
        file: Option<&'a str>,
        edit: &'a mut dyn FnMut(&str) -> Result<String, String>,
    },
    WriteFile {
        name: &'a str,
        file: &'a str,
        content: &'a str,
    },
    RemoveFile {
        name: &'a str,
        file: &'a str,
    },
    Delete {
        name: &'a str,
        /// The skill that replaces the deleted one.
        absorbed_into: Option<&'a str>,
    },
}

/// The result of an edit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    pub message: String,
    pub path: PathBuf,
    /// Findings of the scan that did not refuse the edit.
    pub warnings: Vec<String>,
}

impl SkillShelf {
    /// Changes a skill of the home. `is_strict` also refuses texts that the scan rates as caution; `now`
    /// is the time for the audit log.
    pub fn change(&self, edit: SkillEdit<'_>, is_strict: bool, now: &str) -> Result<Changed, SkillError> {
        let writer = Writer { shelf: self, is_strict, now };
        match edit {
            SkillEdit::Create { name, content, category } => writer.create(name, content, category),
            SkillEdit::Replace { name, content } => {
                writer.write(name, SKILL_FILE, &mut |_| Ok(content.to_owned()))
            }
            SkillEdit::Patch { name, file, edit } => writer.write(name, file.unwrap_or(SKILL_FILE), edit),
            SkillEdit::WriteFile { name, file, content } => {
                writer.write(name, support_file(file)?, &mut |_| Ok(content.to_owned()))
            }
            SkillEdit::RemoveFile { name, file } => writer.remove_file(name, support_file(file)?),
            SkillEdit::Delete { name, absorbed_into } => writer.delete(name, absorbed_into),
        }
    }
}

struct Writer<'a> {
    shelf: &'a SkillShelf,
    is_strict: bool,
    now: &'a str,
}

impl Writer<'_> {
    fn create(&self, name: &str, content: &str, category: Option<&str>) -> Result<Changed, SkillError> {
        front_matter::check_name(name).map_err(SkillError::Refused)?;
        checked_skill(name, content)?;
        if let Ok(Skill { dir: Some(path), .. }) = self.shelf.find(name) {
            let (name, path) = (name.to_owned(), path.clone());
            return Err(SkillError::Taken { name, path, next: "use edit or patch to change it" });
        }
        let category = category.map(str::trim).filter(|category| !category.is_empty());
        let warnings = self.scanned(SKILL_FILE, content)?;
        let dir = match category {
            Some(category) => skills_dir(self.shelf.home()).join(checked_category(category)?).join(name),
            None => skills_dir(self.shelf.home()).join(name),
        };
        let staging = StagingArea::lock(self.shelf.home())?;
        if dir.exists() {
            return Err(SkillError::Taken { name: name.to_owned(), path: dir, next: "choose another name" });
        }
        staging.place(&[packed(SKILL_FILE, content)], &dir, false)?;
        audit_log::append(staging.root(), self.now, &format!("create {name}"))?;
        Ok(Changed { message: format!("Skill `{name}` created."), path: dir.join(SKILL_FILE), warnings })
    }

    /// Writes one file of a skill. A bundled skill is copied to the home with the change.
    fn write(
        &self,
        name: &str,
        file: &str,
        edit: &mut dyn FnMut(&str) -> Result<String, String>,
    ) -> Result<Changed, SkillError> {
        let skill = self.shelf.find(name)?;
        let staging = StagingArea::lock(self.shelf.home())?;
        let earlier = match self.shelf.read(skill, Some(file)) {
            Ok(text) => text.text,
            // The file is new, or not text and replaced.
            Err(_) if file != SKILL_FILE => String::new(),
            Err(error) => return Err(error),
        };
        let content = edit(&earlier).map_err(SkillError::Refused)?;
        if file == SKILL_FILE {
            checked_skill(skill.name(), &content)?;
        }
        if content.len() > MAX_FILE {
            return Err(SkillError::Refused(format!("`{file}` would have more than {MAX_FILE} bytes")));
        }
        let warnings = self.scanned(file, &content)?;
        let path = match own_dir(skill)? {
            Some(dir) => {
                let path = inside(dir, file)?;
                write_file(&path, content.as_bytes(), mode(&path))?;
                path
            }
            None => self.copy_bundled(skill, file, &content, &staging)?,
        };
        Ok(Changed { message: format!("`{file}` of skill `{}` written.", skill.name()), path, warnings })
    }

    fn copy_bundled(
        &self,
        skill: &Skill,
        file: &str,
        content: &str,
        staging: &StagingArea,
    ) -> Result<PathBuf, SkillError> {
        let dir = skills_dir(self.shelf.home()).join(&skill.category).join(skill.name());
        let mut files = vec![packed(file, content)];
        if file != SKILL_FILE {
            files.push(packed(SKILL_FILE, &self.shelf.read(skill, None)?.text));
        }
        staging.place(&files, &dir, false)?;
        Ok(dir.join(file))
    }

    fn remove_file(&self, name: &str, file: &str) -> Result<Changed, SkillError> {
        let skill = self.shelf.find(name)?;
        let _staging = StagingArea::lock(self.shelf.home())?;
        let dir = own_dir(skill)?.ok_or_else(|| read_only(skill))?;
        let path = inside(dir, file)?;
        std::fs::remove_file(&path).map_err(SkillError::io("remove", &path))?;
        Ok(Changed { message: format!("`{file}` of skill `{name}` removed."), path, warnings: Vec::new() })
    }

    fn delete(&self, name: &str, absorbed_into: Option<&str>) -> Result<Changed, SkillError> {
        let absorbed_into = absorbed_into.filter(|into| !into.is_empty());
        let into = absorbed_into.map(|into| self.shelf.find(into)).transpose()?;
        if into.is_some_and(|into| into.name() == name) {
            return Err(SkillError::Refused(format!("`{name}` cannot be absorbed into itself")));
        }
        let why = into.map_or(String::new(), |into| format!(", absorbed into {}", into.name()));
        let path = self.shelf.remove(name, &why, self.now)?;
        Ok(Changed { message: format!("Skill `{name}` deleted{why}."), path, warnings: Vec::new() })
    }

    fn scanned(&self, file: &str, content: &str) -> Result<Vec<String>, SkillError> {
        let concerns = scan_text(file, content);
        let worst = concerns.iter().map(|concern| concern.verdict).max().unwrap_or(Verdict::Safe);
        let line = |concern: &ScanFinding| {
            format!("{}:{}: {}: {}", concern.file, concern.line, concern.id, concern.excerpt)
        };
        let lines: Vec<String> = concerns.iter().take(10).map(line).collect();
        match refusal(Trust::Agent, worst, !self.is_strict) {
            Some(next) => Err(SkillError::Refused(format!(
                "nothing was written: scan verdict {}: {}; {next}",
                worst.as_str(),
                lines.join("; ")
            ))),
            None => Ok(lines),
        }
    }
}

impl SkillShelf {
    /// Removes a skill from the home and returns its former path.
    pub fn remove(&self, name: &str, why: &str, now: &str) -> Result<PathBuf, SkillError> {
        let (name, dir) = match self.find(name) {
            Ok(skill) => {
                (skill.name().to_owned(), own_dir(skill)?.ok_or_else(|| read_only(skill))?.to_owned())
            }
            // Broken skills can be removed, too.
            Err(SkillError::Broken { name, path, .. }) if path.starts_with(skills_dir(self.home())) => {
                (name, path)
            }
            Err(error) => return Err(error),
        };
        remove(self.home(), &name, &dir, why, now)?;
        Ok(dir)
    }
}

/// Returns the folder of a skill that may be changed; `None` for a bundled skill.
fn own_dir(skill: &Skill) -> Result<Option<&Path>, SkillError> {
    match skill.origin {
        Origin::Home | Origin::Bundled => Ok(skill.dir.as_deref()),
        Origin::External => Err(read_only(skill)),
    }
}

fn read_only(skill: &Skill) -> SkillError {
    let why = match skill.origin {
        Origin::Bundled => "comes with Hermes; `hermes skills disable` hides it",
        Origin::Home | Origin::External => "is in one of skills.external_dirs, which are read-only",
    };
    SkillError::ReadOnly { name: skill.name().to_owned(), why }
}

fn checked_skill(name: &str, content: &str) -> Result<(), SkillError> {
    let front_matter = front_matter::parse(content)
        .map_err(|why| SkillError::Refused(format!("not a valid SKILL.md: {why}")))?;
    if front_matter.name == name {
        return Ok(());
    }
    Err(SkillError::Refused(format!(
        "the frontmatter has `name: {}` but the skill is `{name}`; use the same name",
        front_matter.name
    )))
}

/// Checks that a path is below one of the support folders of a skill.
fn support_file(file: &str) -> Result<&str, SkillError> {
    let is_below =
        file.split_once('/').is_some_and(|(dir, rest)| SUPPORT_DIRS.contains(&dir) && !rest.is_empty());
    match is_below {
        true => Ok(file),
        false => Err(SkillError::Refused(format!(
            "`{file}` must be below {}",
            SUPPORT_DIRS.map(|dir| format!("{dir}/")).join(", ")
        ))),
    }
}

fn packed(path: &str, text: &str) -> PackedFile {
    PackedFile { path: path.to_owned(), bytes: text.as_bytes().to_vec(), is_executable: false }
}

/// Returns the mode of an existing file, so that a script stays executable.
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).map_or(0o644, |metadata| metadata.permissions().mode() & 0o777)
}

#[cfg(test)]
#[path = "change_tests.rs"]
mod tests;
