//! Sections with names that users choose, such as `providers` and `hooks`. Each has a reader of its own.

use crate::error::{ConfigError, Problem};
use crate::layers::Layers;

/// A part of the settings with a reader of its own.
pub(crate) trait FreeForm {
    /// Reads the part. A missing section must cost nothing.
    fn read(layers: &Layers) -> Self;
}

/// A section that is read as a whole or not at all.
pub struct Section<T>(pub(crate) Result<T, Problem>);

impl<T> Section<T> {
    /// Returns the content, or the error of the first value that cannot be used.
    pub fn get(&self) -> Result<&T, ConfigError> {
        self.0.as_ref().map_err(|problem| problem.clone().into())
    }
}
