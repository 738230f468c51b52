//! The part of a summary that no model writes and so no model can lose.

use super::text::one_line;
use crate::Keep;

/// The beginning of this part.
pub(crate) const HEADING: &str = "## Kept by Hermes, Not by a Model";
const TODOS: &str = "### Open Todos";
const PINS: &str = "### Pinned";
const FILES: &str = "### Files Touched";
const LONGEST_LINE: usize = 300;

/// The part, and how many files are named in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mechanical {
    pub(crate) text: String,
    pub(crate) files: usize,
}

/// Writes it; files are named, newest first, as long as they have at most so many characters together.
pub(crate) fn mechanical(keep: &Keep, files: &[String], most: usize) -> Mechanical {
    let mut text = String::new();
    let line = |item: &String| format!("- {}", one_line(item, LONGEST_LINE));
    if !keep.todos.is_empty() {
        let lines = keep.todos.iter().map(line).collect::<Vec<_>>().join("\n");
        text.push_str(&format!("{TODOS}\n{lines}\n\n"));
    }
    if !keep.pins.is_empty() {
        text.push_str(&format!("{PINS}\n{}\n\n", keep.pins.join("\n\n")));
    }
    let (named, count) = listed(files, most);
    if !files.is_empty() {
        text.push_str(&format!("{FILES}\n{named}"));
    }
    if !text.is_empty() {
        text.insert_str(0, &format!("{HEADING}\n\n"));
    }
    Mechanical { text: text.trim_end().to_owned(), files: count }
}

fn listed(files: &[String], most: usize) -> (String, usize) {
    let (mut text, mut count, mut used) = (String::new(), 0, 0);
    for file in files {
        used += file.len() + 3;
        if used > most {
            text.push_str(&format!("({} older ones are not named)\n", files.len() - count));
            break;
        }
        text.push_str(&format!("- {}\n", file.replace(['\n', '\r'], " ")));
        count += 1;
    }
    (text, count)
}

/// The files that an earlier summary names.
pub(crate) fn files_of(summary: &str) -> Vec<String> {
    let Some(start) = summary.rfind(HEADING) else { return Vec::new() };
    let Some(list) = summary[start..].rfind(FILES) else { return Vec::new() };
    let lines = summary[start + list..].lines().skip(1).map_while(|line| line.strip_prefix("- "));
    lines.map(str::to_owned).collect()
}

/// An earlier summary without this part, and without the introduction before its first section.
pub(crate) fn without(summary: &str) -> &str {
    let end = summary.rfind(HEADING).unwrap_or(summary.len());
    let text = &summary[..end];
    let start = if text.starts_with("## ") { Some(0) } else { text.find("\n## ").map(|at| at + 1) };
    text[start.unwrap_or_default()..].trim()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_written_out_and_found_again() {
        let keep = Keep {
            todos: vec!["build\nit".into()],
            pins: vec!["never\n touch `main`".into(), "b".into()],
            memory: None,
        };
        let files: Vec<String> = ["src/a.rs", "/b c"].map(str::to_owned).to_vec();
        let kept = mechanical(&keep, &files, 100);
        assert_eq!(
            kept.text,
            "## Kept by Hermes, Not by a Model\n\n### Open Todos\n- build it\n\n### Pinned\nnever\n touch \
             `main`\n\nb\n\n### Files Touched\n- src/a.rs\n- /b c"
        );
        assert_eq!(kept.files, 2);
        let summary = format!("Text.\n\n## Goal\nx\n\n{}", kept.text);
        assert_eq!(files_of(&summary), files);
        assert_eq!(without(&summary), "## Goal\nx");
    }

    #[test]
    fn a_long_list_says_how_much_is_missing() {
        let files: Vec<String> = (0..9).map(|n| format!("file{n}")).collect();
        let kept = mechanical(&Keep::default(), &files, 20);
        assert_eq!(kept.files, 2);
        assert!(kept.text.ends_with("- file0\n- file1\n(7 older ones are not named)"), "{}", kept.text);
        assert_eq!(mechanical(&Keep::default(), &[], 20).text, "");
        assert_eq!((files_of("nothing"), without("nothing")), (vec![], "nothing"));
    }
}
