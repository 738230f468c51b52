//! The skill index of the system prompt, within a byte budget.
//!
//! The same skills and the same query give the same bytes. If the index does not fit, descriptions are
//! shortened, then only names are listed, then the largest categories list only their number of skills,
//! and at last one line names the tool that lists them.

use super::front_matter::Conditions;
use super::{Skill, SkillShelf, set};
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;

/// Default byte budget of the index.
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
/// Maximum characters of a description, in the order in which they are tried.
const LENGTHS: [usize; 4] = [usize::MAX, 160, 80, 40];
/// Environment tags that this version knows; unknown ones do not hide a skill.
const KNOWN_ENVIRONMENTS: [&str; 3] = ["kanban", "docker", "s6"];

/// The session that the index is for.
#[derive(Debug, Clone, Default)]
pub struct IndexQuery {
    /// The operating system: `linux`, `macos` or `windows`.
    pub platform: String,
    /// Those of `kanban`, `docker` and `s6` that apply here.
    pub environments: Vec<String>,
    /// Tools and toolsets of the session.
    pub tools: Vec<String>,
    pub toolsets: Vec<String>,
    /// Skills that are left out.
    pub disabled: Vec<String>,
    /// Maximum bytes; 0 means [`DEFAULT_INDEX_BYTES`].
    pub budget_bytes: usize,
}

impl IndexQuery {
    /// Returns the name of this operating system.
    pub fn this_platform() -> &'static str {
        std::env::consts::OS
    }
}

/// The skill index of a system prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SkillIndex {
    /// Empty when no skill is offered.
    pub text: String,
    /// Number of offered skills.
    pub count: usize,
    /// True if some skills are not listed with name and full description.
    pub collapsed: bool,
}

impl SkillShelf {
    /// Returns the skills that match a query, sorted by category and name.
    pub fn offered(&self, query: &IndexQuery) -> Vec<&Skill> {
        let filter = SkillFilter::new(query);
        self.skills().iter().filter(|skill| filter.offers(skill)).collect()
    }

    /// Renders the index. It never has more bytes than the query allows.
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
        let Some(max_bytes) = budget.checked_sub(frame) else {
            return SkillIndex { text: String::new(), count, collapsed: true };
        };
        let (list, collapsed) = self.list(&categories, max_bytes);
        SkillIndex { text: format!("{OPENING}{list}{CLOSING}"), count, collapsed }
    }

    /// Renders the list in at most `max_bytes`, and says if it is shortened.
    fn list(&self, categories: &BTreeMap<&str, Vec<&Skill>>, max_bytes: usize) -> (String, bool) {
        for length in LENGTHS {
            if let Some(list) = self.described(categories, length, max_bytes) {
                return (list, length != usize::MAX);
            }
        }
        let max_bytes = max_bytes.saturating_sub(ASK.len());
        let list = self.named(categories, max_bytes).unwrap_or_else(|| counted(categories, max_bytes));
        // Without space for a single line there is none for the hint either.
        (if list.is_empty() && max_bytes == 0 { list } else { list + ASK }, true)
    }

    /// Renders every skill with its description.
    fn described(
        &self,
        categories: &BTreeMap<&str, Vec<&Skill>>,
        length: usize,
        max_bytes: usize,
    ) -> Option<String> {
        let mut out = String::new();
        for (category, skills) in categories {
            let about = shortened(self.about(category), length);
            let colon = if about.is_empty() { ":" } else { ": " };
            let _ = writeln!(out, "  {category}{colon}{about}");
            for skill in skills {
                let _ = writeln!(
                    out,
                    "    - {}: {}",
                    skill.name(),
                    shortened(&skill.front_matter.description, length)
                );
            }
            if out.len() > max_bytes {
                return None;
            }
        }
        Some(out)
    }

    /// Renders names only; the largest categories become counts until the list fits.
    fn named(&self, categories: &BTreeMap<&str, Vec<&Skill>>, max_bytes: usize) -> Option<String> {
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
            if total <= max_bytes {
                break;
            }
            let (full, short) = &lines[at];
            total = total - full.len() + short.len().min(full.len());
            collapsed.insert(at);
        }
        let line = |(at, (full, short)): (usize, &(String, String))| {
            if collapsed.contains(&at) && short.len() < full.len() { short.clone() } else { full.clone() }
        };
        (total <= max_bytes).then(|| lines.iter().enumerate().map(line).collect())
    }
}

/// Renders the skill counts of as many categories as fit, and the number of the rest.
fn counted(categories: &BTreeMap<&str, Vec<&Skill>>, max_bytes: usize) -> String {
    let all: usize = categories.values().map(Vec::len).sum();
    let rest_line = |left: usize, skills: usize| format!("  … {left} more categories [{skills} skills]\n");
    let reserve = rest_line(categories.len(), all).len();
    let mut out = String::new();
    let mut listed = 0;
    let mut left = categories.len();
    for (category, skills) in categories {
        let line = counted_line(category, skills.len());
        if out.len() + line.len() + reserve > max_bytes {
            break;
        }
        out.push_str(&line);
        listed += skills.len();
        left -= 1;
    }
    if left > 0 && out.len() + reserve <= max_bytes {
        out.push_str(&rest_line(left, all - listed));
    }
    out
}

fn counted_line(category: &str, count: usize) -> String {
    format!("  {category} [{count} skill{}]\n", if count == 1 { "" } else { "s" })
}

/// Cuts a text to `length` characters, at a blank if possible, and replaces angle brackets, which could
/// end the list.
fn shortened(text: &str, length: usize) -> String {
    let safe = text.replace('<', "‹").replace('>', "›");
    let Some((cut, _)) = safe.char_indices().nth(length) else {
        return safe;
    };
    let cut = safe[..cut].trim_end();
    let at_blank = cut.rfind(' ').filter(|at| *at > cut.len() / 2).map_or(cut, |at| &cut[..at]);
    format!("{}…", at_blank.trim_end_matches([',', ';', ':', '.']))
}

/// A query with its lists as sets.
struct SkillFilter<'a> {
    query: &'a IndexQuery,
    tools: HashSet<&'a str>,
    toolsets: HashSet<&'a str>,
    disabled: HashSet<&'a str>,
}

impl<'a> SkillFilter<'a> {
    fn new(query: &'a IndexQuery) -> Self {
        let IndexQuery { tools, toolsets, disabled, .. } = query;
        Self { query, tools: set(tools), toolsets: set(toolsets), disabled: set(disabled) }
    }

    fn offers(&self, skill: &Skill) -> bool {
        !self.disabled.contains(skill.name()) && self.meets(&skill.front_matter.conditions)
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
