//! Reads the declared settings from the layers, in one pass over `config.yaml`.

use super::setting::Setting;
use super::types::SettingType;
use crate::error::Problem;
use crate::keys::Key;
use crate::layers::{Layers, Source};
use crate::resolve::Resolved;
use serde_json::{Map, Value};

/// The values of a section in `config.yaml`; `None` if the section is missing.
pub(crate) type Fields<'a> = Option<&'a Map<String, Value>>;

/// The layers, and the problems found so far.
pub(crate) struct Reader<'a> {
    pub(crate) layers: &'a Layers,
    pub(crate) problems: Vec<Problem>,
}

impl Reader<'_> {
    /// Reads one setting; `in_file` is its value in `config.yaml`.
    pub(crate) fn read<T: SettingType>(
        &mut self,
        key: &'static Key,
        in_file: Option<&Value>,
        default: T,
    ) -> Setting<T> {
        let unset = |value| Setting { value, key, source: Source::Default, variable: None, problem: None };
        // `model: NAME` is short for `model: {default: NAME}`.
        let in_file = match in_file {
            None if key.name == "model.default" => self.layers.file.get(key.name),
            value => value,
        };
        match self.layers.resolve(key, in_file) {
            Ok(None) => unset(default),
            Ok(Some(Resolved { value, source, variable })) => match T::of_parsed(value) {
                Some(value) => Setting { value, key, source, variable, problem: None },
                // The value was read as the kind of this type.
                None => unset(default),
            },
            Err(problem) => {
                self.problems.push(problem.clone());
                Setting { problem: Some(Box::new(problem)), ..unset(default) }
            }
        }
    }
}
