//! The reduced mode of sessions whose model has a small context window.
//!
//! Tools and system prompt go with every request. Below 64,000 tokens each of the two gets a share of the
//! window, and the least useful parts are left out. See `docs/context.md`.

use hermes_conversation::{ToolDefinition, ToolTable, estimate_tokens};
use hermes_prompt::{Layers, SystemPrompt};
use hermes_tools::Registry;

/// Windows below this many tokens are small.
pub const SMALL: u64 = 64_000;
/// The share of a small window that the definitions of tools may have, and the same for the system prompt.
const SHARE_PERCENT: u64 = 15;

/// The number of tools that are always kept: a session without them could do nothing.
const LEAST_TOOLS: usize = 2;

pub fn is_small(window: u64) -> bool {
    window < SMALL
}

fn share(window: u64) -> u64 {
    window * SHARE_PERCENT / 100
}

/// Returns the tools that fit, and the names of the others. `None` if all fit.
pub fn fitting_tools(all: &Registry, window: u64) -> Option<(Registry, Vec<String>)> {
    if !is_small(window) {
        return None;
    }
    let offered = all.definitions();
    let mut weights: Vec<(&str, u64)> =
        offered.iter().map(|tool| (tool.name.as_str(), weight(tool))).collect();
    let mut fitting = all.only(&kept(&weights, all, share(window)));
    // A definition is shorter without the tools that it names, which may leave room for one more.
    for tool in fitting.definitions().iter() {
        weights.iter_mut().filter(|(name, _)| *name == tool.name).for_each(|row| row.1 = weight(tool));
    }
    let more = all.only(&kept(&weights, all, share(window)));
    if more.definitions().iter().map(weight).sum::<u64>() <= share(window) {
        fitting = more;
    }
    let has = fitting.names();
    let left_out = weights.iter().map(|(name, _)| *name).filter(|name| !has.contains(name));
    let left_out: Vec<String> = left_out.map(str::to_owned).collect();
    (!left_out.is_empty()).then_some((fitting, left_out))
}

fn weight(tool: &ToolDefinition) -> u64 {
    let tokens = |text: &str| estimate_tokens(text).value();
    tokens(&tool.name) + tokens(&tool.description) + tokens(tool.parameters.as_str())
}

/// The names of the tools that fit into so many tokens, the most useful ones first.
fn kept<'a>(weights: &[(&'a str, u64)], tools: &dyn ToolTable, room: u64) -> Vec<&'a str> {
    let mut sorted = weights.to_vec();
    sorted.sort_by_key(|(name, _)| tools.facts(name).rank);
    let (mut used, mut kept) = (0, Vec::new());
    for (name, weight) in sorted {
        used += weight;
        if kept.len() >= LEAST_TOOLS && used > room {
            break;
        }
        kept.push(name);
    }
    kept
}

/// Leaves parts of a system prompt out until it has its share of a small window.
pub fn shorten(layers: &mut Layers, window: u64) {
    let steps: [fn(&mut Layers); 6] = [
        |layers| layers.skills = None,
        |layers| layers.recalled = None,
        |layers| (layers.without.finishing, layers.without.calling_together) = (true, true),
        |layers| layers.memory = None,
        |layers| layers.project.clear(),
        |layers| layers.profile = None,
    ];
    for step in steps {
        if fits(SystemPrompt::assemble(layers).as_str(), window) {
            return;
        }
        step(layers);
    }
}

/// Returns true if a system prompt has at most its share of a small window.
pub fn fits(system: &str, window: u64) -> bool {
    !is_small(window) || estimate_tokens(system).value() <= share(window)
}

/// The notice of a session in reduced mode.
pub fn notice(window: u64, left_out: &[String]) -> String {
    let without = match left_out {
        [] => String::new(),
        names => format!(" and without the tools {}", names.join(", ")),
    };
    format!("context window of {window} tokens: reduced mode, with a shorter system prompt{without}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use hermes_prompt::Sourced;
    use hermes_tools::KnownTools;

    #[test]
    fn most_useful_tools_are_kept_up_to_the_limit() {
        let weights = [
            ("clarify", 100),
            ("delegate_task", 300),
            ("other", 50),
            ("patch", 150),
            ("read_file", 130),
            ("terminal", 180),
            ("write_file", 110),
        ];
        for (room, want) in [
            (0, vec!["terminal", "read_file"]),
            (430, vec!["terminal", "read_file", "write_file"]),
            (620, vec!["terminal", "read_file", "write_file", "patch"]),
            (720, vec!["terminal", "read_file", "write_file", "patch", "clarify", "other"]),
            (
                5_000,
                vec!["terminal", "read_file", "write_file", "patch", "clarify", "other", "delegate_task"],
            ),
        ] {
            assert_eq!(kept(&weights, &KnownTools, room), want, "{room}");
        }
    }

    #[test]
    fn builtin_tools_fit_into_every_small_window() {
        let all = Registry::builtin();
        for window in [4_096, 8_192, 16_384, 32_768, 63_999] {
            let kept = fitting_tools(&all, window).map_or(all.clone(), |(kept, _)| kept);
            let tokens: u64 = kept.definitions().iter().map(weight).sum();
            assert!(tokens <= share(window), "{window}: {tokens}");
            assert!(kept.names().contains(&"patch"), "{window}");
        }
        assert!(fitting_tools(&all, 64_000).is_none());
    }

    #[test]
    fn prompt_is_shortened_until_it_fits() {
        let block =
            |tokens: usize| Some(Sourced { text: "word ".repeat(tokens * 4 / 5), source: "file".to_owned() });
        let layers = Layers {
            tools: vec!["terminal".to_owned()],
            skills: Some("skill ".repeat(400)),
            memory: block(300),
            profile: block(200),
            ..Layers::default()
        };
        for (window, skills, memory, profile) in [
            (64_000, true, true, true),
            (16_384, true, true, true),
            (8_192, false, true, true),
            (4_096, false, false, true),
            (2_048, false, false, false),
        ] {
            let mut short = layers.clone();
            shorten(&mut short, window);
            let found = (short.skills.is_some(), short.memory.is_some(), short.profile.is_some());
            assert_eq!(found, (skills, memory, profile), "{window}");
        }
    }
}
