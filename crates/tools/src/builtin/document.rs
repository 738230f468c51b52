//! Files that are read as the text of a document, and files that have none.

use super::regular;
use crate::ToolError;
use crate::protect::Places;
use hermes_documents::{DocumentError, docx_text, notebook_text, pdf_text, xlsx_text};
use std::io::Read;
use std::path::Path;

/// Larger documents are not read, in bytes.
pub(super) const LARGEST: u64 = 64 * 1024 * 1024;
/// Characters of a document that can be paged through.
const MOST_CHARS: usize = 5_000_000;

type ReadText = fn(&[u8], usize) -> Result<String, DocumentError>;

/// A kind of document.
#[derive(Debug, Clone, Copy)]
pub(super) struct Kind {
    /// The name for the model.
    pub(super) name: &'static str,
    text: ReadText,
}

/// The kind of a document, by its extension.
pub(super) fn kind(path: &Path) -> Option<Kind> {
    let (name, text): (_, ReadText) = match extension(path)?.as_str() {
        "ipynb" => ("notebook", notebook_text),
        "docx" => ("Word document", docx_text),
        "xlsx" => ("spreadsheet", xlsx_text),
        "pdf" => ("PDF document", pdf_text),
        _ => return None,
    };
    Some(Kind { name, text })
}

impl Kind {
    /// The text of the document at `path`.
    pub(super) fn read(self, path: &Path, places: &Places) -> Result<String, ToolError> {
        let mut bytes = Vec::new();
        let file = regular::open_to_show(path, places)?;
        let read = file.take(LARGEST + 1).read_to_end(&mut bytes);
        read.map_err(|error| ToolError::io("read", path, &error))?;
        if bytes.len() as u64 > LARGEST {
            let text =
                format!("{} is larger than {LARGEST} bytes, and such documents are not read", path.display());
            return Err(ToolError::failed(text));
        }
        self.convert(path, &bytes)
    }

    /// The text of a document with these bytes.
    pub(super) fn convert(self, path: &Path, bytes: &[u8]) -> Result<String, ToolError> {
        (self.text)(bytes, MOST_CHARS).map_err(|error| {
            ToolError::failed(format!("{} cannot be read as a {}: {error}", path.display(), self.name))
        })
    }
}

/// The reason why a file has no text, where its extension says so. `has_vision` says that there is a tool for images.
pub(super) fn no_text(path: &Path, has_vision: bool) -> Option<&'static str> {
    Some(match extension(path)?.as_str() {
        "png" | "jpg" | "jpeg" | "gif" | "webp" if has_vision => {
            "is an image, which is not shown as text; look at it with vision_analyze"
        }
        "png" | "jpg" | "jpeg" | "gif" | "webp" | "bmp" | "ico" | "tif" | "tiff" | "heic" | "avif" => {
            "is an image, which is not shown as text; ask the user what it shows, or to attach it to a message"
        }
        "mp3" | "wav" | "ogg" | "flac" | "m4a" | "mp4" | "mov" | "mkv" | "webm" | "avi" => {
            "is audio or video, which is not shown as text"
        }
        "zip" | "gz" | "xz" | "bz2" | "zst" | "7z" | "rar" | "tar" | "tgz" | "jar" | "whl" => {
            "is an archive; list or unpack it with a command"
        }
        "doc" | "xls" | "ppt" | "pptx" | "odt" | "ods" => {
            "is a document of a format that is not read; convert it with a command, for instance to .docx or .pdf"
        }
        _ => return None,
    })
}

fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_str()?.to_ascii_lowercase())
}
