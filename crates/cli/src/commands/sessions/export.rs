//! `hermes sessions export`.

use super::files;
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use clap::{Args, ValueEnum};
use hermes_store::{ExportError, ExportFilter, ExportFormat, SessionDb};
use hermes_terminal::term;
use hermes_terminal::text::counted;
use std::io::{self, BufWriter};
use std::path::Path;
use tempfile::NamedTempFile;

#[derive(Debug, Clone, Args)]
#[command(after_help = "\
Examples:
  hermes sessions export all.jsonl --files
  hermes sessions export - --session-id latest")]
pub(crate) struct ExportArgs {
    /// File to write; `-` is standard output
    pub(super) file: String,
    /// Export only this session: its id, the start of its id, its title, or `latest`
    #[arg(long, value_name = "ID")]
    session_id: Option<String>,
    /// With --session-id: also export the sessions that it continues
    #[arg(long, requires = "session_id")]
    lineage: bool,
    /// Export only sessions with this tag
    #[arg(long, value_name = "TAG")]
    pub(super) source: Option<String>,
    /// Format of the file
    #[arg(long, value_enum, default_value = "jsonl")]
    pub(super) format: ExportFormatName,
    /// Copy the files of long tool results to FILE.files/
    #[arg(long)]
    files: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormatName {
    /// One session per line
    Jsonl,
    /// One array
    Json,
}

pub(super) async fn run(store: &SessionDb, args: ExportArgs, common: &Common) -> Result<Exit, Failure> {
    files::require_folder(&args.file, args.files)?;
    let session = match &args.session_id {
        Some(which) => Some(store.resolve(which).await?),
        None => None,
    };
    let filter = ExportFilter { session, lineage: args.lineage, source: common.source.clone() };
    let format = match args.format {
        ExportFormatName::Jsonl => ExportFormat::Jsonl,
        ExportFormatName::Json => ExportFormat::Json,
    };
    let file = &args.file;
    let exported = store.export_ids(filter.clone()).await?;
    if file == "-" {
        print(store, filter, format).await?;
        return files::after_export(store, file, &exported, args.files).await;
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
    term::print_error(&format!("Exported {} to {file}", counted(count, "session")));
    files::after_export(store, file, &exported, args.files).await
}

/// Prints sessions to standard output. A closed pipe is not an error.
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

/// A temporary file beside the target, so that an incomplete export never gets its name.
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
