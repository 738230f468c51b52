//! The tree of summaries: which of them stand side by side, and when the oldest get a parent.

use super::gist::{gist, lines};
use hermes_conversation::{MessageId, NewNode, Node};
use std::collections::{HashMap, HashSet};

/// Characters of each child in the text of its parent.
const OF_CHILD: usize = 320;

/// A summary without a parent, as displayed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Standing {
    pub(crate) number: u32,
    /// The smallest number among it and everything under it.
    pub(crate) least: u32,
    pub(crate) level: u32,
    /// The first and the last of its children.
    pub(crate) children: Option<(u32, u32)>,
    pub(crate) first: MessageId,
    pub(crate) last: MessageId,
    text: String,
}

impl Standing {
    pub(crate) fn gist(&self, most: usize) -> String {
        gist(&self.text, most)
    }

    /// A few lines, each at most so long.
    pub(crate) fn lines(&self, most: usize) -> Vec<String> {
        lines(&self.text, most)
    }
}

/// Parents that are due when one more leaf comes. Their children are all known already: what is new has a
/// number only once it is recorded.
pub(crate) fn parents(nodes: &[Node], fan_out: usize) -> Vec<NewNode> {
    let alone = alone(nodes);
    let (mut new, mut coming) = (Vec::new(), 1);
    let highest = alone.iter().map(|node| node.level).max().unwrap_or_default();
    for level in 0..=highest {
        let mut left: &[&Node] =
            &{ alone.iter().copied().filter(|node| node.level == level) }.collect::<Vec<_>>();
        let before = new.len();
        while left.len() >= fan_out && left.len() + coming > fan_out {
            let (oldest, rest) = left.split_at(fan_out);
            new.push(parent(oldest));
            left = rest;
        }
        coming = new.len() - before;
    }
    new
}

fn parent(children: &[&Node]) -> NewNode {
    let line = |child: &&Node| format!("- summary {}: {}", child.number, gist(&child.text, OF_CHILD));
    NewNode {
        children: children.iter().map(|child| child.number).collect(),
        text: children.iter().map(line).collect::<Vec<_>>().join("\n"),
    }
}

/// The summaries without a parent once a leaf and these parents are recorded, oldest first, without the
/// leaf.
pub(crate) fn standing(nodes: &[Node], parents: &[NewNode]) -> Vec<Standing> {
    let by_number: HashMap<u32, &Node> = nodes.iter().map(|node| (node.number, node)).collect();
    let taken: HashSet<u32> = parents.iter().flat_map(|parent| parent.children.iter().copied()).collect();
    let least = leasts(nodes);
    let least_of = |number: u32| least.get(&number).copied().unwrap_or(number);
    let old = alone(nodes).into_iter().filter(|node| !taken.contains(&node.number)).map(|node| Standing {
        number: node.number,
        least: least_of(node.number),
        level: node.level,
        children: ends(&node.children),
        first: node.first,
        last: node.last,
        text: node.text.clone(),
    });
    let leaf = next_number(nodes);
    let new = parents.iter().zip(leaf + 1..).filter_map(|(parent, number)| {
        let children = || parent.children.iter().filter_map(|child| by_number.get(child));
        Some(Standing {
            number,
            least: parent.children.iter().map(|child| least_of(*child)).min()?,
            level: children().map(|child| child.level).max()?.saturating_add(1),
            children: ends(&parent.children),
            first: children().map(|child| child.first).min()?,
            last: children().map(|child| child.last).max()?,
            text: parent.text.clone(),
        })
    });
    let mut all: Vec<Standing> = old.chain(new).collect();
    all.sort_by_key(|node| (node.first, node.number));
    all
}

/// The number that the next leaf gets.
pub(crate) fn next_number(nodes: &[Node]) -> u32 {
    nodes.iter().map(|node| node.number).max().unwrap_or_default().saturating_add(1)
}

/// The nodes without a parent, oldest first.
fn alone(nodes: &[Node]) -> Vec<&Node> {
    let children: HashSet<u32> = nodes.iter().flat_map(|node| node.children.iter().copied()).collect();
    let mut alone: Vec<&Node> = nodes.iter().filter(|node| !children.contains(&node.number)).collect();
    alone.sort_by_key(|node| (node.first, node.number));
    alone
}

/// For every node the smallest number under it. Children are recorded before their parents.
fn leasts(nodes: &[Node]) -> HashMap<u32, u32> {
    let mut least = HashMap::new();
    for node in nodes {
        let under = node.children.iter().filter_map(|child| least.get(child).copied());
        let smallest = under.min().unwrap_or(node.number).min(node.number);
        least.insert(node.number, smallest);
    }
    least
}

fn ends(children: &[u32]) -> Option<(u32, u32)> {
    Some((*children.iter().min()?, *children.iter().max()?))
}

#[cfg(test)]
#[path = "tree_tests.rs"]
mod tests;
