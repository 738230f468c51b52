//! `hermes sessions export`.

use super::{counted, files};
use crate::args::{Common, SessionsFormat};
use crate::exit::{Exit, Failure};
use crate::term;
use hermes_store::{ExportError, ExportFilter, ExportFormat, SessionDb};
use std::io::{self, BufWriter};
use std::path::Path;
use tempfile::NamedTempFile;

pub(super) struct Wanted {
    pub(super) file: String,
    pub(super) session_id: Option<String>,
    pub(super) lineage: bool,
    pub(super) format: SessionsFormat,
    /// Whether the files of long tool results go along.
    pub(super) files: bool,
}

pub(super) async fn run(store: &SessionDb, wanted: Wanted, common: &Common) -> Result<Exit, Failure> {
    files::require_folder(&wanted.file, wanted.files)?;
    let session = match &wanted.session_id {
        Some(which) => Some(store.resolve(which).await?),
        None => None,
    };
    let filter = ExportFilter { session, lineage: wanted.lineage, source: common.source.clone() };
    let format = match wanted.format {
        SessionsFormat::Jsonl => ExportFormat::Jsonl,
        SessionsFormat::Json => ExportFormat::Json,
    };
    let file = &wanted.file;
    let exported = store.export_ids(filter.clone()).await?;
    if file == "-" {
        print(store, filter, format).await?;
        return files::after_export(store, file, &exported, wanted.files).await;
    }
    let failed =
        |error: io::Error| Failure::new(Exit::Permission, format!("{file} could not be written: {error}"));
    let beside = unfinished(Path::new(file)).map_err(failed)?;
    let written = store.export(filter, format, BufWriter::new(beside)).await;
    let (count, beside) = written.map_err(|error| match error {
        ExportError::Write(error) => failed(error),
        ExportError::Store(error) => error.into(),
    })?;
    finish(beside, Path::new(file)).map_err(failed)?;
    term::complain(&format!("Exported {} to {file}", counted(count, "session")));
    files::after_export(store, file, &exported, wanted.files).await
}

/// Sessions on standard output. A reader that has seen enough is no failure.
pub(super) async fn print(
    store: &SessionDb,
    filter: ExportFilter,
    format: ExportFormat,
) -> Result<Exit, Failure> {
    match store.export(filter, format, BufWriter::new(term::Pieces::default())).await {
        Ok(_) | Err(ExportError::Write(_)) => Ok(Exit::Answered),
        Err(ExportError::Store(error)) => Err(error.into()),
    }
}

/// A file beside the target, so that a half-written export never takes its name.
fn unfinished(target: &Path) -> io::Result<NamedTempFile> {
    let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
    NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))
}

fn finish(beside: BufWriter<NamedTempFile>, target: &Path) -> io::Result<()> {
    let file = beside.into_inner().map_err(|error| error.into_error())?;
    file.as_file().sync_all()?;
    file.persist(target).map_err(|error| error.error)?;
    Ok(())
}
