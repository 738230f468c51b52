//! The text of notebooks (.ipynb).

use crate::DocumentError;
use crate::text::Text;
use serde_json::Value;

/// The text of a notebook, up to `most_chars` characters: each cell below a line with its number and kind, outputs
/// below the cell. Images and other rich outputs are left out.
pub fn notebook_text(bytes: &[u8], most_chars: usize) -> Result<String, DocumentError> {
    let book: Value =
        serde_json::from_slice(bytes).map_err(|_| DocumentError::Damaged("it is not valid JSON"))?;
    // The older format has its cells in worksheets.
    let sheets = book["worksheets"].as_array().into_iter().flatten();
    let older = sheets.flat_map(|sheet| sheet["cells"].as_array().into_iter().flatten());
    let cells: Vec<&Value> = match book["cells"].as_array() {
        Some(cells) => cells.iter().collect(),
        None if book["worksheets"].is_array() => older.collect(),
        None => return Err(DocumentError::OtherKind("notebook")),
    };
    let mut text = Text::new(most_chars);
    for (index, cell) in cells.into_iter().enumerate() {
        let kind = cell["cell_type"].as_str().unwrap_or("unknown");
        text.push(&format!("[cell {}: {kind}]\n", index + 1));
        let source = if cell["source"].is_null() { &cell["input"] } else { &cell["source"] };
        block(&joined(source), &mut text);
        for output in cell["outputs"].as_array().into_iter().flatten() {
            let shown = output_text(output);
            if !shown.trim().is_empty() {
                text.push("[output]\n");
                block(&shown, &mut text);
            }
        }
        text.end_line();
        if text.is_full() {
            break;
        }
    }
    Ok(text.finish())
}

/// Adds a text that ends its line.
fn block(more: &str, text: &mut Text) {
    text.push(more);
    if !text.ends_line() {
        text.push("\n");
    }
}

/// A text that may be a list of lines.
fn joined(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(lines) => lines.iter().filter_map(Value::as_str).collect(),
        _ => String::new(),
    }
}

fn output_text(output: &Value) -> String {
    match output["output_type"].as_str() {
        Some("error" | "pyerr") => {
            format!(
                "{}: {}",
                output["ename"].as_str().unwrap_or_default(),
                output["evalue"].as_str().unwrap_or_default()
            )
        }
        Some("stream") => joined(&output["text"]),
        _ => match joined(&output["data"]["text/plain"]) {
            text if text.is_empty() => joined(&output["text"]),
            text => text,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn cells_and_outputs_are_read() {
        let book = r##"{"cells": [
            {"cell_type": "markdown", "source": ["# Title\n", "text"]},
            {"cell_type": "code", "source": "1 + 1", "outputs": [
                {"output_type": "execute_result", "data": {"text/plain": ["2"], "image/png": "AAAA"}},
                {"output_type": "stream", "text": ["printed\n"]},
                {"output_type": "error", "ename": "E", "evalue": "wrong", "traceback": []},
                {"output_type": "display_data", "data": {"image/png": "AAAA"}}]}]}"##;
        let want = "[cell 1: markdown]\n# Title\ntext\n\n[cell 2: code]\n1 + 1\n[output]\n2\n[output]\nprinted\n[output]\nE: wrong";
        assert_eq!(notebook_text(book.as_bytes(), 1000).unwrap(), want);
        let older = r#"{"worksheets": [{"cells": [{"cell_type": "code", "input": ["x"]}]}]}"#;
        assert_eq!(notebook_text(older.as_bytes(), 1000).unwrap(), "[cell 1: code]\nx");
    }

    #[test]
    fn other_files_say_why() {
        for (text, want) in [
            ("{".to_owned(), DocumentError::Damaged("it is not valid JSON")),
            ("{}".to_owned(), DocumentError::OtherKind("notebook")),
            ("[".repeat(100_000), DocumentError::Damaged("it is not valid JSON")),
        ] {
            assert_eq!(notebook_text(text.as_bytes(), 100), Err(want));
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_survived(text in "[\\[\\]{}\":,a-c0-9 ]{0,80}") {
            let _ = notebook_text(text.as_bytes(), 100);
        }
    }
}
