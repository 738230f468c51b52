//! The skills that come with Hermes. They are read from the program, never copied to the home.

use super::{Origin, Skill, front};
use std::sync::OnceLock;

/// What is said about their categories.
pub(super) const CATEGORIES: &[(&str, &str)] = &[
    ("research", "Finding out, counting and judging."),
    ("software", "Changing, checking and explaining programs."),
    ("system", "Working on this machine."),
    ("writing", "Texts for people."),
];

/// Category and text.
const TEXTS: [(&str, &str); 10] = [
    ("research", include_str!("../bundled/research/data-analysis/SKILL.md")),
    ("research", include_str!("../bundled/research/web-research/SKILL.md")),
    ("software", include_str!("../bundled/software/code-review/SKILL.md")),
    ("software", include_str!("../bundled/software/debugging/SKILL.md")),
    ("software", include_str!("../bundled/software/git-bisect/SKILL.md")),
    ("software", include_str!("../bundled/software/project-onboarding/SKILL.md")),
    ("software", include_str!("../bundled/software/test-driven-change/SKILL.md")),
    ("system", include_str!("../bundled/system/shell-safety/SKILL.md")),
    ("writing", include_str!("../bundled/writing/release-notes/SKILL.md")),
    ("writing", include_str!("../bundled/writing/writing-docs/SKILL.md")),
];

/// All of them. A test reads every one, so none is left out.
pub(super) fn all() -> &'static [Skill] {
    static ALL: OnceLock<Vec<Skill>> = OnceLock::new();
    let read = |(category, text): &(&str, &str)| {
        let front = front::parse(text).ok()?;
        Some(Skill { front, category: (*category).to_owned(), origin: Origin::Bundled, dir: None })
    };
    ALL.get_or_init(|| TEXTS.iter().filter_map(read).collect())
}

/// The whole `SKILL.md` of one.
pub(super) fn text(name: &str) -> Option<&'static str> {
    let at = all().iter().position(|skill| skill.name() == name)?;
    TEXTS.get(at).map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::super::parcel::PackedFile;
    use super::super::verdict::{Verdict, judge};
    use super::*;

    #[test]
    fn all_are_read_clean_and_worth_their_bytes() {
        assert_eq!(all().len(), TEXTS.len());
        for (skill, (category, text)) in all().iter().zip(TEXTS) {
            let name = skill.name();
            assert!((40..=120).contains(&text.lines().count()), "{name}: {} lines", text.lines().count());
            assert!(CATEGORIES.iter().any(|(known, _)| *known == category), "{name}: {category}");
            assert!(skill.front.description.len() < 160, "{name}: the index has a budget");
            let file = PackedFile { path: name.to_owned(), bytes: text.into(), is_executable: false };
            let judged = judge(&[file]);
            assert_eq!(judged.verdict, Verdict::Safe, "{name}: {:?}", judged.concerns);
            assert_eq!(super::text(name), Some(text));
        }
    }
}
