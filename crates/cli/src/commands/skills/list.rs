//! `hermes skills list` and `show`.

use super::{Place, failure};
use crate::exit::{Exit, Failure};
use hermes_runtime::RuntimeError;
use hermes_skills::{BrokenSkill, LockFile, Skill, SkillShelf};
use hermes_terminal::print;
use hermes_terminal::term::{self, Style, one_line, printable};
use hermes_terminal::text::{counted, padded};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashSet};
use std::io::stdout;

/// Columns of a name, a category and an origin, at most.
const NAME: usize = 28;
const CATEGORY: usize = 20;

pub(super) fn run(place: &Place, category: Option<&str>, enabled_only: bool) -> Result<Exit, Failure> {
    let shelf = place.shelf()?;
    let switches = Switches::read(place)?;
    let wanted = |skill: &&Skill| {
        category.is_none_or(|category| skill.category == category)
            && !(enabled_only && switches.is_off_everywhere(skill.name()))
    };
    let skills: Vec<&Skill> = shelf.skills().iter().filter(wanted).collect();
    let broken = if category.is_none() { shelf.broken() } else { &[] };
    if place.is_json {
        let listed: Vec<Value> = skills.iter().map(|skill| as_json(skill, &switches)).collect();
        let broken: Vec<Value> = broken.iter().map(broken_json).collect();
        print::json(&json!({ "skills": listed, "broken": broken }));
        return Ok(Exit::Answered);
    }
    if let (true, Some(category)) = (skills.is_empty(), category) {
        let known: HashSet<&str> = shelf.skills().iter().map(|skill| skill.category.as_str()).collect();
        let mut known: Vec<&str> = known.into_iter().collect();
        known.sort_unstable();
        let line = format!("no skill in category `{category}`; categories: {}", known.join(", "));
        return Err(Failure::new(Exit::FailedTurn, line));
    }
    table(&shelf, &skills, &switches);
    for BrokenSkill { path, reason, .. } in broken {
        print::notice(&format!("{} cannot be used: {reason}", path.display()));
    }
    Ok(Exit::Answered)
}

fn table(shelf: &SkillShelf, skills: &[&Skill], switches: &Switches) {
    use unicode_width::UnicodeWidthStr;
    let Style { bold, dim, off, .. } = Style::for_stream(&stdout());
    let width = |texts: &mut dyn Iterator<Item = &str>, most: usize, least: usize| {
        texts.map(|text| text.width()).max().unwrap_or(0).clamp(least, most)
    };
    let name = width(&mut skills.iter().map(|skill| skill.name()), NAME, 4);
    let category = width(&mut skills.iter().map(|skill| skill.category.as_str()), CATEGORY, 8);
    let left = term::columns(&stdout()).saturating_sub(name + category + 24).max(20);
    term::print_line(&format!(
        "{bold}{:name$}  {:category$}  {:8}  {:8}  {}{off}",
        "NAME", "CATEGORY", "FROM", "STATE", "FOR"
    ));
    for skill in skills {
        let (from, state) = (switches.from(skill), switches.state(skill.name()));
        let shown = padded(skill.name(), name);
        let shown_category = padded(&skill.category, category);
        let about = one_line(&skill.front_matter.description, left);
        let line = format!("{shown}  {dim}{shown_category}  {from:8}{off}  {state:8}  {about}");
        if !term::print_line(&line) {
            return;
        }
    }
    let off_count = skills.iter().filter(|skill| switches.is_off_everywhere(skill.name())).count();
    let broken = shelf.broken().len();
    let mut sum = counted(skills.len(), "skill");
    if off_count > 0 {
        sum.push_str(&format!(", {off_count} off"));
    }
    if broken > 0 {
        sum.push_str(&format!(", {broken} cannot be used"));
    }
    term::print_line(&format!(
        "{dim}{sum}. In a chat, /NAME uses a skill; `hermes skills show NAME` prints it.{off}"
    ));
}

pub(super) fn show(place: &Place, name: &str, file: Option<&str>) -> Result<Exit, Failure> {
    let shelf = place.shelf()?;
    let skill = shelf.find(name).map_err(failure)?;
    let text = shelf.read(skill, file).map_err(failure)?;
    let switches = Switches::read(place)?;
    let linked = shelf.linked(skill);
    if place.is_json {
        let mut value = as_json(skill, &switches);
        value["content"] = text.text.into();
        value["linked_files"] = json!(linked);
        print::json(&value);
        return Ok(Exit::Answered);
    }
    if file.is_some() {
        term::print_line(&printable(text.text.trim_end()));
        return Ok(Exit::Answered);
    }
    let front = &skill.front_matter;
    let mut rows = vec![
        ("name", front.name.clone()),
        ("for", front.description.clone()),
        ("category", skill.category.clone()),
        ("from", switches.from(skill).to_owned()),
        ("state", switches.state(skill.name()).to_owned()),
    ];
    rows.extend(skill.dir.as_ref().map(|dir| ("directory", dir.display().to_string())));
    rows.extend(front.version.clone().map(|version| ("version", version)));
    rows.extend(front.author.clone().map(|author| ("author", author)));
    rows.extend(front.license.clone().map(|license| ("license", license)));
    for (row, list) in
        [("needs", &front.env_vars), ("programs", &front.commands), ("related", &front.related_skills)]
    {
        if !list.is_empty() {
            rows.push((row, list.join(", ")));
        }
    }
    rows.extend(linked.values().map(|files| ("files", files.join(", "))));
    print::fields(rows);
    let body = hermes_skills::skill_body(&text.text);
    term::print_line(&format!("\n{}", printable(body.trim_end())));
    Ok(Exit::Answered)
}

/// The disabled and the installed skills.
struct Switches {
    everywhere: HashSet<String>,
    platforms: BTreeMap<String, Vec<String>>,
    installed: HashSet<String>,
}

impl Switches {
    fn read(place: &Place) -> Result<Self, Failure> {
        let everywhere = place.config.settings.skills.disabled.get().map_err(RuntimeError::from)?;
        // `check` reports a lock file that cannot be read; here only the origin is missing.
        let installed = LockFile::load(place.home.path()).map(|lock| lock.installed).unwrap_or_default();
        Ok(Self {
            everywhere: everywhere.iter().cloned().collect(),
            platforms: place.config.platform_disabled_skills(),
            installed: installed.into_keys().collect(),
        })
    }

    fn is_off_everywhere(&self, name: &str) -> bool {
        self.everywhere.contains(name)
    }

    fn off_at(&self, name: &str) -> Vec<&str> {
        let is_off = |names: &Vec<String>| names.iter().any(|off| off == name);
        self.platforms
            .iter()
            .filter(|(_, names)| is_off(names))
            .map(|(platform, _)| platform.as_str())
            .collect()
    }

    fn state(&self, name: &str) -> &'static str {
        match (self.is_off_everywhere(name), self.off_at(name).is_empty()) {
            (true, _) => "off",
            (false, true) => "on",
            (false, false) => "partly",
        }
    }

    fn from(&self, skill: &Skill) -> &'static str {
        match skill.origin {
            hermes_skills::Origin::Home if self.installed.contains(skill.name()) => "hub",
            origin => origin.as_str(),
        }
    }
}

fn as_json(skill: &Skill, switches: &Switches) -> Value {
    let front = &skill.front_matter;
    json!({
        "name": front.name,
        "description": front.description,
        "category": skill.category,
        "from": switches.from(skill),
        "enabled": !switches.is_off_everywhere(&front.name),
        "disabled_on": switches.off_at(&front.name),
        "path": skill.dir.as_ref().map(|dir| dir.display().to_string()),
        "version": front.version,
        "tags": front.tags,
    })
}

fn broken_json(broken: &BrokenSkill) -> Value {
    json!({ "name": broken.name, "path": broken.path.display().to_string(), "reason": broken.reason })
}
