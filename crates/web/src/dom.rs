//! The tree of an HTML page, in one vector of nodes.
//!
//! The page is hostile: its tree has a maximum of nodes, building it has a time limit, and walking it must not depend
//! on its depth. It is therefore parsed in small pieces, with a look at both limits after each.

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::{StrTendril, TendrilSink};
use html5ever::tree_builder::TreeBuilderOpts;
use html5ever::{Attribute, LocalName, Namespace, ParseOpts, QualName, parse_document};
use std::borrow::Cow;
use std::cell::RefCell;
use std::time::{Duration, Instant};

/// Nodes of a tree. Unclosed formatting is repeated in every block, so a page can make many of few bytes.
const MOST_NODES: usize = 150_000;
/// The time for building a tree.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes between two looks at the limits.
const PIECE: usize = 64;
/// The attributes that matter here.
#[rustfmt::skip]
const ATTRIBUTES: [&str; 28] = [
    "alt", "aria-hidden", "aria-modal", "charset", "class", "colspan", "content", "data-lang", "data-language",
    "data-original", "data-src", "dir", "hidden", "href", "http-equiv", "id", "itemprop", "lang", "name",
    "property", "rel", "role", "rowspan", "span", "src", "start", "style", "title",
];

/// The place of a node in its tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Id(u32);

#[derive(Debug)]
enum Kind {
    Document,
    Element { name: QualName, attributes: Vec<Attribute> },
    Text(String),
    Other,
}

#[derive(Debug)]
struct Node {
    kind: Kind,
    parent: Option<Id>,
    first: Option<Id>,
    last: Option<Id>,
    next: Option<Id>,
    previous: Option<Id>,
}

/// A parsed page.
pub(crate) struct Dom {
    nodes: Vec<Node>,
    /// A limit was reached, so the end of the page is missing.
    pub(crate) is_cut: bool,
}

/// The page of a text.
pub(crate) fn parse(html: &str) -> Dom {
    parse_within(html, PATIENCE)
}

fn parse_within(html: &str, patience: Duration) -> Dom {
    let options = ParseOpts {
        // Without scripts, what is inside of `noscript` is part of the page.
        tree_builder: TreeBuilderOpts { scripting_enabled: false, ..TreeBuilderOpts::default() },
        ..ParseOpts::default()
    };
    let mut parser = parse_document(Sink::default(), options);
    let deadline = Instant::now() + patience;
    let (mut rest, mut is_cut) = (html, false);
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.ceil_char_boundary(PIECE));
        parser.process(StrTendril::from_slice(piece));
        rest = after;
        let is_full = parser.tokenizer.sink.sink.0.borrow().len() > MOST_NODES;
        if is_full || Instant::now() > deadline {
            is_cut = !rest.is_empty();
            break;
        }
    }
    Dom { nodes: parser.finish(), is_cut }
}

impl Dom {
    pub(crate) const ROOT: Id = Id(0);

    fn node(&self, id: Id) -> &Node {
        &self.nodes[id.0 as usize]
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn index(id: Id) -> usize {
        id.0 as usize
    }

    /// The name of an element; empty for everything else.
    pub(crate) fn name(&self, id: Id) -> &str {
        match &self.node(id).kind {
            Kind::Element { name, .. } => &name.local,
            _ => "",
        }
    }

    pub(crate) fn is_element(&self, id: Id) -> bool {
        matches!(self.node(id).kind, Kind::Element { .. })
    }

    pub(crate) fn text(&self, id: Id) -> Option<&str> {
        match &self.node(id).kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn attribute(&self, id: Id, wanted: &str) -> Option<&str> {
        let Kind::Element { attributes, .. } = &self.node(id).kind else { return None };
        attributes.iter().find(|one| &*one.name.local == wanted).map(|one| &*one.value)
    }

    pub(crate) fn parent(&self, id: Id) -> Option<Id> {
        self.node(id).parent
    }

    pub(crate) fn first(&self, id: Id) -> Option<Id> {
        self.node(id).first
    }

    pub(crate) fn next(&self, id: Id) -> Option<Id> {
        self.node(id).next
    }

    /// The elements before this one, the nearest first.
    pub(crate) fn elements_before(&self, id: Id) -> impl Iterator<Item = Id> {
        let before = std::iter::successors(self.node(id).previous, |one| self.node(*one).previous);
        before.filter(|one| self.is_element(*one))
    }

    pub(crate) fn children(&self, id: Id) -> impl Iterator<Item = Id> {
        std::iter::successors(self.node(id).first, |child| self.node(*child).next)
    }

    /// The node and everything below it in document order, without the nodes that `skips` and all below them.
    pub(crate) fn walk<'a>(
        &'a self,
        top: Id,
        skips: impl Fn(Id) -> bool + 'a,
    ) -> impl Iterator<Item = Id> + 'a {
        let mut following = Some(top);
        std::iter::from_fn(move || {
            loop {
                let id = following?;
                let is_skipped = skips(id);
                let below = self.node(id).first.filter(|_| !is_skipped);
                following = below.or_else(|| self.after(id, top));
                if !is_skipped {
                    return Some(id);
                }
            }
        })
    }

    /// The next node that is not below this one.
    fn after(&self, id: Id, top: Id) -> Option<Id> {
        let mut here = id;
        while here != top {
            if let Some(next) = self.node(here).next {
                return Some(next);
            }
            here = self.node(here).parent?;
        }
        None
    }

    /// The first element of a name, in document order.
    pub(crate) fn find(&self, top: Id, name: &str) -> Option<Id> {
        self.walk(top, |_| false).find(|id| self.name(*id) == name)
    }

    /// The text of a node and everything below it, as it is written, up to so many bytes.
    pub(crate) fn written_text(&self, top: Id, most: usize) -> String {
        let mut all = String::new();
        for id in self.walk(top, |_| false) {
            all.push_str(self.text(id).unwrap_or_default());
            if self.name(id) == "br" {
                all.push('\n');
            }
            if all.len() > most {
                break;
            }
        }
        all
    }

    /// The same with single spaces.
    pub(crate) fn flat_text(&self, top: Id, most: usize) -> String {
        self.written_text(top, most).split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Builds the nodes as the parser asks.
struct Sink(RefCell<Vec<Node>>);

impl Default for Sink {
    fn default() -> Self {
        Self(RefCell::new(vec![Node::new(Kind::Document)]))
    }
}

impl Node {
    fn new(kind: Kind) -> Self {
        Self { kind, parent: None, first: None, last: None, next: None, previous: None }
    }
}

/// The name of an element, as the parser asks for it.
#[derive(Debug)]
struct OwnedName(QualName);

impl ElemName for OwnedName {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

impl Sink {
    fn add(&self, kind: Kind) -> Id {
        let mut nodes = self.0.borrow_mut();
        nodes.push(Node::new(kind));
        Id(u32::try_from(nodes.len() - 1).unwrap_or(u32::MAX))
    }

    fn detach(&self, id: Id) {
        let mut nodes = self.0.borrow_mut();
        let node = &mut nodes[id.0 as usize];
        let (parent, previous, next) = (node.parent.take(), node.previous.take(), node.next.take());
        match previous {
            Some(previous) => nodes[previous.0 as usize].next = next,
            None => parent.into_iter().for_each(|parent| nodes[parent.0 as usize].first = next),
        }
        match next {
            Some(next) => nodes[next.0 as usize].previous = previous,
            None => parent.into_iter().for_each(|parent| nodes[parent.0 as usize].last = previous),
        }
    }

    /// Puts a node below `parent`, before a child of it or at the end.
    fn insert(&self, parent: Id, child: Id, before: Option<Id>) {
        self.detach(child);
        let mut nodes = self.0.borrow_mut();
        let previous = match before {
            Some(before) => nodes[before.0 as usize].previous,
            None => nodes[parent.0 as usize].last,
        };
        let node = &mut nodes[child.0 as usize];
        (node.parent, node.previous, node.next) = (Some(parent), previous, before);
        match previous {
            Some(previous) => nodes[previous.0 as usize].next = Some(child),
            None => nodes[parent.0 as usize].first = Some(child),
        }
        match before {
            Some(before) => nodes[before.0 as usize].previous = Some(child),
            None => nodes[parent.0 as usize].last = Some(child),
        }
    }

    /// Adds a text to the text node `at`, if it is one.
    fn joined(&self, at: Option<Id>, more: &str) -> bool {
        let mut nodes = self.0.borrow_mut();
        match at.map(|at| &mut nodes[at.0 as usize].kind) {
            Some(Kind::Text(text)) => {
                text.push_str(more);
                true
            }
            _ => false,
        }
    }

    fn put(&self, parent: Id, child: NodeOrText<Id>, before: Option<Id>) {
        match child {
            NodeOrText::AppendNode(id) => self.insert(parent, id, before),
            NodeOrText::AppendText(text) => {
                let neighbour = match before {
                    Some(before) => self.0.borrow()[before.0 as usize].previous,
                    None => self.0.borrow()[parent.0 as usize].last,
                };
                if !self.joined(neighbour, &text) {
                    let id = self.add(Kind::Text(text.to_string()));
                    self.insert(parent, id, before);
                }
            }
        }
    }

    fn parent_of(&self, id: Id) -> Option<Id> {
        self.0.borrow()[id.0 as usize].parent
    }
}

impl TreeSink for Sink {
    type Handle = Id;
    type Output = Vec<Node>;
    type ElemName<'a> = OwnedName;

    fn finish(self) -> Vec<Node> {
        self.0.into_inner()
    }

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> Id {
        Dom::ROOT
    }

    fn elem_name<'a>(&'a self, target: &'a Id) -> OwnedName {
        match &self.0.borrow()[target.0 as usize].kind {
            Kind::Element { name, .. } => OwnedName(name.clone()),
            _ => OwnedName(QualName::new(None, Namespace::from(""), LocalName::from(""))),
        }
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, _: ElementFlags) -> Id {
        let mut attributes = attributes;
        attributes.retain(|one| ATTRIBUTES.binary_search(&&*one.name.local).is_ok());
        self.add(Kind::Element { name, attributes })
    }

    fn create_comment(&self, _: StrTendril) -> Id {
        self.add(Kind::Other)
    }

    fn create_pi(&self, _: StrTendril, _: StrTendril) -> Id {
        self.add(Kind::Other)
    }

    fn append(&self, parent: &Id, child: NodeOrText<Id>) {
        self.put(*parent, child, None);
    }

    fn append_based_on_parent_node(&self, element: &Id, previous: &Id, child: NodeOrText<Id>) {
        match self.parent_of(*element) {
            Some(_) => self.append_before_sibling(element, child),
            None => self.append(previous, child),
        }
    }

    fn append_doctype_to_document(&self, _: StrTendril, _: StrTendril, _: StrTendril) {}

    /// The contents of a template are below it; nothing of it is shown.
    fn get_template_contents(&self, target: &Id) -> Id {
        *target
    }

    fn same_node(&self, one: &Id, other: &Id) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, _: QuirksMode) {}

    fn append_before_sibling(&self, sibling: &Id, child: NodeOrText<Id>) {
        if let Some(parent) = self.parent_of(*sibling) {
            self.put(parent, child, Some(*sibling));
        }
    }

    fn add_attrs_if_missing(&self, target: &Id, attributes: Vec<Attribute>) {
        let mut nodes = self.0.borrow_mut();
        if let Kind::Element { attributes: own, .. } = &mut nodes[target.0 as usize].kind {
            for one in attributes {
                let is_known = ATTRIBUTES.binary_search(&&*one.name.local).is_ok();
                if is_known && own.iter().all(|other| other.name != one.name) {
                    own.push(one);
                }
            }
        }
    }

    fn remove_from_parent(&self, target: &Id) {
        self.detach(*target);
    }

    fn reparent_children(&self, node: &Id, parent: &Id) {
        while let Some(child) = { self.0.borrow()[node.0 as usize].first } {
            self.insert(*parent, child, None);
        }
    }
}

#[cfg(test)]
#[path = "dom_tests.rs"]
mod tests;
