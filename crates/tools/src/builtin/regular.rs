//! Opening regular files on behalf of tools, with errors that name the path.

use crate::ToolError;
use crate::opened::{self, OpenError, check_regular, open_exactly, open_readable};
use crate::protect::Places;
use std::fs::{File, Metadata};
use std::path::Path;

/// Opens the regular file at `path`, a real path, for reading.
pub(super) fn open(path: &Path) -> Result<File, ToolError> {
    opened(path, open_exactly(path))
}

/// Opens the regular file at `path` for showing it to the model.
pub(super) fn open_to_show(path: &Path, places: &Places) -> Result<File, ToolError> {
    opened(path, open_readable(path, places))
}

/// Refuses what is not a regular file, by what it is instead.
pub(super) fn check(path: &Path, metadata: &Metadata) -> Result<(), ToolError> {
    check_regular(metadata).map_err(|error| failed(path, error))
}

fn opened(path: &Path, result: Result<opened::Opened, OpenError>) -> Result<File, ToolError> {
    result.map(|opened| opened.file).map_err(|error| failed(path, error))
}

fn failed(path: &Path, error: OpenError) -> ToolError {
    match error {
        OpenError::Io(error) => ToolError::io("read", path, &error),
        OpenError::NotRegular(kind) => {
            ToolError::failed(format!("{} is {kind}, not a regular file", path.display()))
        }
        OpenError::Protected(why) => ToolError::failed(why),
        OpenError::Outside(_) | OpenError::Moved(_) => {
            ToolError::failed(format!("{}: {error}", path.display()))
        }
    }
}
