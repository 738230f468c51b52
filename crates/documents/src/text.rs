//! The text that is collected from a document.

/// Text up to a number of characters.
#[derive(Debug)]
pub(crate) struct Text {
    text: String,
    room: usize,
}

impl Text {
    pub(crate) fn new(most_chars: usize) -> Self {
        Self { text: String::new(), room: most_chars }
    }

    /// Adds as much of `more` as there is room for.
    pub(crate) fn push(&mut self, more: &str) {
        for character in more.chars() {
            if self.room == 0 {
                return;
            }
            self.text.push(character);
            self.room -= 1;
        }
    }

    /// Ends the line, unless it is empty; at most one empty line follows another.
    pub(crate) fn end_line(&mut self) {
        let blanks = self.text.len() - self.text.trim_end_matches([' ', '\t']).len();
        self.text.truncate(self.text.len() - blanks);
        self.room += blanks;
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.push("\n");
        }
    }

    /// Ends the line with an empty one below it.
    pub(crate) fn end_paragraph(&mut self) {
        if !self.text.ends_with('\n') {
            self.end_line();
        }
        self.end_line();
    }

    pub(crate) fn is_full(&self) -> bool {
        self.room == 0
    }

    pub(crate) fn ends_with_blank(&self) -> bool {
        self.text.is_empty() || self.text.ends_with([' ', '\n', '\t'])
    }

    pub(crate) fn ends_line(&self) -> bool {
        self.text.is_empty() || self.text.ends_with('\n')
    }

    pub(crate) fn finish(self) -> String {
        let end = self.text.trim_end().len();
        let mut text = self.text;
        text.truncate(end);
        text
    }
}
