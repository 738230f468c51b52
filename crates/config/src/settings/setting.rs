//! One setting: its value, the source of the value, and the problem of a value that cannot be used.

use crate::error::{ConfigError, Problem};
use crate::keys::Key;
use crate::layers::Source;

/// A value with its source.
pub struct Setting<T> {
    pub(super) value: T,
    pub(super) key: &'static Key,
    pub(super) source: Source,
    /// The variable that has the value.
    pub(super) variable: Option<&'static str>,
    pub(super) problem: Option<Box<Problem>>,
}

impl<T> Setting<T> {
    /// Returns the value, or the error of a layer that has a value of another type.
    pub fn get(&self) -> Result<&T, ConfigError> {
        match &self.problem {
            None => Ok(&self.value),
            Some(problem) => Err(ConfigError::Value((**problem).clone())),
        }
    }

    /// Returns the value; the default if a layer has a value of another type.
    pub fn or_default(&self) -> &T {
        &self.value
    }

    /// The layer that the value comes from.
    pub fn source(&self) -> Source {
        self.source
    }

    /// The row of this setting in the table of keys.
    pub fn key(&self) -> &'static Key {
        self.key
    }

    /// The variable that sets the value, if one does.
    pub(crate) fn variable(&self) -> Option<&'static str> {
        self.variable
    }
}

impl<T: Copy> Setting<T> {
    /// Like [`Setting::get`], by value.
    pub fn value(&self) -> Result<T, ConfigError> {
        self.get().copied()
    }
}
