//! A summary taken apart at its headings.

use super::template::SECTIONS;
use super::text::cut;

/// The task snapshot, which is never left to a model.
pub(crate) const SNAPSHOT: usize = 0;
pub(crate) const GOAL: usize = 1;
const CONSTRAINTS: usize = 2;
pub(crate) const DONE: usize = 3;
const STATE: usize = 4;
const IN_PROGRESS: usize = 5;
pub(crate) const BLOCKED: usize = 6;
pub(crate) const DECISIONS: usize = 7;
pub(crate) const ASKS: usize = 9;
pub(crate) const FILES: usize = 10;
const REMAINING: usize = 11;
pub(crate) const CRITICAL: usize = 12;
/// The placeholder for the newest request if it was not summarised.
pub(crate) const ASKED_AFTER: &str = "The request that follows this summary.";
/// The introduction of a list of requests in excerpts.
pub(crate) const ASKED: &str = "Done or not, these were asked:";

/// The text under each heading; `None` if the heading is missing.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Sections([Option<String>; SECTIONS.len()]);

impl Sections {
    /// Reads a summary. What comes before the first heading is not part of it; headings that are not ours
    /// belong to the section they are in.
    pub(crate) fn parse(text: &str) -> Self {
        let mut sections = Self::default();
        let mut current: Option<usize> = None;
        for line in text.lines() {
            match (heading(line), current) {
                (Some(section), _) => {
                    current = Some(section);
                    sections.0[section].get_or_insert_default();
                }
                (None, Some(section)) => {
                    let body = sections.0[section].get_or_insert_default();
                    body.push_str(line);
                    body.push('\n');
                }
                (None, None) => {}
            }
        }
        sections.0.iter_mut().flatten().for_each(|body| *body = body.trim().to_owned());
        sections
    }

    pub(crate) fn body(&self, section: usize) -> Option<&str> {
        self.0[section].as_deref()
    }

    pub(crate) fn set(&mut self, section: usize, body: impl Into<String>) {
        self.0[section] = Some(body.into());
    }

    /// The same sections with at most so many characters each; empty ones are dropped.
    pub(crate) fn each_cut(&self, most: usize) -> Self {
        let said = |body: &Option<String>| {
            body.as_deref().filter(|body| !body.is_empty()).map(|body| cut(body, most))
        };
        Self(self.0.each_ref().map(said))
    }

    /// Only these sections.
    pub(crate) fn only(&self, wanted: &[usize]) -> Self {
        let mut sections = Self::default();
        for section in wanted {
            sections.0[*section] = self.0[*section].clone();
        }
        sections
    }

    /// The number of headings.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().flatten().count()
    }

    /// The headings and what is under them, in our order.
    pub(crate) fn text(&self) -> String {
        let section = |(name, body): (&&str, &Option<String>)| {
            let body = body.as_deref()?;
            Some(format!("## {name}\n{}", if body.is_empty() { "None." } else { body }))
        };
        SECTIONS.iter().zip(&self.0).filter_map(section).collect::<Vec<_>>().join("\n\n")
    }
}

/// Other names of sections, normalised by [`words_of`]. The older template of a summary has seven sections;
/// its progress is the work done, in progress and blocked.
const OTHER_NAMES: [(&str, usize); 24] = [
    ("task snapshot", SNAPSHOT),
    ("current task", SNAPSHOT),
    ("objective", GOAL),
    ("user goal", GOAL),
    ("constraint", CONSTRAINTS),
    ("preference", CONSTRAINTS),
    ("progress", DONE),
    ("done", DONE),
    ("completed", DONE),
    ("completed work", DONE),
    ("current state", STATE),
    ("state", STATE),
    ("in progress", IN_PROGRESS),
    ("work in progress", IN_PROGRESS),
    ("blocker", BLOCKED),
    ("decision", DECISIONS),
    ("pending ask", ASKS),
    ("pending request", ASKS),
    ("file", FILES),
    ("relevant file and code", FILES),
    ("next step", REMAINING),
    ("remaining step", REMAINING),
    ("remaining task", REMAINING),
    ("important context", CRITICAL),
];

/// The section that begins with this line, however the heading is spelled and marked.
fn heading(line: &str) -> Option<usize> {
    let line = line.trim();
    let is_marked = line.starts_with('#') || line.starts_with("**") || line.starts_with("__");
    let number = |char: char| char.is_ascii_digit() || matches!(char, '#' | '*' | '_' | '.' | ')' | ' ');
    let name = line.trim_start_matches(number);
    // Without marks only a line of its own with a colon is a heading.
    if !is_marked && !name.ends_with(':') {
        return None;
    }
    let words = words_of(name.trim_end_matches(['*', '_', ':', '#', ' ']));
    let ours = SECTIONS.iter().position(|section| words_of(section) == words);
    ours.or_else(|| OTHER_NAMES.iter().find(|(name, _)| *name == words).map(|(_, section)| *section))
}

/// A name in lower case, without punctuation, plurals and filler terms.
fn words_of(name: &str) -> String {
    let name = name.to_lowercase().replace('&', " and ");
    let words = name.split(|char: char| !char.is_alphanumeric()).filter(|word| !word.is_empty());
    let words = words.filter(|word| !matches!(*word, "historical" | "the" | "key"));
    let singular = |word: &str| match word.strip_suffix('s') {
        Some(one) if !one.ends_with('s') => one.to_owned(),
        _ => word.to_owned(),
    };
    words.map(singular).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_found_however_they_are_dressed_up() {
        for (line, want) in [
            ("## Goal", Some(GOAL)),
            ("# goal:", Some(GOAL)),
            ("**Goal**", Some(GOAL)),
            ("### 2. Goal", Some(GOAL)),
            ("## Historical Task Snapshot ##", Some(SNAPSHOT)),
            ("## GOALS", Some(GOAL)),
            ("__Goal__:", Some(GOAL)),
            ("2) Goal:", Some(GOAL)),
            ("## Constraints and Preferences", Some(CONSTRAINTS)),
            ("## Task Snapshot", Some(SNAPSHOT)),
            ("## Progress", Some(DONE)),
            ("### Done", Some(DONE)),
            ("### In-Progress:", Some(IN_PROGRESS)),
            ("### Blocked", Some(BLOCKED)),
            ("## Decisions", Some(DECISIONS)),
            ("## Next Steps", Some(REMAINING)),
            ("Goal", None),
            ("## Goal of the parser", None),
            ("The goal:", Some(GOAL)),
            ("He named a goal:", None),
            ("- **Goal** is near", None),
        ] {
            assert_eq!(heading(line), want, "{line}");
        }
    }

    #[test]
    fn a_summary_comes_back_in_our_order_without_chatter() {
        let text =
            "Sure!\n## Blocked\nno key\n\n### Detail\nx\n## Goal\nship\n## Goal\nit\n## Active State\n";
        let sections = Sections::parse(text);
        assert_eq!(sections.count(), 3);
        assert_eq!(
            sections.text(),
            "## Goal\nship\nit\n\n## Active State\nNone.\n\n## Blocked\nno key\n\n### Detail\nx"
        );
        assert_eq!(Sections::parse("no headings").text(), "");
    }
}
