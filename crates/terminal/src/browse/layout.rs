//! The areas of the screen.

use super::fullscreen::Size;

/// A rectangle; columns and lines count from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) column: usize,
    pub(super) line: usize,
    pub(super) columns: usize,
    pub(super) lines: usize,
}

/// Two lines at the top, one at the bottom, and the list between them, with the preview beside it on a
/// wide screen and below it on a narrow one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) list: Area,
    pub(super) preview: Option<Area>,
}

const ABOVE: usize = 2;
const BELOW: usize = 1;
/// The width from which on list and preview fit side by side.
const WIDE: usize = 80;

impl Layout {
    pub(super) fn new(size: Size, with_preview: bool) -> Self {
        let Size { columns, lines } = size;
        let room = lines.saturating_sub(ABOVE + BELOW);
        let all = Area { column: 0, line: ABOVE, columns, lines: room };
        if !with_preview {
            return Self { list: all, preview: None };
        }
        if columns >= WIDE {
            let left = columns / 2;
            // An empty column, then a line, then the preview.
            let list = Area { columns: left - 1, ..all };
            let preview = Area { column: left + 1, columns: columns - left - 1, ..all };
            return Self { list, preview: Some(preview) };
        }
        let upper = (room / 3).max(1).min(room);
        let list = Area { lines: upper, ..all };
        // A line between them.
        let preview = Area { line: ABOVE + upper + 1, lines: room.saturating_sub(upper + 1), ..all };
        Self { list, preview: Some(preview) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn screen_is_divided_by_its_size() {
        let area = |column, line, columns, lines| Area { column, line, columns, lines };
        for (columns, lines, with_preview, list, preview) in [
            (100, 30, false, area(0, 2, 100, 27), None),
            (100, 30, true, area(0, 2, 49, 27), Some(area(51, 2, 49, 27))),
            (40, 12, true, area(0, 2, 40, 3), Some(area(0, 6, 40, 5))),
            (40, 12, false, area(0, 2, 40, 9), None),
            (10, 2, true, area(0, 2, 10, 0), Some(area(0, 3, 10, 0))),
        ] {
            let got = Layout::new(Size { columns, lines }, with_preview);
            assert_eq!(got, Layout { list, preview }, "{columns}x{lines}");
        }
    }
}
