//! The open spans, and the fields that events within them inherit.

use crate::otlp::Traced;
use tracing::Metadata;
use tracing::span::Id;

/// The open spans, indexed by id. Slots are reused.
#[derive(Default)]
pub(super) struct Spans {
    pub(super) places: Vec<Option<Span>>,
    pub(super) free: Vec<usize>,
}

impl Spans {
    pub(super) fn add(&mut self, span: Span) -> Id {
        let place = self.free.pop().unwrap_or_else(|| {
            self.places.push(None);
            self.places.len() - 1
        });
        self.places[place] = Some(span);
        Id::from_u64(place as u64 + 1)
    }

    pub(super) fn get(&self, id: &Id) -> Option<&Span> {
        self.places.get(place(id))?.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: &Id) -> Option<&mut Span> {
        self.places.get_mut(place(id))?.as_mut()
    }

    pub(super) fn remove(&mut self, id: &Id) -> Option<Span> {
        let span = self.places.get_mut(place(id))?.take();
        self.free.push(place(id));
        span
    }
}

fn place(id: &Id) -> usize {
    id.into_u64() as usize - 1
}

/// An open span.
pub(super) struct Span {
    pub(super) metadata: &'static Metadata<'static>,
    pub(super) parent: Option<Id>,
    /// The field `session`, which stands at the head of a line.
    pub(super) session: Option<String>,
    /// The other fields, as they are written.
    pub(super) fields: String,
    pub(super) handles: usize,
    /// The same span for the collector.
    pub(super) traced: Traced,
}
