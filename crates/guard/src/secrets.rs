//! The secret values known to this process, in a form that can be searched for.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};

use crate::byte_pairs::PairSet;
use crate::secret_encodings::spellings;

/// The minimum length of a value; shorter ones occur in ordinary text.
const SHORTEST: usize = 6;

/// The search examines one position out of this many. The shortest encoding is longer.
const STEP: usize = 4;

/// Known secret values with their names. Cloning is cheap; `Debug` does not print the values.
#[derive(Clone, Default)]
pub struct Secrets(Option<Arc<Index>>);

#[derive(Clone)]
struct Index {
    values: usize,
    /// Pairs at the first [`STEP`] positions of every encoding: one of them is at the examined position.
    places: PairSet,
    /// The first pair of every encoding.
    starts: PairSet,
    /// Encodings by their first two bytes, longest first.
    forms: HashMap<[u8; 2], Vec<Form>>,
}

#[derive(Clone)]
struct Form {
    text: String,
    name: Arc<str>,
    /// The number of its value, from 1.
    number: usize,
}

impl Secrets {
    /// Collects values with the names that replace them in redacted text.
    pub fn new<N: AsRef<str>>(values: impl IntoIterator<Item = (N, SecretString)>) -> Self {
        let mut index =
            Index { values: 0, places: PairSet::new(), starts: PairSet::new(), forms: HashMap::new() };
        for (name, value) in values {
            let value = value.expose_secret().trim();
            if value.chars().count() >= SHORTEST {
                index.add(name.as_ref(), value);
            }
        }
        Self::of(index)
    }

    /// Adds a value; a value that is already known keeps its name.
    pub fn with(&self, name: &str, value: &SecretString) -> Self {
        let empty =
            || Index { values: 0, places: PairSet::new(), starts: PairSet::new(), forms: HashMap::new() };
        let mut index = self.0.as_deref().map_or_else(empty, Index::clone);
        let value = value.expose_secret().trim();
        if value.chars().count() >= SHORTEST {
            index.add(name, value);
        }
        Self::of(index)
    }

    fn of(mut index: Index) -> Self {
        if index.values == 0 {
            return Self(None);
        }
        for forms in index.forms.values_mut() {
            forms.sort_by_key(|form| std::cmp::Reverse(form.text.len()));
        }
        Self(Some(Arc::new(index)))
    }

    /// The number of values.
    pub fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |index| index.values)
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns true if a value occurs in `text`, in any encoding.
    pub fn occur_in(&self, text: &str) -> bool {
        self.find(text, 0).is_some()
    }

    /// The length of the longest encoding in bytes.
    pub fn longest(&self) -> usize {
        let forms = self.0.iter().flat_map(|index| index.forms.values().flatten());
        forms.map(|form| form.text.len()).max().unwrap_or(0)
    }

    /// The first secret at or after `from`: start, end and name.
    pub(crate) fn find(&self, text: &str, from: usize) -> Option<(usize, usize, &str)> {
        self.find_form(text, from).map(|(start, end, form)| (start, end, &*form.name))
    }

    /// As [`find`](Self::find), with the number of the value.
    pub(crate) fn find_number(&self, text: &str, from: usize) -> Option<(usize, usize, usize)> {
        self.find_form(text, from).map(|(start, end, form)| (start, end, form.number))
    }

    fn find_form(&self, text: &str, from: usize) -> Option<(usize, usize, &Form)> {
        let index = self.0.as_ref()?;
        let bytes = text.as_bytes();
        let mut look = from;
        while let Some(at) = index.places.next_hit_by(bytes, look, STEP) {
            for start in at.saturating_sub(STEP - 1).max(from)..=at {
                if !index.starts.contains(bytes[start], bytes[start + 1]) {
                    continue;
                }
                let forms = index.forms.get(&[bytes[start], bytes[start + 1]]).map_or(&[][..], Vec::as_slice);
                if let Some(form) = forms.iter().find(|form| bytes[start..].starts_with(form.text.as_bytes()))
                {
                    return Some((start, start + form.text.len(), form));
                }
            }
            look = at + STEP;
        }
        None
    }
}

impl Index {
    fn add(&mut self, name: &str, value: &str) {
        self.values += 1;
        let number = self.values;
        let name: Arc<str> = name.into();
        for text in spellings(value) {
            let &[first, second, ..] = text.as_bytes() else {
                continue;
            };
            if text.len() <= STEP {
                // An encoding this short cannot be told from ordinary text.
                continue;
            }
            let forms = self.forms.entry([first, second]).or_default();
            if forms.iter().all(|form| form.text != text) {
                for pair in text.as_bytes().windows(2).take(STEP) {
                    self.places.insert(pair[0], pair[1]);
                }
                self.starts.insert(first, second);
                forms.push(Form { text, name: name.clone(), number });
            }
        }
    }
}

impl<N: AsRef<str>> FromIterator<(N, SecretString)> for Secrets {
    fn from_iter<I: IntoIterator<Item = (N, SecretString)>>(values: I) -> Self {
        Self::new(values)
    }
}

impl fmt::Debug for Secrets {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Secrets({} values)", self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_value_and_no_name() {
        let secrets = Secrets::new([("DEMO_KEY", SecretString::from("hunter2-hunter2"))]);
        assert_eq!(format!("{secrets:?} {secrets:#?}"), "Secrets(1 values) Secrets(1 values)");
    }

    #[test]
    fn short_values_are_ignored() {
        let values = ["", "a", "abcde", "  abc  ", "abcdef"].map(|v| ("N", SecretString::from(v)));
        assert_eq!(Secrets::new(values).len(), 1);
    }

    #[test]
    fn added_value_is_redacted_and_known_ones_keep_their_names() {
        let one = Secrets::new([("FIRST", SecretString::from("first-value"))]);
        let both = one.with("SECOND", &SecretString::from("second-value"));
        let again =
            both.with("OTHER", &SecretString::from("first-value")).with("SHORT", &SecretString::from("abc"));
        let text = "first-value second-value abc";
        assert_eq!(crate::redact(&one, text), "[redacted:FIRST] second-value abc");
        for secrets in [both, again] {
            assert_eq!(crate::redact(&secrets, text), "[redacted:FIRST] [redacted:SECOND] abc");
        }
        let first = Secrets::default().with("FIRST", &SecretString::from("first-value"));
        assert_eq!(crate::redact(&first, text), "[redacted:FIRST] second-value abc");
    }

    #[test]
    fn a_value_is_found_wherever_it_stands_and_numbered_in_order() {
        let secrets =
            Secrets::new([("A", SecretString::from("hunter")), ("B", SecretString::from("hunter22"))]);
        for before in 0..12 {
            for after in 0..6 {
                let text = format!("{}hunter{}", "h".repeat(before), "u".repeat(after));
                assert_eq!(secrets.find_number(&text, 0), Some((before, before + 6, 1)), "{text}");
                assert!(!secrets.occur_in(&text[..before + 5]), "{text}");
            }
        }
        let text = "hunter hunter22 huntehunter";
        assert_eq!(crate::placeholders(&secrets, text), "{{secret:1}} {{secret:2}} hunte{{secret:1}}");
        assert_eq!(secrets.longest(), "aHVudGVyMjI=".len());
    }

    #[test]
    fn secrets_can_be_shared_between_threads() {
        fn shareable<T: Default + Clone + Send + Sync + 'static>() {}
        shareable::<Secrets>();
    }
}
