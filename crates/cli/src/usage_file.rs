//! The report of `--usage-file`.

use crate::exit::{Exit, Failure};
use crate::flags::Common;
use crate::json_events::{self, About};
use hermes_runtime::TurnReport;

/// Writes the report, if the flag is given. `failure` is the error of a run without a turn.
pub(crate) fn write(
    common: &Common,
    report: Option<&TurnReport>,
    about: &About<'_>,
    failure: Option<&str>,
) -> Result<(), Failure> {
    let Some(path) = &common.output.usage_file else {
        return Ok(());
    };
    let value = json_events::usage_file(report, about, failure);
    let text = serde_json::to_string_pretty(&value).unwrap_or_default() + "\n";
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let written = folder.map_or(Ok(()), std::fs::create_dir_all).and_then(|()| std::fs::write(path, text));
    written.map_err(|error| {
        let line = format!("the usage file {} could not be written: {error}", path.display());
        Failure::new(Exit::Permission, line)
    })
}
