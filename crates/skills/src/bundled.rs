//! The skills that come with Hermes. They are read from the program, never copied to the home.
//!
//! Every start lists them, so their front matter is a table here instead of YAML that is parsed each
//! time. A test compares the table with the files.

use super::front_matter::{Conditions, FrontMatter};
use super::{Origin, Skill};

/// Descriptions of the bundled categories.
pub(super) const CATEGORIES: &[(&str, &str)] = &[
    ("research", "Finding out, counting and judging."),
    ("software", "Changing, checking and explaining programs."),
    ("system", "Working on this machine."),
    ("writing", "Texts for people."),
];

/// Version and license of every bundled skill.
const VERSION: &str = "1.0.0";
const LICENSE: &str = "MIT OR Apache-2.0";

/// The front matter of one bundled skill, and its whole `SKILL.md`.
struct BundledSkill {
    name: &'static str,
    category: &'static str,
    description: &'static str,
    tags: &'static [&'static str],
    related_skills: &'static [&'static str],
    commands: &'static [&'static str],
    platforms: &'static [&'static str],
    requires_tools: &'static [&'static str],
    text: &'static str,
}

const EMPTY: BundledSkill = BundledSkill {
    name: "",
    category: "",
    description: "",
    tags: &[],
    related_skills: &[],
    commands: &[],
    platforms: &[],
    requires_tools: &[],
    text: "",
};

const TABLE: &[BundledSkill] = &[
    BundledSkill {
        name: "data-analysis",
        category: "research",
        description: "Answer a question from CSV, JSON, logs or a database, with checked numbers and honest limits.",
        tags: &["data", "csv", "sql", "statistics"],
        related_skills: &["web-research"],
        text: include_str!("../bundled/research/data-analysis/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "web-research",
        category: "research",
        description: "Answer a question from sources on the web: plan, read originals, compare, cite, say what is unsure.",
        tags: &["research", "web", "sources"],
        related_skills: &["data-analysis", "writing-docs"],
        text: include_str!("../bundled/research/web-research/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "code-review",
        category: "software",
        description: "Review a diff, branch or file: find real defects first, and report them with place, effect and remedy.",
        tags: &["review", "quality", "git"],
        related_skills: &["test-driven-change", "debugging"],
        text: include_str!("../bundled/software/code-review/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "debugging",
        category: "software",
        description: "Find the cause of a failure step by step: reproduce, narrow down, prove the cause, fix it once.",
        tags: &["debugging", "errors", "logs"],
        related_skills: &["git-bisect", "test-driven-change"],
        text: include_str!("../bundled/software/debugging/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "git-bisect",
        category: "software",
        description: "Find the commit that broke something with git bisect, by hand or with a script that decides.",
        tags: &["git", "bisect", "regression"],
        related_skills: &["debugging"],
        commands: &["git"],
        requires_tools: &["terminal"],
        text: include_str!("../bundled/software/git-bisect/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "project-onboarding",
        category: "software",
        description: "Understand an unknown code base quickly, and write down how to build, test and change it.",
        tags: &["onboarding", "architecture", "reading"],
        related_skills: &["writing-docs"],
        text: include_str!("../bundled/software/project-onboarding/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "test-driven-change",
        category: "software",
        description: "Change code with a failing test first, small steps, and a full test run before saying it is done.",
        tags: &["testing", "tdd", "refactoring"],
        related_skills: &["debugging", "code-review"],
        text: include_str!("../bundled/software/test-driven-change/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "shell-safety",
        category: "system",
        description: "Run and write shell commands without accidents: look first, quote, limit, and keep a way back.",
        tags: &["shell", "bash", "safety"],
        platforms: &["linux", "macos"],
        requires_tools: &["terminal"],
        text: include_str!("../bundled/system/shell-safety/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "release-notes",
        category: "writing",
        description: "Write release notes from commits and issues that tell users what changes for them and what to do.",
        tags: &["release", "changelog", "writing"],
        related_skills: &["writing-docs"],
        commands: &["git"],
        text: include_str!("../bundled/writing/release-notes/SKILL.md"),
        ..EMPTY
    },
    BundledSkill {
        name: "writing-docs",
        category: "writing",
        description: "Write or repair documentation for one reader with one aim, with every command tried.",
        tags: &["documentation", "writing"],
        related_skills: &["project-onboarding", "release-notes"],
        text: include_str!("../bundled/writing/writing-docs/SKILL.md"),
        ..EMPTY
    },
];

impl BundledSkill {
    fn skill(&self) -> Skill {
        let front_matter = FrontMatter {
            name: self.name.to_owned(),
            description: self.description.to_owned(),
            version: Some(VERSION.to_owned()),
            license: Some(LICENSE.to_owned()),
            tags: owned(self.tags),
            related_skills: owned(self.related_skills),
            commands: owned(self.commands),
            conditions: Conditions {
                platforms: owned(self.platforms),
                requires_tools: owned(self.requires_tools),
                ..Conditions::default()
            },
            ..FrontMatter::default()
        };
        Skill { front_matter, category: self.category.to_owned(), origin: Origin::Bundled, dir: None }
    }
}

fn owned(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

/// Returns all bundled skills.
pub(super) fn all() -> impl Iterator<Item = Skill> {
    TABLE.iter().map(BundledSkill::skill)
}

/// Returns the whole `SKILL.md` of a bundled skill.
pub(super) fn text(name: &str) -> Option<&'static str> {
    TABLE.iter().find(|row| row.name == name).map(|row| row.text)
}

#[cfg(test)]
mod tests {
    use super::super::front_matter;
    use super::super::package::PackedFile;
    use super::super::safety_scan::{Verdict, scan_files};
    use super::*;

    #[test]
    fn table_equals_front_matter_of_files() {
        for (row, skill) in TABLE.iter().zip(all()) {
            assert_eq!(front_matter::parse(row.text).as_ref(), Ok(&skill.front_matter), "{}", row.name);
        }
    }

    #[test]
    fn every_file_is_in_the_table() {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("bundled");
        let entries = |dir: &std::path::Path| std::fs::read_dir(dir).unwrap().flatten();
        let mut files: Vec<(String, String)> = entries(&root)
            .flat_map(|category| {
                let name = category.file_name().into_string().unwrap();
                let skills = entries(&category.path()).collect::<Vec<_>>();
                skills.into_iter().map(move |skill| (name.clone(), skill.file_name().into_string().unwrap()))
            })
            .collect();
        files.sort();
        let rows: Vec<_> = TABLE.iter().map(|row| (row.category.to_owned(), row.name.to_owned())).collect();
        assert_eq!(rows, files);
    }

    #[test]
    fn bundled_skills_pass_the_scan_and_fit_the_index() {
        for BundledSkill { name, category, description, text, .. } in TABLE {
            let lines = text.lines().count();
            assert!((40..=120).contains(&lines), "{name}: {lines} lines");
            assert!(CATEGORIES.iter().any(|(known, _)| known == category), "{name}: {category}");
            assert!(description.len() < 160, "{name}: the index has a budget");
            let bytes = text.as_bytes().to_vec();
            let file = PackedFile { path: (*name).to_owned(), bytes, is_executable: false };
            let report = scan_files(&[file]);
            assert_eq!(report.verdict, Verdict::Safe, "{name}: {:?}", report.concerns);
            assert_eq!(super::text(name), Some(*text));
        }
    }
}
