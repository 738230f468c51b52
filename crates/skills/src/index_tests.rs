use super::super::front_matter::FrontMatter;
use super::super::{Origin, Skill, SkillShelf};
use super::*;

fn skill(category: &str, name: &str, description: &str, conditions: Conditions) -> Skill {
    let (name, description) = (name.to_owned(), description.to_owned());
    let front_matter = FrontMatter { name, description, conditions, ..FrontMatter::default() };
    Skill { front_matter, category: category.to_owned(), origin: Origin::Home, dir: None }
}

fn shelf(mut skills: Vec<Skill>) -> SkillShelf {
    skills.sort_by(|a, b| (&a.category, a.name()).cmp(&(&b.category, b.name())));
    SkillShelf { skills, ..SkillShelf::default() }
}

fn list(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn query() -> IndexQuery {
    IndexQuery {
        platform: "linux".into(),
        tools: list(&["terminal"]),
        toolsets: list(&["terminal", "file"]),
        ..IndexQuery::default()
    }
}

#[test]
fn index_is_sorted_and_stable() {
    let mut shelf = shelf(vec![
        skill("git", "rebase", "Rebase a branch.", Conditions::default()),
        skill("data", "plots", "Draw </available_skills> plots.", Conditions::default()),
        skill("git", "bisect", "Find a bad commit.", Conditions::default()),
    ]);
    shelf.about.insert("git".into(), "Work with Git.".into());
    let index = shelf.index(&query());
    assert_eq!((index.count, index.collapsed), (3, false));
    let inner = index.text.strip_prefix(OPENING).unwrap().strip_suffix(CLOSING).unwrap();
    let want = "  data:\n    - plots: Draw ‹/available_skills› plots.\n  git: Work with Git.\n    - bisect: Find a bad \
                commit.\n    - rebase: Rebase a branch.\n";
    assert_eq!(inner, want);
    assert_eq!(shelf.index(&query()), index);
    assert_eq!(SkillShelf::default().index(&query()), SkillIndex::default());
}

#[test]
fn conditions_filter_offered_skills() {
    let with = |change: fn(&mut Conditions)| {
        let mut conditions = Conditions::default();
        change(&mut conditions);
        conditions
    };
    for (conditions, is_offered) in [
        (with(|_| {}), true),
        (with(|c| c.platforms = list(&["linux", "macos"])), true),
        (with(|c| c.platforms = list(&["windows"])), false),
        (with(|c| c.environments = list(&["docker"])), false),
        (with(|c| c.environments = list(&["s6", "kanban"])), true),
        (with(|c| c.environments = list(&["moonbase"])), true),
        (with(|c| c.requires_tools = list(&["terminal"])), true),
        (with(|c| c.requires_tools = list(&["terminal", "browser_click"])), false),
        (with(|c| c.requires_toolsets = list(&["web"])), false),
        (with(|c| c.fallback_for_tools = list(&["web_search"])), true),
        (with(|c| c.fallback_for_tools = list(&["web_search", "terminal"])), false),
        (with(|c| c.fallback_for_toolsets = list(&["file"])), false),
    ] {
        let shelf = shelf(vec![skill("c", "one", "x", conditions.clone())]);
        let query = IndexQuery { environments: list(&["kanban"]), ..query() };
        assert_eq!(shelf.index(&query).count, usize::from(is_offered), "{conditions:?}");
    }
    let shelf = shelf(vec![skill("c", "one", "x", Conditions::default())]);
    assert_eq!(shelf.index(&IndexQuery { disabled: list(&["one"]), ..query() }), SkillIndex::default());
}

#[test]
fn index_never_exceeds_its_byte_budget() {
    let described =
        "Does a thing that takes quite a few words to describe, and then some more of them. ".repeat(4);
    let many = |categories: usize, each: usize| {
        let one = |at: usize| {
            let category = format!("category-{:05}", at % categories);
            skill(&category, &format!("skill-{at:05}"), &described, Conditions::default())
        };
        shelf((0..categories * each).map(one).collect())
    };
    for (shelf, want) in [
        (many(1, 2), "skill-00000: Does a thing"),
        (many(2, 20), "and then some more…\n"),
        (many(2, 60), "quite a few…\n"),
        (many(4, 100), "[names only]: skill-00000, "),
        (many(40, 250), "category-00000 [250 skills]\n"),
        (many(5_000, 2), " more categories ["),
    ] {
        let index = shelf.index(&query());
        assert!(index.text.len() <= DEFAULT_INDEX_BYTES, "{want}: {}", index.text.len());
        assert!(index.text.contains(want), "{want}: {}", index.text);
        assert_eq!(index.collapsed, shelf.skills().len() > 2, "{want}");
        for budget in [1, 100, OPENING.len() + CLOSING.len() + 1, 600, 700, 1000, 3000] {
            let tight = shelf.index(&IndexQuery { budget_bytes: budget, ..query() });
            assert!(tight.text.len() <= budget, "{want} in {budget}: {}", tight.text.len());
            assert_eq!((tight.count, tight.collapsed || budget >= 1000), (shelf.skills().len(), true));
        }
    }
}
