//! Token counts as reported by servers.

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// The maximum count; larger numbers are errors and are reduced to this, so that counts can be added and stored
/// safely.
const MOST: u64 = 1 << 40;

/// An integer or a decimal; anything else counts as 0. A reply is more important than its count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Count(pub(super) u64);

impl<'de> Deserialize<'de> for Count {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reading)
    }
}

struct Reading;

impl<'de> Visitor<'de> for Reading {
    type Value = Count;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a number of tokens")
    }

    fn visit_u64<E>(self, number: u64) -> Result<Count, E> {
        Ok(Count(number.min(MOST)))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Count, E> {
        Ok(Count(u64::try_from(number).unwrap_or(0).min(MOST)))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Count, E> {
        // Conversion from a float saturates; NaN becomes 0.
        Ok(Count((number as u64).min(MOST)))
    }

    fn visit_bool<E>(self, _: bool) -> Result<Count, E> {
        Ok(Count(0))
    }

    fn visit_str<E>(self, _: &str) -> Result<Count, E> {
        Ok(Count(0))
    }

    fn visit_unit<E>(self) -> Result<Count, E> {
        Ok(Count(0))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Count, A::Error> {
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Count(0))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Count, A::Error> {
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(Count(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_server_writes_is_a_count() {
        for (given, want) in [
            ("7", 7),
            ("7.0", 7),
            ("-1", 0),
            ("18446744073709551615", MOST),
            ("1e300", MOST),
            ("null", 0),
            ("\"many\"", 0),
            ("[1,{}]", 0),
            ("{\"a\":[1]}", 0),
        ] {
            assert_eq!(serde_json::from_str::<Count>(given).unwrap(), Count(want), "{given}");
        }
    }
}
