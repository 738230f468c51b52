//! Bounded lists in replies.

use serde::de::{Deserialize, Deserializer, Error, SeqAccess, Visitor};
use std::marker::PhantomData;

/// The maximum number of entries. An entry of two bytes on the wire takes a hundred in memory, so an endless
/// list would exhaust the memory long before the line is too long.
const MOST: usize = 4_096;

/// Reads a list or null; rejects a list that is too long.
pub(super) fn bounded<'de, D, T>(deserializer: D) -> Result<Option<Vec<T>>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    deserializer.deserialize_any(Reading(PhantomData))
}

struct Reading<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Reading<T> {
    type Value = Option<Vec<T>>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = list.next_element()? {
            if entries.len() == MOST {
                return Err(A::Error::custom(format_args!("a list has more than {MOST} entries")));
            }
            entries.push(entry);
        }
        Ok(Some(entries))
    }
}
