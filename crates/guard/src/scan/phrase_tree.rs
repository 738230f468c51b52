//! A prefix tree of the words of all rules, built on the first scan.
//!
//! Each word of a text costs one walk into the tree, as far as the tree knows it. There are no regular
//! expressions: compiling this many would take longer than scanning most texts.

use std::sync::LazyLock;

use super::char_classes::has_no_blanks;
use super::commands::Program;
use super::normal_form::plain;
use super::rules::{self, Rule};

pub(super) static TREE: LazyLock<Tree> = LazyLock::new(Tree::new);

/// The meaning of a word to the rules.
#[derive(Debug, Clone, Copy)]
pub(super) enum Meaning {
    /// A step of a phrase.
    Step(PhraseStep),
    /// Possibly the name of a program.
    Program(Program),
}

/// One step of a phrase, by its number among all steps; the steps of a phrase have consecutive numbers.
#[derive(Debug, Clone, Copy)]
pub(super) struct PhraseStep {
    pub(super) number: usize,
    /// The number of words of the step.
    pub(super) words: usize,
}

/// Facts about a step.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepFacts {
    pub(super) phrase: usize,
    pub(super) is_first: bool,
    /// The maximum number of words between the previous step and this one.
    pub(super) gap: usize,
}

#[derive(Debug)]
pub(super) struct Phrase {
    pub(super) rule: &'static Rule,
    pub(super) first: usize,
    pub(super) last: usize,
}

#[derive(Debug, Default)]
pub(super) struct Node {
    next: Vec<(char, usize)>,
    /// Meanings of a word that ends here.
    pub(super) whole: Vec<Meaning>,
    /// Meanings of a word that begins with this prefix.
    pub(super) begun: Vec<Meaning>,
}

#[derive(Debug)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    pub(super) phrases: Vec<Phrase>,
    pub(super) steps: Vec<StepFacts>,
}

pub(super) const ROOT: usize = 0;

impl Tree {
    fn new() -> Self {
        let mut tree = Self { nodes: vec![Node::default()], phrases: Vec::new(), steps: Vec::new() };
        for rule in rules::all() {
            for phrase in rule.phrases {
                tree.add_phrase(rule, phrase);
            }
        }
        for (name, program) in super::commands::PROGRAMS {
            tree.add_word(name, |_| Meaning::Program(program));
        }
        // Later steps first: a word must not be its own predecessor.
        for node in &mut tree.nodes {
            node.whole.reverse();
            node.begun.reverse();
            node.next.sort_unstable();
        }
        tree
    }

    pub(super) fn node(&self, node: usize) -> &Node {
        &self.nodes[node]
    }

    pub(super) fn child(&self, node: usize, char: char) -> Option<usize> {
        let next = &self.nodes[node].next;
        match next.len() {
            0..=8 => next.iter().find(|(known, _)| *known == char).map(|(_, child)| *child),
            _ => next.binary_search_by_key(&char, |(known, _)| *known).ok().map(|place| next[place].1),
        }
    }

    /// Adds a phrase in the notation of [`rules`](super::rules).
    fn add_phrase(&mut self, rule: &'static Rule, text: &'static str) {
        let first = self.steps.len();
        let mut gap = 0;
        for part in text.split_whitespace() {
            if let Some(number) = part.strip_prefix('~').and_then(|number| number.parse().ok()) {
                gap = number;
                continue;
            }
            let number = self.steps.len();
            let is_first = number == first;
            self.steps.push(StepFacts { phrase: self.phrases.len(), is_first, gap });
            self.add_choices(part, number);
            gap = 0;
        }
        self.phrases.push(Phrase { rule, first, last: self.steps.len() - 1 });
    }

    fn add_choices(&mut self, part: &'static str, number: usize) {
        for choice in part.split('|') {
            match rules::class(choice) {
                Some(class) => self.add_choices(class, number),
                None => self.add_word(choice, |words| Meaning::Step(PhraseStep { number, words })),
            }
        }
    }

    fn add_word(&mut self, word: &str, meaning: impl Fn(usize) -> Meaning) {
        let (word, is_beginning) = word.strip_suffix('*').map_or((word, false), |word| (word, true));
        let (mut node, mut words, mut was_letter) = (ROOT, 0, false);
        for char in word.chars() {
            plain(char, |char| {
                let is_letter = char.is_alphanumeric();
                words += usize::from(is_letter && (!was_letter || has_no_blanks(char)));
                was_letter = is_letter;
                node = self.child_or_new(node, char);
            });
        }
        let meanings = if is_beginning { &mut self.nodes[node].begun } else { &mut self.nodes[node].whole };
        meanings.push(meaning(words));
    }

    fn child_or_new(&mut self, node: usize, char: char) -> usize {
        if let Some((_, child)) = self.nodes[node].next.iter().find(|(known, _)| *known == char) {
            return *child;
        }
        let child = self.nodes.len();
        self.nodes.push(Node::default());
        self.nodes[node].next.push((char, child));
        child
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_rule_parses() {
        let gaps_of_sentences = |phrase: &&Phrase| phrase.rule.within == rules::Within::Sentence;
        for phrase in TREE.phrases.iter().filter(gaps_of_sentences) {
            let steps = &TREE.steps[phrase.first..=phrase.last];
            assert!(steps.iter().all(|step| step.gap <= 8), "{}: a gap of more than 8 words", phrase.rule.id);
            assert!(steps.len() > 1, "{}: a single word says nothing", phrase.rule.id);
        }
        for rule in rules::all() {
            for phrase in rule.phrases {
                assert!(!phrase.contains("||") && !phrase.ends_with('~'), "{}: {phrase}", rule.id);
            }
        }
    }
}
