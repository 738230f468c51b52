//! `hermes tools list`.

use super::{Setup, failure};
use crate::exit::{Exit, Failure};
use crate::flags::Common;
use hermes_config::ChosenBy;
use hermes_terminal::print::{self, Column, Table};
use hermes_terminal::term::{self, Style};
use hermes_toolsets::{PlatformReport, ToolsetRow, ToolsetState, is_platform, report};
use serde_json::{Value, json};
use std::io::stdout;

const COLUMNS: [Column; 3] =
    [Column::left("TOOLSET", 14), Column::left("STATE", 12), Column::left("FOR", 10)];

pub(super) fn run(platform: &str, setup: &Setup, common: &Common) -> Result<Exit, Failure> {
    if !is_platform(platform) {
        let text = format!("no platform is called `{platform}`; `cli`, `telegram` and `api_server` are some");
        return Err(Failure::usage(text));
    }
    let report = report(setup.machine(), platform).map_err(failure)?;
    match common.json {
        true => print::json(&as_json(&report)),
        false => show(&report),
    };
    Ok(Exit::Answered)
}

/// Prints the toolsets; `false` means that standard output is closed.
fn show(report: &PlatformReport) -> bool {
    let key = match report.chosen_by {
        ChosenBy::Flag => "--toolsets".to_owned(),
        ChosenBy::Platform => format!("platform_toolsets.{}", report.platform),
        ChosenBy::Setting => "toolsets".to_owned(),
        ChosenBy::Preset => "the preset of the platform".to_owned(),
    };
    let (style, table) = (Style::for_stream(&stdout()), Table::new(&COLUMNS));
    let missing = |row: &ToolsetRow| {
        let indent = " ".repeat(30);
        row.missing
            .iter()
            .map(|text| format!("{indent}missing: {}", term::printable(text)))
            .collect::<Vec<_>>()
    };
    let rows = report.toolsets.iter().flat_map(|row| {
        let line = table.row(&[row.name, row.state.as_str(), row.about]);
        std::iter::once(line).chain(missing(row))
    });
    let head = [format!("Toolsets of {}, from {key}:", report.platform), table.heading(style)];
    let shown = print::lines(head.into_iter().chain(rows));
    if !report.unknown.is_empty() {
        print::notice(&format!("not known to this version, and ignored: {}", report.unknown.join(", ")));
    }
    shown
}

fn as_json(report: &PlatformReport) -> Value {
    let tools = |row: &ToolsetRow| -> Vec<Value> {
        let each = row.tools.iter();
        each.map(
            |tool| json!({ "name": tool.name, "built_in": tool.is_built_in, "offered": tool.is_offered }),
        )
        .collect()
    };
    let rows: Vec<Value> = report
        .toolsets
        .iter()
        .map(|row| {
            json!({ "name": row.name, "about": row.about, "state": row.state.as_str(),
                "available": matches!(row.state, ToolsetState::On | ToolsetState::Off) && row.missing.is_empty(),
                "missing": row.missing, "tools": tools(row) })
        })
        .collect();
    json!({ "platform": report.platform, "toolsets": rows, "unknown": report.unknown })
}
