//! An in-memory version of the store: it numbers messages, and knows which of them a summary covers.

use hermes_context::Assembled;
use hermes_conversation::{Message, MessageId, NewNode, Node};
use std::sync::Arc;

#[derive(Default)]
pub(crate) struct Record {
    /// The sent messages, and the original that each one is or copies.
    view: Vec<(Option<MessageId>, Arc<Message>)>,
    /// Everything that was said; the first has the id 1.
    pub(crate) originals: Vec<Arc<Message>>,
    pub(crate) nodes: Vec<Node>,
}

impl Record {
    pub(crate) fn say(&mut self, message: Arc<Message>) -> MessageId {
        self.originals.push(message.clone());
        let id = MessageId(self.originals.len() as i64);
        self.view.push((Some(id), message));
        id
    }

    /// The conversation is this now: what is not as it was is new.
    pub(crate) fn follow(&mut self, history: &[Arc<Message>]) {
        let pairs = self.view.iter().zip(history);
        let same = pairs.take_while(|((_, old), new)| old == *new).count();
        self.view.truncate(same);
        history[same..].iter().for_each(|message| {
            self.say(message.clone());
        });
    }

    pub(crate) fn history(&self) -> Vec<Arc<Message>> {
        self.view.iter().map(|(_, message)| message.clone()).collect()
    }

    /// Opens a new epoch.
    pub(crate) fn compact(&mut self, assembled: &Assembled) {
        let kept = &self.view[self.view.len() - assembled.tail..];
        let bound = kept.iter().find_map(|(original, _)| *original).map_or(i64::MAX, |bound| bound.0);
        let kept: Vec<Option<MessageId>> = kept.iter().map(|(original, _)| *original).collect();
        for new in &assembled.nodes {
            self.add(new, bound);
        }
        let made = assembled.messages.len() - assembled.tail;
        let of = (0..made).map(|_| None).chain(kept);
        self.view = of.zip(assembled.messages.iter().cloned()).collect();
    }

    fn add(&mut self, new: &NewNode, bound: i64) {
        let number = self.nodes.last().map_or(1, |last| last.number + 1);
        let covered = self.nodes.iter().map(|node| node.last.0).max().unwrap_or_default();
        let of: Vec<&Node> = new.children.iter().map(|child| self.node(*child)).collect();
        let (level, first, last) = match of.as_slice() {
            [] => (0, covered + 1, (self.originals.len() as i64).min(bound - 1)),
            of => (
                of.iter().map(|child| child.level + 1).max().unwrap(),
                of.iter().map(|child| child.first.0).min().unwrap(),
                of.iter().map(|child| child.last.0).max().unwrap(),
            ),
        };
        if first > last {
            return;
        }
        self.nodes.push(Node {
            number,
            level,
            children: new.children.clone(),
            first: MessageId(first),
            last: MessageId(last),
            messages: (last - first + 1) as u64,
            text: new.text.clone(),
        });
    }

    pub(crate) fn node(&self, number: u32) -> &Node {
        self.nodes.iter().find(|node| node.number == number).expect("a summary that there is")
    }

    /// Every summarised original is in exactly one leaf, parents cover their children, and no node has two
    /// parents.
    pub(crate) fn check(&self) {
        let in_view = self.view.iter().find_map(|(original, _)| *original);
        let end = in_view.map_or(self.originals.len() as i64 + 1, |first| first.0);
        let mut next = 1;
        for leaf in self.nodes.iter().filter(|node| node.level == 0) {
            assert_eq!(leaf.first.0, next, "a gap or an overlap before summary {}", leaf.number);
            next = leaf.last.0 + 1;
        }
        assert_eq!(next, end, "what left the view is in a leaf, and nothing else is");
        let mut parents = std::collections::HashMap::new();
        for node in self.nodes.iter().filter(|node| !node.children.is_empty()) {
            let children: Vec<&Node> = node.children.iter().map(|child| self.node(*child)).collect();
            assert!(children.windows(2).all(|pair| pair[0].last.0 + 1 == pair[1].first.0));
            assert_eq!((children[0].first, children[children.len() - 1].last), (node.first, node.last));
            assert!(children.iter().all(|child| child.level + 1 == node.level));
            assert!(node.children.iter().all(|child| parents.insert(*child, node.number).is_none()));
        }
    }
}
