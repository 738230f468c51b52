//! The paragraphs of a Markdown file, without code blocks.

use super::prose::{Kind, Prose};

/// Returns the paragraphs outside of fenced code blocks.
pub(super) fn prose(text: &str) -> Vec<Prose> {
    let mut found = Vec::new();
    let mut paragraph = Prose::new(Kind::Markdown);
    let mut fence: Option<&str> = None;
    for (line, number) in text.lines().zip(1..) {
        let begin = line.trim_start();
        let opened = ["```", "~~~"].into_iter().find(|mark| begin.starts_with(mark));
        match (fence, opened) {
            (Some(mark), Some(found)) if mark == found => fence = None,
            (Some(_), _) => {}
            (None, Some(mark)) => {
                fence = Some(mark);
                end(&mut paragraph, &mut found);
            }
            (None, None) if begin.is_empty() => end(&mut paragraph, &mut found),
            (None, None) => paragraph.push(number, line),
        }
    }
    end(&mut paragraph, &mut found);
    found
}

fn end(paragraph: &mut Prose, found: &mut Vec<Prose>) {
    let ended = std::mem::replace(paragraph, Prose::new(Kind::Markdown));
    if !ended.text.is_empty() {
        found.push(ended.masked());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paragraphs_are_found_outside_of_code() {
        let text = "# A\n\nb `c`\nd\n```sh\ne\n~~~\n```\nf\n";
        let found: Vec<_> = prose(text).into_iter().map(|prose| (prose.line_at(0), prose.text)).collect();
        let want = [(1, "# A"), (3, "b `x`\nd"), (9, "f")].map(|(line, text)| (line, text.to_owned()));
        assert_eq!(found, want);
    }
}
