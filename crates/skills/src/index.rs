//! What a prompt says about the skills, within a number of bytes.
//!
//! The same skills and the same question give the same bytes. When everything does not fit,
//! descriptions become shorter, then only names are told, then the largest categories tell only how
//! many skills they have, and at last there is one line that says how to ask.

use super::front::Conditions;
use super::{Skill, SkillShelf, set};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// Bytes of the index unless told otherwise.
pub const DEFAULT_INDEX_BYTES: usize = 8 * 1024;

const OPENING: &str = "\
## Skills (mandatory)
Skills are instructions for kinds of tasks. Look through this list before you answer. If one fits the task, even \
in part, load it with skill_view(name) and follow it. If a skill proves wrong or incomplete, mend it with \
skill_manage.

<available_skills>
";
const CLOSING: &str = "\
</available_skills>

If none fits, go on without one.";
const ASK: &str = "  (shortened: skills_list tells names and descriptions, of one category if you name it)\n";
/// Characters of a description, from generous to terse.
const LENGTHS: [usize; 4] = [usize::MAX, 160, 80, 40];
/// Tags of environments that this version knows; others do not hide a skill.
const KNOWN_ENVIRONMENTS: [&str; 3] = ["kanban", "docker", "s6"];

/// For whom the index is.
#[derive(Debug, Clone, Default)]
pub struct IndexQuery {
    /// The operating system: `linux`, `macos` or `windows`.
    pub platform: String,
    /// Which of `kanban`, `docker` and `s6` is where we are.
    pub environments: Vec<String>,
    /// The tools and toolsets that the model has.
    pub tools: Vec<String>,
    pub toolsets: Vec<String>,
    /// Names that are left out.
    pub disabled: Vec<String>,
    /// The most bytes; 0 means [`DEFAULT_INDEX_BYTES`].
    pub budget_bytes: usize,
}

impl IndexQuery {
    /// The name of the operating system this was built for.
    pub fn this_platform() -> &'static str {
        std::env::consts::OS
    }
}

/// The part of a prompt about skills.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillIndex {
    /// Empty when there is no skill to tell of.
    pub text: String,
    /// Skills that fit the question.
    pub count: usize,
    /// Whether some are not told by name and full description.
    pub collapsed: bool,
}

impl SkillShelf {
    /// The skills that fit a question, by category and name.
    pub fn offered(&self, query: &IndexQuery) -> Vec<&Skill> {
        let asked = Asked::new(query);
        self.skills().iter().filter(|skill| asked.offers(skill)).collect()
    }

    /// The index for a prompt. It has never more bytes than the question allows.
    pub fn index(&self, query: &IndexQuery) -> SkillIndex {
        let mut categories: BTreeMap<&str, Vec<&Skill>> = BTreeMap::new();
        for skill in self.offered(query) {
            categories.entry(&skill.category).or_default().push(skill);
        }
        let count = categories.values().map(Vec::len).sum();
        let budget = if query.budget_bytes == 0 { DEFAULT_INDEX_BYTES } else { query.budget_bytes };
        if count == 0 {
            return SkillIndex::default();
        }
        let frame = OPENING.len() + CLOSING.len();
        let Some(room) = budget.checked_sub(frame) else {
            return SkillIndex { text: String::new(), count, collapsed: true };
        };
        let (list, collapsed) = self.list(&categories, room);
        SkillIndex { text: format!("{OPENING}{list}{CLOSING}"), count, collapsed }
    }

    /// The list in at most `room` bytes, and whether it is shortened.
    fn list(&self, categories: &BTreeMap<&str, Vec<&Skill>>, room: usize) -> (String, bool) {
        for length in LENGTHS {
            if let Some(list) = self.described(categories, length, room) {
                return (list, length != usize::MAX);
            }
        }
        let room = room.saturating_sub(ASK.len());
        let list = self.named(categories, room).unwrap_or_else(|| counted(categories, room));
        // With no room for a single line there is none for the hint either.
        (if list.is_empty() && room == 0 { list } else { list + ASK }, true)
    }

    /// Every skill with its description.
    fn described(
        &self,
        categories: &BTreeMap<&str, Vec<&Skill>>,
        length: usize,
        room: usize,
    ) -> Option<String> {
        let mut out = String::new();
        for (category, skills) in categories {
            let about = shortened(self.about(category), length);
            let colon = if about.is_empty() { ":" } else { ": " };
            let _ = writeln!(out, "  {category}{colon}{about}");
            for skill in skills {
                let _ =
                    writeln!(out, "    - {}: {}", skill.name(), shortened(&skill.front.description, length));
            }
            if out.len() > room {
                return None;
            }
        }
        Some(out)
    }

    /// Names only; the largest categories give way to numbers until it fits.
    fn named(&self, categories: &BTreeMap<&str, Vec<&Skill>>, room: usize) -> Option<String> {
        let lines: Vec<(String, String)> = categories
            .iter()
            .map(|(category, skills)| {
                let names: Vec<&str> = skills.iter().map(|skill| skill.name()).collect();
                let full = format!("  {category} [names only]: {}\n", names.join(", "));
                (full, counted_line(category, skills.len()))
            })
            .collect();
        let mut total: usize = lines.iter().map(|(full, _)| full.len()).sum();
        let mut largest: Vec<usize> = (0..lines.len()).collect();
        largest.sort_by_key(|at| std::cmp::Reverse(lines[*at].0.len()));
        let mut collapsed = HashSet::new();
        for at in largest {
            if total <= room {
                break;
            }
            let (full, short) = &lines[at];
            total = total - full.len() + short.len().min(full.len());
            collapsed.insert(at);
        }
        let line = |(at, (full, short)): (usize, &(String, String))| {
            if collapsed.contains(&at) && short.len() < full.len() { short.clone() } else { full.clone() }
        };
        (total <= room).then(|| lines.iter().enumerate().map(line).collect())
    }
}

/// As many categories as fit, and how many are left.
fn counted(categories: &BTreeMap<&str, Vec<&Skill>>, room: usize) -> String {
    let all: usize = categories.values().map(Vec::len).sum();
    let rest_line = |left: usize, skills: usize| format!("  … {left} more categories [{skills} skills]\n");
    let reserve = rest_line(categories.len(), all).len();
    let mut out = String::new();
    let mut told = 0;
    let mut left = categories.len();
    for (category, skills) in categories {
        let line = counted_line(category, skills.len());
        if out.len() + line.len() + reserve > room {
            break;
        }
        out.push_str(&line);
        told += skills.len();
        left -= 1;
    }
    if left > 0 && out.len() + reserve <= room {
        out.push_str(&rest_line(left, all - told));
    }
    out
}

fn counted_line(category: &str, count: usize) -> String {
    format!("  {category} [{count} skill{}]\n", if count == 1 { "" } else { "s" })
}

/// At most `length` characters, cut at a blank where there is one; nothing that could end the list.
fn shortened(text: &str, length: usize) -> String {
    let safe = text.replace('<', "‹").replace('>', "›");
    let Some((cut, _)) = safe.char_indices().nth(length) else {
        return safe;
    };
    let cut = safe[..cut].trim_end();
    let at_word = cut.rfind(' ').filter(|at| *at > cut.len() / 2).map_or(cut, |at| &cut[..at]);
    format!("{}…", at_word.trim_end_matches([',', ';', ':', '.']))
}

/// The question, ready for many answers.
struct Asked<'a> {
    query: &'a IndexQuery,
    tools: HashSet<&'a str>,
    toolsets: HashSet<&'a str>,
    disabled: HashSet<&'a str>,
}

impl<'a> Asked<'a> {
    fn new(query: &'a IndexQuery) -> Self {
        let IndexQuery { tools, toolsets, disabled, .. } = query;
        Self { query, tools: set(tools), toolsets: set(toolsets), disabled: set(disabled) }
    }

    fn offers(&self, skill: &Skill) -> bool {
        !self.disabled.contains(skill.name()) && self.meets(&skill.front.conditions)
    }

    fn meets(&self, conditions: &Conditions) -> bool {
        let Conditions { platforms, environments, .. } = conditions;
        let fits_platform = platforms.is_empty() || platforms.contains(&self.query.platform);
        let is_here = |tag: &String| {
            !KNOWN_ENVIRONMENTS.contains(&tag.as_str()) || self.query.environments.contains(tag)
        };
        let fits_environment = environments.is_empty() || environments.iter().any(is_here);
        let has =
            |set: &HashSet<&str>, names: &[String]| names.iter().all(|name| set.contains(name.as_str()));
        let replaced =
            |set: &HashSet<&str>, names: &[String]| names.iter().any(|name| set.contains(name.as_str()));
        fits_platform
            && fits_environment
            && has(&self.tools, &conditions.requires_tools)
            && has(&self.toolsets, &conditions.requires_toolsets)
            && !replaced(&self.tools, &conditions.fallback_for_tools)
            && !replaced(&self.toolsets, &conditions.fallback_for_toolsets)
    }
}

#[cfg(test)]
#[path = "index_tests.rs"]
mod tests;
