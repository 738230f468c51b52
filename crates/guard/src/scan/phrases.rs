//! Finds the phrases of the rules in a text.
//!
//! For every step of every phrase, the walk keeps the position at which it was last reached. The last position
//! is always the best one, since only the distance to the next word is limited; so each word has the same cost,
//! no matter how often a phrase was begun before.

mod position;

use std::ops::Range;

use super::char_classes::has_no_blanks;
use super::commands;
use super::normal_form::NormalForm;
use super::phrase_checks;
use super::phrase_tree::{Meaning, PhraseStep, ROOT, TREE, Tree};
use super::rules::Within;
use super::{Match, Scope, neutralise};
use position::Position;

pub(super) fn find(text: &str, view: &NormalForm, scope: Scope) -> Vec<Match> {
    let tree = &*TREE;
    let places = Position::new(text, view);
    let reached = vec![Reached::default(); tree.steps.len()];
    let mut walk = Walk { text, view, scope, tree, places, reached, word: 0, found: Vec::new() };
    walk.run();
    walk.found
}

/// The position at which a step was last reached.
#[derive(Debug, Clone, Copy, Default)]
struct Reached {
    /// The number of the sentence, line, comment or tag; 0 if none.
    place: usize,
    /// The start of the phrase in the normal form.
    start: usize,
    /// The end of this step in the normal form.
    end: usize,
    /// The number of the step's last word.
    word: usize,
}

struct Walk<'a> {
    text: &'a str,
    view: &'a NormalForm,
    scope: Scope,
    tree: &'static Tree,
    places: Position<'a>,
    reached: Vec<Reached>,
    /// The number of words read so far.
    word: usize,
    found: Vec<Match>,
}

impl Walk<'_> {
    fn run(&mut self) {
        let mut at = 0;
        let mut was_letter = false;
        while let Some(char) = self.view.get(at) {
            if let Some(after) = self.after_notice(char, at) {
                self.word += 1;
                (at, was_letter) = (after, false);
                continue;
            }
            self.places.enter(at, char);
            let is_letter = char.is_alphanumeric();
            let is_character_word = is_letter && has_no_blanks(char);
            if is_character_word || is_letter && !was_letter {
                self.word += 1;
                self.places.count_word();
                self.look_up(at, self.word);
            } else if !is_letter && !char.is_whitespace() {
                self.look_up(at, self.word + 1);
            }
            was_letter = is_letter && !is_character_word;
            at += 1;
        }
    }

    /// The position after a notice of [`neutralise`]. Notices name the removed rule and are not findings.
    fn after_notice(&self, char: char, at: usize) -> Option<usize> {
        if char != '[' {
            return None;
        }
        let start = self.view.place(at);
        let end = start + neutralise::notice_length(&self.text[start..])?;
        let length = self.view.chars()[at..].iter().enumerate();
        let after =
            length.skip(1).map(|(offset, _)| at + offset).find(|index| self.view.place(*index) >= end);
        Some(after.unwrap_or(self.view.chars().len()))
    }

    /// Follows the tree from `at`; `word` is the number of the first word there.
    fn look_up(&mut self, at: usize, word: usize) {
        let (mut node, mut end) = (ROOT, at);
        let mut word_end = None;
        while let Some(char) = self.view.get(end) {
            let Some(child) = self.tree.child(node, char) else { return };
            (node, end) = (child, end + 1);
            let known = self.tree.node(node);
            if !known.begun.is_empty() {
                let word_end = *word_end.get_or_insert_with(|| self.end_of_word(end));
                known.begun.iter().for_each(|meaning| self.take(*meaning, at..word_end, word));
            }
            if !known.whole.is_empty() && self.is_end(end) {
                known.whole.iter().for_each(|meaning| self.take(*meaning, at..end, word));
            }
        }
    }

    /// Returns true if a word may end before `end`.
    fn is_end(&self, end: usize) -> bool {
        let joins = |char: char| char.is_alphanumeric() && !has_no_blanks(char);
        let last = end.checked_sub(1).and_then(|last| self.view.get(last));
        !(last.is_some_and(joins) && self.view.get(end).is_some_and(joins))
    }

    fn end_of_word(&self, from: usize) -> usize {
        let rest = &self.view.chars()[from..];
        from + rest.iter().position(|seen| !seen.char.is_alphanumeric()).unwrap_or(rest.len())
    }

    fn take(&mut self, meaning: Meaning, at: Range<usize>, word: usize) {
        match meaning {
            Meaning::Step(step) => self.reach(step, at, word),
            Meaning::Program(program) => {
                let found = commands::find(self.text, self.view, program, at);
                self.found.extend(found);
            }
        }
    }

    fn reach(&mut self, step: PhraseStep, at: Range<usize>, word: usize) {
        let facts = self.tree.steps[step.number];
        let phrase = &self.tree.phrases[facts.phrase];
        let place = self.places.number(phrase.rule.within);
        if place == 0 || phrase.rule.scope > self.scope {
            return;
        }
        let start = if facts.is_first {
            at.start
        } else {
            let before = self.reached[step.number - 1];
            let is_near = before.place == place
                && before.end <= at.start
                && word.saturating_sub(before.word + 1) <= facts.gap;
            if !is_near {
                return;
            }
            before.start
        };
        let last_word = (word + step.words).saturating_sub(1);
        self.reached[step.number] = Reached { place, start, end: at.end, word: last_word };
        if step.number == phrase.last && phrase_checks::passes(phrase.rule.check, self.view, start..at.end) {
            self.found.push(self.finding(phrase.rule.id, phrase.rule.within, start..at.end));
            self.reached[phrase.first..=phrase.last].fill(Reached::default());
        }
    }

    fn finding(&self, id: &str, within: Within, range: Range<usize>) -> Match {
        let at = self.view.bytes(range);
        let is_in_comment = self.places.number(Within::Comment) > 0;
        let cut = match within {
            Within::Tag => neutralise::up_to(self.text, self.places.tag_start(), &at, "</"),
            // Comments are invisible to readers, so the whole comment is removed.
            _ if is_in_comment => neutralise::up_to(self.text, self.places.comment_start(), &at, "-->"),
            _ => neutralise::sentence_around(self.text, &at),
        };
        Match { id: id.to_owned(), at, cut }
    }
}
