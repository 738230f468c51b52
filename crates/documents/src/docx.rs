//! The text of word processor files (.docx).

use crate::DocumentError;
use crate::text::Text;
use crate::xml::{Piece, Xml};
use crate::zip::Archive;

/// The text of a .docx file, up to `most_chars` characters: headings with #, list items with -, cells of tables with |
/// between them.
pub fn docx_text(bytes: &[u8], most_chars: usize) -> Result<String, DocumentError> {
    let mut archive = Archive::open(bytes, "Word")?;
    let Some(body) = archive.text("word/document.xml")? else { return Err(DocumentError::OtherKind("Word")) };
    let mut reader =
        Reader { text: Text::new(most_chars), start: String::new(), cells: 0, shown: false, skipped: 0 };
    for piece in Xml::new(&body) {
        reader.take(&piece);
        if reader.text.is_full() {
            break;
        }
    }
    match reader.text.finish() {
        text if text.is_empty() && most_chars > 0 => Err(DocumentError::NoText),
        text => Ok(text),
    }
}

struct Reader {
    text: Text,
    /// The mark of the paragraph, before its text.
    start: String,
    /// Table cells in one another.
    cells: usize,
    /// Texts are shown: inside of an element for text.
    shown: bool,
    /// Elements in one another that repeat others for older programs.
    skipped: usize,
}

impl Reader {
    fn take(&mut self, piece: &Piece<'_>) {
        match piece {
            Piece::Start(tag) if tag.name == "Fallback" => self.skipped += 1,
            Piece::End("Fallback") => self.skipped = self.skipped.saturating_sub(1),
            _ if self.skipped > 0 => {}
            Piece::Start(tag) => match tag.name {
                "p" => self.start.clear(),
                "pStyle" => {
                    let style = tag.attribute("val").unwrap_or_default();
                    let level = style.strip_prefix("Heading").and_then(|level| level.trim().parse().ok());
                    if let Some(level @ 1..=6) = level {
                        self.start = "#".repeat(level) + " ";
                    } else if style.starts_with("List") && self.start.is_empty() {
                        self.start = "- ".to_owned();
                    } else if style == "Title" {
                        self.start = "# ".to_owned();
                    }
                }
                "numPr" if self.start.is_empty() => self.start = "- ".to_owned(),
                "t" => self.shown = true,
                "tab" => self.text.push("\t"),
                "br" | "cr" => self.text.push("\n"),
                "tc" => self.cells += 1,
                _ => {}
            },
            Piece::End("t") => self.shown = false,
            Piece::End("p") if self.cells > 0 => self.text.push(" "),
            Piece::End("p") => self.text.end_line(),
            Piece::End("tc") => {
                self.cells = self.cells.saturating_sub(1);
                self.text.push("| ");
            }
            Piece::End("tr") => self.text.end_line(),
            Piece::End(_) => {}
            Piece::Text(text) if self.shown && !text.is_empty() => {
                let start = std::mem::take(&mut self.start);
                self.text.push(&start);
                self.text.push(text);
            }
            Piece::Text(_) => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::zip::archive;
    use proptest::prelude::*;

    fn document(body: &str) -> Vec<u8> {
        archive(&[("[Content_Types].xml", "<x/>"), ("word/document.xml", body)])
    }

    #[test]
    fn paragraphs_lists_and_tables_are_read() {
        let body = "<w:document><w:body><w:p><w:pPr><w:pStyle w:val=\"Heading2\"/></w:pPr><w:r><w:t>Top</w:t></w:r></w:p>\
            <w:p><w:r><w:t>One &amp; </w:t></w:r><w:r><w:t>two</w:t><w:br/><w:t>three</w:t></w:r></w:p>\
            <w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>item</w:t></w:r></w:p><w:del><w:delText>gone</w:delText></w:del>\
            <w:tbl><w:tr><w:tc><w:p><w:t>a</w:t></w:p></w:tc><w:tc><w:p><w:t>b</w:t></w:p></w:tc></w:tr></w:tbl>\
            <mc:Fallback><w:p><w:t>again</w:t></w:p></mc:Fallback></w:body></w:document>";
        assert_eq!(docx_text(&document(body), 1000).unwrap(), "## Top\nOne & two\nthree\n- item\na | b |");
        assert_eq!(docx_text(&document(body), 5).unwrap(), "## To");
    }

    #[test]
    fn other_files_say_why() {
        for (bytes, want) in [
            (b"text".to_vec(), DocumentError::OtherKind("Word")),
            (archive(&[("a", "b")]), DocumentError::OtherKind("Word")),
            (b"\xd0\xcf\x11\xe0rest".to_vec(), DocumentError::Encrypted),
            (b"PK\x03\x04".to_vec(), DocumentError::Damaged("its list of files is missing")),
            (document("<w:p></w:p>"), DocumentError::NoText),
        ] {
            assert_eq!(docx_text(&bytes, 100), Err(want));
        }
        let bomb = document(&" ".repeat(70 << 20));
        assert!(bomb.len() < 1 << 20);
        assert!(matches!(docx_text(&bomb, 100), Err(DocumentError::TooLarge(_))));
    }

    proptest! {
        #[test]
        fn damaged_files_are_survived(at in 0_usize..400, with in any::<u8>(), cut in 0_usize..500) {
            let mut bytes = document("<w:p><w:r><w:t>One</w:t></w:r></w:p>");
            let length = bytes.len();
            bytes[at % length] = with;
            bytes.truncate(cut);
            let _ = docx_text(&bytes, 100);
        }

        #[test]
        fn any_xml_is_survived(body in "[<>/&;!?a-c='\" \\[\\]pt:wcrx#-]{0,80}") {
            let _ = docx_text(&document(&body), 100);
            let _ = crate::xlsx_text(&archive(&[("xl/workbook.xml", &body), ("xl/worksheets/sheet1.xml", &body)]), 100);
        }
    }
}
