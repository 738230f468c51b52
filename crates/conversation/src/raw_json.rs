//! JSON kept as its original text.
//!
//! Provider blobs (signed reasoning, encrypted items) must be sent back byte for byte, so they are never
//! parsed into values and serialised again.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// Well-formed JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawJson(String);

impl RawJson {
    /// Accepts `text` if it is one JSON value; removes surrounding white space.
    pub fn parse(text: &str) -> Option<Self> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        Some(Self(raw.get().to_owned()))
    }

    /// Serialises a value.
    pub fn of(value: &impl Serialize) -> Option<Self> {
        serde_json::to_string(value).ok().map(Self)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl Serialize for RawJson {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let raw: &RawValue = serde_json::from_str(&self.0).map_err(serde::ser::Error::custom)?;
        raw.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for RawJson {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self(String::from(Box::<str>::from(raw))))
    }
}

/// Serialises as a JSON string: JSON with line breaks must not break a file with one value per line.
pub(crate) mod as_text {
    use super::RawJson;
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(raw: &RawJson, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(raw.as_str())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RawJson, D::Error> {
        let text = String::deserialize(deserializer)?;
        RawJson::parse(&text).ok_or_else(|| de::Error::custom("the text is not JSON"))
    }
}

/// As [`as_text`], for an optional value.
pub(crate) mod optional_as_text {
    use super::RawJson;
    use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

    pub(crate) fn serialize<S: Serializer>(raw: &Option<RawJson>, serializer: S) -> Result<S::Ok, S::Error> {
        raw.as_ref().map(RawJson::as_str).serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<RawJson>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let parsed =
            |text: String| RawJson::parse(&text).ok_or_else(|| de::Error::custom("the text is not JSON"));
        text.map(parsed).transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive_a_round_trip() {
        let text = r#"[{"b":1.0,"a":"\u00e9"}]"#;
        let raw = RawJson::parse(text).unwrap();
        assert_eq!(serde_json::to_string(&raw).unwrap(), text);
        assert_eq!(serde_json::from_str::<RawJson>(text).unwrap(), raw);
    }

    #[test]
    fn invalid_json_is_rejected() {
        assert_eq!(RawJson::parse("{\"a\":"), None);
    }
}
